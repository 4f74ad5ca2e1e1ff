"""Splits, exposures and openings: what belongs together, and who saw what."""

from enum import StrEnum

from sqlmodel import Field

from labeler.records.base import Record, enumerated, keyed

__all__ = [
    "EdgeAction",
    "Exposure",
    "Opening",
    "Split",
    "SplitEdge",
    "SplitGroup",
    "SplitMember",
    "SplitPart",
]


class SplitPart(StrEnum):
    """The parts of a split."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"


class EdgeAction(StrEnum):
    """What an edge between two members does."""

    LINK = "link"
    REVIEW = "review"
    IGNORE = "ignore"


class Split(Record, table=True):
    """A frozen assignment of groups to parts, with the root digest of its manifest."""

    __tablename__ = "split"
    __table_args__ = keyed("name")

    id: int | None = Field(default=None, primary_key=True)
    name: str
    snapshot_id: int = Field(foreign_key="snapshot.id")
    seed: str
    scheme: str
    root_digest: str
    revision_id: int = Field(foreign_key="revision.id")


class SplitGroup(Record, table=True):
    """What must stay in one part."""

    __tablename__ = "split_group"
    __table_args__ = keyed("split_id", "number")

    id: int | None = Field(default=None, primary_key=True)
    split_id: int = Field(foreign_key="split.id")
    number: int
    part: SplitPart = Field(sa_column=enumerated("part", SplitPart))
    digest: str


class SplitMember(Record, table=True):
    """A document or a query in its group; just one of the two is set."""

    __tablename__ = "split_member"
    __table_args__ = keyed("group_id", "document_id", "query_id")

    id: int | None = Field(default=None, primary_key=True)
    group_id: int = Field(foreign_key="split_group.id")
    document_id: int | None = Field(default=None, foreign_key="document.id")
    query_id: int | None = Field(default=None, foreign_key="query.id")


class SplitEdge(Record, table=True):
    """Why two members belong together, or may."""

    __tablename__ = "split_edge"
    __table_args__ = keyed("split_id", "left", "right", "cause")

    id: int | None = Field(default=None, primary_key=True)
    split_id: int = Field(foreign_key="split.id")
    left: str
    right: str
    cause: str
    score: float | None = None
    evidence: str | None = None
    action: EdgeAction = Field(sa_column=enumerated("action", EdgeAction))
    revision_id: int = Field(foreign_key="revision.id")


class Exposure(Record, table=True):
    """A record that a text went to a generator; each holds the digest of the one before it."""

    __tablename__ = "exposure"
    __table_args__ = keyed("digest")

    id: int | None = Field(default=None, primary_key=True)
    split_id: int = Field(foreign_key="split.id")
    document_id: int = Field(foreign_key="document.id")
    text_digest: str
    generator: str
    previous_digest: str | None = None
    digest: str
    revision_id: int = Field(foreign_key="revision.id")


class Opening(Record, table=True):
    """A record that somebody looked at sealed results: through what, with which runs."""

    __tablename__ = "opening"
    __table_args__ = keyed()

    id: int | None = Field(default=None, primary_key=True)
    split_id: int = Field(foreign_key="split.id")
    through: str
    runs: str
    revision_id: int = Field(foreign_key="revision.id")
