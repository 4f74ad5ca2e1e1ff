"""Which wanted votes come next for a reviewer: in the order of the queue, found by lookup."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, FromClause, Select

from labeler.queue.filters import QueueFilter
from labeler.queue.proposals import has_proposed
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.pools import Candidate
from labeler.records.queue import Assignment, AssignmentState, EventKind, ReviewEvent
from labeler.store.projections import judgments_in_force
from labeler.store.slices import Slice

__all__ = ["Conditions", "looks", "open_to"]

_SMALL_POOL = 10_000
"""Up to so many candidates, a pool's waiting items are looked up and sorted, in a few ms."""

_NEAREST = 64
"""So many of a small pool's waiting items are asked first whether they are open to a reviewer."""

_ASSIGNMENT, _EVENT = table(Assignment), table(ReviewEvent)
_CANDIDATE, _JUDGMENT = table(Candidate), table(Judgment)

Conditions = Callable[[FromClause], list[ColumnElement[bool]]]
"""Makes conditions on the table of assignments, or another name of it."""


def looks(
    connection: Connection, only: QueueFilter, is_open: Conditions
) -> Iterator[Callable[[int], Select[int]]]:
    """Give the ways to find what comes next: where one finds too little, the next goes on.

    Each makes, for a number of wanted votes, the statement that selects their keys.

    Args:
        connection: A transaction's connection.
        only: What is taken.
        is_open: Tells what is open to the reviewer.
    """
    if _is_small(connection, only.pool_id):
        yield partial(_of_nearest, only, is_open, _NEAREST)
        yield partial(_of_nearest, only, is_open, None)
    elif only.slices is None:
        yield partial(_in_order, _is_pooled(only.pool_id), is_open)
    else:
        yield partial(_of_slices, only.slices, _is_pooled(only.pool_id), is_open)


def _of_nearest(
    only: QueueFilter, is_open: Conditions, nearest: int | None, count: int
) -> Select[int]:
    """Select from the first of a small pool's waiting items; None asks all of them."""
    wanted = _ASSIGNMENT.alias("wanted")
    # The sum keeps SQLite from going through the whole queue for the sake of its order.
    ahead = (
        sa.select(wanted.c.id)
        .where(wanted.c.state == AssignmentState.WAITING.value, *only.takes(wanted))
        .order_by(wanted.c.priority + 0, wanted.c.id)
        .limit(nearest)
    )
    return _first(_ASSIGNMENT, count, priority=_ASSIGNMENT.c.priority + 0).where(
        _ASSIGNMENT.c.id.in_(ahead), *is_open(_ASSIGNMENT)
    )


def _in_order(pooled: Conditions, is_open: Conditions, count: int) -> Select[int]:
    """Select what comes first in the whole queue."""
    return _first(_ASSIGNMENT, count).where(
        _ASSIGNMENT.c.state == AssignmentState.WAITING.value,
        *pooled(_ASSIGNMENT),
        *is_open(_ASSIGNMENT),
    )


def _of_slices(
    slices: tuple[Slice, ...], pooled: Conditions, is_open: Conditions, count: int
) -> Select[int]:
    """Select the first of each domain and language, and of these the first.

    Each is found at once in the index, wherever in the queue it stands.
    """
    listed = sa.union_all(
        *(
            sa.select(sa.literal(domain).label("domain"), sa.literal(language).label("language"))
            for domain, language in slices or (("", "no such language"),)
        )
    ).cte("slices")
    wanted = _ASSIGNMENT.alias("wanted")
    of_slice = sa.and_(wanted.c.domain == listed.c.domain, wanted.c.language == listed.c.language)
    waiting = wanted.c.state == AssignmentState.WAITING.value
    first = _first(wanted, count, lock=False).where(
        waiting, of_slice, *pooled(wanted), *is_open(wanted)
    )
    return _first(_ASSIGNMENT, count).select_from(
        listed.join(_ASSIGNMENT, _ASSIGNMENT.c.id.in_(first.correlate(listed)))
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


def _is_pooled(pool_id: int | None) -> Conditions:
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


def open_to(reviewer_id: int, *, with_skipped: bool) -> Conditions:
    """Make the conditions that a wanted vote is open to a reviewer."""

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
