"""Hidden repeats: a few of a reviewer's own items come back, untold, to see how steady labels are.

A repeat has a judgment of its own occasion. It never changes a label, never makes a dispute, and
is no first judgment to anybody. Its place in the queue exists only while it is held, so nobody
else is ever given it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.reading import blocks_of
from labeler.queue.claims import LEASE, Claim
from labeler.queue.filters import EVERYTHING, QueueFilter
from labeler.records import table
from labeler.records.judgments import Judgment, Occasion
from labeler.records.queue import (
    Assignment,
    AssignmentState,
    EventKind,
    ReviewEvent,
    VotePurpose,
)
from labeler.store.database import Store
from labeler.store.projections import judgments_in_force
from labeler.store.slices import slices_of_items

__all__ = ["AFTER_ITEMS", "TRIES", "claim_repeat", "hold_repeat", "repeatable"]

AFTER_ITEMS = 50
"""An item comes back after a reviewer's votes on so many others, or on another day."""

TRIES = 10
"""So many votes are drawn at the most, until one is found that may be repeated."""

_ASSIGNMENT, _EVENT, _JUDGMENT = table(Assignment), table(ReviewEvent), table(Judgment)


def claim_repeat(
    store: Store,
    reviewer_id: int,
    chance: Callable[[], float],
    *,
    only: QueueFilter = EVERYTHING,
    after_items: int = AFTER_ITEMS,
) -> Claim | None:
    """Hold one of the reviewer's own items again, or give None when none may come back.

    Each vote that may be repeated is as likely as any other. It stands; it was given on just what
    would be shown now; nothing was revealed of the item; and it wasn't repeated before.

    Args:
        store: The project.
        reviewer_id: The reviewer.
        chance: Gives numbers from 0 up to, but not including, 1.
        only: What the sitting takes.
        after_items: On so many other items the reviewer must have voted since, or on another day.
    """
    now = store.clock()
    with store.read() as connection:
        own = sa.and_(_EVENT.c.assessor_id == reviewer_id, _EVENT.c.kind == EventKind.VOTE.value)
        count = connection.execute(sa.select(sa.func.count()).where(own)).scalar_one()
        found = None
        for place in _drawn(int(count), chance):
            drawn = sa.select(_EVENT.c.id).where(own).order_by(_EVENT.c.id)
            key = connection.execute(drawn.limit(1).offset(place)).scalar_one()
            found = repeatable(connection, int(key), only, now, after_items)
            if found is not None:
                break
    if found is None:
        return None
    with store.work() as connection:
        return hold_repeat(connection, reviewer_id, *found, now)


def _drawn(count: int, chance: Callable[[], float]) -> Iterator[int]:
    """Draw some of the numbers from 0 to ``count - 1``, none of them twice (Fisher and Yates)."""
    moved: dict[int, int] = {}
    for place in range(min(count, TRIES)):
        other = place + int(chance() * (count - place))
        yield moved.get(other, other)
        moved[other] = moved.get(place, place)


def repeatable(
    connection: Connection, event: int, only: QueueFilter, now: datetime, after_items: int
) -> tuple[int, int] | None:
    """Give the task and the item of a vote that may be repeated, or None."""
    later = _EVENT.alias("later")
    reviewer = _EVENT.c.assessor_id
    on_it = sa.exists().where(
        later.c.task_id == _EVENT.c.task_id,
        later.c.assessor_id == reviewer,
        sa.or_(
            later.c.kind == EventKind.REVEAL.value,
            sa.and_(
                later.c.id > _EVENT.c.id,
                later.c.kind.in_([EventKind.VOTE.value, EventKind.SKIP.value]),
            ),
        ),
    )
    place = _ASSIGNMENT.alias("place")
    held = sa.exists().where(
        place.c.task_id == _EVENT.c.task_id, place.c.state == AssignmentState.HELD.value
    )
    taken = sa.exists().where(place.c.task_id == _EVENT.c.task_id, *only.takes(place))
    statement = (
        sa.select(
            _EVENT.c.task_id,
            _EVENT.c.assessor_id,
            _EVENT.c.shown_digest,
            _EVENT.c.at,
            _JUDGMENT.c.item_id,
        )
        .join(_JUDGMENT, _JUDGMENT.c.id == _EVENT.c.judgment_id)
        .where(
            _EVENT.c.id == event,
            _EVENT.c.purpose != VotePurpose.ADJUDICATION.value,
            _JUDGMENT.c.occasion == Occasion.FIRST.value,
            judgments_in_force(),
            ~on_it,
            ~held,
            taken,
        )
    )
    vote = connection.execute(statement).first()
    if vote is None:
        return None
    if vote.at.date() >= now.date():
        others = (
            sa.select(_EVENT.c.task_id)
            .where(
                _EVENT.c.assessor_id == vote.assessor_id,
                _EVENT.c.kind == EventKind.VOTE.value,
                _EVENT.c.id > event,
            )
            .distinct()
            .limit(after_items)
        )
        if len(connection.execute(others).all()) < after_items:
            return None
    shown = blocks_of(connection, [vote.item_id], seed="")
    if not shown or shown[0].digest != vote.shown_digest:
        return None
    return int(vote.task_id), int(vote.item_id)


def hold_repeat(
    connection: Connection, reviewer_id: int, task_id: int, item_id: int, now: datetime
) -> Claim:
    """Make the place of a repeat, held by the reviewer."""
    domain, language = slices_of_items(connection, [item_id])[item_id]
    slots = sa.select(sa.func.coalesce(sa.func.max(_ASSIGNMENT.c.slot) + 1, 0)).where(
        _ASSIGNMENT.c.task_id == task_id
    )
    statement = sa.insert(_ASSIGNMENT).values(
        task_id=task_id,
        item_id=item_id,
        slot=connection.execute(slots).scalar_one(),
        purpose=VotePurpose.REPEAT.value,
        state=AssignmentState.HELD.value,
        domain=domain,
        language=language,
        assessor_id=reviewer_id,
        leased_until=now + LEASE,
    )
    key = int(connection.execute(statement.returning(_ASSIGNMENT.c.id)).scalar_one())
    return Claim(key, task_id, item_id, VotePurpose.REPEAT)
