"""What of each report goes into the log as a number of a run, so that its trend can be told."""

from __future__ import annotations

from labeler.reports.audit import AuditReport
from labeler.reports.compared_runs import ComparisonReport
from labeler.reports.coverage import CoverageReport
from labeler.reports.grid import GridReport
from labeler.reports.misses import MissReport
from labeler.reports.recall import RecallReport
from labeler.reports.report_log import ReportValue
from labeler.reports.sensitivity import SensitivityReport

__all__ = [
    "audit_values",
    "comparison_values",
    "coverage_values",
    "grid_values",
    "miss_values",
    "recall_values",
    "sensitivity_values",
]


def recall_values(report: RecallReport) -> list[ReportValue]:
    """Give every metric of every run and slice."""
    return [
        ReportValue(
            run=row.run,
            metric=row.metric,
            slice=row.slice,
            value=row.summary.macro.value,
            low=row.summary.macro.low,
            high=row.summary.macro.high,
            queries=row.summary.macro.queries,
            coverage=row.judged_coverage,
        )
        for row in report.metrics
    ]


def comparison_values(report: ComparisonReport) -> list[ReportValue]:
    """Give each run's own means over the queries on which a comparison is defined."""
    values: dict[tuple[str, str, str], ReportValue] = {}
    for one in report.comparisons:
        for run, value, coverage in (
            (one.run, one.found.first, one.coverage),
            (one.against, one.found.second, one.other_coverage),
        ):
            values[run, one.metric, one.slice] = ReportValue(
                run=run,
                metric=one.metric,
                slice=one.slice,
                value=value,
                queries=one.found.queries,
                coverage=coverage,
            )
    return list(values.values())


def coverage_values(report: CoverageReport) -> list[ReportValue]:
    """Give each run's judged share."""
    return [
        ReportValue(
            run=row.run,
            metric=f"judged@{report.cutoff}[{report.conditions.labels}]",
            value=row.judged,
            queries=report.conditions.queries,
            coverage=row.judged,
        )
        for row in report.rows
    ]


def sensitivity_values(report: SensitivityReport) -> list[ReportValue]:
    """Give the means of both runs with unknown items taken as not relevant."""
    as_it_is = report.rows[0]
    return [
        ReportValue(
            run=run,
            metric=report.metric,
            value=value,
            queries=report.queries,
            coverage=coverage,
        )
        for run, value, coverage in zip(
            (report.leader, report.other),
            (as_it_is.leader, as_it_is.other),
            report.coverage,
            strict=True,
        )
    ]


def miss_values(report: MissReport) -> list[ReportValue]:
    """Give the share of known relevant evidence that was missed: all of it, and by class."""
    missed = {"missed": len(report.misses)}
    missed |= {f"missed:{name}": count for name, count in report.by_class.items()}
    return [
        ReportValue(
            run=report.run,
            metric=f"{name}@{report.cutoff}[{report.conditions.labels}]",
            value=count / report.known_relevant if report.known_relevant else None,
            queries=report.conditions.labelled_queries,
        )
        for name, count in missed.items()
    ]


def grid_values(report: GridReport) -> list[ReportValue]:
    """Give every metric at every setting; the setting is a part of its name."""
    return [
        ReportValue(
            run=report.run,
            metric=f"{one.metric} {one.setting}",
            slice="dev",
            value=one.value,
            queries=report.queries,
            coverage=one.coverage,
        )
        for one in report.cells
    ]


def audit_values(report: AuditReport) -> list[ReportValue]:
    """Give what the draws say of each run."""
    return [
        ReportValue(
            run=row.run,
            metric=f"{row.name}[drawn]",
            value=row.value,
            low=row.interval.low,
            high=row.interval.high,
            queries=report.conditions.queries,
        )
        for row in report.figures
        if row.run is not None
    ]
