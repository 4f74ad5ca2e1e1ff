"""Who holds which item until when. Claiming is one statement on both databases."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.pools import Candidate
from labeler.records.queue import (
    Assignment,
    AssignmentState,
    EventKind,
    ReviewEvent,
    Task,
    VotePurpose,
)
from labeler.store.database import Store
from labeler.store.projections import judgments_in_force

__all__ = ["LEASE", "Claim", "QueueLeft", "claim", "queue_left", "release"]

LEASE = timedelta(minutes=10)
"""How long an item is held without a sign of life."""

_SMALL_POOL = 10_000
"""Up to so many candidates, a pool's waiting items are looked up and sorted, in about 10 ms."""

_ASSIGNMENT, _EVENT = table(Assignment), table(ReviewEvent)
_CANDIDATE, _JUDGMENT = table(Candidate), table(Judgment)


@dataclass(frozen=True, slots=True)
class Claim:
    """An item that a reviewer holds."""

    assignment_id: int
    task_id: int
    item_id: int
    purpose: VotePurpose


@dataclass(frozen=True, slots=True)
class QueueLeft:
    """What is left for one reviewer.

    Attributes:
        waiting: Items that can be claimed now.
        skipped: Items that this reviewer skipped, which still wait.
        held: Items that others hold.
        next_free: When the first of those is free again, or None.
    """

    waiting: int
    skipped: int
    held: int
    next_free: datetime | None


def claim(
    store: Store,
    reviewer_id: int,
    count: int,
    *,
    pool_id: int | None = None,
    with_skipped: bool = False,
    lease: timedelta = LEASE,
) -> list[Claim]:
    """Hold the next items for a reviewer.

    An item that the reviewer has voted on, or has skipped, is passed over. Leases that ran out go
    back first, in a statement of their own.

    Args:
        store: The project.
        reviewer_id: The reviewer's assessor key.
        count: How many items at the most.
        pool_id: Take items of this pool only.
        with_skipped: Take items again that the reviewer skipped.
        lease: For how long.
    """
    with store.work() as connection:
        now = store.clock()
        connection.execute(
            sa.update(_ASSIGNMENT)
            .where(
                _ASSIGNMENT.c.state == AssignmentState.HELD.value,
                _ASSIGNMENT.c.leased_until < now,
            )
            .values(state=AssignmentState.WAITING.value, assessor_id=None, leased_until=None)
        )
        pooled, priority = _in_pool(connection, pool_id)
        picked = (
            sa.select(_ASSIGNMENT.c.id)
            .where(
                _ASSIGNMENT.c.state == AssignmentState.WAITING.value,
                pooled,
                *_open_to(reviewer_id, with_skipped=with_skipped),
            )
            .order_by(priority, _ASSIGNMENT.c.id)
            .limit(count)
            .with_for_update(skip_locked=True)
            .cte("picked")
        )
        statement = (
            sa.update(_ASSIGNMENT)
            .where(_ASSIGNMENT.c.id.in_(sa.select(picked.c.id)))
            .values(
                state=AssignmentState.HELD.value,
                assessor_id=reviewer_id,
                leased_until=now + lease,
            )
            .returning(
                _ASSIGNMENT.c.id,
                _ASSIGNMENT.c.task_id,
                _ASSIGNMENT.c.item_id,
                _ASSIGNMENT.c.purpose,
                _ASSIGNMENT.c.priority,
            )
        )
        rows = sorted(connection.execute(statement), key=lambda row: (row.priority, row.id))
    return [Claim(row.id, row.task_id, row.item_id, VotePurpose(row.purpose)) for row in rows]


def _in_pool(
    connection: Connection, pool_id: int | None
) -> tuple[ColumnElement[bool], ColumnElement[int]]:
    """Make the condition that an assignment is of a pool, and what orders the queue then."""
    priority = _ASSIGNMENT.c.priority
    if pool_id is None:
        return sa.true(), priority
    items = sa.select(_CANDIDATE.c.item_id).where(_CANDIDATE.c.pool_id == pool_id)
    first = items.limit(_SMALL_POOL + 1).subquery()
    size = connection.execute(sa.select(sa.func.count()).select_from(first)).scalar_one()
    if size > _SMALL_POOL:
        # Its turn comes soon when one goes through the queue in order.
        return sa.exists(items.where(_CANDIDATE.c.item_id == _ASSIGNMENT.c.item_id)), priority
    # The sum keeps SQLite from going through the whole queue for the sake of its order.
    return _ASSIGNMENT.c.item_id.in_(items), priority + 0


def _open_to(reviewer_id: int, *, with_skipped: bool) -> list[ColumnElement[bool]]:
    # Each is asked of one assignment after the other, in the order of the queue, until enough are
    # found: a set such as NOT IN (all votes of this reviewer) would be made anew for each claim.
    voted = sa.exists().where(
        _JUDGMENT.c.item_id == _ASSIGNMENT.c.item_id,
        _JUDGMENT.c.assessor_id == reviewer_id,
        judgments_in_force(),
    )
    # Of several votes that are wanted of one item, one at a time, and none by who holds another.
    other = _ASSIGNMENT.alias("other")
    taken = sa.exists().where(
        other.c.task_id == _ASSIGNMENT.c.task_id,
        sa.or_(
            sa.and_(other.c.state == AssignmentState.WAITING.value, other.c.id < _ASSIGNMENT.c.id),
            sa.and_(
                other.c.state == AssignmentState.HELD.value, other.c.assessor_id == reviewer_id
            ),
        ),
    )
    if with_skipped:
        return [~voted, ~taken]
    skipped = sa.exists().where(
        _EVENT.c.task_id == _ASSIGNMENT.c.task_id,
        _EVENT.c.assessor_id == reviewer_id,
        _EVENT.c.kind == EventKind.SKIP.value,
    )
    return [~voted, ~taken, ~skipped]


def renew(connection: Connection, claims: list[Claim], reviewer_id: int, until: datetime) -> None:
    """Hold items for longer; one that was lost meanwhile is let alone."""
    keys = [claim.assignment_id for claim in claims]
    connection.execute(
        sa.update(_ASSIGNMENT)
        .where(
            _ASSIGNMENT.c.id.in_(keys),
            _ASSIGNMENT.c.assessor_id == reviewer_id,
            _ASSIGNMENT.c.state == AssignmentState.HELD.value,
        )
        .values(leased_until=until)
    )


def release(store: Store, reviewer_id: int) -> None:
    """Give back everything that a reviewer holds."""
    with store.work() as connection:
        connection.execute(
            sa.update(_ASSIGNMENT)
            .where(
                _ASSIGNMENT.c.assessor_id == reviewer_id,
                _ASSIGNMENT.c.state == AssignmentState.HELD.value,
            )
            .values(state=AssignmentState.WAITING.value, assessor_id=None, leased_until=None)
        )


def queue_left(store: Store, reviewer_id: int, pool_id: int | None = None) -> QueueLeft:
    """Count what is left for a reviewer, so that an empty queue says why it is empty."""
    with store.read() as connection:
        # All of the queue is counted at once, and then what is closed to this reviewer taken off:
        # asking of each assignment, as a claim does, takes ten times as long here.
        voted = _ASSIGNMENT.c.item_id.in_(_voted_items(reviewer_id))
        left_out = _ASSIGNMENT.c.item_id.in_(_skipped_items(reviewer_id))
        pooled: ColumnElement[bool] = sa.true()
        if pool_id is not None:
            items = sa.select(_CANDIDATE.c.item_id).where(_CANDIDATE.c.pool_id == pool_id)
            pooled = _ASSIGNMENT.c.item_id.in_(items)
        waiting = [pooled, _ASSIGNMENT.c.state == AssignmentState.WAITING.value]

        def count(*conditions: ColumnElement[bool]) -> int:
            statement = sa.select(sa.func.count()).select_from(_ASSIGNMENT).where(*conditions)
            return int(connection.execute(statement).scalar_one())

        skipped = count(*waiting, left_out, ~voted)
        others = [
            pooled,
            _ASSIGNMENT.c.state == AssignmentState.HELD.value,
            _ASSIGNMENT.c.assessor_id != reviewer_id,
            ~voted,
        ]
        first = sa.select(sa.func.min(_ASSIGNMENT.c.leased_until)).where(*others)
        return QueueLeft(
            waiting=count(*waiting) - count(*waiting, voted) - skipped,
            skipped=skipped,
            held=count(*others),
            next_free=connection.execute(first).scalar(),
        )


def _voted_items(reviewer_id: int) -> sa.Select[int]:
    return sa.select(_JUDGMENT.c.item_id).where(
        _JUDGMENT.c.assessor_id == reviewer_id, judgments_in_force()
    )


def _skipped_items(reviewer_id: int) -> sa.Select[int]:
    task = table(Task)
    return (
        sa.select(task.c.item_id)
        .join(_EVENT, _EVENT.c.task_id == task.c.id)
        .where(_EVENT.c.assessor_id == reviewer_id, _EVENT.c.kind == EventKind.SKIP.value)
    )
