"""Items and pools: what is judged, and which of it belongs together."""

from enum import StrEnum

from sqlmodel import Field

from labeler.records.base import Record, enumerated, keyed

__all__ = ["Candidate", "Contribution", "Item", "Pool", "PoolQuery", "PoolRun", "Source"]


class Source(StrEnum):
    """How an item came into a pool."""

    RUN = "run"
    PERSON = "person"


class Item(Record, table=True):
    """What is judged: an evidence for a query, in a snapshot, under a rubric.

    The text is the evidence's representative text in the snapshot; null when it has none there.
    The key starts with the query so that the same question in another snapshot is found by it.
    """

    __tablename__ = "item"
    __table_args__ = keyed("query_id", "evidence_id", "rubric_id", "snapshot_id")

    id: int | None = Field(default=None, primary_key=True)
    query_id: int = Field(foreign_key="query.id")
    evidence_id: int = Field(foreign_key="evidence.id")
    rubric_id: int = Field(foreign_key="rubric.id")
    snapshot_id: int = Field(foreign_key="snapshot.id")
    text_id: int | None = Field(default=None, foreign_key="text.id")


class Pool(Record, table=True):
    """An immutable set of items from the top of several runs.

    ``passages`` counts the distinct pairs of query and chunk before evidence was collapsed.
    """

    __tablename__ = "pool"
    __table_args__ = keyed("name")

    id: int | None = Field(default=None, primary_key=True)
    name: str
    snapshot_id: int = Field(foreign_key="snapshot.id")
    rubric_id: int = Field(foreign_key="rubric.id")
    depth: int
    order_rule: str
    passages: int
    extends_id: int | None = Field(default=None, foreign_key="pool.id")
    digest: str
    revision_id: int = Field(foreign_key="revision.id")


class PoolRun(Record, table=True):
    """A run that a pool was made from, to the depth that was taken from it."""

    __tablename__ = "pool_run"
    __table_args__ = keyed("pool_id", "run_id")

    id: int | None = Field(default=None, primary_key=True)
    pool_id: int = Field(foreign_key="pool.id")
    run_id: int = Field(foreign_key="run.id")
    depth: int


class PoolQuery(Record, table=True):
    """A query that a pool covers, also when no run returned anything for it."""

    __tablename__ = "pool_query"
    __table_args__ = keyed("pool_id", "query_id")

    id: int | None = Field(default=None, primary_key=True)
    pool_id: int = Field(foreign_key="pool.id")
    query_id: int = Field(foreign_key="query.id")


class Candidate(Record, table=True):
    """An item's membership in a pool."""

    __tablename__ = "candidate"
    __table_args__ = keyed("pool_id", "item_id", index=(("item_id",),))

    id: int | None = Field(default=None, primary_key=True)
    pool_id: int = Field(foreign_key="pool.id")
    item_id: int = Field(foreign_key="item.id")
    source: Source = Field(sa_column=enumerated("source", Source))


class Contribution(Record, table=True):
    """One run's rank for a candidate: by evidence, and the raw rank of the chunk."""

    __tablename__ = "contribution"
    __table_args__ = keyed("candidate_id", "run_id")

    id: int | None = Field(default=None, primary_key=True)
    candidate_id: int = Field(foreign_key="candidate.id")
    run_id: int = Field(foreign_key="run.id")
    rank: int
    raw_rank: int
