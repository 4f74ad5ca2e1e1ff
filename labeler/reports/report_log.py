"""Reports in the log of evaluations, and what is another one than in the report before."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.corpus import Snapshot
from labeler.records.evaluations import Evaluation
from labeler.records.pools import Pool
from labeler.records.project import Revision
from labeler.reports.evaluation_log import LoggedValue, NewEvaluation, log_evaluation
from labeler.retrieval.runs import all_runs
from labeler.store.database import Store

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Logged", "ReportValue", "changed_conditions", "log_report", "plain"]

_COMPARED = (
    "snapshot",
    "pool",
    "rubric",
    "scales",
    "gains",
    "labels",
    "relevant",
    "order",
    "split",
    "origin",
    "scores",
)


@dataclass(frozen=True, slots=True)
class ReportValue:
    """One number that a report gave of a run.

    Attributes:
        run: The run's name.
        metric: The number's name, which says what it is.
        value: The number, or None where it is undefined.
        queries: Queries that count.
        slice: The queries that it is over.
        low: The lower limit of its interval, or None.
        high: The upper limit, or None.
        coverage: The share of judged places, or None.
    """

    run: str
    metric: str
    value: float | None
    queries: int
    slice: str = "all"
    low: float | None = None
    high: float | None = None
    coverage: float | None = None


@dataclass(frozen=True, slots=True)
class Logged:
    """What came of logging a report.

    Attributes:
        evaluation: Its number in the log.
        changed: What is another one than in the report before: of the same command, on one of the
            same runs or judges.
    """

    evaluation: int
    changed: tuple[str, ...]


def log_report(
    store: Store,
    command: str,
    conditions: Mapping[str, object],
    *,
    result: Mapping[str, object],
    values: Sequence[ReportValue] = (),
    subjects: Sequence[str] = (),
    pool: str | None = None,
    as_of: int | None = None,
    before: Mapping[str, object] | None = None,
    runs: Mapping[str, int] | None = None,
) -> Logged:
    """Append a report to the log of evaluations, and tell what changed since the one before.

    The one before is the latest that spoke of the present. A report that is rebuilt looks only at
    what was logged by then, so that it says what it said.

    Args:
        store: The open database.
        command: What made it, such as ``report recall``.
        conditions: What its numbers rest on: ``labels`` and ``revision`` of them, the name of the
            ``snapshot`` where there is one, and whatever else is told when it changes.
        result: What came out, as plain values.
        values: Its numbers, each run, metric and slice once.
        subjects: What it speaks of; the runs of the values by default.
        pool: The pool's name, or None.
        as_of: The revision that it was rebuilt for, or None.
        runs: The keys of runs by the names that values have; all of the snapshot by default.
        before: The conditions of another report to hold it against, in place of the latest.
    """
    about = list(subjects) or list(dict.fromkeys(one.run for one in values))
    snapshot = conditions.get("snapshot")
    with store.write(command) as tx:
        if before is None:
            changed = _changed(tx.connection, command, conditions, about, as_of)
        else:
            changed = tuple(changed_conditions(before, conditions))
        if runs is None:
            known = all_runs(tx.connection)
            runs = {run.name: run.key for run in known if run.snapshot == snapshot}
        key = log_evaluation(
            tx,
            NewEvaluation(
                command=command,
                snapshot_id=_key(tx.connection, table(Snapshot), snapshot),
                pool_id=_key(tx.connection, table(Pool), pool),
                label_source=str(conditions["labels"]),
                label_revision=int(str(conditions["revision"])),
                settings={"conditions": dict(conditions), "subjects": about, "as_of": as_of},
                result=result,
                values=[_value(runs[one.run], one) for one in values],
            ),
        )
    return Logged(key, changed)


def _value(run_id: int, one: ReportValue) -> LoggedValue:
    return LoggedValue(
        run_id=run_id,
        metric=one.metric,
        slice=one.slice,
        value=one.value,
        low=one.low,
        high=one.high,
        queries=one.queries,
        coverage=one.coverage,
    )


def _key(connection: Connection, of: sa.Table, name: object) -> int | None:
    if name is None:
        return None
    found = connection.execute(sa.select(of.c.id).where(of.c.name == str(name))).scalar()
    return None if found is None else int(found)


def _changed(
    connection: Connection,
    command: str,
    conditions: Mapping[str, object],
    subjects: Sequence[str],
    as_of: int | None,
) -> tuple[str, ...]:
    """Tell what changed since the latest report of the same command on one of the subjects."""
    logged, revision = table(Evaluation), table(Revision)
    statement = (
        sa.select(logged.c.id, logged.c.settings, revision.c.at)
        .join(revision, revision.c.id == logged.c.revision_id)
        .where(logged.c.command == command)
        .order_by(logged.c.id.desc())
    )
    if as_of is not None:
        statement = statement.where(logged.c.revision_id <= as_of)
    for row in connection.execute(statement):
        settings = json.loads(row.settings)
        is_rebuilt = settings.get("as_of") is not None
        if is_rebuilt or not set(settings.get("subjects", ())) & set(subjects):
            continue
        since = f"since evaluation {row.id} of {row.at:%Y-%m-%d %H:%M} UTC"
        found = changed_conditions(settings["conditions"], conditions)
        return tuple(f"{since}, {one}" for one in found)
    return ()


def changed_conditions(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """Tell what is another one than in an earlier report: snapshot, pool, rubric, scale and so on.

    Args:
        before: The conditions of the earlier report.
        now: Those of this one.
    """
    found = []
    for name in _COMPARED:
        if name not in now or name not in before:
            continue
        was, then = (_worded(one[name]) for one in (before, now))
        if was != then:
            found.append(f"{name}: {was} before, {then} now")
    return found


def _worded(value: object) -> str:
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def plain(report: DataclassInstance) -> dict[str, Any]:
    """Give a report as plain values for JSON; a number that is infinite or none becomes null."""
    found: dict[str, Any] = _plain(asdict(report))
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value
