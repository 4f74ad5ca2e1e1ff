"""Generated questions: where they come from, what filters and people said, what became of them.

A question is never changed. What a person writes in its place is another wording, a text of its
own, and goes through the filters again.
"""

from datetime import datetime
from enum import StrEnum

from sqlmodel import Field

from labeler.records.base import Record, UtcDateTime, enumerated, keyed
from labeler.records.splits import SplitPart

__all__ = [
    "FilterSettings",
    "FindingOutcome",
    "Quarantine",
    "Question",
    "QuestionDraw",
    "QuestionEvent",
    "QuestionEventKind",
    "QuestionFinding",
    "QuestionKind",
    "QuestionQuery",
    "QuestionSource",
]


class QuestionKind(StrEnum):
    """What sort of question was asked for."""

    FACTUAL = "factual"
    CONDITIONAL = "conditional"
    PROCEDURAL = "procedural"
    COMPARISON = "comparison"
    PARAPHRASE = "paraphrase"
    UNANSWERABLE = "unanswerable"


class FindingOutcome(StrEnum):
    """What a filter or a tag found."""

    PASSED = "passed"
    FAILED = "failed"
    UNMEASURED = "unmeasured"
    """What the filter looks at is not there, so it says nothing."""
    TAG = "tag"
    """A note that keeps nothing out."""


class QuestionEventKind(StrEnum):
    """What a reviewer did with a question."""

    ACCEPT = "accept"
    EDIT = "edit"
    REJECT = "reject"
    SKIP = "skip"
    UNDO = "undo"


class Question(Record, table=True):
    """One question as a generator wrote it.

    ``digest`` identifies it by split, request and sample. ``conditions`` holds canonical JSON.
    ``log_probability`` is the mean over the question's tokens, ``window_similarity`` the cosine to
    its evidence window; null where they were not measured.
    """

    __tablename__ = "question"
    __table_args__ = keyed("digest", index=(("split_id", "domain"), ("job_id",)))

    id: int | None = Field(default=None, primary_key=True)
    digest: str
    split_id: int = Field(foreign_key="split.id")
    group_id: int = Field(foreign_key="split_group.id")
    part: SplitPart = Field(sa_column=enumerated("part", SplitPart))
    kind: QuestionKind = Field(sa_column=enumerated("kind", QuestionKind))
    text_id: int = Field(foreign_key="text.id")
    answer_id: int | None = Field(default=None, foreign_key="text.id")
    domain: str | None = None
    language: str | None = None
    persona: str | None = None
    conditions: str = "{}"
    assessor_id: int = Field(foreign_key="assessor.id")
    job_id: int = Field(foreign_key="job.id")
    response_id: int | None = Field(default=None, foreign_key="response.id")
    prompt_digest: str
    request_digest: str
    sample: int = 0
    log_probability: float | None = None
    window_similarity: float | None = None
    made_at: datetime = Field(sa_type=UtcDateTime)
    revision_id: int = Field(foreign_key="revision.id")


class QuestionSource(Record, table=True):
    """A chunk that a question was made from, with what of it is the evidence.

    ``window_start`` and ``window_end`` are characters of the chunk's text: the verbatim answer
    span or the window that embeddings chose; null where the question has no answer in the chunk.
    """

    __tablename__ = "question_source"
    __table_args__ = keyed("question_id", "place", index=(("chunk_id",),))

    id: int | None = Field(default=None, primary_key=True)
    question_id: int = Field(foreign_key="question.id")
    place: int
    document_id: int = Field(foreign_key="document.id")
    chunk_id: int = Field(foreign_key="chunk.id")
    text_id: int = Field(foreign_key="text.id")
    window_start: int | None = None
    window_end: int | None = None


class QuestionFinding(Record, table=True):
    """What one filter or tag found about one wording of a question.

    ``filter_digest`` tells which filter with which thresholds; ``number`` their order.
    """

    __tablename__ = "question_finding"
    __table_args__ = keyed("question_id", "text_id", "name", "filter_digest")

    id: int | None = Field(default=None, primary_key=True)
    question_id: int = Field(foreign_key="question.id")
    text_id: int = Field(foreign_key="text.id")
    number: int
    name: str
    filter_digest: str
    outcome: FindingOutcome = Field(sa_column=enumerated("outcome", FindingOutcome))
    score: float | None = None
    detail: str = ""
    revision_id: int = Field(foreign_key="revision.id")


class FilterSettings(Record, table=True):
    """Thresholds of the filters as they were put in force; the latest of a generator counts.

    ``generator`` is the assessor's name. ``body`` is canonical JSON: thresholds, and what they
    were fitted on.
    """

    __tablename__ = "filter_settings"
    __table_args__ = keyed("generator", "digest")

    id: int | None = Field(default=None, primary_key=True)
    generator: str
    digest: str
    body: str
    revision_id: int = Field(foreign_key="revision.id")


class QuestionDraw(Record, table=True):
    """A question that people look at first, with its inclusion probability in (0, 1]."""

    __tablename__ = "question_draw"
    __table_args__ = keyed("question_id")

    id: int | None = Field(default=None, primary_key=True)
    question_id: int = Field(foreign_key="question.id")
    stratum: str
    probability: float
    revision_id: int = Field(foreign_key="revision.id")


class QuestionEvent(Record, table=True):
    """What a reviewer did with a question, with an id made at the key press.

    The first verdict that was not undone counts; a skip says nothing of the question.
    """

    __tablename__ = "question_event"
    __table_args__ = keyed("event_key", index=(("question_id",), ("assessor_id", "id")))

    id: int | None = Field(default=None, primary_key=True)
    event_key: str
    question_id: int = Field(foreign_key="question.id")
    assessor_id: int = Field(foreign_key="assessor.id")
    kind: QuestionEventKind = Field(sa_column=enumerated("kind", QuestionEventKind))
    text_id: int | None = Field(default=None, foreign_key="text.id")
    note_id: int | None = Field(default=None, foreign_key="text.id")
    undoes_id: int | None = Field(default=None, foreign_key="question_event.id")
    shown_digest: str | None = None
    dwell_ms: int | None = None
    at: datetime = Field(sa_type=UtcDateTime)
    revision_id: int = Field(foreign_key="revision.id")


class QuestionQuery(Record, table=True):
    """The query that an accepted question became; from then on the question is settled."""

    __tablename__ = "question_query"
    __table_args__ = keyed("question_id")

    id: int | None = Field(default=None, primary_key=True)
    question_id: int = Field(foreign_key="question.id")
    query_id: int = Field(foreign_key="query.id")
    text_id: int = Field(foreign_key="text.id")
    revision_id: int = Field(foreign_key="revision.id")


class Quarantine(Record, table=True):
    """A chunk or a query of train or dev that shares text with a sealed one: no prompt has it."""

    __tablename__ = "quarantine"
    __table_args__ = keyed("split_id", "kind", "name")

    id: int | None = Field(default=None, primary_key=True)
    split_id: int = Field(foreign_key="split.id")
    kind: str
    name: str
    hits: int
    revision_id: int = Field(foreign_key="revision.id")
