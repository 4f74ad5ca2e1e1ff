"""`labeler correct`: take a judgment, evidence, document or rubric out of force; mend a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from labeler.cli.output import print_facts, print_json, tell
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.errors import UsageError

if TYPE_CHECKING:
    from labeler.assessment.corrections import Correction
    from labeler.records.judgments import CorrectionTarget

app = App(
    name="correct",
    help="Take a judgment, evidence, document or rubric out of force, or mend a query.\n\n"
    "Nothing is rewritten: a correction is a later record with a reason, and `export --as-of` "
    "still gives the earlier state. --dry-run shows what it touches and stops there.",
)

Reason = Annotated[str, Parameter(help="Why it is wrong; it is stored with the correction.")]
DryRun = Annotated[
    bool, Parameter(name="--dry-run", negative="", help="Show what it touches, and stop there.")
]


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """What all withdrawals are told, as it is typed: each attribute is an option."""

    reason: Reason
    snapshot: Annotated[str | None, Parameter(help="In one snapshot only.")] = None
    dry_run: DryRun = False
    db: Database = None
    json: JsonOutput = False


@app.command
def judgment(
    query: str,
    evidence: str,
    /,
    *,
    how: How,
    assessor: str | None = None,
    level: str | None = None,
) -> None:
    """Withdraw the judgments on a query and an evidence, or put another in their place.

    Parameters
    ----------
    query
        The query's id.
    evidence
        The evidence's id.
    assessor
        Whose judgment; everybody's by default.
    level
        The level that takes its place, or cannot_judge.
    """
    from labeler.assessment.corrections import Correction
    from labeler.records.judgments import CorrectionTarget

    correction = Correction(
        CorrectionTarget.JUDGMENT,
        evidence,
        query=query,
        assessor=assessor,
        level=level,
        snapshot=how.snapshot,
    )
    _correct(correction, how)


@app.command
def evidence(
    name: str,
    /,
    *,
    how: How,
) -> None:
    """Withdraw every judgment and label on an evidence, for all queries."""
    from labeler.records.judgments import CorrectionTarget

    _withdraw(CorrectionTarget.EVIDENCE, name, how)


@app.command
def document(
    name: str,
    /,
    *,
    how: How,
) -> None:
    """Withdraw every judgment and label on what a document's passages carry."""
    from labeler.records.judgments import CorrectionTarget

    _withdraw(CorrectionTarget.DOCUMENT, name, how)


@app.command
def rubric(
    name: str,
    /,
    *,
    how: How,
) -> None:
    """Withdraw every judgment and label given under a rubric, by its name or digest."""
    from labeler.records.judgments import CorrectionTarget

    _withdraw(CorrectionTarget.RUBRIC, name, how)


@app.command
def query(
    name: str,
    /,
    *,
    reason: Reason,
    domain: str | None = None,
    condition: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    proposal: int | None = None,
    decline: Annotated[bool, Parameter(negative="")] = False,
    keep_labels: Annotated[bool, Parameter(negative="")] = False,
    dry_run: DryRun = False,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Put a query's domain or conditions right, or answer what a reviewer proposes for it.

    The query gets a next version. A condition is part of what was asked: when one changes, what
    was judged before is about another question, and goes out of force.

    Parameters
    ----------
    name
        The query's id.
    domain
        The domain; an empty one takes it away.
    condition
        NAME=VALUE, such as region=EU; NAME= takes it away. Can be given several times.
    proposal
        Apply this proposal; `labeler report query-issues` tells the numbers.
    decline
        Decline the proposal instead.
    keep_labels
        Leave labels in force although a condition changes, since it changes nothing in them.
    """
    from labeler.imports.query_changes import (
        QueryCorrection,
        correct_query,
        decline_proposal,
        plan_query,
    )

    correction = QueryCorrection(name, domain, _conditions(condition), proposal, keep_labels)
    if decline:
        if proposal is None or domain is not None or condition or dry_run or keep_labels:
            raise UsageError("--decline goes with --proposal and --reason alone")
        with open_project(db) as store:
            decline_proposal(store, name, proposal, reason)
        tell(f"proposal {proposal} is declined; the query stays as it is")
        return
    with open_project(db) as store:
        if dry_run:
            with store.read() as connection:
                corrected = plan_query(connection, correction)
        else:
            corrected = correct_query(store, correction, reason)
    facts = {
        "version": corrected.version,
        "items": len(corrected.items),
        "judgments withdrawn": len(corrected.judgments),
        "labels withdrawn": len(corrected.decisions),
    }
    if json:
        differences = [
            {"name": what, "before": before, "now": now}
            for what, before, now in corrected.differences
        ]
        print_json({"query": name, "dryRun": dry_run, **facts, "differences": differences})
        return
    print_facts(
        {what: f"{before or '-'} -> {now or '-'}" for what, before, now in corrected.differences}
    )
    print_facts(facts)
    if dry_run:
        tell("nothing was changed")
    elif corrected.decisions:
        tell("these items are unknown now; `labeler route POOL` sends them to people")


def _conditions(given: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in given:
        what, sign, value = one.partition("=")
        if not sign or not what.strip():
            raise UsageError(f"--condition takes NAME=VALUE, not '{one}'")
        found[what.strip()] = value
    return found


def _withdraw(target: CorrectionTarget, subject: str, how: How) -> None:
    from labeler.assessment.corrections import Correction

    _correct(Correction(target, subject, snapshot=how.snapshot), how)


def _correct(correction: Correction, how: How) -> None:
    from labeler.assessment.corrections import correct, find_touched

    with open_project(how.db) as store:
        if how.dry_run:
            with store.read() as connection:
                touched = find_touched(connection, correction)
        else:
            touched = correct(store, correction, how.reason)
    facts = {
        "items": len(touched.items),
        "judgments withdrawn": len(touched.judgments),
        "labels withdrawn": len(touched.decisions),
    }
    if how.json:
        about = {"target": correction.target.value, "subject": correction.subject}
        print_json({**about, "dryRun": how.dry_run, **facts})
        return
    print_facts(facts)
    if how.dry_run:
        tell("nothing was changed")
    elif correction.level is not None:
        tell(f"{correction.level} is in force in their place")
    else:
        tell("these items are unknown now; `labeler route POOL` sends them to people")
