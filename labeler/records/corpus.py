"""Snapshots of a corpus: documents, chunks, evidence.

A document, a chunk and an evidence have a name that holds for the whole project; what they are in
one snapshot stands in the ``snapshot_*`` tables. So two snapshots never disturb each other, and
the same evidence can be compared between them.
"""

from datetime import datetime

from sqlmodel import Field

from labeler.records.base import Record, UtcDateTime, keyed

__all__ = [
    "IDS_ONLY",
    "Chunk",
    "ChunkEvidence",
    "Document",
    "Evidence",
    "Snapshot",
    "SnapshotChunk",
    "SnapshotDocument",
    "SnapshotEvidence",
]


IDS_ONLY = "ids-only"
"""The empty snapshot that runs and labels stand on as long as no corpus was imported."""


class Snapshot(Record, table=True):
    """One frozen version of a corpus."""

    __tablename__ = "snapshot"
    __table_args__ = keyed("name")

    id: int | None = Field(default=None, primary_key=True)
    name: str
    source_version: str | None = None
    chunking: str | None = None
    access_policy: str | None = None
    ingested_at: datetime = Field(sa_type=UtcDateTime)
    digest: str
    revision_id: int = Field(foreign_key="revision.id")


class Document(Record, table=True):
    """The name of a source document."""

    __tablename__ = "document"
    __table_args__ = keyed("external_id")

    id: int | None = Field(default=None, primary_key=True)
    external_id: str


class SnapshotDocument(Record, table=True):
    """A source document as it is in one snapshot."""

    __tablename__ = "snapshot_document"
    __table_args__ = keyed("snapshot_id", "document_id")

    id: int | None = Field(default=None, primary_key=True)
    snapshot_id: int = Field(foreign_key="snapshot.id")
    document_id: int = Field(foreign_key="document.id")
    title: str | None = None
    domain: str | None = None
    product: str | None = None
    region: str | None = None
    language: str | None = None
    effective_date: str | None = None
    source: str | None = None
    supersedes_id: int | None = Field(default=None, foreign_key="document.id")


class Chunk(Record, table=True):
    """The name of a passage as retrievers return it."""

    __tablename__ = "chunk"
    __table_args__ = keyed("external_id")

    id: int | None = Field(default=None, primary_key=True)
    external_id: str


class SnapshotChunk(Record, table=True):
    """A passage as it is in one snapshot."""

    __tablename__ = "snapshot_chunk"
    __table_args__ = keyed("snapshot_id", "chunk_id", index=(("document_id",),))

    id: int | None = Field(default=None, primary_key=True)
    snapshot_id: int = Field(foreign_key="snapshot.id")
    chunk_id: int = Field(foreign_key="chunk.id")
    document_id: int = Field(foreign_key="document.id")
    text_id: int = Field(foreign_key="text.id")
    title: str | None = None
    position: int
    extra: str | None = None


class Evidence(Record, table=True):
    """The name of a canonical fact that chunks carry."""

    __tablename__ = "evidence"
    __table_args__ = keyed("external_id")

    id: int | None = Field(default=None, primary_key=True)
    external_id: str


class ChunkEvidence(Record, table=True):
    """A chunk carries an evidence in a snapshot; many to many."""

    __tablename__ = "chunk_evidence"
    __table_args__ = keyed("snapshot_id", "chunk_id", "evidence_id", index=(("evidence_id",),))

    id: int | None = Field(default=None, primary_key=True)
    snapshot_id: int = Field(foreign_key="snapshot.id")
    chunk_id: int = Field(foreign_key="chunk.id")
    evidence_id: int = Field(foreign_key="evidence.id")


class SnapshotEvidence(Record, table=True):
    """The representative text of an evidence in a snapshot: that of its lowest chunk id."""

    __tablename__ = "snapshot_evidence"
    __table_args__ = keyed("snapshot_id", "evidence_id")

    id: int | None = Field(default=None, primary_key=True)
    snapshot_id: int = Field(foreign_key="snapshot.id")
    evidence_id: int = Field(foreign_key="evidence.id")
    chunk_id: int = Field(foreign_key="chunk.id")
    text_id: int = Field(foreign_key="text.id")
