"""What stands around a passage in its document: what the corpus holds, and nothing else.

Read on request, for people. No query here touches runs, ranks, scores or judgments.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from labeler.records import table
from labeler.records.corpus import Document, SnapshotChunk, SnapshotEvidence
from labeler.records.pools import Item
from labeler.records.project import Text

__all__ = ["Surroundings", "surroundings_of"]

_ITEM, _TEXT, _DOCUMENT = table(Item), table(Text), table(Document)
_CHUNK, _EVIDENCE = table(SnapshotChunk), table(SnapshotEvidence)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a passage stands in its document.

    Attributes:
        document: The name of the document.
        place: Which of the document's chunks the passage is, counted from 1.
        total: How many chunks the document has.
        before: The text of the chunk before it; None when it is the first, or was erased.
        after: The text of the chunk after it; None when it is the last, or was erased.
    """

    document: str
    place: int
    total: int
    before: str | None
    after: str | None


def surroundings_of(connection: Connection, item_id: int) -> Surroundings | None:
    """Read what stands around an item's passage; None when the corpus doesn't hold it.

    Chunks stand in the order of their positions, those of one position in that of their import.
    """
    own = connection.execute(
        sa.select(
            _CHUNK.c.snapshot_id,
            _CHUNK.c.document_id,
            _CHUNK.c.position,
            _CHUNK.c.id,
            _DOCUMENT.c.external_id,
        )
        .select_from(_ITEM)
        .join(
            _EVIDENCE,
            sa.and_(
                _EVIDENCE.c.snapshot_id == _ITEM.c.snapshot_id,
                _EVIDENCE.c.evidence_id == _ITEM.c.evidence_id,
            ),
        )
        .join(
            _CHUNK,
            sa.and_(
                _CHUNK.c.snapshot_id == _EVIDENCE.c.snapshot_id,
                _CHUNK.c.chunk_id == _EVIDENCE.c.chunk_id,
            ),
        )
        .join(_DOCUMENT, _DOCUMENT.c.id == _CHUNK.c.document_id)
        .where(_ITEM.c.id == item_id)
    ).first()
    if own is None:
        return None
    same = sa.and_(_CHUNK.c.document_id == own.document_id, _CHUNK.c.snapshot_id == own.snapshot_id)
    earlier = sa.or_(
        _CHUNK.c.position < own.position,
        sa.and_(_CHUNK.c.position == own.position, _CHUNK.c.id < own.id),
    )
    later = sa.and_(_CHUNK.c.id != own.id, ~earlier)

    def count(*conditions: ColumnElement[bool]) -> int:
        statement = sa.select(sa.func.count()).select_from(_CHUNK).where(same, *conditions)
        return int(connection.execute(statement).scalar_one())

    def neighbour(condition: ColumnElement[bool], *order: ColumnElement[int]) -> str | None:
        statement = (
            sa.select(_TEXT.c.body)
            .select_from(_CHUNK)
            .join(_TEXT, _TEXT.c.id == _CHUNK.c.text_id)
            .where(same, condition)
            .order_by(*order)
            .limit(1)
        )
        found: str | None = connection.execute(statement).scalar_one_or_none()
        return found

    return Surroundings(
        document=own.external_id,
        place=count(earlier) + 1,
        total=count(),
        before=neighbour(earlier, _CHUNK.c.position.desc(), _CHUNK.c.id.desc()),
        after=neighbour(later, _CHUNK.c.position.asc(), _CHUNK.c.id.asc()),
    )
