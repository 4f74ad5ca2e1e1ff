"""Runs: what retrievers returned."""

from enum import StrEnum

from sqlmodel import Field

from labeler.records.base import Record, enumerated, keyed

__all__ = ["Hit", "Role", "Run", "RunQuery"]


class Role(StrEnum):
    """What part a run plays in a comparison."""

    BASELINE = "baseline"
    PRODUCTION = "production"
    CANDIDATE = "candidate"
    VARIANT = "variant"


class Run(Record, table=True):
    """What one retriever returned over a snapshot, with its configuration ids per stage."""

    __tablename__ = "run"
    __table_args__ = keyed("snapshot_id", "name")

    id: int | None = Field(default=None, primary_key=True)
    snapshot_id: int = Field(foreign_key="snapshot.id")
    name: str
    role: Role = Field(sa_column=enumerated("role", Role))
    corpus_config: str | None = None
    retrieval_config: str | None = None
    reranking_config: str | None = None
    generation_config: str | None = None
    digest: str
    revision_id: int = Field(foreign_key="revision.id")


class RunQuery(Record, table=True):
    """One query of a run, also when nothing was returned for it.

    Latency is in milliseconds; cost in the currency that the team counts in.
    """

    __tablename__ = "run_query"
    __table_args__ = keyed("run_id", "query_id")

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    query_id: int = Field(foreign_key="query.id")
    returned: int
    candidate_depth: int | None = None
    latency_ms: float | None = None
    timed_out: bool | None = None
    cache_state: str | None = None
    cost: float | None = None


class Hit(Record, table=True):
    """One row of a run.

    ``rank`` counts from 1 in the order of trec_eval (score, then document id, both descending);
    ``stated_rank`` is the file's own rank column.
    """

    __tablename__ = "hit"
    __table_args__ = keyed("run_id", "query_id", "rank")

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    query_id: int = Field(foreign_key="query.id")
    rank: int
    chunk_id: int = Field(foreign_key="chunk.id")
    score: float | None = None
    stated_rank: int | None = None
