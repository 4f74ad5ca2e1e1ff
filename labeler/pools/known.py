"""What a snapshot knows before a pool is made: queries with judgments, texts of evidence."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.corpus import SnapshotEvidence
from labeler.records.judgments import Judgment
from labeler.records.pools import Item

__all__ = ["judged_queries", "texts_of"]


def judged_queries(connection: Connection, snapshot_id: int) -> set[int]:
    """Give the queries for which anything was judged, over a snapshot."""
    item, judgment = table(Item), table(Judgment)
    statement = (
        sa.select(item.c.query_id)
        .join(judgment, judgment.c.item_id == item.c.id)
        .where(item.c.snapshot_id == snapshot_id)
        .distinct()
    )
    return {int(key) for (key,) in connection.execute(statement)}


def texts_of(connection: Connection, snapshot_id: int) -> Mapping[int, int]:
    """Give the representative text of each evidence in a snapshot."""
    there = table(SnapshotEvidence)
    statement = sa.select(there.c.evidence_id, there.c.text_id).where(
        there.c.snapshot_id == snapshot_id
    )
    return {int(evidence): int(text) for evidence, text in connection.execute(statement)}
