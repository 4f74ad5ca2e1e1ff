"""Splits, exposures and openings: what belongs together, and who saw what."""

from datetime import datetime
from enum import StrEnum

from sqlmodel import Field

from labeler.records.base import Kind, Record, UtcDateTime, enumerated, keyed

__all__ = [
    "DraftEdge",
    "EdgeAction",
    "EdgeRuling",
    "Exposure",
    "Opening",
    "OpeningPurpose",
    "OpeningScope",
    "Split",
    "SplitDraft",
    "SplitEdge",
    "SplitExtension",
    "SplitGroup",
    "SplitLeaf",
    "SplitMember",
    "SplitPart",
    "SplitQuarantine",
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


class OpeningPurpose(StrEnum):
    """What sealed results were looked at for."""

    MEASURING = "measuring"
    TUNING = "tuning"
    """The queries become development data: what was tuned on them is no longer tested by them."""


class Split(Record, table=True):
    """A frozen assignment of groups to parts, with the root digest of its manifest.

    ``scheme`` holds canonical JSON: thresholds, shares of the parts, versions of the libraries.
    """

    __tablename__ = "split"
    __table_args__ = keyed("name")

    id: int | None = Field(default=None, primary_key=True)
    name: str
    snapshot_id: int = Field(foreign_key="snapshot.id")
    seed: str
    scheme: str
    root_digest: str
    revision_id: int = Field(foreign_key="revision.id")


class SplitExtension(Record, table=True):
    """What came to a frozen split later: members of a later snapshot, or later queries.

    ``root_digest`` is that of the manifest before it together with the members that it adds.
    """

    __tablename__ = "split_extension"
    __table_args__ = keyed("split_id", "number")

    id: int | None = Field(default=None, primary_key=True)
    split_id: int = Field(foreign_key="split.id")
    number: int
    snapshot_id: int = Field(foreign_key="snapshot.id")
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


class SplitLeaf(Record, table=True):
    """A member as the manifest states it: the digest of its texts, and when it came.

    ``extension_id`` is null for what was there when the split was frozen.
    """

    __tablename__ = "split_leaf"
    __table_args__ = keyed("member_id", index=(("extension_id",),))

    id: int | None = Field(default=None, primary_key=True)
    member_id: int = Field(foreign_key="split_member.id")
    digest: str
    extension_id: int | None = Field(default=None, foreign_key="split_extension.id")


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


class SplitQuarantine(Record, table=True):
    """A later document or query that would join several groups: it has no part.

    ``groups`` holds canonical JSON: the numbers of the groups that it would join.
    """

    __tablename__ = "split_quarantine"
    __table_args__ = keyed("extension_id", "document_id", "query_id")

    id: int | None = Field(default=None, primary_key=True)
    extension_id: int = Field(foreign_key="split_extension.id")
    document_id: int | None = Field(default=None, foreign_key="document.id")
    query_id: int | None = Field(default=None, foreign_key="query.id")
    groups: str


class EdgeRuling(Record, table=True):
    """What a person said of an edge that similarity proposed; the latest of two ends counts."""

    __tablename__ = "edge_ruling"
    __table_args__ = keyed(index=(("left", "right"),))

    id: int | None = Field(default=None, primary_key=True)
    left: str
    right: str
    action: EdgeAction = Field(sa_column=enumerated("action", EdgeAction))
    reason: str
    revision_id: int = Field(foreign_key="revision.id")


class SplitDraft(Record, table=True):
    """The latest plan of a snapshot's split, as long as nothing is frozen.

    ``content_digest`` tells whether corpus, queries and scheme are still what was planned.
    """

    __tablename__ = "split_draft"
    __table_args__ = keyed("snapshot_id", kind=Kind.WORK)

    id: int | None = Field(default=None, primary_key=True)
    snapshot_id: int = Field(foreign_key="snapshot.id")
    scheme: str
    content_digest: str
    at: datetime = Field(sa_type=UtcDateTime)


class DraftEdge(Record, table=True):
    """An edge of a plan, before any ruling."""

    __tablename__ = "draft_edge"
    __table_args__ = keyed("draft_id", "left", "right", "cause", kind=Kind.WORK)

    id: int | None = Field(default=None, primary_key=True)
    draft_id: int = Field(foreign_key="split_draft.id")
    left: str
    right: str
    cause: str
    score: float | None = None
    evidence: str | None = None
    action: EdgeAction = Field(sa_column=enumerated("action", EdgeAction))


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
    """A record that somebody looked at sealed results: through what, with which runs.

    ``runs`` holds canonical JSON: the names of the runs.
    """

    __tablename__ = "opening"
    __table_args__ = keyed()

    id: int | None = Field(default=None, primary_key=True)
    split_id: int = Field(foreign_key="split.id")
    through: str
    runs: str
    revision_id: int = Field(foreign_key="revision.id")


class OpeningScope(Record, table=True):
    """What an opening showed: the sealed queries, at which revision of the labels, and why.

    ``queries`` holds canonical JSON: the keys of the queries, ascending.
    """

    __tablename__ = "opening_scope"
    __table_args__ = keyed("opening_id")

    id: int | None = Field(default=None, primary_key=True)
    opening_id: int = Field(foreign_key="opening.id")
    purpose: OpeningPurpose = Field(sa_column=enumerated("purpose", OpeningPurpose))
    labels_revision: int
    queries: str
    reason: str | None = None
