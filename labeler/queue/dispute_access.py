"""Who may settle a dispute: an item is held for a blind vote, then others' labels are shown."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.decisions import votes_on
from labeler.assessment.reading import blocks_of
from labeler.assessment.settlement import Dispute, settle_votes
from labeler.errors import ConflictError
from labeler.queue.claims import Claim
from labeler.queue.comparison import Comparison, read_comparison
from labeler.queue.disputes import Standing, settled_by, standings
from labeler.queue.votes import Event, insert_event, reviewer_name, set_assignment
from labeler.queue.wanted import want_votes
from labeler.records import table
from labeler.records.queue import (
    Assignment,
    AssignmentState,
    EventKind,
    ReviewEvent,
    Task,
    VotePurpose,
)
from labeler.store.database import Store

__all__ = ["hold_dispute", "is_known", "look", "refuse_settled"]

_SLOT, _EVENT, _TASK = table(Assignment), table(ReviewEvent), table(Task)
_ADJUDICATION = VotePurpose.ADJUDICATION


def hold_dispute(
    store: Store, person_id: int, item_id: int, *, force: bool = False
) -> Claim | None:
    """Hold a disputed item for this person's blind vote.

    Args:
        store: The project.
        person_id: Who is to settle it.
        item_id: The item.
        force: Let somebody settle it who is one of those that contradict each other.

    Returns:
        What is held; None when the person has voted on it and compares next.

    Raises:
        ConflictError: When it is the person's own dispute, somebody else holds it or has settled
            it, or it is no longer disputed.
    """
    with store.write("review adjudicate", actor=reviewer_name(store, person_id)) as tx:
        standing = _checked(tx.connection, person_id, item_id, force=force)
        if standing.may_compare:
            return None
        votes = votes_on(tx.connection, [item_id]).get(item_id, [])
        if not isinstance(settle_votes(votes), Dispute):
            raise ConflictError("this item is no longer disputed", hint="look at the list again")
        slot = _free_slot(tx.connection, person_id, item_id, tx.clock())
        if slot is None:
            want_votes(tx, {item_id: 0}, {item_id: _ADJUDICATION})
            slot = _free_slot(tx.connection, person_id, item_id, tx.clock())
        if slot is None:
            raise LookupError("a vote that was just wanted isn't there")
        set_assignment(tx, slot.id, AssignmentState.HELD, person_id)
        return Claim(slot.id, slot.task_id, item_id, _ADJUDICATION)


def look(
    store: Store, person_id: int, item_id: int, key: str, *, force: bool = False
) -> Comparison:
    """Store that others' labels are shown to somebody who voted blind, then give them.

    Args:
        store: The project.
        person_id: Who looks.
        item_id: The item.
        key: The id of the look, made when the key was pressed.
        force: Let somebody look who is one of those that contradict each other.

    Raises:
        ConflictError: When the person hasn't voted blind, it is an own dispute, or somebody else
            has settled it.
        NotFoundError: When the item's text was erased.
    """
    with store.write("review reveal", actor=reviewer_name(store, person_id), durable=True) as tx:
        if not _checked(tx.connection, person_id, item_id, force=force).may_compare:
            raise ConflictError("nobody compares before a blind vote", hint="vote first")
        if not is_known(tx.connection, key):
            blocks = blocks_of(tx.connection, [item_id], seed="")
            for block in blocks:
                claim = Claim(0, _task_of(tx.connection, item_id), item_id, _ADJUDICATION)
                insert_event(tx, person_id, claim, Event(key, EventKind.REVEAL, block))
        return read_comparison(tx.connection, person_id, item_id, reveal_key=key)


def _checked(connection: Connection, person_id: int, item_id: int, *, force: bool) -> Standing:
    """Tell what a person has to do with an item; refuse an own dispute, and a settled one."""
    standing = standings(connection, person_id, [item_id])[item_id]
    if standing.is_party and not force:
        raise ConflictError(
            "you are part of this dispute, so somebody else settles it",
            hint="`labeler review --lead --force` lets you all the same",
        )
    refuse_settled(connection, person_id, item_id)
    return standing


def refuse_settled(connection: Connection, person_id: int, item_id: int) -> None:
    """Refuse to go on where somebody else has settled the dispute.

    Raises:
        ConflictError: When another person's adjudication settles it.
    """
    votes = votes_on(connection, [item_id]).get(item_id, [])
    if settled_by(votes) not in {None, person_id}:
        raise ConflictError(
            "somebody else settled this dispute meanwhile", hint="look at the list again"
        )


def _free_slot(
    connection: Connection, person_id: int, item_id: int, now: datetime
) -> sa.Row[tuple[int, int]] | None:
    """Find the wanted adjudication of an item that this person can hold; None when none is wanted.

    Raises:
        ConflictError: When somebody else holds the item.
    """
    rows = connection.execute(
        sa.select(_SLOT)
        .where(_SLOT.c.item_id == item_id, _SLOT.c.state != AssignmentState.DONE.value)
        .order_by(_SLOT.c.id)
    ).all()
    for row in rows:
        held = row.state == AssignmentState.HELD.value and row.assessor_id != person_id
        if held and row.leased_until >= now:
            raise ConflictError(
                f"somebody else votes on this item until {row.leased_until:%H:%M} UTC",
                hint="take another one",
            )
    return next((row for row in rows if row.purpose == _ADJUDICATION.value), None)


def _task_of(connection: Connection, item_id: int) -> int:
    statement = sa.select(_TASK.c.id).where(_TASK.c.item_id == item_id)
    return int(connection.execute(statement).scalar_one())


def is_known(connection: Connection, key: str) -> bool:
    """Tell whether an event was stored before."""
    known = sa.select(_EVENT.c.id).where(_EVENT.c.event_key == key)
    return connection.execute(known).first() is not None
