"""Votes and what else a reviewer does: each one transaction, on disk before anything else shows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from labeler.assessment.blind import Block
from labeler.assessment.decisions import record_withdrawals, settle_items
from labeler.assessment.reading import blocks_of
from labeler.errors import ConflictError
from labeler.labels import Level, Outcome
from labeler.queue.claims import LEASE, Claim, give_back
from labeler.queue.own_second_look import is_own_second_look, take_second_look
from labeler.queue.places import take_place
from labeler.queue.tasks import reasons_in_force, set_reasons
from labeler.queue.wanted import want_votes
from labeler.records import table
from labeler.records.judgments import CorrectionTarget, Judgment, Occasion
from labeler.records.queue import (
    Assignment,
    AssignmentState,
    EventKind,
    ReviewEvent,
    VotePurpose,
)
from labeler.store.database import Store, WriteTransaction
from labeler.store.projections import PEOPLE_DISAGREE, refresh
from labeler.store.registry import scale_key, store_texts

__all__ = [
    "Event",
    "Saved",
    "insert_event",
    "insert_judgment",
    "record_event",
    "reviewer_name",
    "set_assignment",
    "settle_task",
    "shown_digest",
]

_ASSIGNMENT, _EVENT, _JUDGMENT = table(Assignment), table(ReviewEvent), table(Judgment)


class Saved(StrEnum):
    """What became of a vote."""

    COUNTED = "counted"
    EXTRA = "extra"
    """Somebody else had settled the item meanwhile: kept, but it doesn't count."""
    KNOWN = "known"
    """The same event had been stored before."""
    NOTED = "noted"
    """Not a vote: a skip, a flag or a note."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something a reviewer did with an item.

    Attributes:
        key: An id made when the key was pressed; a replay is found by it.
        kind: A vote, a skip, a flag or a note.
        block: The block with the one item as it was shown.
        level: The level of a vote; None when it can't be judged.
        note: What the reviewer wrote, or empty.
        dwell_ms: How long the item had been on the screen.
        at: When it was done, if it is stored later than that; None means now.
    """

    key: str
    kind: EventKind
    block: Block
    level: Level | None = None
    note: str = ""
    dwell_ms: int | None = None
    at: datetime | None = None


def shown_digest(block: Block) -> str:
    """Digest what a reviewer was shown: the query, the passage, its context and the rubric."""
    return block.digest


def record_event(store: Store, reviewer_id: int, claim: Claim, event: Event) -> Saved:
    """Store what a reviewer did; when this returns, it is on disk.

    Raises:
        ConflictError: When the query, the passage or the rubric isn't what was shown.
        DatabaseBusyError: When another process holds the database for longer than 10 seconds;
            the event can then be given again with the same key.
    """
    with store.write(
        f"review {event.kind.value}", actor=reviewer_name(store, reviewer_id), durable=True
    ) as tx:
        known = sa.select(_EVENT.c.id).where(_EVENT.c.event_key == event.key)
        if tx.connection.execute(known).first() is not None:
            return Saved.KNOWN
        if event.kind is EventKind.VOTE:
            return _vote(tx, reviewer_id, claim, event)
        insert_event(tx, reviewer_id, claim, event)
        if event.kind is EventKind.SKIP:
            give_back(tx.connection, [claim], reviewer_id)
        return Saved.NOTED


def reviewer_name(store: Store, reviewer_id: int) -> str:
    """Give the name of a reviewer."""
    from labeler.records.scales import Assessor

    assessor = table(Assessor)
    with store.read() as connection:
        statement = sa.select(assessor.c.name).where(assessor.c.id == reviewer_id)
        return str(connection.execute(statement).scalar_one())


def _vote(tx: WriteTransaction, reviewer_id: int, claim: Claim, event: Event) -> Saved:
    now = blocks_of(tx.connection, [claim.item_id], seed="")
    if not now or shown_digest(now[0]) != shown_digest(event.block):
        raise ConflictError(
            "the item changed while it was on the screen, so this vote would be about another text",
            hint="look at it again and vote once more",
        )
    if claim.purpose is VotePurpose.REPEAT:
        return _vote_again(tx, reviewer_id, claim, event)
    if is_own_second_look(tx.connection, reviewer_id, claim):
        return _look_again(tx, reviewer_id, claim, event)
    place = take_place(tx.connection, reviewer_id, claim, tx.clock())
    judgment = insert_judgment(
        tx, reviewer_id, claim, event, after_reveal=_reveal_key(tx, reviewer_id, claim)
    )
    insert_event(tx, reviewer_id, place or claim, event, judgment_id=judgment)
    return _settled(tx, claim.item_id, judgment, has_place=place is not None)


def _settled(tx: WriteTransaction, item_id: int, judgment: int, *, has_place: bool) -> Saved:
    """Settle an item after a vote; one that has no place any more is kept, and doesn't count."""
    if not has_place:
        record_withdrawals(
            tx,
            CorrectionTarget.VOTE,
            f"judgment {judgment}",
            "it came after the lease had ended and somebody else had voted",
            judgments=[judgment],
        )
        return Saved.EXTRA
    settle_task(tx, item_id)
    return Saved.COUNTED


def _vote_again(tx: WriteTransaction, reviewer_id: int, claim: Claim, event: Event) -> Saved:
    """Store a hidden repeat: a judgment that no label rests on."""
    judgment = insert_judgment(tx, reviewer_id, claim, event, occasion=Occasion.REPEAT)
    insert_event(tx, reviewer_id, claim, event, judgment_id=judgment)
    give_back(tx.connection, [claim], reviewer_id)
    return Saved.COUNTED


def _look_again(tx: WriteTransaction, reviewer_id: int, claim: Claim, event: Event) -> Saved:
    """Store a second look at one's own vote: beside it, and in the place of nothing."""
    has_place = take_second_look(tx.connection, reviewer_id, claim)
    judgment = insert_judgment(tx, reviewer_id, claim, event, occasion=Occasion.REPEAT)
    insert_event(tx, reviewer_id, claim, event, judgment_id=judgment)
    return _settled(tx, claim.item_id, judgment, has_place=has_place)


def _reveal_key(tx: WriteTransaction, reviewer_id: int, claim: Claim) -> str:
    """Give the id of the event that showed others' labels of an item, or an empty text."""
    looks = (
        sa.select(_EVENT.c.event_key)
        .where(
            _EVENT.c.task_id == claim.task_id,
            _EVENT.c.assessor_id == reviewer_id,
            _EVENT.c.kind == EventKind.REVEAL.value,
        )
        .order_by(_EVENT.c.id)
    )
    return str(tx.connection.execute(looks).scalar() or "")


def settle_task(tx: WriteTransaction, item_id: int) -> None:
    """Settle an item after a change of its votes; a contradiction asks for an adjudication."""
    decided = settle_items(tx, [item_id])
    disputed = item_id in decided.disputed
    reasons = reasons_in_force(tx.connection, [item_id]).get(item_id, set())
    if disputed and PEOPLE_DISAGREE not in reasons:
        set_reasons(tx, {item_id: {PEOPLE_DISAGREE}}, {}, policy_id=None)
        want_votes(tx, {item_id: 0}, {item_id: VotePurpose.ADJUDICATION})
        refresh(tx.connection, [item_id])
    elif not disputed and PEOPLE_DISAGREE in reasons:
        set_reasons(tx, {}, {item_id: {PEOPLE_DISAGREE}}, policy_id=None)
        tx.connection.execute(
            sa.delete(_ASSIGNMENT).where(
                _ASSIGNMENT.c.item_id == item_id,
                _ASSIGNMENT.c.purpose == VotePurpose.ADJUDICATION.value,
                _ASSIGNMENT.c.state == AssignmentState.WAITING.value,
            )
        )
        refresh(tx.connection, [item_id])


def insert_judgment(
    tx: WriteTransaction,
    reviewer_id: int,
    claim: Claim,
    event: Event,
    *,
    after_reveal: str = "",
    occasion: Occasion = Occasion.FIRST,
) -> int:
    """Append the judgment that a vote gives; give its key.

    ``after_reveal`` is the key of the event that showed others' labels, where one did: what was
    asked is then another thing than a blind item.
    """
    _, levels = scale_key(tx, event.block.rubric.scale)
    asked = "\n".join(["review", shown_digest(event.block), *([after_reveal] * bool(after_reveal))])
    request = hashlib.sha256(asked.encode()).hexdigest()
    earlier = sa.select(sa.func.count()).where(
        _JUDGMENT.c.request_digest == request,
        _JUDGMENT.c.item_id == claim.item_id,
        _JUDGMENT.c.assessor_id == reviewer_id,
    )
    statement = sa.insert(_JUDGMENT).values(
        item_id=claim.item_id,
        assessor_id=reviewer_id,
        outcome=(Outcome.ABSTAINED if event.level is None else Outcome.JUDGED).value,
        level_id=None if event.level is None else levels[event.level.code],
        request_digest=request,
        sample=tx.connection.execute(earlier).scalar_one(),
        occasion=occasion.value,
        judged_at=event.at or tx.clock(),
        revision_id=tx.revision_id,
    )
    return int(tx.connection.execute(statement.returning(_JUDGMENT.c.id)).scalar_one())


def insert_event(
    tx: WriteTransaction,
    reviewer_id: int,
    claim: Claim,
    event: Event,
    *,
    judgment_id: int | None = None,
) -> None:
    """Append what a reviewer did."""
    note = store_texts(tx.connection, [event.note])[event.note] if event.note else None
    values: dict[str, Any] = {
        "event_key": event.key,
        "task_id": claim.task_id,
        "assessor_id": reviewer_id,
        "kind": event.kind.value,
        "purpose": claim.purpose.value if event.kind is EventKind.VOTE else None,
        "judgment_id": judgment_id,
        "note_id": note,
        "shown_digest": shown_digest(event.block),
        "dwell_ms": event.dwell_ms,
        "at": event.at or tx.clock(),
        "revision_id": tx.revision_id,
    }
    tx.connection.execute(sa.insert(_EVENT).values(**values))


def set_assignment(
    tx: WriteTransaction, key: int, state: AssignmentState, reviewer_id: int | None
) -> None:
    """Change where a wanted vote stands; who holds it has the time of a lease from now on."""
    held = state is AssignmentState.HELD
    tx.connection.execute(
        sa.update(_ASSIGNMENT)
        .where(_ASSIGNMENT.c.id == key)
        .values(
            state=state.value,
            assessor_id=reviewer_id,
            leased_until=tx.clock() + LEASE if held else None,
        )
    )
