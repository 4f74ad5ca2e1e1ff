"""Reports on runs as pages: metrics, coverage, sensitivity, misses, settings."""

from __future__ import annotations

from collections.abc import Sequence

from labeler.reports.charts import IntervalRow, bar_chart, interval_chart
from labeler.reports.coverage import CoverageReport
from labeler.reports.grid import GridReport
from labeler.reports.misses import MissReport
from labeler.reports.page import facts, heading, notes, page, paragraph, table
from labeler.reports.recall import RecallReport
from labeler.reports.sensitivity import SensitivityReport

__all__ = ["coverage_page", "grid_page", "misses_page", "recall_page", "sensitivity_page"]

_SHARES = (0.0, 1.0)


def recall_page(report: RecallReport, told: Sequence[str] = ()) -> str:
    """Write the page of a report on metrics; ``told`` is said on top."""
    overall = report.slices[0].slice
    rows = [row for row in report.metrics if row.slice == overall]
    body = [facts(report.conditions.facts()), notes((*told, *report.notices))]
    for metric in dict.fromkeys(row.metric for row in rows):
        of_metric = [row for row in rows if row.metric == metric]
        chart = [
            IntervalRow(row.run, row.summary.macro.value, row.summary.lower, row.summary.upper)
            for row in of_metric
        ]
        body += [heading(metric), interval_chart(metric, chart, _SHARES)]
    body += [
        paragraph(
            "A bar goes from what the metric is at least to what it is at most, whatever unknown "
            f"items are. The interval: {report.interval}."
        ),
        heading("All slices"),
        table(
            [
                *("slice", "run", "metric", "value", "interval"),
                *("at least", "at most", "judged", "queries", "undefined"),
            ],
            [
                [
                    *(row.slice, row.run, row.metric, row.summary.macro.value),
                    _limits(row.summary.macro.low, row.summary.macro.high),
                    *(row.summary.lower, row.summary.upper, row.judged_coverage),
                    *(row.summary.macro.queries, row.summary.undefined),
                ]
                for row in report.metrics
            ],
        ),
    ]
    return page("Runs measured", body)


def coverage_page(report: CoverageReport, told: Sequence[str] = ()) -> str:
    """Write the page of a report on coverage; ``told`` is said on top."""
    name = f"judged@{report.cutoff}"
    chart = [IntervalRow(row.run, row.judged, row.judged, row.judged) for row in report.rows]
    body = [
        facts(report.conditions.facts()),
        notes((*told, *report.notices)),
        heading(name),
        interval_chart(name, chart, _SHARES),
        table(
            ["run", "role", name, "unknown", "only here", "can't judge", "outside"],
            [
                [
                    *(row.run, row.role, row.judged, row.unknown),
                    *(row.candidate_only, row.abstained, row.outside),
                ]
                for row in report.rows
            ],
        ),
        heading("Leaving a run's own labels out"),
        table(
            ["left out", "labels gone", report.metric, "change", "tau of all runs", "largest fall"],
            [
                [row.run, row.labels, row.value, row.change, row.tau, row.largest_drop]
                for row in report.left_out
            ],
        ),
    ]
    if report.refusals:
        body.append(heading("Not comparable until more is judged"))
        body.append(
            table(
                ["run", "run", "judged shares differ by", "what draws the judgments"],
                [
                    [one.first, one.second, f"{100 * one.gap:.1f} points", one.command]
                    for one in report.refusals
                ],
            )
        )
    return page("How far runs are judged", body)


def sensitivity_page(report: SensitivityReport, told: Sequence[str] = ()) -> str:
    """Write the page of a report on sensitivity; ``told`` is said on top."""
    chart = [
        IntervalRow(row.scenario, row.difference, *_or_point(row.difference, row.low, row.high), 0)
        for row in report.rows
    ]
    lead = f"{report.leader} less {report.other}, {report.metric}"
    most = "no number of top gains" if report.most_flips is None else f"{report.most_flips:,}"
    flips = "no labels of unknown items can"
    if report.least_flips is not None:
        number = f"{report.least_flips:,}"
        span = number if report.least_flips == report.most_flips else f"from {number} to {most}"
        flips = f"{span} of {report.available:,} unknown items would have to be relevant"
    body = [
        facts({"verdict": f"{report.verdict.value}: {report.why}", "to reverse it": flips}),
        facts(report.conditions.facts()),
        notes((*told, *report.notices)),
        heading(lead),
        interval_chart(lead, chart, (-1.0, 1.0)),
        table(
            ["scenario", "kind", report.leader, report.other, "difference", "interval", "rests on"],
            [
                [
                    row.scenario,
                    row.basis.value,
                    *("-" if one is None else one for one in (row.leader, row.other)),
                    "-" if row.difference is None else row.difference,
                    _limits(row.low, row.high),
                    row.note,
                ]
                for row in report.rows
            ],
        ),
    ]
    if report.next is not None:
        body += [heading("What collects what is missing"), paragraph(report.next)]
    return page("What a comparison owes to unknown items", body)


def misses_page(report: MissReport, told: Sequence[str] = ()) -> str:
    """Write the page of a report on misses; ``told`` is said on top."""
    body = [
        facts(
            {
                "run": report.run,
                "known relevant": f"{report.known_relevant:,}",
                f"in the top {report.cutoff}": f"{report.found:,}",
                "missed": f"{len(report.misses):,}",
                f"unknown in the top {report.cutoff}": f"{len(report.unknown):,}",
            }
        ),
        facts(report.conditions.facts()),
        notes((*told, *report.notices)),
        heading("Why"),
        bar_chart("Misses by failure class", report.by_class),
        heading("Misses"),
        table(
            ["query", "evidence", "rank", "why", "by", "note"],
            [
                [
                    *(miss.query, miss.evidence, "-" if miss.rank is None else miss.rank),
                    *(miss.failure.value, miss.ruled_by or "rule", miss.note),
                ]
                for miss in report.misses
            ],
        ),
        heading("Unknown, neither hit nor miss"),
        table(
            ["query", "evidence", "rank"],
            [[one.query, one.evidence or "not in the project", one.rank] for one in report.unknown],
        ),
    ]
    return page(f"What {report.run} missed", body)


def grid_page(report: GridReport, told: Sequence[str] = ()) -> str:
    """Write the page of a grid; ``told`` is said on top."""
    body = [
        facts(
            {
                "run": report.run,
                "candidates of": report.first_stage,
                "queries": f"{report.queries:,}, the dev part of the split {report.split}",
                "labels": f"{report.labels} at revision {report.revision}",
                "frame": f"pool {report.pool} on snapshot {report.snapshot}",
            }
        ),
        notes(told),
    ]
    for metric in dict.fromkeys(one.metric for one in report.cells):
        cells = [one for one in report.cells if one.metric == metric]
        chart = [IntervalRow(one.setting, one.value, one.lowest, one.highest) for one in cells]
        body += [heading(metric), interval_chart(metric, chart, _SHARES)]
        body.append(
            table(
                ["setting", "value", "at least", "at most", "judged", "returned"],
                [
                    [one.setting, one.value, one.lowest, one.highest, one.coverage, one.returned]
                    for one in cells
                ],
            )
        )
    return page(f"{report.run} at other settings", body)


def _limits(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


def _or_point(
    value: float | None, low: float | None, high: float | None
) -> tuple[float | None, float | None]:
    """Give limits to draw: those of the interval, or the value where there is none."""
    return (value, value) if low is None or high is None else (low, high)
