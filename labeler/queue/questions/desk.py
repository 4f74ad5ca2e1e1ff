"""The database's side of a sitting over generated questions."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.question_events import QuestionAnswer, QuestionSaved, append_question_event
from labeler.assessment.questions import (
    WaitingQuestion,
    count_waiting_questions,
    read_questions,
    waiting_questions,
)
from labeler.errors import ConflictError, NotFoundError, UsageError
from labeler.queue.questions.drafts import Drafts
from labeler.queue.questions.orders import (
    Brought,
    Decide,
    Decided,
    DraftKept,
    KeepDraft,
    More,
    QuestionAnswered,
    QuestionOrder,
    TakeBack,
    TakenBack,
    TurnedDown,
)
from labeler.records import table
from labeler.records.questions import QuestionEvent, QuestionEventKind
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from labeler.store.journals import journal_places
from labeler.store.registry import assessor_key

__all__ = ["QuestionDesk", "last_event", "take_back"]

_EVENT = table(QuestionEvent)

_LOOKED_AT = 60
"""So many of the waiting questions are read, of which each reviewer is given others first."""


@dataclass
class QuestionDesk:
    """One reviewer's place at the generated questions; used by one thread.

    A question is nobody's while it is looked at: reviewers are given them in orders of their own,
    and where two decide the same one, the first counts and the other is kept.

    Attributes:
        store: The project.
        reviewer: The reviewer's name.
        domain: Questions of this domain only; None takes all.
        language: Questions in this language only; None takes all.
    """

    store: Store
    reviewer: str
    domain: str | None = None
    language: str | None = None
    _reviewer_id: int = field(init=False)
    _drafts: Drafts = field(init=False)

    def __post_init__(self) -> None:
        with self.store.write("review start", actor=self.reviewer) as tx:
            self._reviewer_id = assessor_key(tx, AssessorKind.PERSON, self.reviewer)
        self._drafts = Drafts(journal_places(self.store.location), self.reviewer)

    def perform(self, order: QuestionOrder) -> QuestionAnswered:
        """Do what a sitting asks for; events are on disk when this returns.

        Raises:
            DatabaseBusyError: When another process holds the database for longer than 10 seconds;
                the same order can then be given again.
        """
        match order:
            case Decide():
                return self._decide(order)
            case TakeBack(key, of):
                return self._take_back(key, of)
            case KeepDraft(question, text):
                self._drafts.keep(question.digest, text)
                return DraftKept()
            case More(count, there):
                return self._more(count, there)

    def _decide(self, order: Decide) -> Decided | TurnedDown:
        answer = QuestionAnswer(
            order.key,
            order.question.question_id,
            order.kind,
            text=order.text,
            note=order.note,
            shown_digest=order.question.digest,
            dwell_ms=order.dwell_ms,
        )
        command = f"review question {order.kind.value}"
        try:
            with self.store.write(command, actor=self.reviewer, durable=True) as tx:
                saved = append_question_event(tx, self._reviewer_id, answer)
        except UsageError as error:
            return TurnedDown(order.key, error.message, order.question)
        except (ConflictError, NotFoundError) as error:
            return TurnedDown(order.key, error.message)
        self._drafts.keep(order.question.digest, "")
        return Decided(order.key, is_late=saved is QuestionSaved.LATE)

    def _take_back(self, key: str, of: str | None) -> TakenBack:
        try:
            taken = take_back(self.store, self.reviewer, self._reviewer_id, key, of=of)
        except ConflictError as error:
            return TakenBack(key, message=f"not taken back: {error.message}")
        if taken is None:
            return TakenBack(key, message="there is nothing of yours to take back")
        event, question_id = taken
        with self.store.read() as connection:
            again = read_questions(connection, [question_id])
        if not again:
            return TakenBack(key, of=event, message="its text was erased meanwhile")
        return TakenBack(key, event, again[0])

    def _more(self, count: int, there: frozenset[int]) -> Brought:
        with self.store.read() as connection:
            waiting = count_waiting_questions(
                connection,
                assessor_id=self._reviewer_id,
                domain=self.domain,
                language=self.language,
            )
            found = waiting_questions(
                connection,
                assessor_id=self._reviewer_id,
                domain=self.domain,
                language=self.language,
                limit=_LOOKED_AT,
            )
        fresh = [one for one in found if one.question_id not in there]
        given = tuple(sorted(fresh, key=self._place)[:count])
        begun = {one.question_id: self._drafts.of(one.digest) for one in given}
        drafts = {key: text for key, text in begun.items() if text is not None}
        return Brought(given, waiting, drafts)

    def _place(self, question: WaitingQuestion) -> bytes:
        """Give the place of a question in this reviewer's own order, which tells nothing of it."""
        return hashlib.sha256(f"{self.reviewer}\n{question.digest}".encode()).digest()

    def close(self) -> None:
        """End; nothing is held."""


def last_event(
    connection: Connection,
    reviewer_id: int,
    *,
    of: str | None = None,
    before: datetime | None = None,
) -> tuple[str, int] | None:
    """Find the latest event of a reviewer that isn't undone; give its key and its question.

    Args:
        connection: A transaction's connection.
        reviewer_id: The reviewer.
        of: The key of the event that is meant, if it is known which.
        before: Only what was done until then, in UTC.
    """
    undoing = _EVENT.alias("undoing")
    conditions = [
        _EVENT.c.assessor_id == reviewer_id,
        _EVENT.c.kind != QuestionEventKind.UNDO.value,
        ~sa.exists().where(undoing.c.undoes_id == _EVENT.c.id),
    ]
    if of is not None:
        conditions.append(_EVENT.c.event_key == of)
    if before is not None:
        conditions.append(_EVENT.c.at <= before)
    statement = sa.select(_EVENT.c.event_key, _EVENT.c.question_id).where(*conditions)
    row = connection.execute(statement.order_by(_EVENT.c.id.desc()).limit(1)).first()
    return None if row is None else (str(row.event_key), int(row.question_id))


def take_back(
    store: Store,
    reviewer: str,
    reviewer_id: int,
    key: str,
    *,
    of: str | None = None,
    at: datetime | None = None,
) -> tuple[str, int] | None:
    """Take an event of a reviewer back, the latest one or one that is named.

    Args:
        store: The project.
        reviewer: The reviewer's name.
        reviewer_id: The reviewer.
        key: The id of the undo; given twice, it counts once.
        of: The key of the event that is meant, if it is known which: no other is taken back.
        at: When it was done, if it is stored later than that; nothing done since is taken back.

    Returns:
        The key of the event and its question; None when there is nothing to take back.

    Raises:
        ConflictError: When the question has become a query.
    """
    with store.write("review question undo", actor=reviewer, durable=True) as tx:
        undone = _EVENT.alias("undone")
        known = (
            sa.select(undone.c.event_key, undone.c.question_id)
            .join(_EVENT, _EVENT.c.undoes_id == undone.c.id)
            .where(_EVENT.c.event_key == key)
        )
        row = tx.connection.execute(known).first()
        if row is not None:
            return str(row.event_key), int(row.question_id)
        found = last_event(tx.connection, reviewer_id, of=of, before=at)
        if found is None:
            return None
        undo = QuestionAnswer(key, found[1], QuestionEventKind.UNDO, undoes=found[0], at=at)
        append_question_event(tx, reviewer_id, undo)
        return found
