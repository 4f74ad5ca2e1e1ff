"""What was evaluated, what gates said, and what people said of misses."""

from enum import StrEnum

from sqlmodel import Field

from labeler.records.base import Record, enumerated, keyed

__all__ = ["Evaluation", "EvaluationValue", "FailureClass", "GateRules", "GateRun", "MissRuling"]


class FailureClass(StrEnum):
    """Why a run missed evidence that is known to be relevant."""

    NOT_IN_INDEX = "not_in_index"
    CHUNK_BOUNDARY = "chunk_boundary"
    LEXICAL_MISMATCH = "lexical_mismatch"
    EMBEDDING_CONFUSION = "embedding_confusion"
    METADATA_FILTER = "metadata_filter"
    STALE_VERSION = "stale_version"
    PERMISSION_FILTER = "permission_filter"
    RANK_TRUNCATION = "rank_truncation"
    UNDETERMINED = "undetermined"


class Evaluation(Record, table=True):
    """One evaluation: what was asked, which labels it stood on, and what came out.

    ``settings`` and ``result`` are canonical JSON; ``label_revision`` is the revision whose labels
    were read, so that the same can be computed again.
    """

    __tablename__ = "evaluation"
    __table_args__ = keyed(index=(("command",),))

    id: int | None = Field(default=None, primary_key=True)
    command: str
    snapshot_id: int | None = Field(default=None, foreign_key="snapshot.id")
    pool_id: int | None = Field(default=None, foreign_key="pool.id")
    label_source: str
    label_revision: int
    settings: str
    result: str
    revision_id: int = Field(foreign_key="revision.id")


class EvaluationValue(Record, table=True):
    """One number of an evaluation, with its interval where it has one; null where undefined."""

    __tablename__ = "evaluation_value"
    __table_args__ = keyed("evaluation_id", "run_id", "metric", "slice")

    id: int | None = Field(default=None, primary_key=True)
    evaluation_id: int = Field(foreign_key="evaluation.id")
    run_id: int = Field(foreign_key="run.id")
    metric: str
    slice: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    queries: int
    coverage: float | None = None


class GateRules(Record, table=True):
    """The rules of a gate, stored when they were first declared; ``body`` is the file."""

    __tablename__ = "gate_rules"
    __table_args__ = keyed("digest")

    id: int | None = Field(default=None, primary_key=True)
    name: str
    digest: str
    body: str
    revision_id: int = Field(foreign_key="revision.id")


class GateRun(Record, table=True):
    """What a gate said, in the evaluation that it belongs to."""

    __tablename__ = "gate_run"
    __table_args__ = keyed("evaluation_id")

    id: int | None = Field(default=None, primary_key=True)
    evaluation_id: int = Field(foreign_key="evaluation.id")
    gate_id: int = Field(foreign_key="gate_rules.id")
    verdict: str


class MissRuling(Record, table=True):
    """A person's word on why a run missed an item; the latest counts. Its revision says whose."""

    __tablename__ = "miss_ruling"
    __table_args__ = keyed(index=(("item_id",),))

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    item_id: int = Field(foreign_key="item.id")
    failure: FailureClass = Field(sa_column=enumerated("failure", FailureClass))
    note: str
    revision_id: int = Field(foreign_key="revision.id")
