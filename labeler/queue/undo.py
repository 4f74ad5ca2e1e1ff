"""Taking votes back: a later event withdraws the judgment, and the item is held again."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.decisions import record_withdrawals
from labeler.errors import ConflictError
from labeler.queue.claims import Claim
from labeler.queue.repeating import hold_repeat
from labeler.queue.votes import reviewer_name, set_assignment, settle_task
from labeler.records import table
from labeler.records.judgments import CorrectionTarget, Judgment
from labeler.records.queue import (
    Assignment,
    AssignmentState,
    EventKind,
    ReviewEvent,
    VotePurpose,
)
from labeler.store.database import Store, WriteTransaction
from labeler.store.projections import judgments_in_force

__all__ = ["undo_last"]

_ASSIGNMENT, _EVENT, _JUDGMENT = table(Assignment), table(ReviewEvent), table(Judgment)


def undo_last(
    store: Store,
    reviewer_id: int,
    event_key: str,
    *,
    of: str | None = None,
    at: datetime | None = None,
) -> Claim | None:
    """Take back a reviewer's latest vote that still stands, and hold its item again.

    Args:
        store: The project.
        reviewer_id: The reviewer.
        event_key: The id of the undo itself, made when the key was pressed; given twice, it counts
            once.
        of: The id of the vote that is meant, if it is known which: no other is taken back.
        at: When it was done, if it is stored later than that: no vote since is taken back.

    Returns:
        The item, held again, or None when there is no vote to take back.

    Raises:
        ConflictError: When the vote's place in the queue is gone.
    """
    with store.write("review undo", actor=reviewer_name(store, reviewer_id), durable=True) as tx:
        known = sa.select(_EVENT.c.task_id).where(_EVENT.c.event_key == event_key)
        task = tx.connection.execute(known).scalar()
        if task is not None:
            return _held(tx.connection, reviewer_id, int(task))
        vote = _vote_meant(tx.connection, reviewer_id, of, at)
        if vote is None:
            return None
        claim = _hold_again(tx, reviewer_id, vote)
        tx.connection.execute(
            sa.insert(_EVENT).values(
                event_key=event_key,
                task_id=vote.task_id,
                assessor_id=reviewer_id,
                kind=EventKind.UNDO.value,
                undoes_id=vote.id,
                at=at or tx.clock(),
                revision_id=tx.revision_id,
            )
        )
        record_withdrawals(
            tx,
            CorrectionTarget.VOTE,
            f"judgment {vote.judgment_id}",
            "taken back by the reviewer",
            judgments=[vote.judgment_id],
        )
        if claim.purpose is not VotePurpose.REPEAT:
            settle_task(tx, claim.item_id)
        return claim


def _held(connection: Connection, reviewer_id: int, task_id: int) -> Claim | None:
    place = connection.execute(
        sa.select(_ASSIGNMENT).where(
            _ASSIGNMENT.c.task_id == task_id,
            _ASSIGNMENT.c.assessor_id == reviewer_id,
            _ASSIGNMENT.c.state == AssignmentState.HELD.value,
        )
    ).first()
    return None if place is None else _claim(place)


def _claim(place: sa.Row[Any]) -> Claim:
    return Claim(place.id, place.task_id, place.item_id, VotePurpose(place.purpose))


def _vote_meant(
    connection: Connection, reviewer_id: int, of: str | None, at: datetime | None
) -> sa.Row[Any] | None:
    statement = (
        sa.select(_EVENT, _JUDGMENT.c.item_id)
        .join(_JUDGMENT, _JUDGMENT.c.id == _EVENT.c.judgment_id)
        .where(
            _EVENT.c.assessor_id == reviewer_id,
            _EVENT.c.kind == EventKind.VOTE.value,
            judgments_in_force(),
        )
        .order_by(_EVENT.c.id.desc())
        .limit(1)
    )
    if of is not None:
        statement = statement.where(_EVENT.c.event_key == of)
    if at is not None:
        statement = statement.where(_EVENT.c.at <= at)
    return connection.execute(statement).first()


def _hold_again(tx: WriteTransaction, reviewer_id: int, vote: sa.Row[Any]) -> Claim:
    purpose = VotePurpose(vote.purpose)
    if purpose is VotePurpose.REPEAT:
        return hold_repeat(
            tx.connection, reviewer_id, int(vote.task_id), int(vote.item_id), tx.clock()
        )
    place = tx.connection.execute(
        sa.select(_ASSIGNMENT)
        .where(
            _ASSIGNMENT.c.task_id == vote.task_id,
            _ASSIGNMENT.c.assessor_id == reviewer_id,
            _ASSIGNMENT.c.state == AssignmentState.DONE.value,
        )
        .order_by(_ASSIGNMENT.c.purpose != purpose.value, _ASSIGNMENT.c.slot.desc())
    ).first()
    if place is None:
        raise ConflictError("the last vote's place in the queue is gone; it stays as it is")
    set_assignment(tx, place.id, AssignmentState.HELD, reviewer_id)
    return _claim(place)
