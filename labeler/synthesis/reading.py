"""Reading generated questions with what filters and people said, and where each one stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from labeler.assessment.question_events import QuestionVerdict, question_verdicts
from labeler.records import table
from labeler.records.corpus import Chunk
from labeler.records.project import Text
from labeler.records.queries import Query
from labeler.records.questions import (
    FindingOutcome,
    Question,
    QuestionDraw,
    QuestionEventKind,
    QuestionFinding,
    QuestionKind,
    QuestionQuery,
    QuestionSource,
)
from labeler.records.scales import Assessor
from labeler.store.bulk import is_one_of
from labeler.synthesis.filters import GUARDS

__all__ = ["QuestionState", "SourceOf", "Stands", "StoredFinding", "question_states"]

_QUESTION, _SOURCE, _TEXT = table(Question), table(QuestionSource), table(Text)


class Stands(StrEnum):
    """Where a question stands."""

    FILTERED = "filtered"
    """A filter turned it down, and no person has overruled a quality filter."""
    WAITING = "waiting"
    """It passed, and a person looks at it first."""
    REJECTED = "rejected"
    """A person turned it down."""
    ACCEPTED = "accepted"
    """It passed, and no person is waited for."""
    QUERY = "query"
    """It has become a query."""


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """What a filter or a tag found about the question's own wording."""

    name: str
    outcome: FindingOutcome
    score: float | None
    detail: str


@dataclass(frozen=True, slots=True)
class SourceOf:
    """A chunk that a question was made from, with its evidence."""

    chunk: str
    text: str | None
    window: tuple[int, int] | None

    @property
    def evidence(self) -> str:
        """The words of the evidence; empty where there are none."""
        if self.text is None or self.window is None:
            return ""
        return self.text[self.window[0] : self.window[1]]


@dataclass(frozen=True)
class QuestionState:
    """A generated question as it stands.

    Attributes:
        question_id: Its key.
        digest: Its digest.
        text: The question as it was generated; None where it was erased.
        text_id: The key of that text.
        answer: The answer as it was given, or None.
        kind: Its kind.
        part: The part of its source.
        group_id: The split group of its source.
        domain: Its domain.
        language: Its language.
        persona: Who was to be asking.
        generator: The name of the assessor that wrote it.
        job_id: The job.
        log_probability: The mean over its tokens, or None.
        window_similarity: The cosine to its evidence, or None.
        conditions: Its conditions, as canonical JSON.
        sources: What it was made from, in order.
        findings: What filters and tags found, in their order.
        probability: With which probability it was drawn for people; None when it wasn't.
        verdict: What people said of it, or None.
        query: The id of the query that it became, or None.
    """

    question_id: int
    digest: str
    text: str | None
    text_id: int
    answer: str | None
    kind: QuestionKind
    part: str
    group_id: int
    domain: str | None
    language: str | None
    persona: str | None
    generator: str
    job_id: int
    log_probability: float | None
    window_similarity: float | None
    conditions: str
    sources: tuple[SourceOf, ...]
    findings: tuple[StoredFinding, ...] = field(default=())
    probability: float | None = None
    verdict: QuestionVerdict | None = None
    query: str | None = None

    @property
    def failed(self) -> tuple[StoredFinding, ...]:
        """The filters that turned it down."""
        return tuple(one for one in self.findings if one.outcome is FindingOutcome.FAILED)

    @property
    def stands(self) -> Stands:
        """Where it stands.

        A person's yes overrules filters of quality, never the guards against leaks and duplicates.
        """
        if self.query is not None:
            return Stands.QUERY
        if self.verdict is not None and self.verdict.kind is QuestionEventKind.REJECT:
            return Stands.REJECTED
        names = {one.name for one in self.failed}
        if names and (self.verdict is None or names & GUARDS):
            return Stands.FILTERED
        if self.probability is not None and self.verdict is None:
            return Stands.WAITING
        return Stands.ACCEPTED


def question_states(
    connection: Connection, *conditions: ColumnElement[bool], keys: Sequence[int] | None = None
) -> list[QuestionState]:
    """Read questions, oldest first.

    Args:
        connection: A transaction's connection.
        conditions: Conditions on the table of questions.
        keys: These questions alone; None for all.
    """
    answer, assessor = _TEXT.alias("answer"), table(Assessor)
    draw, became, query = table(QuestionDraw), table(QuestionQuery), table(Query)
    statement = (
        sa.select(
            _QUESTION,
            _TEXT.c.body,
            answer.c.body.label("answer"),
            assessor.c.name.label("generator"),
            draw.c.probability,
            query.c.external_id.label("query"),
        )
        .join(_TEXT, _TEXT.c.id == _QUESTION.c.text_id)
        .join(assessor, assessor.c.id == _QUESTION.c.assessor_id)
        .outerjoin(answer, answer.c.id == _QUESTION.c.answer_id)
        .outerjoin(draw, draw.c.question_id == _QUESTION.c.id)
        .outerjoin(became, became.c.question_id == _QUESTION.c.id)
        .outerjoin(query, query.c.id == became.c.query_id)
        .where(*conditions)
        .order_by(_QUESTION.c.id)
    )
    if keys is not None:
        statement = statement.where(is_one_of(connection, _QUESTION.c.id, keys))
    rows = connection.execute(statement).all()
    found = [int(row.id) for row in rows]
    sources, findings = _sources(connection, found), _findings(connection, found)
    verdicts = question_verdicts(connection, found)
    return [
        _state(row, sources.get(row.id, []), findings.get(row.id, []), verdicts.get(row.id))
        for row in rows
    ]


def _state(
    row: sa.Row[Any],
    sources: Sequence[SourceOf],
    findings: Sequence[StoredFinding],
    verdict: QuestionVerdict | None,
) -> QuestionState:
    return QuestionState(
        question_id=row.id,
        digest=row.digest,
        text=row.body,
        text_id=row.text_id,
        answer=row.answer,
        kind=QuestionKind(row.kind),
        part=row.part,
        group_id=row.group_id,
        domain=row.domain,
        language=row.language,
        persona=row.persona,
        generator=row.generator,
        job_id=row.job_id,
        log_probability=row.log_probability,
        window_similarity=row.window_similarity,
        conditions=row.conditions,
        sources=tuple(sources),
        findings=tuple(findings),
        probability=row.probability,
        verdict=verdict,
        query=row.query,
    )


def _sources(connection: Connection, keys: Sequence[int]) -> Mapping[int, list[SourceOf]]:
    chunk = table(Chunk)
    statement = (
        sa.select(_SOURCE, chunk.c.external_id, _TEXT.c.body)
        .join(chunk, chunk.c.id == _SOURCE.c.chunk_id)
        .join(_TEXT, _TEXT.c.id == _SOURCE.c.text_id)
        .where(is_one_of(connection, _SOURCE.c.question_id, keys))
        .order_by(_SOURCE.c.question_id, _SOURCE.c.place)
    )
    found: dict[int, list[SourceOf]] = {}
    for row in connection.execute(statement):
        window = None if row.window_start is None else (row.window_start, row.window_end)
        source = SourceOf(row.external_id, row.body, window)
        found.setdefault(row.question_id, []).append(source)
    return found


def _findings(connection: Connection, keys: Sequence[int]) -> Mapping[int, list[StoredFinding]]:
    """Read the latest finding of each filter about each question's own wording."""
    finding = table(QuestionFinding)
    statement = (
        sa.select(finding)
        .join(
            _QUESTION,
            sa.and_(
                _QUESTION.c.id == finding.c.question_id, _QUESTION.c.text_id == finding.c.text_id
            ),
        )
        .where(is_one_of(connection, finding.c.question_id, keys))
        .order_by(finding.c.id)
    )
    latest: dict[int, dict[str, tuple[int, StoredFinding]]] = {}
    for row in connection.execute(statement):
        one = StoredFinding(row.name, FindingOutcome(row.outcome), row.score, row.detail)
        latest.setdefault(row.question_id, {})[row.name] = (row.number, one)
    return {
        key: [one for _, one in sorted(named.values(), key=lambda pair: pair[0])]
        for key, named in latest.items()
    }
