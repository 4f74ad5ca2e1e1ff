"""Second looks where nobody else reviews: a suspected slip comes back to who made it, untold.

It comes as hidden repeats do: blind, on another day or after many other items, in the place of an
ordinary one. Its vote stands beside the first one and takes the place of nothing: two that agree
leave the label as it is, and two that contradict each other are a dispute of the reviewer with
themself, which the lead sees. It tells nothing of how steady a reviewer is, since doubt picked it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.queue.claims import LEASE, Claim, renew
from labeler.queue.filters import EVERYTHING, QueueFilter
from labeler.queue.places import has_voted
from labeler.queue.reasons import SECOND_LOOK
from labeler.queue.repeating import AFTER_ITEMS, TRIES, repeatable
from labeler.queue.tasks import reasons_in_force
from labeler.records import table
from labeler.records.queue import (
    Assignment,
    AssignmentState,
    EventKind,
    ReviewEvent,
    Task,
    TaskReason,
    VotePurpose,
)
from labeler.store.database import Store
from labeler.store.projections import reasons_hold

__all__ = ["ALONE_FOR", "claim_own_second_look", "is_own_second_look", "take_second_look"]

ALONE_FOR = timedelta(days=14)
"""Who voted within this time may be expected to vote again: then a second look waits for them."""

_ASSIGNMENT, _EVENT = table(Assignment), table(ReviewEvent)
_TASK, _REASON = table(Task), table(TaskReason)


def claim_own_second_look(
    store: Store,
    reviewer_id: int,
    chance: Callable[[], float],
    *,
    only: QueueFilter = EVERYTHING,
    after_items: int = AFTER_ITEMS,
) -> Claim | None:
    """Hold one of the reviewer's own items that asks for a second look, or give None.

    Args:
        store: The project.
        reviewer_id: The reviewer.
        chance: Gives numbers from 0 up to, but not including, 1.
        only: What the sitting takes.
        after_items: On so many other items the reviewer must have voted since, or on another day.
    """
    now = store.clock()
    with store.read() as connection:
        waiting = _waiting(connection, reviewer_id)
        if not waiting or not _is_alone(connection, reviewer_id, now):
            return None
        first = int(chance() * len(waiting))
        found = None
        for slot, event in [*waiting[first:], *waiting[:first]][:TRIES]:
            own = repeatable(connection, event, only, now, after_items)
            if own is not None:
                found = Claim(slot, *own, VotePurpose.OVERLAP)
                break
    if found is None:
        return None
    with store.work() as connection:
        lost = renew(connection, [found], reviewer_id, now + LEASE)
    return None if lost else found


def _waiting(connection: Connection, reviewer_id: int) -> list[tuple[int, int]]:
    """List the waiting places of second looks at this reviewer's votes, each with the vote."""
    statement = (
        sa.select(_ASSIGNMENT.c.id, sa.func.max(_EVENT.c.id))
        .select_from(_REASON)
        .join(_TASK, _TASK.c.id == _REASON.c.task_id)
        .join(_ASSIGNMENT, _ASSIGNMENT.c.task_id == _TASK.c.id)
        .join(_EVENT, _EVENT.c.task_id == _TASK.c.id)
        .where(
            _REASON.c.reason == SECOND_LOOK,
            reasons_hold(),
            _ASSIGNMENT.c.state == AssignmentState.WAITING.value,
            _ASSIGNMENT.c.purpose == VotePurpose.OVERLAP.value,
            _EVENT.c.assessor_id == reviewer_id,
            _EVENT.c.kind == EventKind.VOTE.value,
        )
        .group_by(_ASSIGNMENT.c.id)
        .order_by(_ASSIGNMENT.c.id)
    )
    return [(int(slot), int(event)) for slot, event in connection.execute(statement)]


def _is_alone(connection: Connection, reviewer_id: int, now: datetime) -> bool:
    """Tell whether nobody else has voted of late."""
    others = sa.select(_EVENT.c.id).where(
        _EVENT.c.assessor_id != reviewer_id,
        _EVENT.c.kind == EventKind.VOTE.value,
        _EVENT.c.at > now - ALONE_FOR,
    )
    return connection.execute(others.limit(1)).first() is None


def is_own_second_look(connection: Connection, reviewer_id: int, claim: Claim) -> bool:
    """Tell whether a vote is a second look at what this very reviewer said."""
    return (
        claim.purpose is VotePurpose.OVERLAP
        and has_voted(connection, reviewer_id, claim.item_id)
        and SECOND_LOOK in reasons_in_force(connection, [claim.item_id]).get(claim.item_id, ())
    )


def take_second_look(connection: Connection, reviewer_id: int, claim: Claim) -> bool:
    """Mark the place of a second look as done; False when somebody else has it meanwhile."""
    own = sa.or_(
        _ASSIGNMENT.c.state == AssignmentState.WAITING.value,
        sa.and_(
            _ASSIGNMENT.c.state == AssignmentState.HELD.value,
            _ASSIGNMENT.c.assessor_id == reviewer_id,
        ),
    )
    taken = connection.execute(
        sa.update(_ASSIGNMENT)
        .where(_ASSIGNMENT.c.id == claim.assignment_id, own)
        .values(state=AssignmentState.DONE.value, assessor_id=reviewer_id, leased_until=None)
        .returning(_ASSIGNMENT.c.id)
    )
    return taken.first() is not None
