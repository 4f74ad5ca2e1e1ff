"""Generated questions in front of people: which ones wait, and how they are shown.

What a reviewer is shown is the question, its evidence and its answer. No query here touches what
filters found, so that whoever looks is blind to it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from labeler.assessment.question_events import has_verdict, is_undone
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

__all__ = [
    "ShownSource",
    "WaitingQuestion",
    "count_waiting_questions",
    "read_questions",
    "waiting_questions",
]

_QUESTION, _SOURCE, _DRAW = table(Question), table(QuestionSource), table(QuestionDraw)
_EVENT, _BECAME, _TEXT = table(QuestionEvent), table(QuestionQuery), table(Text)


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


def _waiting(
    assessor_id: int | None, domain: str | None, language: str | None
) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [
        _QUESTION.c.id.in_(sa.select(_DRAW.c.question_id)),
        ~has_verdict(),
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
            ~is_undone(),
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
