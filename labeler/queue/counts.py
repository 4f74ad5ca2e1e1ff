"""Counts of the queue, for the lead: never for a reviewer's sitting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from labeler.draws.frames import SAMPLE
from labeler.queue.audit import AUDIT
from labeler.queue.judged import JudgedItems, count_judged
from labeler.queue.reasons import SECOND_LOOK
from labeler.queue.routed import order_in_force
from labeler.records import table
from labeler.records.pools import Candidate, Item, Pool
from labeler.records.projections import TaskState, TaskStatus
from labeler.records.queries import QueryVersion
from labeler.records.queue import Assignment, ReviewEvent, Task, TaskReason, VotePurpose
from labeler.records.scales import Assessor, AssessorKind
from labeler.store.projections import reasons_hold

__all__ = ["QueueCounts", "count_queue"]

_TASK, _STATE, _REASON = table(Task), table(TaskState), table(TaskReason)


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """What waits for people.

    Attributes:
        by_status: Tasks by where they stand.
        by_reason: Tasks that are open or disputed, or come back for a second look, by reason; one
            may have several.
        by_domain: Tasks that are open or disputed, by the query's domain; empty where it has none.
        wanted_votes: Votes that are waiting, held or done.
        by_reviewer: Each reviewer's events by kind.
        by_judge: How each judge ended on the items of tasks that are open or disputed.
        drawn: Tasks that are open or disputed whose items a random draw picked.
        orders: The order in which people are asked, by pool; pools that were never routed aside.
    """

    by_status: Mapping[str, int]
    by_reason: Mapping[str, int]
    by_domain: Mapping[str, int]
    wanted_votes: Mapping[str, int]
    by_reviewer: Mapping[str, Mapping[str, int]]
    by_judge: tuple[JudgedItems, ...]
    drawn: int
    orders: Mapping[str, str]


def count_queue(connection: Connection, pool_id: int | None = None) -> QueueCounts:
    """Count the queue, of one pool or of all."""

    def pooled(column: sa.Column[int]) -> ColumnElement[bool]:
        candidate = table(Candidate)
        if pool_id is None:
            return sa.true()
        return column.in_(sa.select(candidate.c.item_id).where(candidate.c.pool_id == pool_id))

    in_pool = pooled(_TASK.c.item_id)
    status = (
        sa.select(_STATE.c.status, sa.func.count())
        .join(_TASK, _TASK.c.id == _STATE.c.task_id)
        .where(in_pool)
        .group_by(_STATE.c.status)
    )
    waiting = [TaskStatus.OPEN.value, TaskStatus.DISPUTED.value]
    reason = (
        sa.select(_REASON.c.reason, sa.func.count())
        .join(_TASK, _TASK.c.id == _REASON.c.task_id)
        .join(_STATE, _STATE.c.task_id == _TASK.c.id)
        .where(
            reasons_hold(),
            # What a second look is asked for is settled, and stays so meanwhile.
            sa.or_(_STATE.c.status.in_(waiting), _REASON.c.reason == SECOND_LOOK),
            in_pool,
        )
        .group_by(_REASON.c.reason)
    )
    drawn = (
        sa.select(sa.func.count(sa.distinct(_REASON.c.task_id)))
        .join(_TASK, _TASK.c.id == _REASON.c.task_id)
        .join(_STATE, _STATE.c.task_id == _TASK.c.id)
        .where(
            reasons_hold(),
            _STATE.c.status.in_(waiting),
            _REASON.c.reason.in_([AUDIT, SAMPLE]),
            in_pool,
        )
    )
    assignment = table(Assignment)
    votes = (
        sa.select(assignment.c.state, sa.func.count())
        .where(pooled(assignment.c.item_id), assignment.c.purpose != VotePurpose.REPEAT.value)
        .group_by(assignment.c.state)
    )
    return QueueCounts(
        by_status=_counts(connection, status),
        by_reason=_counts(connection, reason),
        by_domain=_by_domain(connection, in_pool, waiting),
        wanted_votes=_counts(connection, votes),
        by_reviewer=_by_reviewer(connection, in_pool),
        by_judge=tuple(count_judged(connection, _waiting_items(pool_id, waiting))),
        drawn=int(connection.execute(drawn).scalar_one()),
        orders=_orders(connection, pool_id),
    )


def _orders(connection: Connection, pool_id: int | None) -> dict[str, str]:
    pool = table(Pool)
    statement = sa.select(pool.c.name).order_by(pool.c.name)
    if pool_id is not None:
        statement = statement.where(pool.c.id == pool_id)
    found = {
        str(name): order_in_force(connection, name) for (name,) in connection.execute(statement)
    }
    return {name: order for name, order in found.items() if order is not None}


def _waiting_items(pool_id: int | None, waiting: list[str]) -> sa.Select[int]:
    """Select the items of waiting tasks; of a pool through its candidates, which may be few."""
    candidate = table(Candidate)
    items = (
        sa.select(_TASK.c.item_id)
        .join(_STATE, _STATE.c.task_id == _TASK.c.id)
        .where(_STATE.c.status.in_(waiting))
    )
    if pool_id is None:
        return items
    return items.join(candidate, candidate.c.item_id == _TASK.c.item_id).where(
        candidate.c.pool_id == pool_id
    )


def _counts(connection: Connection, statement: sa.Select[Any]) -> dict[str, int]:
    rows = [(str(name or ""), int(count)) for name, count in connection.execute(statement)]
    return dict(sorted(rows, key=lambda row: (-row[1], row[0])))


def _by_domain(
    connection: Connection, in_pool: ColumnElement[bool], waiting: list[str]
) -> dict[str, int]:
    version, item = table(QueryVersion), table(Item)
    newer = version.alias("newer")
    overtaken = sa.exists().where(
        newer.c.query_id == version.c.query_id, newer.c.version > version.c.version
    )
    statement = (
        sa.select(version.c.domain, sa.func.count())
        .select_from(_TASK)
        .join(_STATE, _STATE.c.task_id == _TASK.c.id)
        .join(item, item.c.id == _TASK.c.item_id)
        .join(version, version.c.query_id == item.c.query_id)
        .where(_STATE.c.status.in_(waiting), in_pool, ~overtaken)
        .group_by(version.c.domain)
    )
    return _counts(connection, statement)


def _by_reviewer(connection: Connection, in_pool: ColumnElement[bool]) -> dict[str, dict[str, int]]:
    event, assessor = table(ReviewEvent), table(Assessor)
    statement = (
        sa.select(assessor.c.name, event.c.kind, sa.func.count())
        .join(assessor, assessor.c.id == event.c.assessor_id)
        .join(_TASK, _TASK.c.id == event.c.task_id)
        .where(assessor.c.kind == AssessorKind.PERSON.value, in_pool)
        .group_by(assessor.c.name, event.c.kind)
        .order_by(assessor.c.name, event.c.kind)
    )
    found: dict[str, dict[str, int]] = {}
    for name, kind, count in connection.execute(statement):
        found.setdefault(str(name), {})[str(kind)] = int(count)
    return found
