"""How a metric went over time: what was logged, and what changed between two evaluations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Row

from labeler.errors import NotFoundError
from labeler.records import table
from labeler.records.corpus import Snapshot
from labeler.records.evaluations import Evaluation, EvaluationValue
from labeler.records.pools import Pool
from labeler.records.project import Revision
from labeler.records.runs import Run
from labeler.reports.charts import TrendPoint, trend_chart
from labeler.reports.page import facts, heading, notes, page, paragraph
from labeler.reports.page import table as table_of
from labeler.reports.report_log import changed_conditions

__all__ = ["LoggedPoint", "Trend", "read_trends", "trend_page"]

_TOLD = ("rubric", "scales", "gains", "relevant", "order", "origin")
"""Conditions that are told when they change, where both evaluations logged them."""


@dataclass(frozen=True, slots=True)
class LoggedPoint:
    """One logged value.

    Attributes:
        evaluation: The evaluation's number.
        at: When it was made.
        by: Who made it.
        command: What made it.
        value: The value, or None where it was undefined.
        low: The lower limit of its interval, or None.
        high: The upper limit, or None.
        queries: Queries that counted.
        coverage: The share of judged places, or None.
        snapshot: The snapshot.
        pool: The pool, or ``-``.
        labels: Whose labels counted.
        revision: The revision of the labels.
        changed: What is another than at the point before, so that the two can't be compared.
    """

    evaluation: int
    at: datetime
    by: str
    command: str
    value: float | None
    low: float | None
    high: float | None
    queries: int
    coverage: float | None
    snapshot: str
    pool: str
    labels: str
    revision: int
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trend:
    """The logged values of one metric of one run on one slice, oldest first."""

    run: str
    metric: str
    slice: str
    points: tuple[LoggedPoint, ...]


_Conditions = Mapping[str, object]


def read_trends(
    connection: Connection,
    *,
    run: str | None = None,
    metric: str | None = None,
    slice_name: str = "all",
) -> list[Trend]:
    """Read what was logged.

    Args:
        connection: A transaction's connection.
        run: The run's name; all runs by default.
        metric: How the metric's name begins, such as ``P@5`` or ``P@5[unknown=0][human]``; all
            metrics by default.
        slice_name: The slice.

    Raises:
        NotFoundError: When nothing like that was logged.
    """
    value, evaluation, revision = table(EvaluationValue), table(Evaluation), table(Revision)
    runs, snapshot, pool = table(Run), table(Snapshot), table(Pool)
    statement = (
        sa.select(
            runs.c.name.label("run"),
            value,
            evaluation.c.command,
            evaluation.c.label_source,
            evaluation.c.label_revision,
            evaluation.c.settings,
            revision.c.at,
            revision.c.actor,
            snapshot.c.name.label("snapshot"),
            pool.c.name.label("pool"),
        )
        .join(evaluation, evaluation.c.id == value.c.evaluation_id)
        .join(revision, revision.c.id == evaluation.c.revision_id)
        .join(runs, runs.c.id == value.c.run_id)
        .join(snapshot, snapshot.c.id == runs.c.snapshot_id)
        .outerjoin(pool, pool.c.id == evaluation.c.pool_id)
        .where(value.c.slice == slice_name)
        .order_by(evaluation.c.id)
    )
    found: dict[tuple[str, str], list[tuple[LoggedPoint, _Conditions]]] = {}
    for row in connection.execute(statement):
        if run not in {None, row.run} or not _is_meant(metric, row.metric):
            continue
        point = LoggedPoint(
            evaluation=row.evaluation_id,
            at=row.at,
            by=row.actor,
            command=row.command,
            value=row.value,
            low=row.low,
            high=row.high,
            queries=row.queries,
            coverage=row.coverage,
            snapshot=row.snapshot,
            pool=row.pool or "-",
            labels=row.label_source,
            revision=row.label_revision,
        )
        found.setdefault((row.run, row.metric), []).append((point, _conditions(row)))
    if not found:
        raise NotFoundError(
            "nothing like that was evaluated yet",
            hint="every report on runs and every gate logs what it says: `labeler report recall`",
        )
    return [
        Trend(name, what, slice_name, _with_changes(points))
        for (name, what), points in sorted(found.items())
    ]


def _is_meant(wanted: str | None, name: str) -> bool:
    return wanted is None or name == wanted or name.startswith(f"{wanted}[")


def _conditions(row: Row[*tuple[Any, ...]]) -> _Conditions:
    logged = json.loads(row.settings).get("conditions", {})
    told = {name: logged[name] for name in _TOLD if name in logged}
    return told | {"snapshot": row.snapshot, "pool": row.pool, "labels": row.label_source}


def _with_changes(
    points: Sequence[tuple[LoggedPoint, _Conditions]],
) -> tuple[LoggedPoint, ...]:
    """Tell at each point what changed since the one before."""
    found: list[LoggedPoint] = []
    before: _Conditions | None = None
    for point, now in points:
        changed = () if before is None else tuple(changed_conditions(before, now))
        found.append(replace(point, changed=changed))
        before = now
    return tuple(found)


def trend_page(trends: Sequence[Trend], told: Sequence[str] = ()) -> str:
    """Write a page with a chart of each trend; ``told`` is said on top."""
    body = [
        notes(told),
        paragraph(
            "Each point is one logged evaluation, its bar the 95% interval over clusters of "
            "queries. The line is broken where snapshot, pool, rubric or the like changed."
        ),
    ]
    for trend in trends:
        title = f"{trend.run}: {trend.metric}, {trend.slice}"
        points = [
            TrendPoint(f"{one.at:%Y-%m-%d}", one.value, one.low, one.high, bool(one.changed))
            for one in trend.points
        ]
        body += [heading(title), trend_chart(title, points)]
        body += [
            facts({f"changed at {one.evaluation}": "; ".join(one.changed)})
            for one in trend.points
            if one.changed
        ]
        body.append(
            table_of(
                ["evaluation", "at", "by", "command", "value", "queries", "labels at revision"],
                [
                    [
                        one.evaluation,
                        f"{one.at:%Y-%m-%d %H:%M} UTC",
                        one.by,
                        one.command,
                        one.value,
                        one.queries,
                        one.revision,
                    ]
                    for one in trend.points
                ],
            )
        )
    return page("Trend", body)
