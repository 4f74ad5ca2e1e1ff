"""Job, attempt, response: what was asked to be done, each try, each answer of a provider."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import Column, LargeBinary
from sqlmodel import Field

from labeler.records.base import Kind, Record, UtcDateTime, enumerated, keyed

__all__ = ["Attempt", "Embedding", "Job", "JobState", "Response"]


class JobState(StrEnum):
    """Where a job stands."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"


class Job(Record, table=True):
    """Something that was asked to be done; found again by its digest when it goes on."""

    __tablename__ = "job"
    __table_args__ = keyed("digest", kind=Kind.WORK)

    id: int | None = Field(default=None, primary_key=True)
    kind: str
    digest: str
    state: JobState = Field(sa_column=enumerated("state", JobState))
    pool_id: int | None = Field(default=None, foreign_key="pool.id")
    assessor_id: int | None = Field(default=None, foreign_key="assessor.id")
    total: int
    done: int
    failed: int
    started_at: datetime = Field(sa_type=UtcDateTime)
    updated_at: datetime = Field(sa_type=UtcDateTime)


class Attempt(Record, table=True):
    """One try at a request; failures are attempts and never labels."""

    __tablename__ = "attempt"
    __table_args__ = keyed("job_id", "request_digest", "number")

    id: int | None = Field(default=None, primary_key=True)
    job_id: int = Field(foreign_key="job.id")
    request_digest: str
    number: int
    outcome: str
    failure: str | None = None
    at: datetime = Field(sa_type=UtcDateTime)
    revision_id: int = Field(foreign_key="revision.id")


class Response(Record, table=True):
    """One answer of a provider. What is unknown is null: tokens, cost, fingerprint."""

    __tablename__ = "response"
    __table_args__ = keyed("attempt_id", "number")

    id: int | None = Field(default=None, primary_key=True)
    attempt_id: int = Field(foreign_key="attempt.id")
    number: int
    model: str | None = None
    fingerprint: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    latency_ms: float | None = None
    raw_id: int | None = Field(default=None, foreign_key="text.id")
    revision_id: int = Field(foreign_key="revision.id")


class Embedding(Record, table=True):
    """A vector by model, role and digest of the text that was embedded."""

    __tablename__ = "embedding"
    __table_args__ = keyed("model_digest", "text_digest", kind=Kind.CACHE)

    id: int | None = Field(default=None, primary_key=True)
    model_digest: str
    text_digest: str
    vector: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
