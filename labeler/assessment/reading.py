"""Reading blind items from the store: the same for judges and for people.

What is read here is all that an assessor ever sees. No query here touches runs, ranks, scores or
judgments.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.blind import BlindItem, BlindQuery, Block, PassageContext
from labeler.assessment.rubric import Rubric
from labeler.records import table
from labeler.records.corpus import SnapshotChunk, SnapshotDocument, SnapshotEvidence
from labeler.records.pools import Item
from labeler.records.project import Text
from labeler.records.queries import QueryVersion
from labeler.records.scales import RubricRecord
from labeler.store.bulk import as_parameter, is_one_of_given
from labeler.store.registry import scale_of

__all__ = ["blocks_of", "read_rubric_record", "shuffled"]

_ITEM, _VERSION, _TEXT = table(Item), table(QueryVersion), table(Text)


def read_rubric_record(connection: Connection, rubric_id: int) -> Rubric:
    """Read a rubric back from the store."""
    rubric = table(RubricRecord)
    row = connection.execute(sa.select(rubric).where(rubric.c.id == rubric_id)).one()
    return Rubric.from_json(row.body, scale_of(connection, row.scale_id))


def blocks_of(connection: Connection, item_ids: Sequence[int], *, seed: str) -> list[Block]:
    """Read items as blocks: one a query and rubric, its items shuffled.

    An item without a passage or whose query has no text can't be judged and is left out.

    Args:
        connection: A transaction's connection.
        item_ids: The items.
        seed: Decides the order inside blocks; the same seed gives the same order.
    """
    rows = _rows(connection, item_ids)
    queries = _queries(connection, {row.query_id for row in rows})
    rubrics = {
        key: read_rubric_record(connection, key) for key in sorted({row.rubric_id for row in rows})
    }
    grouped: dict[tuple[int, int], list[BlindItem]] = defaultdict(list)
    for row in rows:
        if row.query_id in queries and row.body and row.body.strip():
            grouped[row.query_id, row.rubric_id].append(_blind_item(row))
    return [
        Block(queries[query], tuple(shuffled(items, seed)), rubrics[rubric])
        for (query, rubric), items in sorted(grouped.items())
    ]


def shuffled(items: Iterable[BlindItem], seed: str) -> list[BlindItem]:
    """Put items in an order that follows from the seed and tells nothing of them."""

    def place(item: BlindItem) -> bytes:
        return hashlib.sha256(f"{seed}\n{item.item_id}".encode()).digest()

    return sorted(items, key=place)


def _rows(connection: Connection, item_ids: Sequence[int]) -> Sequence[sa.Row[*tuple[Any, ...]]]:
    dialect = connection.dialect.name
    given = {"given": as_parameter(dialect, item_ids)}
    return connection.execute(_items_given(dialect), given).all()


# Statements are made once: for one item, making them takes longer than running them.


@cache
def _items_given(dialect: str) -> sa.Select[*tuple[Any, ...]]:
    shown, chunk, document = (
        table(SnapshotEvidence),
        table(SnapshotChunk),
        table(SnapshotDocument),
    )
    return (
        sa.select(
            _ITEM.c.id,
            _ITEM.c.query_id,
            _ITEM.c.rubric_id,
            _TEXT.c.body,
            chunk.c.title.label("chunk_title"),
            document.c.title.label("document_title"),
            document.c.product,
            document.c.region,
            document.c.effective_date,
            document.c.source,
        )
        .join(_TEXT, _TEXT.c.id == _ITEM.c.text_id)
        .join(
            shown,
            sa.and_(
                shown.c.snapshot_id == _ITEM.c.snapshot_id,
                shown.c.evidence_id == _ITEM.c.evidence_id,
            ),
        )
        .join(
            chunk,
            sa.and_(
                chunk.c.snapshot_id == _ITEM.c.snapshot_id, chunk.c.chunk_id == shown.c.chunk_id
            ),
        )
        .join(
            document,
            sa.and_(
                document.c.snapshot_id == _ITEM.c.snapshot_id,
                document.c.document_id == chunk.c.document_id,
            ),
        )
        .where(is_one_of_given(dialect, _ITEM.c.id))
        .order_by(_ITEM.c.id)
    )


def _blind_item(row: sa.Row[*tuple[Any, ...]]) -> BlindItem:
    return BlindItem(
        item_id=row.id,
        passage=row.body,
        context=PassageContext(
            title=row.chunk_title or row.document_title,
            product=row.product,
            region=row.region,
            effective_date=row.effective_date,
            source=row.source,
        ),
    )


def _queries(connection: Connection, keys: set[int]) -> Mapping[int, BlindQuery]:
    """Read the version in force of each query; one without any is left out."""
    dialect = connection.dialect.name
    given = {"given": as_parameter(dialect, sorted(keys))}
    return {
        row.query_id: BlindQuery(
            text=row.body,
            need=row.need_body,
            conditions=json.loads(row.conditions),
            language=row.language,
            domain=row.domain,
        )
        for row in connection.execute(_queries_given(dialect), given)
        if row.body
    }


@cache
def _queries_given(dialect: str) -> sa.Select[*tuple[Any, ...]]:
    need = _TEXT.alias("need")
    return (
        sa.select(_VERSION, _TEXT.c.body, need.c.body.label("need_body"))
        .join(_TEXT, _TEXT.c.id == _VERSION.c.text_id)
        .outerjoin(need, need.c.id == _VERSION.c.need_id)
        .where(is_one_of_given(dialect, _VERSION.c.query_id))
        .order_by(_VERSION.c.version)
    )
