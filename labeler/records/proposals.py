"""What reviewers propose: evidence that was missing for a query, and other wordings of a query."""

from datetime import datetime

from sqlmodel import Field

from labeler.records.base import Record, UtcDateTime, keyed

__all__ = ["EvidenceProposal", "QueryProposal", "QueryProposalAnswer"]


class EvidenceProposal(Record, table=True):
    """An evidence that a person found for a query; somebody else judges it.

    A pool that extends another takes it up as a candidate with the source ``person``.
    """

    __tablename__ = "evidence_proposal"
    __table_args__ = keyed("event_key", index=(("item_id",), ("assessor_id", "item_id")))

    id: int | None = Field(default=None, primary_key=True)
    event_key: str
    item_id: int = Field(foreign_key="item.id")
    assessor_id: int = Field(foreign_key="assessor.id")
    at: datetime = Field(sa_type=UtcDateTime)
    revision_id: int = Field(foreign_key="revision.id")


class QueryProposal(Record, table=True):
    """Domain and conditions as a reviewer says that they should be, all of them.

    ``version_id`` is the version that the reviewer was shown; once another one is in force, the
    proposal is overtaken. ``conditions`` holds canonical JSON, as the version does.
    """

    __tablename__ = "query_proposal"
    __table_args__ = keyed("event_key", index=(("version_id",),))

    id: int | None = Field(default=None, primary_key=True)
    event_key: str
    version_id: int = Field(foreign_key="query_version.id")
    assessor_id: int = Field(foreign_key="assessor.id")
    domain: str | None = None
    conditions: str = "{}"
    note_id: int | None = Field(default=None, foreign_key="text.id")
    at: datetime = Field(sa_type=UtcDateTime)
    revision_id: int = Field(foreign_key="revision.id")


class QueryProposalAnswer(Record, table=True):
    """What became of a proposal: the version that was made of it, or none when it was declined."""

    __tablename__ = "query_proposal_answer"
    __table_args__ = keyed("proposal_id")

    id: int | None = Field(default=None, primary_key=True)
    proposal_id: int = Field(foreign_key="query_proposal.id")
    version_id: int | None = Field(default=None, foreign_key="query_version.id")
    reason: str
    revision_id: int = Field(foreign_key="revision.id")
