"""Which place in the queue a vote takes, when leases have ended and others have come in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.queue.claims import Claim
from labeler.records import table
from labeler.records.judgments import Judgment, Occasion
from labeler.records.queue import Assignment, AssignmentState, VotePurpose
from labeler.store.projections import judgments_in_force

__all__ = ["Place", "choose_place", "has_voted", "take_place"]

_ASSIGNMENT, _JUDGMENT = table(Assignment), table(Judgment)


@dataclass(frozen=True, slots=True)
class Place:
    """One vote that is wanted of an item, or was.

    Attributes:
        key: Its key.
        purpose: What it is for.
        state: Whether it waits, is held, or was given.
        holder: Who holds or gave it, or None.
        until: Until when it is held, or None.
    """

    key: int
    purpose: VotePurpose
    state: AssignmentState
    holder: int | None = None
    until: datetime | None = None


def choose_place(
    places: Sequence[Place], claim: Claim, reviewer_id: int, *, now: datetime, has_voted: bool
) -> Place | None:
    """Choose the place that a vote takes, or None when there is no room for it.

    A lease that ran out costs nothing while nobody else voted in that place. Where somebody else
    did, or is about to, another place that is free comes first: so that two people who read the
    same item both count where two are wanted. Nobody counts twice, and who settles a dispute takes
    the place of no other vote.

    Args:
        places: All places of the item's task.
        claim: The place that the reviewer was given.
        reviewer_id: The reviewer.
        now: The time, in UTC.
        has_voted: Whether a vote of this reviewer on the item is in force.
    """
    settles = claim.purpose is VotePurpose.ADJUDICATION
    if has_voted and not settles:
        return None

    def rank(place: Place) -> int | None:
        if place.state is AssignmentState.DONE:
            return None
        if place.purpose is VotePurpose.REPEAT:
            return None
        if (place.purpose is VotePurpose.ADJUDICATION) is not settles:
            return None
        is_free = place.state is AssignmentState.WAITING or place.holder == reviewer_id
        if place.key == claim.assignment_id:
            return 0 if is_free else 3
        if is_free:
            return 1 if place.holder == reviewer_id else 2
        has_ended = place.until is not None and place.until < now
        return 4 if has_ended else None

    ranked = [(order, place.key, place) for place in places if (order := rank(place)) is not None]
    return min(ranked, key=lambda one: one[:2])[2] if ranked else None


def take_place(
    connection: Connection, reviewer_id: int, claim: Claim, now: datetime
) -> Claim | None:
    """Mark the place of a vote as done, and let go of any other that the reviewer holds there.

    Returns:
        The claim with the place that the vote takes; None when there is no room.
    """
    rows = connection.execute(
        sa.select(
            _ASSIGNMENT.c.id,
            _ASSIGNMENT.c.purpose,
            _ASSIGNMENT.c.state,
            _ASSIGNMENT.c.assessor_id,
            _ASSIGNMENT.c.leased_until,
        ).where(_ASSIGNMENT.c.task_id == claim.task_id)
    )
    places = [
        Place(row.id, VotePurpose(row.purpose), AssignmentState(row.state), *row[3:])
        for row in rows
    ]
    voted = has_voted(connection, reviewer_id, claim.item_id)
    chosen = choose_place(places, claim, reviewer_id, now=now, has_voted=voted)
    if chosen is not None:
        connection.execute(
            sa.update(_ASSIGNMENT)
            .where(_ASSIGNMENT.c.id == chosen.key)
            .values(state=AssignmentState.DONE.value, assessor_id=reviewer_id, leased_until=None)
        )
    connection.execute(
        sa.update(_ASSIGNMENT)
        .where(
            _ASSIGNMENT.c.task_id == claim.task_id,
            _ASSIGNMENT.c.assessor_id == reviewer_id,
            _ASSIGNMENT.c.state == AssignmentState.HELD.value,
            _ASSIGNMENT.c.purpose != VotePurpose.REPEAT.value,
        )
        .values(state=AssignmentState.WAITING.value, assessor_id=None, leased_until=None)
    )
    if chosen is None:
        return None
    return Claim(chosen.key, claim.task_id, claim.item_id, chosen.purpose)


def has_voted(connection: Connection, reviewer_id: int, item_id: int) -> bool:
    """Tell whether a vote of a reviewer on an item is in force, hidden repeats aside."""
    statement = sa.select(_JUDGMENT.c.id).where(
        _JUDGMENT.c.item_id == item_id,
        _JUDGMENT.c.assessor_id == reviewer_id,
        _JUDGMENT.c.occasion == Occasion.FIRST.value,
        judgments_in_force(),
    )
    return connection.execute(statement.limit(1)).first() is not None
