"""Tables that the reports on runs share: conditions, intervals, needs of answers, serving."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from labeler.cli.output import print_table

if TYPE_CHECKING:
    from labeler.evaluation.agreement import Estimate
    from labeler.evaluation.latency import Quantile
    from labeler.evaluation.summary import Mean
    from labeler.reports.conditions import Conditions
    from labeler.reports.recall import NeedRow
    from labeler.reports.serving import Serving, Spread

__all__ = [
    "condition_facts",
    "estimate_of",
    "interval_of",
    "print_needs",
    "print_serving",
    "share",
    "spread_of",
]

_WHOLE = 10
"""Milliseconds from which on no fraction is printed."""


def condition_facts(conditions: Conditions) -> dict[str, object]:
    """Give the conditions of a report as names and values to print."""
    return {
        "frame": conditions.frame,
        "labels": f"{conditions.labels}; relevant is {conditions.relevant}",
        "scale": "; ".join(conditions.scales),
        "gains": conditions.gains,
        "rubric": conditions.rubric,
        "snapshot": conditions.snapshot,
        "revision": str(conditions.revision),
        "order": f"by {conditions.order}",
        "queries": f"{conditions.queries:,} in {conditions.clusters:,} clusters, "
        f"{conditions.labelled_queries:,} with a label; of origin {conditions.origin}",
    }


def share(value: float | None) -> str:
    """Write a number that is 1 at most, or that it is undefined."""
    return "undefined" if value is None else f"{value + 0.0:.3f}"


def estimate_of(found: Estimate, *, explained: bool = False) -> str:
    """Write an estimate with its interval; where explained, with the reason that there is none."""
    if found.value is None:
        return f"undefined, {found.undefined}" if explained else "undefined"
    value = f"{found.value + 0.0:.3f}"
    if found.low is not None and found.high is not None:
        return f"{value} [{found.low:.3f}, {found.high:.3f}]"
    return f"{value}, no interval: {found.no_interval}" if explained else value


def interval_of(mean: Mean) -> str:
    """Write the interval of a mean, or a dash."""
    if mean.low is None or mean.high is None:
        return "-"
    return f"[{mean.low:.3f}, {mean.high:.3f}]"


def spread_of(found: Spread | None, of: str) -> str:
    """Write the least, the most and the middle of some counts."""
    if found is None:
        return "none"
    return f"{found.least:g} to {found.most:g} {of}, the middle is {found.middle:g}"


def print_needs(rows: list[NeedRow]) -> None:
    """Print whether runs bring what answers need, where queries say so."""
    told = [
        row
        for row in rows
        if row.required_evidence_coverage.value is not None or row.domain_accuracy.value is not None
    ]
    if not told:
        return
    print_table(
        [
            "run",
            f"required_evidence_coverage@{told[0].required_cutoff}",
            "interval",
            "queries",
            f"domain_accuracy@{told[0].domain_cutoff}",
            "interval",
            "at most",
            "queries",
        ],
        [
            [
                row.run,
                share(row.required_evidence_coverage.value),
                interval_of(row.required_evidence_coverage),
                row.required_evidence_coverage.queries,
                share(row.domain_accuracy.value),
                interval_of(row.domain_accuracy),
                share(row.domain_upper),
                row.domain_accuracy.queries,
            ]
            for row in told
        ],
    )
    print()


def print_serving(rows: Iterable[Serving]) -> None:
    """Print latency and its company, or that none is recorded."""
    told = [
        row
        for row in rows
        if row.p50.value is not None or row.timeouts_known or row.cost is not None
    ]
    if not told:
        print("latency, timeouts and cost are not recorded for these runs")
        return
    print_table(
        [
            "run",
            "p50 ms",
            "interval",
            "p95 ms",
            "interval",
            "timed out",
            "candidates",
            "returned",
            "cache",
            "cost",
        ],
        [
            [
                row.run,
                _milliseconds(row.p50.value),
                _limits(row.p50),
                _milliseconds(row.p95.value),
                _limits(row.p95),
                f"{row.timed_out:,} of {row.timeouts_known:,}" if row.timeouts_known else "-",
                "-" if row.candidate_depth is None else f"{row.candidate_depth.middle:g}",
                "-" if row.returned is None else f"{row.returned.middle:g}",
                _counts(row.cache),
                "-" if row.cost is None else f"{row.cost:,.4f} of {row.cost_known:,} queries",
            ]
            for row in told
        ],
    )
    for reason in dict.fromkeys(
        f"p{100 * one.share:.0f}: {one.reason}"
        for row in told
        for one in (row.p50, row.p95)
        if one.reason is not None
    ):
        print(reason)


def _limits(found: Quantile) -> str:
    if found.low is None and found.high is None:
        return "-"
    return f"[{_milliseconds(found.low)}, {_milliseconds(found.high)}]"


def _milliseconds(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= _WHOLE else f"{value:.2g}"


def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in found.items())
