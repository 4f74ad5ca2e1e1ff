"""Settling a dispute: a blind vote, then a look at what all others said, then one of three ends.

Who settles decides, sends the item back for another vote, or marks the rubric as unclear. Each is
an event with an id made at the key press, so that it counts once. Until then the blind vote settles
the dispute, as that of any third person does. Once the others' labels were seen, the blind vote is
what agreement uses, whatever is decided.
"""

from __future__ import annotations

import sqlalchemy as sa

from labeler.assessment.decisions import is_vote, record_withdrawals
from labeler.assessment.reading import blocks_of
from labeler.assessment.rubric_flags import rubric_flag
from labeler.errors import ConflictError
from labeler.labels import Level
from labeler.queue.claims import Claim
from labeler.queue.comparison import Comparison
from labeler.queue.dispute_access import is_known, refuse_settled
from labeler.queue.votes import (
    Event,
    insert_event,
    insert_judgment,
    record_event,
    reviewer_name,
    set_assignment,
    settle_task,
    shown_digest,
)
from labeler.queue.wanted import want_votes
from labeler.records import table
from labeler.records.judgments import CorrectionTarget, Judgment
from labeler.records.queue import (
    Assignment,
    AssignmentState,
    EventKind,
    ReviewEvent,
    Task,
    VotePurpose,
)
from labeler.store.database import Store, WriteTransaction
from labeler.store.projections import judgments_in_force

__all__ = [
    "decide",
    "mark_rubric_unclear",
    "note",
    "send_back",
    "take_back_decision",
]

_SLOT, _EVENT, _JUDGMENT, _TASK = (
    table(Assignment),
    table(ReviewEvent),
    table(Judgment),
    table(Task),
)
_ADJUDICATION = VotePurpose.ADJUDICATION


def decide(
    store: Store,
    person_id: int,
    comparison: Comparison,
    level: Level,
    key: str,
    *,
    dwell_ms: int | None = None,
) -> None:
    """Settle a dispute after the look: a vote of its own, which takes the place of the blind one.

    Args:
        store: The project.
        person_id: Who decides.
        comparison: What was looked at.
        level: The level that is to be in force.
        key: The id of the decision, made when the key was pressed.
        dwell_ms: For how long the comparison was on the screen.

    Raises:
        ConflictError: When the item isn't what was shown, or somebody else settled it meanwhile.
    """
    with store.write("review decide", actor=reviewer_name(store, person_id), durable=True) as tx:
        if is_known(tx.connection, key):
            return
        item_id = comparison.item_id
        refuse_settled(tx.connection, person_id, item_id)
        now = blocks_of(tx.connection, [item_id], seed="")
        if not now or shown_digest(now[0]) != shown_digest(comparison.block):
            raise ConflictError(
                "the item changed while it was on the screen", hint="look at it again and decide"
            )
        _withdraw_own(tx, person_id, item_id, "decided after a look at the others' labels")
        place = _own_place(tx, person_id, comparison)
        claim = Claim(place, comparison.task_id, item_id, _ADJUDICATION)
        event = Event(key, EventKind.VOTE, comparison.block, level, dwell_ms=dwell_ms)
        judgment = insert_judgment(tx, person_id, claim, event, after_reveal=comparison.reveal_key)
        insert_event(tx, person_id, claim, event, judgment_id=judgment)
        settle_task(tx, item_id)


def take_back_decision(
    store: Store, person_id: int, comparison: Comparison, decision_key: str, key: str
) -> None:
    """Take a decision back: the item is disputed again, and its letters stay what they were.

    Args:
        store: The project.
        person_id: Who decided.
        comparison: What was looked at.
        decision_key: The id of the decision.
        key: The id of this event, made when the key was pressed.

    Raises:
        ConflictError: When the decision is no longer in force.
    """
    with store.write("review undo", actor=reviewer_name(store, person_id), durable=True) as tx:
        if is_known(tx.connection, key):
            return
        decision = tx.connection.execute(
            sa.select(_EVENT.c.id, _EVENT.c.judgment_id)
            .join(_JUDGMENT, _JUDGMENT.c.id == _EVENT.c.judgment_id)
            .where(
                _EVENT.c.event_key == decision_key,
                _EVENT.c.assessor_id == person_id,
                judgments_in_force(),
            )
        ).first()
        if decision is None:
            raise ConflictError("this decision is no longer in force")
        tx.connection.execute(
            sa.insert(_EVENT).values(
                event_key=key,
                task_id=comparison.task_id,
                assessor_id=person_id,
                kind=EventKind.UNDO.value,
                undoes_id=decision.id,
                at=tx.clock(),
                revision_id=tx.revision_id,
            )
        )
        _withdraw(tx, [decision.judgment_id], "taken back by the reviewer")
        settle_task(tx, comparison.item_id)


def send_back(store: Store, person_id: int, comparison: Comparison, key: str) -> None:
    """Ask for another vote: the item is disputed again, and a further person votes on it first.

    Args:
        store: The project.
        person_id: Who sends it back.
        comparison: What was looked at.
        key: The id of the event, made when the key was pressed.

    Raises:
        ConflictError: When somebody else settled it meanwhile.
    """
    note = "sent back: another vote is wanted"
    event = Event(key, EventKind.SKIP, comparison.block, note=note)
    with store.write("review send back", actor=reviewer_name(store, person_id), durable=True) as tx:
        if not _leave_open(tx, person_id, comparison, event):
            return
        # The further vote is wanted before the one that settles, so that it comes first.
        item = comparison.item_id
        want_votes(tx, {item: 0}, {item: VotePurpose.OVERLAP})
        want_votes(tx, {item: 0}, {item: _ADJUDICATION})


def mark_rubric_unclear(
    store: Store, person_id: int, comparison: Comparison, words: str, key: str
) -> None:
    """Say that the rubric is what needs work: the item stays disputed, and nobody is asked.

    Args:
        store: The project.
        person_id: Who says so.
        comparison: What was looked at.
        words: What is unclear, or empty.
        key: The id of the event, made when the key was pressed.

    Raises:
        ConflictError: When somebody else settled it meanwhile.
    """
    event = Event(key, EventKind.FLAG, comparison.block, note=rubric_flag(words))
    with store.write("review flag", actor=reviewer_name(store, person_id), durable=True) as tx:
        _leave_open(tx, person_id, comparison, event)


def note(store: Store, person_id: int, comparison: Comparison, text: str, key: str) -> None:
    """Keep a note with a dispute that was looked at.

    Args:
        store: The project.
        person_id: Who writes it.
        comparison: What was looked at.
        text: The note.
        key: The id of the event, made when the key was pressed.
    """
    claim = Claim(0, comparison.task_id, comparison.item_id, _ADJUDICATION)
    record_event(store, person_id, claim, Event(key, EventKind.NOTE, comparison.block, note=text))


def _leave_open(tx: WriteTransaction, person_id: int, comparison: Comparison, event: Event) -> bool:
    """Store an event that leaves the dispute open, with nobody asked; False when it was known."""
    item_id = comparison.item_id
    if is_known(tx.connection, event.key):
        return False
    refuse_settled(tx.connection, person_id, item_id)
    claim = Claim(0, comparison.task_id, item_id, _ADJUDICATION)
    insert_event(tx, person_id, claim, event)
    _withdraw_own(tx, person_id, item_id, event.note, adjudications_only=True)
    settle_task(tx, item_id)
    tx.connection.execute(
        sa.delete(_SLOT).where(
            _SLOT.c.item_id == item_id,
            _SLOT.c.purpose == _ADJUDICATION.value,
            _SLOT.c.state == AssignmentState.WAITING.value,
        )
    )
    return True


def _own_place(tx: WriteTransaction, person_id: int, comparison: Comparison) -> int:
    """Give the place in the queue that a decision has: the blind vote's, else a wanted one."""
    item_id = comparison.item_id
    places = (
        sa.select(_SLOT.c.id)
        .where(
            _SLOT.c.item_id == item_id,
            _SLOT.c.purpose == _ADJUDICATION.value,
            sa.or_(
                _SLOT.c.assessor_id == person_id, _SLOT.c.state == AssignmentState.WAITING.value
            ),
        )
        .order_by(_SLOT.c.assessor_id.is_(None), _SLOT.c.id)
        .limit(1)
    )
    place = tx.connection.execute(places).scalar()
    if place is None:
        want_votes(tx, {item_id: 0}, {item_id: _ADJUDICATION})
        place = tx.connection.execute(places).scalar_one()
    set_assignment(tx, int(place), AssignmentState.DONE, person_id)
    return int(place)


def _withdraw_own(
    tx: WriteTransaction,
    person_id: int,
    item_id: int,
    reason: str,
    *,
    adjudications_only: bool = False,
) -> None:
    """Take this person's votes on an item out of force; a party's own vote stays, if it is to."""
    adjudicating = sa.exists().where(
        _EVENT.c.judgment_id == _JUDGMENT.c.id,
        _EVENT.c.purpose == _ADJUDICATION.value,
    )
    own = sa.select(_JUDGMENT.c.id).where(
        _JUDGMENT.c.item_id == item_id,
        _JUDGMENT.c.assessor_id == person_id,
        is_vote(),
        judgments_in_force(),
    )
    if adjudications_only:
        own = own.where(adjudicating)
    _withdraw(tx, [int(key) for (key,) in tx.connection.execute(own)], reason)


def _withdraw(tx: WriteTransaction, judgments: list[int], reason: str) -> None:
    for key in judgments:
        record_withdrawals(tx, CorrectionTarget.VOTE, f"judgment {key}", reason, judgments=[key])
