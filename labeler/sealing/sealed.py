"""What is sealed: the queries and documents of the test part, and which of them items speak of."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

import sqlalchemy as sa
from sqlalchemy import Connection, Select

from labeler.records import table
from labeler.records.corpus import ChunkEvidence, SnapshotChunk
from labeler.records.pools import Item
from labeler.records.splits import Split, SplitGroup, SplitMember, SplitPart

__all__ = [
    "TOPIC_UNMEASURED",
    "documents_of_items",
    "queries_of_items",
    "sealed_documents",
    "sealed_queries",
    "topic_measured",
]

TOPIC_UNMEASURED = "topic leakage unmeasured: no query had a provenance key when the split froze"

_SPLIT, _GROUP, _MEMBER = table(Split), table(SplitGroup), table(SplitMember)


def topic_measured(scheme: Mapping[str, object]) -> bool:
    """Tell from a split's scheme whether leakage of topics can be told."""
    return bool(scheme.get("queries_with_keys"))


def sealed_queries(
    connection: Connection, queries: Collection[int] | None = None
) -> dict[int, frozenset[int]]:
    """Give the sealed ones of some queries (None: of all), by the key of the split.

    A split whose place another took seals nothing any more.
    """
    return _sealed(connection, _MEMBER.c.query_id, None if queries is None else set(queries))


def sealed_documents(
    connection: Connection, documents: Collection[int]
) -> dict[int, frozenset[int]]:
    """Give the sealed ones of some documents, by the key of the split, as for queries."""
    return _sealed(connection, _MEMBER.c.document_id, set(documents)) if documents else {}


def _sealed(
    connection: Connection, member: sa.Column[int], wanted: set[int] | None
) -> dict[int, frozenset[int]]:
    schemes = connection.execute(sa.select(_SPLIT.c.scheme)).scalars()
    replaced = {json.loads(scheme).get("instead_of") for scheme in schemes}
    statement = (
        sa.select(_GROUP.c.split_id, member)
        .join(_GROUP, _GROUP.c.id == _MEMBER.c.group_id)
        .join(_SPLIT, _SPLIT.c.id == _GROUP.c.split_id)
        .where(
            _GROUP.c.part == SplitPart.TEST.value,
            member.is_not(None),
            _SPLIT.c.name.not_in(sorted(filter(None, replaced))),
        )
    )
    found: dict[int, set[int]] = {}
    for split, key in connection.execute(statement):
        if wanted is None or key in wanted:
            found.setdefault(int(split), set()).add(int(key))
    return {split: frozenset(keys) for split, keys in sorted(found.items())}


def queries_of_items(
    connection: Connection, items: Select[int] | None, snapshot_id: int | None = None
) -> set[int]:
    """Give the keys of the queries of some items, or of all items, of one snapshot or of any."""
    item = table(Item)
    statement = sa.select(item.c.query_id).distinct()
    if items is not None:
        statement = statement.where(item.c.id.in_(items))
    if snapshot_id is not None:
        statement = statement.where(item.c.snapshot_id == snapshot_id)
    return {int(key) for key in connection.execute(statement).scalars()}


def documents_of_items(connection: Connection, items: Select[int]) -> set[int]:
    """Give the keys of the documents that carry what some items ask about."""
    item, carried, chunk = table(Item), table(ChunkEvidence), table(SnapshotChunk)
    statement = (
        sa.select(chunk.c.document_id)
        .distinct()
        .join(
            carried,
            sa.and_(
                carried.c.snapshot_id == chunk.c.snapshot_id,
                carried.c.chunk_id == chunk.c.chunk_id,
            ),
        )
        .join(
            item,
            sa.and_(
                item.c.snapshot_id == carried.c.snapshot_id,
                item.c.evidence_id == carried.c.evidence_id,
            ),
        )
        .where(item.c.id.in_(items))
    )
    return {int(key) for key in connection.execute(statement).scalars()}
