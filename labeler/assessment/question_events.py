"""What reviewers say of generated questions: an append-only log, and the verdict in force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from labeler.errors import ConflictError, NotFoundError, UsageError
from labeler.records import table
from labeler.records.project import Text
from labeler.records.questions import Question, QuestionEvent, QuestionEventKind, QuestionQuery
from labeler.store.bulk import is_one_of
from labeler.store.database import WriteTransaction
from labeler.store.registry import store_texts

__all__ = [
    "QuestionAnswer",
    "QuestionSaved",
    "QuestionVerdict",
    "append_question_event",
    "has_verdict",
    "is_undone",
    "question_verdicts",
]

_QUESTION, _EVENT = table(Question), table(QuestionEvent)
_BECAME, _TEXT = table(QuestionQuery), table(Text)

_VERDICTS = tuple(
    one.value
    for one in (QuestionEventKind.ACCEPT, QuestionEventKind.EDIT, QuestionEventKind.REJECT)
)


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """What a reviewer does with a question.

    Attributes:
        key: An id made when the key was pressed; a replay is found by it.
        question_id: The question.
        kind: What is done.
        text: The new wording of an edit; empty otherwise.
        note: Why, or empty.
        undoes: The key of the event that an undo takes back; empty otherwise.
        shown_digest: The digest of what was shown, where something was.
        dwell_ms: How long it had been on the screen.
        at: When it was done, if it is stored later than that; None means now.
    """

    key: str
    question_id: int
    kind: QuestionEventKind
    text: str = ""
    note: str = ""
    undoes: str = ""
    shown_digest: str | None = None
    dwell_ms: int | None = None
    at: datetime | None = None


class QuestionSaved(StrEnum):
    """What became of an event."""

    SAVED = "saved"
    KNOWN = "known"
    """The same event had been stored before."""
    LATE = "late"
    """Somebody else had decided meanwhile; it is kept, and the earlier verdict stays in force."""


@dataclass(frozen=True, slots=True)
class QuestionVerdict:
    """What people said of a question, as it is in force.

    Attributes:
        kind: Accept, edit or reject.
        text: The wording that was accepted or written; None for a rejected one, and where it was
            erased.
        assessor_id: Who said it.
        note: Why, or None.
        event_id: The event.
    """

    kind: QuestionEventKind
    text: str | None
    assessor_id: int
    note: str | None
    event_id: int


def is_undone() -> ColumnElement[bool]:
    """Make the condition that an event was taken back."""
    undoing = _EVENT.alias("undoing")
    return sa.exists().where(undoing.c.undoes_id == _EVENT.c.id)


def has_verdict() -> ColumnElement[bool]:
    """Make the condition that a question has a verdict in force."""
    return sa.exists().where(
        _EVENT.c.question_id == _QUESTION.c.id, _EVENT.c.kind.in_(_VERDICTS), ~is_undone()
    )


def append_question_event(
    tx: WriteTransaction, assessor_id: int, answer: QuestionAnswer
) -> QuestionSaved:
    """Append what a reviewer did; the same key again changes nothing.

    Raises:
        NotFoundError: When there is no such question, or no such event to undo.
        ConflictError: When the question has become a query, or the event is undone already.
        UsageError: When an edit has no text, or the text that was there.
    """
    known = sa.select(_EVENT.c.id).where(_EVENT.c.event_key == answer.key)
    if tx.connection.execute(known).first() is not None:
        return QuestionSaved.KNOWN
    text_id = _wording(tx, answer)
    undoes = None
    if answer.kind is QuestionEventKind.UNDO:
        undoes = _event_to_undo(tx.connection, assessor_id, answer)
    decides = answer.kind.value in _VERDICTS
    is_late = decides and bool(question_verdicts(tx.connection, [answer.question_id]))
    note = store_texts(tx.connection, [answer.note])[answer.note] if answer.note else None
    tx.connection.execute(
        sa.insert(_EVENT).values(
            event_key=answer.key,
            question_id=answer.question_id,
            assessor_id=assessor_id,
            kind=answer.kind.value,
            text_id=text_id,
            note_id=note,
            undoes_id=undoes,
            shown_digest=answer.shown_digest,
            dwell_ms=answer.dwell_ms,
            at=answer.at or tx.clock(),
            revision_id=tx.revision_id,
        )
    )
    return QuestionSaved.LATE if is_late else QuestionSaved.SAVED


def _wording(tx: WriteTransaction, answer: QuestionAnswer) -> int | None:
    """Check the question, and give the key of the new wording of an edit."""
    statement = (
        sa.select(_QUESTION.c.text_id, _BECAME.c.id.label("became"))
        .outerjoin(_BECAME, _BECAME.c.question_id == _QUESTION.c.id)
        .where(_QUESTION.c.id == answer.question_id)
    )
    row = tx.connection.execute(statement).first()
    if row is None:
        raise NotFoundError(f"there is no generated question {answer.question_id}")
    if row.became is not None and answer.kind is not QuestionEventKind.SKIP:
        raise ConflictError(
            f"question {answer.question_id} has become a query already",
            hint="`labeler correct query` puts a query right",
        )
    if answer.kind is not QuestionEventKind.EDIT:
        return None
    text = " ".join(answer.text.split())
    if not text:
        raise UsageError("an edit needs the question's new wording")
    text_id = store_texts(tx.connection, [text])[text]
    if text_id == row.text_id:
        raise UsageError("the wording is the same as before", hint="accept it as it is")
    return text_id


def _event_to_undo(connection: Connection, assessor_id: int, answer: QuestionAnswer) -> int:
    statement = sa.select(_EVENT.c.id, is_undone().label("undone")).where(
        _EVENT.c.event_key == answer.undoes,
        _EVENT.c.question_id == answer.question_id,
        _EVENT.c.assessor_id == assessor_id,
        _EVENT.c.kind != QuestionEventKind.UNDO.value,
    )
    row = connection.execute(statement).first()
    if row is None:
        raise NotFoundError("there is nothing of yours to undo on this question")
    if row.undone:
        raise ConflictError("this is undone already")
    return int(row.id)


def question_verdicts(connection: Connection, keys: Sequence[int]) -> dict[int, QuestionVerdict]:
    """Give what people said of questions and is in force: the first verdict that stands."""
    wording, note = _TEXT.alias("wording"), _TEXT.alias("note")
    statement = (
        sa.select(
            _EVENT.c.id,
            _EVENT.c.question_id,
            _EVENT.c.kind,
            _EVENT.c.assessor_id,
            wording.c.body.label("wording"),
            note.c.body.label("note"),
        )
        .join(_QUESTION, _QUESTION.c.id == _EVENT.c.question_id)
        .outerjoin(wording, wording.c.id == sa.func.coalesce(_EVENT.c.text_id, _QUESTION.c.text_id))
        .outerjoin(note, note.c.id == _EVENT.c.note_id)
        .where(
            is_one_of(connection, _EVENT.c.question_id, keys),
            _EVENT.c.kind.in_(_VERDICTS),
            ~is_undone(),
        )
        .order_by(_EVENT.c.id)
    )
    found: dict[int, QuestionVerdict] = {}
    for row in connection.execute(statement):
        kind = QuestionEventKind(row.kind)
        found.setdefault(
            int(row.question_id),
            QuestionVerdict(
                kind=kind,
                text=None if kind is QuestionEventKind.REJECT else row.wording,
                assessor_id=row.assessor_id,
                note=row.note,
                event_id=row.id,
            ),
        )
    return found
