"""Revisions and texts: what every other record refers to."""

from datetime import datetime

from sqlmodel import Field

from labeler.records.base import Kind, Record, UtcDateTime, keyed

__all__ = ["Revision", "Text", "Tombstone"]


class Revision(Record, table=True):
    """One write transaction: who, when, which command, which version of Labeler."""

    __tablename__ = "revision"
    __table_args__ = keyed()

    id: int | None = Field(default=None, primary_key=True)
    at: datetime = Field(sa_type=UtcDateTime)
    actor: str
    command: str
    version: str


class Text(Record, table=True):
    """A text, kept once by the SHA-256 of its UTF-8 form. Erased, its body is null."""

    __tablename__ = "text"
    __table_args__ = keyed("digest", kind=Kind.TEXT)

    id: int | None = Field(default=None, primary_key=True)
    digest: str
    body: str | None


class Tombstone(Record, table=True):
    """Why a text was erased. Only a text with a tombstone may lose its body."""

    __tablename__ = "tombstone"
    __table_args__ = keyed("text_id")

    id: int | None = Field(default=None, primary_key=True)
    text_id: int = Field(foreign_key="text.id")
    reason: str
    revision_id: int = Field(foreign_key="revision.id")
