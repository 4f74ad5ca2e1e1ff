"""What `labeler sample status` and `labeler sample queries` print."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from labeler.cli.output import print_facts, print_table, program

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from labeler.evaluation.posterior import Interval
    from labeler.sampling.estimates import NamedEstimate
    from labeler.sampling.queries import QuerySampleReport
    from labeler.sampling.status import SampleStatus

__all__ = ["print_query_draw", "print_status", "status_as_json", "write_query_draw"]

_ASSUMPTION = (
    "assumption: what can't be judged is, in its stratum, like what can; "
    "'if not' holds whatever the truth"
)


def status_as_json(found: SampleStatus) -> dict[str, object]:
    """Give a status as plain values."""
    return {
        "name": found.name,
        "kind": found.kind,
        "frame": found.frame,
        "revision": found.revision,
        "label_source": "human",
        "phases": {str(phase): count for phase, count in found.phases.items()},
        "sequential": found.is_sequential,
        "complete": found.is_complete,
        "known": found.known,
        "known_relevant": found.known_relevant,
        "strata": [asdict(one) for one in found.strata],
        **asdict(found.facts),
        "nonresponse": "assumed missing at random inside strata",
        "prior": found.prior,
        "estimates": [_estimate_json(one) for one in found.estimates],
        "first_phase_estimates": [_estimate_json(one) for one in found.first_phase],
        "slices": [
            {
                "slice": one.name,
                "queries": one.queries,
                "drawn": one.drawn,
                "labelled": one.labelled,
                "relevant": one.relevant,
                "strength": one.strength,
                "estimates": [_estimate_json(each) for each in one.estimates],
            }
            for one in found.slices
        ],
    }


def _estimate_json(one: NamedEstimate) -> dict[str, object]:
    return {
        "metric": one.metric,
        "first": one.first,
        "second": one.second,
        "value": one.found.value,
        "low": one.found.interval.low,
        "high": one.found.interval.high,
        "low_whatever_was_abstained": one.found.bounds.low,
        "high_whatever_was_abstained": one.found.bounds.high,
        "confidence": 0.95,
        "method": one.found.method,
        "standard_error": one.found.error,
        "value_with_judge": None if one.assisted is None else one.assisted.value,
        "standard_error_with_judge": None if one.assisted is None else one.assisted.error,
    }


def print_status(found: SampleStatus) -> None:
    """Print a status."""
    facts = found.facts
    drawn = sum(found.phases.values())
    print_facts(
        {
            "frame": found.frame,
            "labels": "of people; drawn items only",
            "labelled apart from it": f"{found.known:,}, {found.known_relevant:,} of them relevant",
            "drawn": f"{drawn:,} in {len(found.phases)} phase{'s'[: len(found.phases) > 1]}",
            "answered": f"{drawn - facts.waiting:,} of {drawn:,}",
            "labelled": f"{facts.labelled:,}, {facts.relevant:,} of them relevant (unweighted)",
            "can't be judged": facts.abstained,
            "effective size": facts.effective,
            "design effect": facts.design_effect,
            "strength": facts.strength,
        }
    )
    print()
    print_table(
        ["stratum", "items", "drawn", "labelled", "relevant", "can't judge", "waiting"],
        [
            [
                one.name,
                one.size,
                one.drawn,
                one.labelled,
                one.relevant,
                one.abstained,
                one.waiting,
            ]
            for one in found.strata
        ],
    )
    print()
    if not facts.labelled:
        print(f"nobody has answered yet: {program()} review")
        return
    _print_estimates(found.estimates, with_bounds=bool(facts.abstained))
    methods = sorted({one.found.method for one in found.estimates})
    print(f"interval: {'; '.join(methods)}; queries as they are (fixed)")
    print(f"prior: {found.prior}")
    if any(one.assisted is not None for one in found.estimates):
        print("with judge: the difference estimator, leaning on the scores' probabilities")
    if facts.abstained:
        print(_ASSUMPTION)
    if found.is_sequential:
        print()
        print("a later phase was drawn when answers were in; by the first phase alone:")
        _print_estimates(found.first_phase, with_bounds=False)
    if found.slices:
        print()
        _print_slices(found)
    if not found.is_complete:
        print(f"{facts.waiting:,} drawn items wait for an answer: until then this is provisional")


def _print_estimates(estimates: Sequence[NamedEstimate], *, with_bounds: bool) -> None:
    header = ["metric", "run", "less", "estimate", "95% interval"]
    assisted = any(one.assisted is not None for one in estimates)
    header += (["if not"] if with_bounds else []) + (["with judge"] if assisted else [])
    rows: list[list[object]] = []
    for one in estimates:
        row: list[object] = [one.metric, one.first, one.second or "-", one.found.value]
        row.append(_cell(one.found.interval))
        if with_bounds:
            row.append(_cell(one.found.bounds))
        if assisted:
            row.append(None if one.assisted is None else one.assisted.value)
        rows.append(row)
    print_table(header, [["undefined" if cell is None else cell for cell in row] for row in rows])


def _print_slices(found: SampleStatus) -> None:
    """Print what the same draws say of each slice."""
    header = ["slice", "queries", "labelled", "relevant", "strength", "metric", "run", "less"]
    rows: list[list[object]] = []
    shown = [part for part in found.slices if part.relevant]
    for part in shown:
        about: list[object] = [part.name, part.queries, part.labelled, part.relevant, part.strength]
        for one in part.estimates:
            told = [one.metric.partition("[")[0], one.first, one.second or "-"]
            value = "undefined" if one.found.value is None else one.found.value
            rows.append([*about, *told, value, _cell(one.found.interval)])
            about = [""] * len(about)
    if rows:
        print_table([*header, "estimate", "95% interval"], rows)
    if left := len(found.slices) - len(shown):
        print(f"{left:,} slices have no relevant drawn item; --json has them, too")


def _cell(interval: Interval) -> str:
    return f"[{interval.low + 0.0:,.3f}, {interval.high + 0.0:,.3f}]"


def print_query_draw(report: QuerySampleReport) -> None:
    """Print what was drawn from logs, by stratum."""
    print_facts(
        {
            "frame": report.frame,
            "sample": report.name,
            "seed": report.seed,
            "drawn": len(report.queries),
            "short means": "three words or fewer, so that it may be ambiguous",
        }
    )
    print()
    print_table(
        ["stratum", "queries", "asked", "drawn", "probability"],
        [[one.name, one.size, one.asked, one.drawn, one.drawn / one.size] for one in report.strata],
    )
    if report.revision is None:
        print("nothing changed: this draw was made before")


def write_query_draw(report: QuerySampleReport, path: Path) -> None:
    """Write drawn queries as JSON lines, all of them or none."""
    from labeler.formats.atomic import replacing

    with replacing(path) as file:
        for one in report.queries:
            file.write((json.dumps(asdict(one), ensure_ascii=False) + "\n").encode())
