"""A comparison as a page with a chart of each difference."""

from __future__ import annotations

from collections.abc import Sequence

from labeler.reports.charts import IntervalRow, interval_chart
from labeler.reports.compared_runs import ComparedRuns, ComparisonReport, Finding
from labeler.reports.page import facts, heading, notes, page, paragraph, table

__all__ = ["comparison_page"]

_HEADER = ["run", "against", "metric", "slice", "difference", "adjusted p", "possible"]
_HEADER += ["queries", "clusters", "finding"]
_KINDS = {Finding.BETTER: "good", Finding.WORSE: "bad"}


def comparison_page(report: ComparisonReport, told: Sequence[str] = ()) -> str:
    """Write the page.

    Args:
        report: The comparison.
        told: What is said on top.
    """
    shown = [one for one in report.comparisons if one.finding is not Finding.JUDGMENTS_FIRST]
    commands = dict.fromkeys(one.command for one in report.comparisons if one.command)
    body = [
        facts(report.conditions.facts()),
        notes((*(report.across.lines() if report.across else ()), *told, *report.notices)),
        heading("Differences"),
        paragraph(f"{report.declared} comparisons share one error by {report.adjustment}."),
        interval_chart("Differences with their intervals", [_interval(one) for one in shown]),
        table(
            _HEADER,
            [_row(one) for one in report.comparisons],
        ),
    ]
    if commands:
        body += [heading("What collects what is missing"), *map(paragraph, commands)]
    return page("Runs compared", body)


def _interval(one: ComparedRuns) -> IntervalRow:
    interval = one.adjusted_interval or one.found.interval
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    name = f"{one.run}: {one.metric} {one.slice}"
    return IntervalRow(name, one.found.value, low, high, 0.0, _KINDS.get(one.finding, "open"))


def _row(one: ComparedRuns) -> list[object]:
    refused = one.finding is Finding.JUDGMENTS_FIRST
    possible = "-" if one.lowest is None else f"{one.lowest:.3f} to {one.highest or 0.0:.3f}"
    numbers = ["-", "-"] if refused else [one.found.value, one.adjusted_p]
    counts = [one.found.queries, one.found.clusters]
    return [
        *(one.run, one.against, one.metric, one.slice),
        *numbers,
        possible,
        *counts,
        one.finding.value,
    ]
