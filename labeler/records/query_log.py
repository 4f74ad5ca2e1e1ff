"""Logs of queries: what users asked, how often, and what was drawn from it."""

from datetime import datetime

from sqlmodel import Field

from labeler.records.base import Record, UtcDateTime, keyed

__all__ = ["LoggedQuery", "QueryDraw", "QueryLog", "QuerySample"]


class QueryLog(Record, table=True):
    """One imported log, after personal data was replaced in it.

    ``digest`` is that of what is stored; ``replaced`` is a canonical JSON object: the kind of
    personal data -> how many were replaced.
    """

    __tablename__ = "query_log"
    __table_args__ = keyed("digest")

    id: int | None = Field(default=None, primary_key=True)
    name: str
    digest: str
    rows: int
    replaced: str
    revision_id: int = Field(foreign_key="revision.id")


class LoggedQuery(Record, table=True):
    """A query of a log, near duplicates taken together.

    ``asked`` counts how often, ``variants`` distinct texts. ``clicked`` counts those with a click
    and ``click_known`` those that say whether there was one; ``mean_score`` is the mean of the
    retrieval scores or satisfactions that ``score_known`` of them state.
    """

    __tablename__ = "logged_query"
    __table_args__ = keyed("log_id", "query_id", index=(("query_id",),))

    id: int | None = Field(default=None, primary_key=True)
    log_id: int = Field(foreign_key="query_log.id")
    query_id: int = Field(foreign_key="query.id")
    asked: int
    variants: int
    conversations: int
    click_known: int
    clicked: int
    score_known: int
    mean_score: float | None = None
    first_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    last_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class QuerySample(Record, table=True):
    """One draw of queries from the logs: the population in words, its size and the seed."""

    __tablename__ = "query_sample"
    __table_args__ = keyed("name")

    id: int | None = Field(default=None, primary_key=True)
    name: str
    description: str
    size: int
    seed: str
    revision_id: int = Field(foreign_key="revision.id")


class QueryDraw(Record, table=True):
    """A drawn query, with its stratum and its inclusion probability in (0, 1]."""

    __tablename__ = "query_draw"
    __table_args__ = keyed("sample_id", "query_id")

    id: int | None = Field(default=None, primary_key=True)
    sample_id: int = Field(foreign_key="query_sample.id")
    query_id: int = Field(foreign_key="query.id")
    stratum: str
    stratum_size: int
    probability: float
