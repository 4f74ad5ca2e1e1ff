"""The gate: whether a candidate may be released, decided by rules that were written down first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import sqlalchemy as sa

from labeler.assessment.label_states import LabelSource
from labeler.evaluation.gate_checks import GateVerdict, gate_verdict
from labeler.records import table
from labeler.records.evaluations import GateRules, GateRun
from labeler.reports.completed_labels import CompletedLabels, read_completed_labels
from labeler.reports.evaluated import (
    EvaluatedRuns,
    newest_revision,
    origin_notices,
    read_evaluated,
)
from labeler.reports.evaluation_log import LoggedValue, NewEvaluation, log_evaluation
from labeler.reports.gate_file import GateFile
from labeler.reports.gate_results import CheckResult, check_results
from labeler.sealing.openings import OpenedBefore, Seal, open_sealed, read_openings
from labeler.store.database import Store, WriteTransaction

__all__ = ["GateReport", "declare_gate", "run_gate"]


@dataclass(frozen=True, slots=True)
class GateReport:
    """What a gate says.

    Attributes:
        gate: The gate's name.
        digest: The digest of its rules.
        declared: The revision at which these rules were declared.
        verdict: What it comes to.
        candidate: The run that is to be released.
        baseline: The run that it is compared with, or None.
        pool: The pool whose queries and items it speaks of.
        snapshot: The snapshot.
        labels: Whose labels count.
        revision: The revision of the labels, one for all checks.
        sample: The sample that stood in for unknown labels, in words, or None.
        checks: The checks in the order of the file.
        sealed: What is to be said of sealed results that it looked at.
        notices: What a reader should know besides.
    """

    gate: str
    digest: str
    declared: int
    verdict: GateVerdict
    candidate: str
    baseline: str | None
    pool: str
    snapshot: str
    labels: str
    revision: int
    sample: str | None
    checks: tuple[CheckResult, ...]
    sealed: tuple[dict[str, object], ...]
    notices: tuple[str, ...]

    @property
    def commands(self) -> tuple[str, ...]:
        """What collects what is missing, in the order in which to type it.

        What several checks ask for comes once, after all that has to come before it.
        """
        found: dict[str, None] = {}
        for command in (typed for one in self.checks for typed in one.commands):
            found.pop(command, None)
            found[command] = None
        return tuple(found)


def declare_gate(tx: WriteTransaction, gate: GateFile) -> tuple[int, int]:
    """Store a gate's rules, unless they are there, and give their key and their revision."""
    rules = table(GateRules)
    known = sa.select(rules.c.id, rules.c.revision_id).where(rules.c.digest == gate.digest)
    row = tx.connection.execute(known).first()
    if row is not None:
        return int(row[0]), int(row[1])
    statement = sa.insert(rules).values(
        name=gate.name, digest=gate.digest, body=gate.text, revision_id=tx.revision_id
    )
    key = int(tx.connection.execute(statement.returning(rules.c.id)).scalar_one())
    return key, tx.revision_id


def run_gate(store: Store, gate: GateFile, *, as_of: int | None = None) -> GateReport:
    """Decide a gate, and log what it said.

    The rules are declared before anything is read; where sealed results were opened earlier, the
    report says so.

    Args:
        store: The open database.
        gate: The rules.
        as_of: The revision of the labels; None is the present.

    Raises:
        NotFoundError: When the pool, a run or a slice isn't there.
    """
    with store.write(f"gate {gate.name}") as tx:
        gate_id, declared = declare_gate(tx, gate)
    with store.read() as connection:
        labels_at = newest_revision(connection) if as_of is None else as_of
        runs = [gate.candidate, *([gate.baseline] if gate.baseline else [])]
        evaluated = read_evaluated(
            connection, gate.pool, runs, LabelSource(gate.labels), as_of=as_of
        )
        completed = read_completed_labels(connection, evaluated, as_of)
        results = check_results(connection, gate, evaluated, completed, as_of)
        openings = read_openings(connection)
    verdict = gate_verdict(
        [(c.asked.role, r.answer) for c, r in zip(gate.checks, results, strict=True)]
    )
    seals = open_sealed(
        store, through="gate", queries=evaluated.queries.tolist(), runs=runs, as_of=as_of
    )
    report = GateReport(
        gate=gate.name,
        digest=gate.digest,
        declared=declared,
        verdict=verdict,
        candidate=gate.candidate,
        baseline=gate.baseline,
        pool=gate.pool,
        snapshot=evaluated.snapshot,
        labels=gate.labels,
        revision=labels_at,
        sample=None if completed is None else _sample_words(completed),
        checks=tuple(results),
        sealed=tuple(seal.facts() for seal in seals),
        notices=tuple(_notices(evaluated, declared, openings, seals)),
    )
    with store.write(f"gate {gate.name}") as tx:
        _log(tx, gate, gate_id, evaluated, report)
    return report


def _sample_words(completed: CompletedLabels) -> str:
    return (
        f"{completed.sample}: {completed.labelled:,} of {completed.drawn:,} drawn items are "
        f"labelled, {completed.positives:,} of them relevant; {completed.frame}"
    )


def _notices(
    evaluated: EvaluatedRuns,
    declared: int,
    openings: Sequence[OpenedBefore],
    seals: Sequence[Seal],
) -> list[str]:
    found = [*origin_notices(evaluated), *(line for seal in seals for line in seal.lines())]
    shown = set(evaluated.queries.tolist())
    earlier = [one for one in openings if one.queries & shown and one.revision < declared]
    if earlier:
        found.append(
            f"these rules were declared at revision {declared}, after sealed results had been "
            f"opened at revision {earlier[0].revision}: they can't have been written blind"
        )
    if not seals:
        found.append(
            "no query of the pool is sealed by a frozen split: nothing shows that these rules were "
            "written before anybody saw results"
        )
    return found


def _log(
    tx: WriteTransaction,
    gate: GateFile,
    gate_id: int,
    evaluated: EvaluatedRuns,
    report: GateReport,
) -> None:
    content = asdict(report)
    values = {
        (result.metric, result.slice): LoggedValue(
            run_id=evaluated.runs[gate.candidate].key,
            metric=result.metric,
            slice=result.slice,
            value=result.value,
            low=result.low,
            high=result.high,
            queries=result.queries,
            coverage=result.coverage,
        )
        for result in report.checks
    }
    key = log_evaluation(
        tx,
        NewEvaluation(
            command="gate",
            snapshot_id=evaluated.snapshot_id,
            pool_id=evaluated.pool_id,
            label_source=gate.labels,
            label_revision=report.revision,
            settings={"gate": gate.name, "digest": gate.digest},
            result=content,
            values=list(values.values()),
        ),
    )
    tx.connection.execute(
        sa.insert(table(GateRun)).values(
            evaluation_id=key, gate_id=gate_id, verdict=report.verdict.value
        )
    )
