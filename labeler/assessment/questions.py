"""Generated questions in front of people: which ones wait, and what a reviewer said of them.

What a reviewer is shown is the question, its evidence and its answer. No query here touches what
filters found, so that whoever looks is blind to it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from labeler.errors import ConflictError, NotFoundError, UsageError
from labeler.records import table
from labeler.records.corpus import SnapshotChunk, SnapshotDocument
from labeler.records.project import Text
from labeler.records.questions import (
    Question,
    QuestionDraw,
    QuestionEvent,
    QuestionEventKind,
    QuestionKind,
    QuestionQuery,
    QuestionSource,
)
from labeler.records.splits import Split
from labeler.store.bulk import is_one_of
from labeler.store.database import WriteTransaction
from labeler.store.registry import store_texts

__all__ = [
    "QuestionAnswer",
    "QuestionSaved",
    "QuestionVerdict",
    "ShownSource",
    "WaitingQuestion",
    "append_question_event",
    "count_waiting_questions",
    "question_verdicts",
    "read_questions",
    "waiting_questions",
]

_QUESTION, _SOURCE, _DRAW = table(Question), table(QuestionSource), table(QuestionDraw)
_EVENT, _BECAME, _TEXT = table(QuestionEvent), table(QuestionQuery), table(Text)

_VERDICTS = tuple(
    one.value
    for one in (QuestionEventKind.ACCEPT, QuestionEventKind.EDIT, QuestionEventKind.REJECT)
)


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A chunk that a question was made from, as a reviewer is shown it.

    Attributes:
        title: The title of the chunk or of its document, where known.
        text: The whole chunk.
        window: First character and end of the evidence in the text; None for a question that has
            no answer here.
    """

    title: str | None
    text: str
    window: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class WaitingQuestion:
    """A question that waits for a person.

    Attributes:
        question_id: Its key in the project.
        text: The question.
        kind: What sort of question was asked for.
        answer: The answer as the generator gave it; None where it gave none.
        domain: The domain, where known.
        language: BCP 47 tag, where known.
        persona: Who was to be asking, or None.
        conditions: Typed conditions such as product, region or date.
        sources: What it was made from, in order.
    """

    question_id: int
    text: str
    kind: QuestionKind
    answer: str | None
    domain: str | None
    language: str | None
    persona: str | None
    conditions: Mapping[str, str]
    sources: tuple[ShownSource, ...]

    @property
    def digest(self) -> str:
        """The SHA-256 of what a reviewer is shown."""
        shown = [
            self.text,
            self.kind.value,
            self.answer,
            sorted(self.conditions.items()),
            [[one.title, one.text, one.window] for one in self.sources],
        ]
        text = json.dumps(shown, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


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


def _undone() -> ColumnElement[bool]:
    undoing = _EVENT.alias("undoing")
    return sa.exists().where(undoing.c.undoes_id == _EVENT.c.id)


def _decided() -> ColumnElement[bool]:
    """Make the condition that a question has a verdict in force."""
    return sa.exists().where(
        _EVENT.c.question_id == _QUESTION.c.id, _EVENT.c.kind.in_(_VERDICTS), ~_undone()
    )


def _waiting(
    assessor_id: int | None, domain: str | None, language: str | None
) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [
        _QUESTION.c.id.in_(sa.select(_DRAW.c.question_id)),
        ~_decided(),
        ~sa.exists().where(_BECAME.c.question_id == _QUESTION.c.id),
    ]
    if domain is not None:
        conditions.append(_QUESTION.c.domain == domain)
    if language is not None:
        conditions.append(_QUESTION.c.language == language)
    if assessor_id is not None:
        skipped = sa.exists().where(
            _EVENT.c.question_id == _QUESTION.c.id,
            _EVENT.c.assessor_id == assessor_id,
            _EVENT.c.kind == QuestionEventKind.SKIP.value,
            ~_undone(),
        )
        conditions.append(~skipped)
    return conditions


def count_waiting_questions(
    connection: Connection,
    *,
    assessor_id: int | None = None,
    domain: str | None = None,
    language: str | None = None,
) -> int:
    """Count the questions that wait for people; see `waiting_questions`."""
    statement = sa.select(sa.func.count()).select_from(_QUESTION)
    conditions = _waiting(assessor_id, domain, language)
    return int(connection.execute(statement.where(*conditions)).scalar_one())


def waiting_questions(
    connection: Connection,
    *,
    assessor_id: int | None = None,
    domain: str | None = None,
    language: str | None = None,
    limit: int | None = None,
) -> list[WaitingQuestion]:
    """Read the questions that wait for people, in an order that tells nothing of the filters.

    A question is left out when a text of it was erased.

    Args:
        connection: A transaction's connection.
        assessor_id: Who is to look: what this person skipped is left out.
        domain: This domain alone.
        language: This language alone.
        limit: How many at the most.
    """
    statement = (
        sa.select(_QUESTION.c.id)
        .where(*_waiting(assessor_id, domain, language))
        .order_by(_QUESTION.c.digest)
        .limit(limit)
    )
    return read_questions(connection, [int(key) for (key,) in connection.execute(statement)])


def read_questions(connection: Connection, keys: Sequence[int]) -> list[WaitingQuestion]:
    """Read questions as reviewers are shown them, in the order of their keys' list."""
    answer = _TEXT.alias("answer")
    statement = (
        sa.select(_QUESTION, _TEXT.c.body, answer.c.body.label("answer"))
        .join(_TEXT, _TEXT.c.id == _QUESTION.c.text_id)
        .outerjoin(answer, answer.c.id == _QUESTION.c.answer_id)
        .where(is_one_of(connection, _QUESTION.c.id, keys))
    )
    rows = {int(row.id): row for row in connection.execute(statement)}
    sources = _sources(connection, keys)
    return [
        _shown(rows[key], tuple(sources[key]))
        for key in keys
        if key in rows and rows[key].body is not None and sources.get(key)
    ]


def _shown(row: sa.Row[Any], sources: tuple[ShownSource, ...]) -> WaitingQuestion:
    return WaitingQuestion(
        question_id=row.id,
        text=row.body,
        kind=QuestionKind(row.kind),
        answer=row.answer,
        domain=row.domain,
        language=row.language,
        persona=row.persona,
        conditions=json.loads(row.conditions),
        sources=sources,
    )


def _sources(connection: Connection, keys: Sequence[int]) -> dict[int, list[ShownSource]]:
    chunk, document, split = table(SnapshotChunk), table(SnapshotDocument), table(Split)
    statement = (
        sa.select(
            _SOURCE.c.question_id,
            _SOURCE.c.window_start,
            _SOURCE.c.window_end,
            _TEXT.c.body,
            chunk.c.title.label("chunk_title"),
            document.c.title.label("document_title"),
        )
        .join(_TEXT, _TEXT.c.id == _SOURCE.c.text_id)
        .join(_QUESTION, _QUESTION.c.id == _SOURCE.c.question_id)
        .join(split, split.c.id == _QUESTION.c.split_id)
        .outerjoin(
            chunk,
            sa.and_(
                chunk.c.snapshot_id == split.c.snapshot_id, chunk.c.chunk_id == _SOURCE.c.chunk_id
            ),
        )
        .outerjoin(
            document,
            sa.and_(
                document.c.snapshot_id == split.c.snapshot_id,
                document.c.document_id == _SOURCE.c.document_id,
            ),
        )
        .where(is_one_of(connection, _SOURCE.c.question_id, keys))
        .order_by(_SOURCE.c.question_id, _SOURCE.c.place)
    )
    found: dict[int, list[ShownSource]] = {}
    erased: set[int] = set()
    for row in connection.execute(statement):
        if row.body is None:
            erased.add(row.question_id)
            continue
        window = None if row.window_start is None else (row.window_start, row.window_end)
        shown = ShownSource(row.chunk_title or row.document_title, row.body, window)
        found.setdefault(row.question_id, []).append(shown)
    return {key: shown for key, shown in found.items() if key not in erased}


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
    statement = sa.select(_EVENT.c.id, _undone().label("undone")).where(
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
            ~_undone(),
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
