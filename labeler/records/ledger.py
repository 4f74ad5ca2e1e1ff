"""Job, attempt, response: what was asked to be done, each try, each answer of a provider."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import Column, LargeBinary
from sqlmodel import Field

from labeler.records.base import Kind, Record, UtcDateTime, enumerated, keyed

__all__ = [
    "Attempt",
    "BatchState",
    "Embedding",
    "Job",
    "JobState",
    "ModelProfile",
    "ProviderBatch",
    "ProviderBatchLine",
    "Response",
]


class JobState(StrEnum):
    """Where a job stands."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"


class Job(Record, table=True):
    """Something that was asked to be done; found again by its digest when it goes on.

    ``settings`` is canonical JSON: what the job was begun with and must go on with.
    """

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
    settings: str | None = None
    started_at: datetime = Field(sa_type=UtcDateTime)
    updated_at: datetime = Field(sa_type=UtcDateTime)


class Attempt(Record, table=True):
    """One HTTP request, or one line of a provider's batch; failures are attempts, never labels.

    The k-th answered attempt at a request is its k-th sample.
    """

    __tablename__ = "attempt"
    __table_args__ = keyed("job_id", "request_digest", "number", index=(("request_digest",),))

    id: int | None = Field(default=None, primary_key=True)
    job_id: int = Field(foreign_key="job.id")
    request_digest: str
    number: int
    outcome: str
    failure: str | None = None
    at: datetime = Field(sa_type=UtcDateTime)
    revision_id: int = Field(foreign_key="revision.id")


class Response(Record, table=True):
    """One answer of a provider. What is unknown is null: tokens, cost, fingerprint.

    ``logprobs`` is canonical JSON: the log-probability of each code at the deciding token, where
    the provider gives real ones.
    """

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
    finish_reason: str | None = None
    logprobs: str | None = None
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


class ModelProfile(Record, table=True):
    """What `labeler doctor` found out about a model; ``body`` is canonical JSON."""

    __tablename__ = "model_profile"
    __table_args__ = keyed("model", "endpoint", kind=Kind.CACHE)

    id: int | None = Field(default=None, primary_key=True)
    model: str
    endpoint: str = ""
    body: str
    probed_at: datetime = Field(sa_type=UtcDateTime)


class BatchState(StrEnum):
    """Where a provider's batch stands."""

    PLANNED = "planned"
    SUBMITTED = "submitted"
    COLLECTED = "collected"
    LOST = "lost"


class ProviderBatch(Record, table=True):
    """A batch that a provider works on. It is written down before it is submitted."""

    __tablename__ = "provider_batch"
    __table_args__ = keyed("key", kind=Kind.WORK)

    id: int | None = Field(default=None, primary_key=True)
    job_id: int = Field(foreign_key="job.id")
    key: str
    state: BatchState = Field(sa_column=enumerated("state", BatchState))
    provider: str
    endpoint: str | None = None
    file_id: str | None = None
    external_id: str | None = None
    total: int
    created_at: datetime = Field(sa_type=UtcDateTime)
    updated_at: datetime = Field(sa_type=UtcDateTime)


class ProviderBatchLine(Record, table=True):
    """One request of a provider's batch."""

    __tablename__ = "provider_batch_line"
    __table_args__ = keyed("batch_id", "request_digest", "sample", kind=Kind.WORK)

    id: int | None = Field(default=None, primary_key=True)
    batch_id: int = Field(foreign_key="provider_batch.id")
    request_digest: str
    sample: int
