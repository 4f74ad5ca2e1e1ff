"""Who holds which item until when. Claiming is one statement on both databases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Delete, Executable, Update
from sqlalchemy.sql.dml import ReturningUpdate

from labeler.queue.filters import EVERYTHING, QueueFilter
from labeler.queue.front import REVIEWER, looks
from labeler.queue.proposals import proposed_items
from labeler.records import table
from labeler.records.judgments import Judgment
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

__all__ = [
    "LEASE",
    "Claim",
    "QueueLeft",
    "claim",
    "give_back",
    "queue_left",
    "release",
    "renew",
]

LEASE = timedelta(minutes=10)
"""How long an item is held without a sign of life."""

_ASSIGNMENT, _EVENT = table(Assignment), table(ReviewEvent)
_JUDGMENT = table(Judgment)


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
        waiting: Items that can be claimed now, each once however many votes are wanted of it.
        skipped: Items that this reviewer skipped, which still wait.
        held: Items that others hold.
        next_free: When the first of those is free again, or None.
        others: Votes that are still wanted of items that this reviewer has done.
    """

    waiting: int
    skipped: int
    held: int
    next_free: datetime | None
    others: int = 0


def claim(
    store: Store,
    reviewer_id: int,
    count: int,
    *,
    only: QueueFilter = EVERYTHING,
    with_skipped: bool = False,
    lease: timedelta = LEASE,
) -> list[Claim]:
    """Hold the next items for a reviewer.

    An item that the reviewer has voted on, found, or skipped is passed over. Leases that ran out go
    back first, in a statement of their own.

    Args:
        store: The project.
        reviewer_id: The reviewer's assessor key.
        count: How many items at the most.
        only: What is taken.
        with_skipped: Take items again that the reviewer skipped.
        lease: For how long.
    """
    with store.work() as connection:
        now = store.clock()
        _execute(connection, _LET_GO_OVERDUE, {"now": now})
        given = {"reviewer": reviewer_id, "until": now + lease}
        held: list[sa.Row[*tuple[Any, ...]]] = []
        for look in looks(connection, only, with_skipped=with_skipped):
            if len(held) < count:
                short = {"count": count - len(held)}
                held += connection.execute(_hold(look), given | short)
    held.sort(key=lambda row: (row.priority, row.id))
    return [Claim(row.id, row.task_id, row.item_id, VotePurpose(row.purpose)) for row in held]


@lru_cache(maxsize=64)
def _hold(look: sa.Select[int]) -> ReturningUpdate[Any]:
    """Make the statement that holds what a look selects; it is made once for each look."""
    picked = look.cte("picked")
    return (
        sa.update(_ASSIGNMENT)
        .where(_ASSIGNMENT.c.id.in_(sa.select(picked.c.id)))
        .values(
            state=AssignmentState.HELD.value,
            assessor_id=REVIEWER,
            leased_until=sa.bindparam("until", type_=_ASSIGNMENT.c.leased_until.type),
        )
        .returning(
            _ASSIGNMENT.c.id,
            _ASSIGNMENT.c.task_id,
            _ASSIGNMENT.c.item_id,
            _ASSIGNMENT.c.purpose,
            _ASSIGNMENT.c.priority,
        )
    )


def renew(
    connection: Connection, claims: Sequence[Claim], reviewer_id: int, until: datetime
) -> frozenset[int]:
    """Hold items for longer; what went back meanwhile is taken again, unless somebody else did.

    Returns:
        The places that are lost: somebody else holds them, or voted there.
    """
    keys = {claim.assignment_id for claim in claims if claim.purpose is not VotePurpose.REPEAT}
    waits = sa.and_(
        _ASSIGNMENT.c.state == AssignmentState.WAITING.value,
        _ASSIGNMENT.c.assessor_id.is_(None),
    )
    own = sa.and_(
        _ASSIGNMENT.c.state == AssignmentState.HELD.value,
        _ASSIGNMENT.c.assessor_id == reviewer_id,
    )
    statement = (
        sa.update(_ASSIGNMENT)
        .where(_ASSIGNMENT.c.id.in_([claim.assignment_id for claim in claims]), waits | own)
        .values(state=AssignmentState.HELD.value, assessor_id=reviewer_id, leased_until=until)
        .returning(_ASSIGNMENT.c.id)
    )
    return frozenset(keys - {int(key) for (key,) in connection.execute(statement)})


def release(store: Store, reviewer_id: int) -> None:
    """Give back everything that a reviewer holds."""
    with store.work() as connection:
        _execute(connection, _LET_GO_ALL, {"reviewer": reviewer_id})


def give_back(connection: Connection, claims: Sequence[Claim], reviewer_id: int) -> None:
    """Give back some of what a reviewer holds."""
    keys = [claim.assignment_id for claim in claims]
    _execute(connection, _LET_GO_SOME, {"reviewer": reviewer_id, "keys": keys})


def _letting_go(*which: ColumnElement[bool]) -> tuple[Delete, Update]:
    """Let others have what is held; the place of a hidden repeat is nobody else's, and ends."""
    held = sa.and_(_ASSIGNMENT.c.state == AssignmentState.HELD.value, *which)
    repeats = _ASSIGNMENT.c.purpose == VotePurpose.REPEAT.value
    return (
        sa.delete(_ASSIGNMENT).where(held, repeats),
        sa.update(_ASSIGNMENT)
        .where(held)
        .values(state=AssignmentState.WAITING.value, assessor_id=None, leased_until=None),
    )


# Made once: making a statement takes longer than what it does.
_OWN = _ASSIGNMENT.c.assessor_id == REVIEWER
_LET_GO_OVERDUE = _letting_go(_ASSIGNMENT.c.leased_until < sa.bindparam("now"))
_LET_GO_ALL = _letting_go(_OWN)
_LET_GO_SOME = _letting_go(_ASSIGNMENT.c.id.in_(sa.bindparam("keys", expanding=True)), _OWN)


def _execute(
    connection: Connection, statements: Sequence[Executable], given: Mapping[str, object]
) -> None:
    for statement in statements:
        connection.execute(statement, given)


def queue_left(store: Store, reviewer_id: int, only: QueueFilter = EVERYTHING) -> QueueLeft:
    """Count what is left for a reviewer, so that an empty queue says why it is empty."""
    with store.read() as connection:
        # All of the queue is counted at once, and then what is closed to this reviewer taken off:
        # asking of each assignment, as a claim does, takes ten times as long here.
        voted = sa.or_(
            _ASSIGNMENT.c.item_id.in_(_voted_items(reviewer_id)),
            _ASSIGNMENT.c.item_id.in_(_items_with(EventKind.REVEAL, reviewer_id)),
            _ASSIGNMENT.c.item_id.in_(proposed_items(reviewer_id)),
        )
        # Of an item that several people vote on, this reviewer votes once, and may hold it already.
        own = sa.select(_ASSIGNMENT.c.item_id).where(
            _ASSIGNMENT.c.assessor_id == reviewer_id,
            _ASSIGNMENT.c.state == AssignmentState.HELD.value,
        )
        closed = voted | _ASSIGNMENT.c.item_id.in_(own)
        left_out = _ASSIGNMENT.c.item_id.in_(_items_with(EventKind.SKIP, reviewer_id))
        taken = only.takes(_ASSIGNMENT)
        waiting = [*taken, _ASSIGNMENT.c.state == AssignmentState.WAITING.value]

        def count(what: ColumnElement[int], *conditions: ColumnElement[bool]) -> int:
            statement = sa.select(what).select_from(_ASSIGNMENT).where(*conditions)
            return int(connection.execute(statement).scalar_one())

        items = sa.func.count(sa.distinct(_ASSIGNMENT.c.item_id))
        skipped = count(items, *waiting, left_out, ~closed)
        others = [
            *taken,
            _ASSIGNMENT.c.state == AssignmentState.HELD.value,
            _ASSIGNMENT.c.assessor_id != reviewer_id,
            _ASSIGNMENT.c.purpose != VotePurpose.REPEAT.value,
            ~voted,
        ]
        first = sa.select(sa.func.min(_ASSIGNMENT.c.leased_until)).where(*others)
        return QueueLeft(
            waiting=count(items, *waiting) - count(items, *waiting, closed) - skipped,
            skipped=skipped,
            held=count(items, *others),
            next_free=connection.execute(first).scalar(),
            others=count(sa.func.count(), *waiting, voted),
        )


def _voted_items(reviewer_id: int) -> sa.Select[int]:
    return sa.select(_JUDGMENT.c.item_id).where(
        _JUDGMENT.c.assessor_id == reviewer_id, judgments_in_force()
    )


def _items_with(kind: EventKind, reviewer_id: int) -> sa.Select[int]:
    task = table(Task)
    return (
        sa.select(task.c.item_id)
        .join(_EVENT, _EVENT.c.task_id == task.c.id)
        .where(_EVENT.c.assessor_id == reviewer_id, _EVENT.c.kind == kind.value)
    )
