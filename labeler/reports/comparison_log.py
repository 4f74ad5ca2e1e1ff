"""Comparisons in the log of evaluations."""

from __future__ import annotations

from dataclasses import asdict

from labeler.reports.compared_runs import ComparisonReport
from labeler.reports.evaluated import EvaluatedRuns
from labeler.reports.evaluation_log import LoggedValue, NewEvaluation, log_evaluation
from labeler.store.database import Store

__all__ = ["log_comparison"]


def log_comparison(store: Store, report: ComparisonReport, evaluated: EvaluatedRuns) -> int:
    """Append a comparison to the log and give its key; each run's own values are logged too."""
    values: dict[tuple[str, str, str], LoggedValue] = {}
    for one in report.comparisons:
        sides = (
            (one.run, one.found.first, one.coverage),
            (one.against, one.found.second, one.other_coverage),
        )
        for run, value, coverage in sides:
            values[run, one.metric, one.slice] = LoggedValue(
                run_id=evaluated.runs[run].key,
                metric=one.metric,
                slice=one.slice,
                value=value,
                low=None,
                high=None,
                queries=one.found.queries,
                coverage=coverage,
            )
    with store.write("report compare") as tx:
        return log_evaluation(
            tx,
            NewEvaluation(
                command="report compare",
                snapshot_id=evaluated.snapshot_id,
                pool_id=evaluated.pool_id or None,
                label_source=report.conditions.labels,
                label_revision=evaluated.revision,
                settings={"adjustment": report.adjustment, "runs": list(evaluated.runs)},
                result=asdict(report),
                values=list(values.values()),
            ),
        )
