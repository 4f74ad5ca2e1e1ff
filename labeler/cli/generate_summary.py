"""What a run of `labeler generate` prints: what it made, or what it would ask."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from labeler.cli.output import print_facts, print_json, print_table, program, tell

if TYPE_CHECKING:
    from labeler.synthesis.admission import Admitted
    from labeler.synthesis.run_report import GenerateReport
    from labeler.synthesis.setup import GenerateOptions, Ground

__all__ = ["print_admitted", "print_plan", "print_summary", "summary_facts"]


def summary_facts(report: GenerateReport, admitted: Admitted) -> dict[str, Any]:
    """Give what a run did as plain values."""
    return {
        "split": report.split,
        "pack": report.pack_digest,
        "withheld": report.withheld,
        "domains": [
            asdict(one)
            | {"filtered": dict(one.filtered), "unusable": dict(one.unusable), "left": one.left}
            for one in report.domains
        ],
        "to_people": report.to_people,
        "queries": admitted.queries,
        "edits_refused": [{"question": key, "why": why} for key, why in admitted.refused],
        "round_trip_run": admitted.run,
        "recovered": report.recovered,
        "journals_of_other_projects": list(report.foreign),
        "http_requests": report.counts.requests,
        "ended": dict(report.counts.ended),
        "texts_exposed": report.counts.exposed,
        "requests_quarantined": report.counts.quarantined,
        "prompt_tokens": report.counts.prompt_tokens,
        "completion_tokens": report.counts.completion_tokens,
        "cost_usd": None
        if report.counts.unpriced and not report.counts.cost
        else round(report.counts.cost, 6),
        "answers_of_unknown_cost": report.counts.unpriced,
        "stopped": None if report.stop is None else report.stop.message,
    }


def print_summary(report: GenerateReport, admitted: Admitted) -> None:
    """Print what a run did."""
    print_table(
        [
            *("domain", "wanted", "accepted", "before", "generated", "turned down"),
            *("no question", "candidates left"),
        ],
        [
            [
                one.domain or "(none)",
                one.wanted,
                one.accepted,
                one.before,
                one.generated,
                one.generated - (one.accepted - one.before),
                sum(one.unusable.values()),
                one.left,
            ]
            for one in report.domains
        ],
    )
    for one in report.domains:
        if one.why:
            print(f"{one.domain or '(none)'}: {one.accepted} of {one.wanted}: {one.why}")
    print_facts(
        {
            "split": report.split,
            "safe pack": report.pack_digest[:16],
            "withheld for sealed words": report.withheld,
            "texts exposed now": report.counts.exposed,
            "requests": report.counts.requests,
            "cost, US dollars": report.counts.cost,
            "queries made": len(admitted.queries),
            "waiting for people first": report.to_people,
        }
    )
    print_admitted(admitted)
    for path in report.foreign:
        tell(f"note: {path} holds answers for another database that stood here; it stays")
    if report.to_people:
        tell(f"`{program()} generate admit` makes queries of those that people accept")


def print_admitted(admitted: Admitted) -> None:
    """Say what of accepted questions needs attention."""
    for key, why in admitted.refused:
        print(f"question {key}: the edited wording was turned down: {why}")
    if admitted.run is not None:
        print(
            f"for {admitted.beyond} queries other passages came first: the run '{admitted.run}' "
            "holds them; a pool that takes it up has them judged"
        )


def print_plan(ground: Ground, options: GenerateOptions, *, json: bool) -> None:
    """Print what a run would ask, and what that could cost at the most."""
    from labeler.synthesis.preview import preview

    rows = preview(ground, options)
    facts = {
        "split": ground.split.name,
        "pack": ground.pack.digest,
        "chunks": len(ground.pack.chunks),
        "queries": len(ground.pack.queries),
        "withheld": len(ground.withheld),
        "model": options.generator.name,
        "domains": [asdict(one) for one in rows],
    }
    if json:
        print_json(facts)
        return
    print_table(
        ["domain", "wanted", "documents", "chunks", "can be asked", "first requests", "most cost"],
        [
            [
                one.domain or "(none)",
                one.wanted,
                one.documents,
                one.chunks,
                one.tasks,
                one.first_requests,
                "unknown" if one.most_cost is None else f"${one.most_cost:.4f}",
            ]
            for one in rows
        ],
    )
    print_facts({key: value for key, value in facts.items() if key != "domains"})
    print("nothing was asked and nothing was stored")
