"""What a split is made of: the documents of a snapshot with their passages, and all queries."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import NotFoundError, UsageError
from labeler.records import table
from labeler.records.corpus import (
    IDS_ONLY,
    Chunk,
    Document,
    SnapshotChunk,
    SnapshotDocument,
)
from labeler.records.project import Text
from labeler.records.queries import Query, QueryVersion
from labeler.sealing.split_in_force import document_digest
from labeler.splits.edges import document_node, query_node
from labeler.store.registry import snapshots_by_name

__all__ = [
    "Content",
    "Passage",
    "SplitDocument",
    "SplitQuery",
    "find_snapshot",
    "read_content",
    "read_queries",
]


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of a document: its id in files, and its text, empty where it was erased."""

    name: str
    text: str
    digest: str


@dataclass(frozen=True, slots=True)
class SplitDocument:
    """A document as splits see it; ``supersedes`` names the version that it takes the place of."""

    key: int
    name: str
    domain: str | None
    supersedes: str | None
    passages: tuple[Passage, ...]

    @property
    def node(self) -> str:
        """Its name as a node."""
        return document_node(self.name)

    @property
    def text(self) -> str:
        """Its passages, one after the other."""
        return "\n".join(passage.text for passage in self.passages)

    @property
    def digest(self) -> str:
        """The digest of its passages' texts, in their order."""
        return document_digest([passage.digest for passage in self.passages])


@dataclass(frozen=True, slots=True)
class SplitQuery:
    """A query as splits see it, in the version in force."""

    key: int
    name: str
    text: str
    digest: str
    domain: str | None = None
    group_keys: Mapping[str, str] = field(default_factory=dict)

    @property
    def node(self) -> str:
        """Its name as a node."""
        return query_node(self.name)


@dataclass(frozen=True, slots=True)
class Content:
    """All that is to be split: documents and queries in the order of their names."""

    snapshot_id: int
    snapshot: str
    documents: Sequence[SplitDocument]
    queries: Sequence[SplitQuery]

    @property
    def digest(self) -> str:
        """The digest of all that decides edges and groups."""
        hasher = hashlib.sha256(self.snapshot.encode())
        for one in self.documents:
            row = [one.node, one.digest, one.domain, one.supersedes]
            hasher.update(json.dumps(row).encode())
        for query in self.queries:
            keys = sorted(query.group_keys.items())
            hasher.update(json.dumps([query.node, query.digest, query.domain, keys]).encode())
        return hasher.hexdigest()


def find_snapshot(connection: Connection, name: str | None) -> tuple[int, str]:
    """Find the snapshot that is meant.

    Raises:
        NotFoundError: When there is none, or none of this name.
        UsageError: When several could be meant, or it holds no texts.
    """
    known = snapshots_by_name(connection)
    if name is None and len(known) == 1:
        name = next(iter(known))
    elif name is None and known:
        raise UsageError(
            f"there are several snapshots: {', '.join(known)}", hint="name one with --snapshot"
        )
    if name is None or name not in known:
        missing = "there is no corpus yet" if name is None else f"there is no snapshot '{name}'"
        raise NotFoundError(missing, hint="`labeler import corpus FILE` makes a snapshot")
    if name == IDS_ONLY:
        raise UsageError(
            "only ids are known and no texts, so there is nothing to split",
            hint="`labeler import corpus FILE` brings the texts",
        )
    return known[name], name


def read_content(connection: Connection, snapshot: str | None = None) -> Content:
    """Read the documents of a snapshot and every query that has a text."""
    snapshot_id, name = find_snapshot(connection, snapshot)
    return Content(snapshot_id, name, _documents(connection, snapshot_id), read_queries(connection))


def _documents(connection: Connection, snapshot_id: int) -> list[SplitDocument]:
    chunk, text, passage = table(Chunk), table(Text), table(SnapshotChunk)
    document, named = table(SnapshotDocument), table(Document)
    passages: dict[int, list[Passage]] = {}
    statement = (
        sa.select(passage.c.document_id, chunk.c.external_id, text.c.body, text.c.digest)
        .join(chunk, chunk.c.id == passage.c.chunk_id)
        .join(text, text.c.id == passage.c.text_id)
        .where(passage.c.snapshot_id == snapshot_id)
        .order_by(passage.c.document_id, passage.c.position, passage.c.id)
    )
    for key, name, body, digest in connection.execute(statement):
        passages.setdefault(key, []).append(Passage(name, body or "", digest))
    older = named.alias("older")
    rows = connection.execute(
        sa.select(
            document.c.document_id,
            named.c.external_id,
            document.c.domain,
            older.c.external_id.label("supersedes"),
        )
        .join(named, named.c.id == document.c.document_id)
        .outerjoin(older, older.c.id == document.c.supersedes_id)
        .where(document.c.snapshot_id == snapshot_id)
    )
    found = [
        SplitDocument(key, name, domain, supersedes, tuple(passages.get(key, ())))
        for key, name, domain, supersedes in rows
    ]
    return sorted(found, key=lambda one: one.name)


def read_queries(connection: Connection) -> list[SplitQuery]:
    """Read every query that has a text, in the version in force, in the order of their names."""
    query, version, text = table(Query), table(QueryVersion), table(Text)
    statement = (
        sa.select(
            version.c.query_id,
            query.c.external_id,
            text.c.body,
            text.c.digest,
            version.c.domain,
            version.c.group_keys,
        )
        .join(query, query.c.id == version.c.query_id)
        .join(text, text.c.id == version.c.text_id)
        .order_by(version.c.version)
    )
    found = {
        key: SplitQuery(key, name, body or "", digest, domain, json.loads(keys))
        for key, name, body, digest, domain, keys in connection.execute(statement)
    }
    return sorted(found.values(), key=lambda one: one.name)
