"""Who holds which item until when. Claiming is one statement on both databases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, FromClause, Select

from labeler.queue.filters import EVERYTHING, QueueFilter
from labeler.queue.proposals import has_proposed, proposed_items
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
        _let_go(connection, _ASSIGNMENT.c.leased_until < now)
        is_open = _open_to(reviewer_id, with_skipped=with_skipped)
        picked = _front(connection, only, is_open, count).cte("picked")
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


def _front(
    connection: Connection,
    only: QueueFilter,
    is_open: Callable[[FromClause], list[ColumnElement[bool]]],
    count: int,
) -> Select[int]:
    """Select the first assignments that wait and are open to a reviewer, in order."""
    waiting = AssignmentState.WAITING.value
    if _is_small(connection, only.pool_id):
        # The sum keeps SQLite from going through the whole queue for the sake of its order.
        return _first(_ASSIGNMENT, count, priority=_ASSIGNMENT.c.priority + 0).where(
            _ASSIGNMENT.c.state == waiting, *only.takes(_ASSIGNMENT), *is_open(_ASSIGNMENT)
        )
    pooled = _is_pooled(only.pool_id)
    if only.slices is None:
        return _first(_ASSIGNMENT, count).where(
            _ASSIGNMENT.c.state == waiting, *pooled(_ASSIGNMENT), *is_open(_ASSIGNMENT)
        )
    # The first ones of each domain and language, and of these the first: each is found at once in
    # the index, wherever in the queue it stands.
    slices = sa.union_all(
        *(
            sa.select(sa.literal(domain).label("domain"), sa.literal(language).label("language"))
            for domain, language in only.slices or [("", "no such language")]
        )
    ).cte("slices")
    wanted = _ASSIGNMENT.alias("wanted")
    of_slice = sa.and_(wanted.c.domain == slices.c.domain, wanted.c.language == slices.c.language)
    first = _first(wanted, count, lock=False).where(
        wanted.c.state == waiting, of_slice, *pooled(wanted), *is_open(wanted)
    )
    return _first(_ASSIGNMENT, count).select_from(
        slices.join(_ASSIGNMENT, _ASSIGNMENT.c.id.in_(first.correlate(slices)))
    )


def _first(
    wanted: FromClause,
    count: int,
    *,
    priority: ColumnElement[int] | None = None,
    lock: bool = True,
) -> Select[int]:
    place = wanted.c.priority if priority is None else priority
    ordered = sa.select(wanted.c.id).order_by(place, wanted.c.id).limit(count)
    return ordered.with_for_update(skip_locked=True, of=wanted) if lock else ordered


def _is_small(connection: Connection, pool_id: int | None) -> bool:
    """Tell whether it is quicker to look up a pool's items than to go through the queue."""
    if pool_id is None:
        return False
    items = sa.select(_CANDIDATE.c.item_id).where(_CANDIDATE.c.pool_id == pool_id)
    first = items.limit(_SMALL_POOL + 1).subquery()
    size = connection.execute(sa.select(sa.func.count()).select_from(first)).scalar_one()
    return int(size) <= _SMALL_POOL


def _is_pooled(pool_id: int | None) -> Callable[[FromClause], list[ColumnElement[bool]]]:
    """Make the condition that a large pool holds an item: asked of one after the other."""

    def conditions(wanted: FromClause) -> list[ColumnElement[bool]]:
        if pool_id is None:
            return []
        # Its turn comes soon when one goes through the queue in order.
        return [
            sa.exists().where(
                _CANDIDATE.c.pool_id == pool_id, _CANDIDATE.c.item_id == wanted.c.item_id
            )
        ]

    return conditions


def _open_to(
    reviewer_id: int, *, with_skipped: bool
) -> Callable[[FromClause], list[ColumnElement[bool]]]:
    # Each is asked of one assignment after the other, in the order of the queue, until enough are
    # found: a set such as NOT IN (all votes of this reviewer) would be made anew for each claim.
    def conditions(wanted: FromClause) -> list[ColumnElement[bool]]:
        voted = sa.exists().where(
            _JUDGMENT.c.item_id == wanted.c.item_id,
            _JUDGMENT.c.assessor_id == reviewer_id,
            judgments_in_force(),
        )
        # Of several votes that are wanted of one item, one at a time; none by who holds another.
        other = _ASSIGNMENT.alias("other")
        taken = sa.exists().where(
            other.c.task_id == wanted.c.task_id,
            sa.or_(
                sa.and_(other.c.state == AssignmentState.WAITING.value, other.c.id < wanted.c.id),
                sa.and_(
                    other.c.state == AssignmentState.HELD.value, other.c.assessor_id == reviewer_id
                ),
            ),
        )
        own = [_EVENT.c.task_id == wanted.c.task_id, _EVENT.c.assessor_id == reviewer_id]
        # Who has seen what others said of an item can't judge it blind any more.
        seen = sa.exists().where(*own, _EVENT.c.kind == EventKind.REVEAL.value)
        skipped = sa.exists().where(*own, _EVENT.c.kind == EventKind.SKIP.value)
        found = has_proposed(reviewer_id, wanted.c.item_id)
        return [~voted, ~taken, ~seen, ~found, *([] if with_skipped else [~skipped])]

    return conditions


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
        _let_go(connection, _ASSIGNMENT.c.assessor_id == reviewer_id)


def give_back(connection: Connection, claims: Sequence[Claim], reviewer_id: int) -> None:
    """Give back some of what a reviewer holds."""
    keys = [claim.assignment_id for claim in claims]
    _let_go(connection, _ASSIGNMENT.c.id.in_(keys), _ASSIGNMENT.c.assessor_id == reviewer_id)


def _let_go(connection: Connection, *which: ColumnElement[bool]) -> None:
    """Let others have what is held; the place of a hidden repeat is nobody else's, and ends."""
    held = sa.and_(_ASSIGNMENT.c.state == AssignmentState.HELD.value, *which)
    repeats = _ASSIGNMENT.c.purpose == VotePurpose.REPEAT.value
    connection.execute(sa.delete(_ASSIGNMENT).where(held, repeats))
    connection.execute(
        sa.update(_ASSIGNMENT)
        .where(held)
        .values(state=AssignmentState.WAITING.value, assessor_id=None, leased_until=None)
    )


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
        left_out = _ASSIGNMENT.c.item_id.in_(_items_with(EventKind.SKIP, reviewer_id))
        taken = only.takes(_ASSIGNMENT)
        waiting = [*taken, _ASSIGNMENT.c.state == AssignmentState.WAITING.value]

        def count(*conditions: ColumnElement[bool]) -> int:
            statement = sa.select(sa.func.count()).select_from(_ASSIGNMENT).where(*conditions)
            return int(connection.execute(statement).scalar_one())

        skipped = count(*waiting, left_out, ~voted)
        others = [
            *taken,
            _ASSIGNMENT.c.state == AssignmentState.HELD.value,
            _ASSIGNMENT.c.assessor_id != reviewer_id,
            _ASSIGNMENT.c.purpose != VotePurpose.REPEAT.value,
            ~voted,
        ]
        first = sa.select(sa.func.min(_ASSIGNMENT.c.leased_until)).where(*others)
        done = count(*waiting, voted)
        return QueueLeft(
            waiting=count(*waiting) - done - skipped,
            skipped=skipped,
            held=count(*others),
            next_free=connection.execute(first).scalar(),
            others=done,
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
