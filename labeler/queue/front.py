"""Which wanted votes come next for a reviewer: in the order of the queue, found by lookup."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

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

__all__ = ["REVIEWER", "looks"]

_SMALL_POOL = 10_000
"""Up to so many candidates, a pool's waiting items are looked up and sorted, in a few ms."""

_NEAREST = 64
"""So many of a small pool's waiting items are asked first whether they are open to a reviewer."""

_ASSIGNMENT, _EVENT = table(Assignment), table(ReviewEvent)
_CANDIDATE, _JUDGMENT = table(Candidate), table(Judgment)

REVIEWER = sa.bindparam("reviewer", type_=sa.Integer())
"""Who asks for items: the parameter that the statements of `looks` take."""

_COUNT = sa.bindparam("count", type_=sa.Integer())


def looks(
    connection: Connection, only: QueueFilter, *, with_skipped: bool
) -> Iterator[Select[int]]:
    """Give the ways to find what comes next: where one finds too little, the next goes on.

    Each is a statement that selects the keys of wanted votes which are open to the parameter
    ``reviewer``, ``count`` of them at the most. It is made once: making it takes longer than
    finding what it selects.

    Args:
        connection: A transaction's connection.
        only: What is taken.
        with_skipped: Take items again that the reviewer skipped.
    """
    if _is_small(connection, only.pool_id):
        yield _of_nearest(only, with_skipped, _NEAREST)
        yield _of_nearest(only, with_skipped, None)
    elif only.slices is None:
        yield _in_order(only.pool_id, with_skipped)
    else:
        yield _of_slices(only.slices, only.pool_id, with_skipped)


@lru_cache(maxsize=64)
def _of_nearest(only: QueueFilter, with_skipped: bool, nearest: int | None) -> Select[int]:
    """Select from the first of a small pool's waiting items; None asks all of them."""
    wanted = _ASSIGNMENT.alias("wanted")
    # The sum keeps SQLite from going through the whole queue for the sake of its order.
    ahead = (
        sa.select(wanted.c.id)
        .where(wanted.c.state == AssignmentState.WAITING.value, *only.takes(wanted))
        .order_by(wanted.c.priority + 0, wanted.c.id)
        .limit(nearest)
    )
    return _first(_ASSIGNMENT, priority=_ASSIGNMENT.c.priority + 0).where(
        _ASSIGNMENT.c.id.in_(ahead), *_is_open(_ASSIGNMENT, with_skipped=with_skipped)
    )


@lru_cache(maxsize=64)
def _in_order(pool_id: int | None, with_skipped: bool) -> Select[int]:
    """Select what comes first in the whole queue."""
    return _first(_ASSIGNMENT).where(
        _ASSIGNMENT.c.state == AssignmentState.WAITING.value,
        *_is_pooled(pool_id, _ASSIGNMENT),
        *_is_open(_ASSIGNMENT, with_skipped=with_skipped),
    )


@lru_cache(maxsize=64)
def _of_slices(slices: tuple[Slice, ...], pool_id: int | None, with_skipped: bool) -> Select[int]:
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
    is_open = _is_open(wanted, with_skipped=with_skipped)
    first = _first(wanted, lock=False).where(
        waiting, of_slice, *_is_pooled(pool_id, wanted), *is_open
    )
    return _first(_ASSIGNMENT).select_from(
        listed.join(_ASSIGNMENT, _ASSIGNMENT.c.id.in_(first.correlate(listed)))
    )


def _first(
    wanted: FromClause, *, priority: ColumnElement[int] | None = None, lock: bool = True
) -> Select[int]:
    place = wanted.c.priority if priority is None else priority
    ordered = sa.select(wanted.c.id).order_by(place, wanted.c.id).limit(_COUNT)
    return ordered.with_for_update(skip_locked=True, of=wanted) if lock else ordered


def _is_small(connection: Connection, pool_id: int | None) -> bool:
    """Tell whether it is quicker to look up a pool's items than to go through the queue."""
    if pool_id is None:
        return False
    # A pool never changes, so that it is counted once in the life of a connection.
    known: dict[int, bool] = connection.info.setdefault("labeler_small_pools", {})
    if pool_id not in known:
        items = sa.select(_CANDIDATE.c.item_id).where(_CANDIDATE.c.pool_id == pool_id)
        first = items.limit(_SMALL_POOL + 1).subquery()
        size = connection.execute(sa.select(sa.func.count()).select_from(first)).scalar_one()
        known[pool_id] = int(size) <= _SMALL_POOL
    return known[pool_id]


def _is_pooled(pool_id: int | None, wanted: FromClause) -> list[ColumnElement[bool]]:
    """Make the condition that a large pool holds an item: asked of one after the other."""
    if pool_id is None:
        return []
    # Its turn comes soon when one goes through the queue in order.
    return [
        sa.exists().where(_CANDIDATE.c.pool_id == pool_id, _CANDIDATE.c.item_id == wanted.c.item_id)
    ]


def _is_open(wanted: FromClause, *, with_skipped: bool) -> list[ColumnElement[bool]]:
    """Make the conditions that a wanted vote is open to the reviewer.

    Each is asked of one assignment after the other, in the order of the queue, until enough are
    found: a set such as NOT IN (all votes of this reviewer) would be made anew for each claim.
    """
    voted = sa.exists().where(
        _JUDGMENT.c.item_id == wanted.c.item_id,
        _JUDGMENT.c.assessor_id == REVIEWER,
        judgments_in_force(),
    )
    # Of several votes that are wanted of one item, one at a time; none by who holds another.
    other = _ASSIGNMENT.alias("other")
    taken = sa.exists().where(
        other.c.task_id == wanted.c.task_id,
        sa.or_(
            sa.and_(other.c.state == AssignmentState.WAITING.value, other.c.id < wanted.c.id),
            sa.and_(other.c.state == AssignmentState.HELD.value, other.c.assessor_id == REVIEWER),
        ),
    )
    own = [_EVENT.c.task_id == wanted.c.task_id, _EVENT.c.assessor_id == REVIEWER]
    # Who has seen what others said of an item can't judge it blind any more.
    seen = sa.exists().where(*own, _EVENT.c.kind == EventKind.REVEAL.value)
    skipped = sa.exists().where(*own, _EVENT.c.kind == EventKind.SKIP.value)
    found = has_proposed(REVIEWER, wanted.c.item_id)
    return [~voted, ~taken, ~seen, ~found, *([] if with_skipped else [~skipped])]
