"""A snapshot as JSON lines, in the layout of BEIR with the fields that Labeler keeps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import NotFoundError
from labeler.formats.atomic import replacing
from labeler.formats.jsonl import write_jsonl
from labeler.records import table
from labeler.records.corpus import (
    Chunk,
    ChunkEvidence,
    Document,
    Evidence,
    Snapshot,
    SnapshotChunk,
    SnapshotDocument,
)
from labeler.records.project import Text

__all__ = ["export_corpus"]


def export_corpus(connection: Connection, path: Path, snapshot: str) -> int:
    """Write every passage of a snapshot, in the order of import; give their number.

    Raises:
        NotFoundError: When there is no such snapshot.
    """
    stand = table(Snapshot)
    key = connection.execute(sa.select(stand.c.id).where(stand.c.name == snapshot)).scalar()
    if key is None:
        raise NotFoundError(f"there is no snapshot '{snapshot}'", hint="`labeler corpus list`")
    with replacing(path) as file:
        return write_jsonl(file, _rows(connection, key))


def _rows(connection: Connection, snapshot_id: int) -> Iterator[dict[str, object]]:
    chunk, part, text = table(Chunk), table(SnapshotChunk), table(Text)
    document, about = table(Document), table(SnapshotDocument)
    older = document.alias("older")
    evidence = _evidence(connection, snapshot_id)
    statement = (
        sa.select(
            chunk.c.id,
            chunk.c.external_id,
            part.c.title,
            text.c.body,
            document.c.external_id.label("document"),
            part.c.position,
            about.c.domain,
            about.c.product,
            about.c.region,
            about.c.effective_date,
            about.c.source,
            older.c.external_id.label("supersedes"),
        )
        .join(part, part.c.chunk_id == chunk.c.id)
        .join(text, text.c.id == part.c.text_id)
        .join(document, document.c.id == part.c.document_id)
        .join(
            about,
            sa.and_(
                about.c.document_id == part.c.document_id,
                about.c.snapshot_id == part.c.snapshot_id,
            ),
        )
        .outerjoin(older, older.c.id == about.c.supersedes_id)
        .where(part.c.snapshot_id == snapshot_id)
        .order_by(part.c.id)
    )
    for row in connection.execute(statement):
        fields: dict[str, object] = {
            "_id": row.external_id,
            "title": row.title or "",
            "text": row.body or "",
            "document_id": row.document,
            "evidence_ids": evidence[row.id],
            "position": row.position,
        }
        for name in ("domain", "product", "region", "effective_date", "source", "supersedes"):
            if getattr(row, name) is not None:
                fields[name] = getattr(row, name)
        yield fields


def _evidence(connection: Connection, snapshot_id: int) -> dict[int, list[str]]:
    link, evidence = table(ChunkEvidence), table(Evidence)
    statement = (
        sa.select(link.c.chunk_id, evidence.c.external_id)
        .join(evidence, evidence.c.id == link.c.evidence_id)
        .where(link.c.snapshot_id == snapshot_id)
        .order_by(link.c.id)
    )
    found: dict[int, list[str]] = defaultdict(list)
    for chunk, name in connection.execute(statement):
        found[int(chunk)].append(str(name))
    return found
