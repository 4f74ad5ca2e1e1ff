"""Reports on how good runs are, in the log of evaluations."""

from __future__ import annotations

from dataclasses import asdict

import sqlalchemy as sa

from labeler.records import table
from labeler.records.pools import Pool
from labeler.reports.evaluation_log import LoggedValue, NewEvaluation, log_evaluation
from labeler.reports.recall import RecallReport
from labeler.retrieval.runs import all_runs
from labeler.store.database import Store

__all__ = ["log_recall"]


def log_recall(store: Store, report: RecallReport, pool: str | None) -> int:
    """Append what a report said to the log, and give its key.

    Args:
        store: The open database.
        report: The report.
        pool: The pool that it speaks of, or None.
    """
    conditions = report.conditions
    with store.write("report recall") as tx:
        runs = {
            run.name: run for run in all_runs(tx.connection) if run.snapshot == conditions.snapshot
        }
        pools = table(Pool)
        pool_id = tx.connection.execute(sa.select(pools.c.id).where(pools.c.name == pool)).scalar()
        first = runs[report.metrics[0].run]
        return log_evaluation(
            tx,
            NewEvaluation(
                command="report recall",
                snapshot_id=first.snapshot_id,
                pool_id=pool_id,
                label_source=conditions.labels,
                label_revision=conditions.revision,
                settings={"conditions": asdict(conditions)},
                result={"slices": [asdict(one) for one in report.slices]},
                values=[
                    LoggedValue(
                        run_id=runs[row.run].key,
                        metric=row.metric,
                        slice=row.slice,
                        value=row.summary.macro.value,
                        low=row.summary.macro.low,
                        high=row.summary.macro.high,
                        queries=row.summary.macro.queries,
                        coverage=row.judged_coverage,
                    )
                    for row in report.metrics
                ],
            ),
        )
