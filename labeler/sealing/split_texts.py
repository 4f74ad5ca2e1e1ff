"""The texts of a frozen split: those that a generator may see, and those that it must not.

Whoever generates reads what `safe_content` gives, the texts of train and dev, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.corpus import Chunk, Document, SnapshotChunk, SnapshotDocument
from labeler.records.project import Text
from labeler.records.queries import Query, QueryVersion
from labeler.sealing.split_in_force import (
    SAFE_PARTS,
    FrozenSplit,
    Membership,
    Place,
    read_membership,
)

__all__ = [
    "SafeChunk",
    "SafeContent",
    "SafeDocument",
    "SafeQuery",
    "safe_content",
    "sealed_texts",
]

_DOCUMENT, _CHUNK, _TEXT = table(SnapshotDocument), table(SnapshotChunk), table(Text)
_QUERY, _VERSION = table(Query), table(QueryVersion)


@dataclass(frozen=True, slots=True)
class SafeChunk:
    """A passage of train or dev.

    Attributes:
        chunk_id: Its key.
        name: Its id in files.
        text_id: The key of its text.
        text: The text.
        title: Its own title, or None.
    """

    chunk_id: int
    name: str
    text_id: int
    text: str
    title: str | None


@dataclass(frozen=True, slots=True)
class SafeDocument:
    """A document of train or dev with its passages in their order; erased ones are left out."""

    document_id: int
    name: str
    place: Place
    title: str | None
    domain: str | None
    product: str | None
    region: str | None
    language: str | None
    effective_date: str | None
    source: str | None
    chunks: tuple[SafeChunk, ...]


@dataclass(frozen=True, slots=True)
class SafeQuery:
    """A query of train or dev, in the version in force."""

    query_id: int
    name: str
    place: Place
    text: str
    domain: str | None
    language: str | None
    origin: str
    conditions: Mapping[str, str]
    group_keys: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SafeContent:
    """All that a generator may see, in the order of the names."""

    split: FrozenSplit
    documents: tuple[SafeDocument, ...]
    queries: tuple[SafeQuery, ...]


def safe_content(connection: Connection, split: FrozenSplit) -> SafeContent:
    """Read the documents, passages and queries of train and dev, in the split's newest snapshot.

    A sealed query that tuning has seen stays out: its documents are sealed still.
    """
    membership = read_membership(connection, split)
    places = {key: one for key, one in membership.documents.items() if one.part in SAFE_PARTS}
    chunks: dict[int, list[SafeChunk]] = {}
    for document, chunk in _chunks(connection, split.snapshot_id):
        if document in places:
            chunks.setdefault(document, []).append(chunk)
    named = table(Document)
    statement = (
        sa.select(_DOCUMENT, named.c.external_id)
        .join(named, named.c.id == _DOCUMENT.c.document_id)
        .where(_DOCUMENT.c.snapshot_id == split.snapshot_id)
    )
    documents = [
        SafeDocument(
            document_id=row.document_id,
            name=row.external_id,
            place=places[row.document_id],
            title=row.title,
            domain=row.domain,
            product=row.product,
            region=row.region,
            language=row.language,
            effective_date=row.effective_date,
            source=row.source,
            chunks=tuple(chunks.get(row.document_id, ())),
        )
        for row in connection.execute(statement)
        if row.document_id in places
    ]
    return SafeContent(
        split,
        tuple(sorted(documents, key=lambda one: one.name)),
        tuple(_safe_queries(connection, membership)),
    )


def _safe_queries(connection: Connection, membership: Membership) -> Iterator[SafeQuery]:
    places = {key: one for key, one in membership.queries.items() if one.part in SAFE_PARTS}
    latest = (
        sa.select(_VERSION.c.query_id, sa.func.max(_VERSION.c.version).label("version"))
        .group_by(_VERSION.c.query_id)
        .subquery()
    )
    statement = (
        sa.select(_VERSION, _QUERY.c.external_id, _TEXT.c.body)
        .join(
            latest,
            sa.and_(
                latest.c.query_id == _VERSION.c.query_id, latest.c.version == _VERSION.c.version
            ),
        )
        .join(_QUERY, _QUERY.c.id == _VERSION.c.query_id)
        .join(_TEXT, _TEXT.c.id == _VERSION.c.text_id)
        .where(_TEXT.c.body.is_not(None))
        .order_by(_QUERY.c.external_id)
    )
    for row in connection.execute(statement):
        if row.query_id in places:
            yield SafeQuery(
                query_id=row.query_id,
                name=row.external_id,
                place=places[row.query_id],
                text=row.body,
                domain=row.domain,
                language=row.language,
                origin=str(row.origin),
                conditions=json.loads(row.conditions),
                group_keys=json.loads(row.group_keys),
            )


def _chunks(connection: Connection, snapshot_id: int) -> Iterator[tuple[int, SafeChunk]]:
    chunk = table(Chunk)
    statement = (
        sa.select(
            _CHUNK.c.document_id,
            _CHUNK.c.chunk_id,
            chunk.c.external_id,
            _CHUNK.c.text_id,
            _TEXT.c.body,
            _CHUNK.c.title,
        )
        .join(chunk, chunk.c.id == _CHUNK.c.chunk_id)
        .join(_TEXT, _TEXT.c.id == _CHUNK.c.text_id)
        .where(_CHUNK.c.snapshot_id == snapshot_id, _TEXT.c.body.is_not(None))
        .order_by(_CHUNK.c.document_id, _CHUNK.c.position, _CHUNK.c.id)
    )
    for document, key, name, text_id, body, title in connection.execute(statement):
        yield document, SafeChunk(key, name, text_id, body, title)


def sealed_texts(connection: Connection, split: FrozenSplit) -> Iterator[tuple[str, str]]:
    """Give the sealed texts with what each is, such as ``chunk:ID``.

    For a checker, which keeps hashes of them, and for nobody else. What is quarantined or in no
    part counts as sealed, and so does every wording that a query had.
    """
    membership = read_membership(connection, split)
    open_documents = {key for key, one in membership.documents.items() if one.part in SAFE_PARTS}
    for document, chunk in _chunks(connection, split.snapshot_id):
        if document not in open_documents:
            yield f"chunk:{chunk.name}", chunk.text
    open_queries = {key for key, one in membership.queries.items() if one.part in SAFE_PARTS}
    statement = (
        sa.select(_VERSION.c.query_id, _QUERY.c.external_id, _TEXT.c.body)
        .join(_QUERY, _QUERY.c.id == _VERSION.c.query_id)
        .join(_TEXT, _TEXT.c.id == _VERSION.c.text_id)
        .where(_TEXT.c.body.is_not(None))
        .order_by(_VERSION.c.id)
    )
    for query, name, body in connection.execute(statement):
        if query not in open_queries:
            yield f"query:{name}", body
