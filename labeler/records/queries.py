"""Queries and their versions."""

from enum import StrEnum

from sqlmodel import Field

from labeler.records.base import Record, enumerated, keyed

__all__ = ["Origin", "Query", "QueryVersion"]


class Origin(StrEnum):
    """Where a query comes from."""

    HISTORICAL = "historical"
    SYNTHETIC = "synthetic"
    MANUAL = "manual"


class Query(Record, table=True):
    """The name of a query. One without a version was named by a run or a label only."""

    __tablename__ = "query"
    __table_args__ = keyed("external_id")

    id: int | None = Field(default=None, primary_key=True)
    external_id: str


class QueryVersion(Record, table=True):
    """What a query is; the version with the highest number is in force.

    ``slices``, ``conditions``, ``group_keys`` and ``required_evidence`` hold canonical JSON: a
    list of names, and objects of texts; required evidence is a list of groups, each a list of
    evidence ids of which one is needed.
    """

    __tablename__ = "query_version"
    __table_args__ = keyed("query_id", "version")

    id: int | None = Field(default=None, primary_key=True)
    query_id: int = Field(foreign_key="query.id")
    version: int
    text_id: int = Field(foreign_key="text.id")
    need_id: int | None = Field(default=None, foreign_key="text.id")
    domain: str | None = None
    language: str | None = None
    slices: str = "[]"
    weight: float = 1.0
    origin: Origin = Field(sa_column=enumerated("origin", Origin))
    conditions: str = "{}"
    group_keys: str = "{}"
    required_evidence: str = "[]"
    digest: str
    revision_id: int = Field(foreign_key="revision.id")
