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
    VotePurpose,
)
from labeler.store.database import Store
from labeler.store.projections import judgments_in_force

__all__ = ["LEASE", "Claim", "QueueLeft", "claim", "queue_left", "release"]

LEASE = timedelta(minutes=10)
"""How long an item is held without a sign of life."""

_ASSIGNMENT, _EVENT = table(Assignment), table(ReviewEvent)


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
        picked = (
            sa.select(_ASSIGNMENT.c.id)
            .where(
                _ASSIGNMENT.c.state == AssignmentState.WAITING.value,
                *_open_to(reviewer_id, pool_id, with_skipped=with_skipped),
            )
            .order_by(_ASSIGNMENT.c.priority, _ASSIGNMENT.c.id)
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


def _open_to(
    reviewer_id: int, pool_id: int | None, *, with_skipped: bool
) -> list[ColumnElement[bool]]:
    judgment, candidate = table(Judgment), table(Candidate)
    voted = sa.select(judgment.c.item_id).where(
        judgment.c.assessor_id == reviewer_id, judgments_in_force()
    )
    conditions: list[ColumnElement[bool]] = [_ASSIGNMENT.c.item_id.not_in(voted)]
    if pool_id is not None:
        pooled = sa.select(candidate.c.item_id).where(candidate.c.pool_id == pool_id)
        conditions.append(_ASSIGNMENT.c.item_id.in_(pooled))
    if not with_skipped:
        conditions.append(_ASSIGNMENT.c.task_id.not_in(_skipped(reviewer_id)))
    return conditions


def _skipped(reviewer_id: int) -> sa.Select[tuple[int]]:
    return sa.select(_EVENT.c.task_id).where(
        _EVENT.c.assessor_id == reviewer_id, _EVENT.c.kind == EventKind.SKIP.value
    )


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
        waiting = _ASSIGNMENT.c.state == AssignmentState.WAITING.value

        def count(*conditions: ColumnElement[bool]) -> int:
            statement = sa.select(sa.func.count()).select_from(_ASSIGNMENT).where(*conditions)
            return int(connection.execute(statement).scalar_one())

        open_now = count(waiting, *_open_to(reviewer_id, pool_id, with_skipped=False))
        everything = count(waiting, *_open_to(reviewer_id, pool_id, with_skipped=True))
        others = [
            _ASSIGNMENT.c.state == AssignmentState.HELD.value,
            _ASSIGNMENT.c.assessor_id != reviewer_id,
            *_open_to(reviewer_id, pool_id, with_skipped=True),
        ]
        first = sa.select(sa.func.min(_ASSIGNMENT.c.leased_until)).where(*others)
        return QueueLeft(
            waiting=open_now,
            skipped=everything - open_now,
            held=count(*others),
            next_free=connection.execute(first).scalar(),
        )
