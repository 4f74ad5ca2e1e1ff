"""Snapshots listed and compared by their evidence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import NotFoundError
from labeler.records import table
from labeler.records.corpus import (
    Evidence,
    Snapshot,
    SnapshotChunk,
    SnapshotDocument,
    SnapshotEvidence,
)
from labeler.records.pools import Item
from labeler.records.projections import ItemLabel

__all__ = ["Change", "SnapshotDiff", "diff_snapshots", "list_snapshots"]


class Change(StrEnum):
    """What became of an evidence from one snapshot to another."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    NEW = "new"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class SnapshotDiff:
    """Two snapshots compared.

    Attributes:
        before: The name of the first.
        after: The name of the second.
        evidence: The evidence ids of each change, sorted.
        labels_kept: Labelled items of the first whose label counts in the second: same text.
        labels_lost: Labelled items of the first that are unknown in the second.
    """

    before: str
    after: str
    evidence: dict[Change, list[str]]
    labels_kept: int
    labels_lost: int


def list_snapshots(connection: Connection) -> list[dict[str, object]]:
    """List snapshots with their sizes, oldest first."""
    snapshot = table(Snapshot)

    def size(of: type[SnapshotChunk | SnapshotDocument | SnapshotEvidence]) -> sa.ScalarSelect[int]:
        counted = table(of)
        statement = sa.select(sa.func.count()).where(counted.c.snapshot_id == snapshot.c.id)
        return statement.scalar_subquery()

    rows = connection.execute(
        sa.select(
            snapshot.c.name,
            snapshot.c.source_version,
            snapshot.c.chunking,
            snapshot.c.ingested_at,
            size(SnapshotDocument),
            size(SnapshotChunk),
            size(SnapshotEvidence),
            snapshot.c.digest,
        ).order_by(snapshot.c.id)
    )
    return [
        {
            "snapshot": name,
            "source version": version,
            "chunking": chunking,
            "ingested": ingested.isoformat(timespec="seconds"),
            "documents": documents,
            "chunks": chunks,
            "evidence": evidence,
            "digest": digest[:12],
        }
        for name, version, chunking, ingested, documents, chunks, evidence, digest in rows
    ]


def diff_snapshots(connection: Connection, before: str, after: str) -> SnapshotDiff:
    """Compare two snapshots: evidence is the same when its representative text is.

    Raises:
        NotFoundError: When a snapshot isn't there.
    """
    first, second = (_texts(connection, name) for name in (before, after))
    evidence: dict[Change, list[str]] = {change: [] for change in Change}
    for name in sorted(first.keys() | second.keys()):
        if name not in first:
            change = Change.NEW
        elif name not in second:
            change = Change.GONE
        else:
            change = Change.UNCHANGED if first[name] == second[name] else Change.CHANGED
        evidence[change].append(name)
    unchanged = set(evidence[Change.UNCHANGED])
    labelled = _labelled(connection, before)
    kept = sum(name in unchanged for name in labelled)
    return SnapshotDiff(before, after, evidence, kept, len(labelled) - kept)


def _texts(connection: Connection, name: str) -> dict[str, int]:
    snapshot, shown, evidence = table(Snapshot), table(SnapshotEvidence), table(Evidence)
    key = connection.execute(sa.select(snapshot.c.id).where(snapshot.c.name == name)).scalar()
    if key is None:
        names = ", ".join(str(one) for (one,) in connection.execute(sa.select(snapshot.c.name)))
        raise NotFoundError(
            f"there is no snapshot '{name}'", hint=f"there is {names}" if names else None
        )
    statement = (
        sa.select(evidence.c.external_id, shown.c.text_id)
        .join(shown, shown.c.evidence_id == evidence.c.id)
        .where(shown.c.snapshot_id == key)
    )
    return {str(found): int(text) for found, text in connection.execute(statement)}


def _labelled(connection: Connection, name: str) -> list[str]:
    snapshot, item, label, evidence = (
        table(Snapshot),
        table(Item),
        table(ItemLabel),
        table(Evidence),
    )
    statement = (
        sa.select(evidence.c.external_id)
        .join(item, item.c.evidence_id == evidence.c.id)
        .join(label, label.c.item_id == item.c.id)
        .join(snapshot, snapshot.c.id == item.c.snapshot_id)
        .where(snapshot.c.name == name, label.c.grade.is_not(None))
    )
    return [str(found) for (found,) in connection.execute(statement)]
