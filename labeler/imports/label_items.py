"""Which items labels are about: the evidence behind a document id, in a snapshot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.formats.findings import Findings, shown
from labeler.imports.known import tell_unknown_documents
from labeler.records import table
from labeler.records.corpus import Chunk, ChunkEvidence, Evidence, SnapshotEvidence
from labeler.records.pools import Item
from labeler.records.queries import Query
from labeler.store.bulk import intern, intern_keys, is_one_of
from labeler.store.database import WriteTransaction

__all__ = ["LabelledItems", "resolve_items"]

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LabelledItems:
    """Pairs of query and document, each with the evidence that is meant.

    Attributes:
        evidence: The evidence's name, by pair.
        without_text: How many of these evidences the snapshot has no text for.
    """

    evidence: Mapping[Pair, str]
    without_text: int

    def keys(self, tx: WriteTransaction, snapshot_id: int, rubric_id: int) -> dict[Pair, int]:
        """Give the item of each pair, making those that aren't there."""
        queries = intern(
            tx.connection, table(Query), list(dict.fromkeys(query for query, _ in self.evidence))
        )
        names = list(dict.fromkeys(self.evidence.values()))
        evidence = intern(tx.connection, table(Evidence), names)
        texts = _texts(tx.connection, snapshot_id, list(evidence.values()))
        wanted = {
            pair: (queries[pair[0]], evidence[name], rubric_id, snapshot_id)
            for pair, name in self.evidence.items()
        }
        item = table(Item)
        keys = intern_keys(
            tx.connection,
            item,
            ["query_id", "evidence_id", "rubric_id", "snapshot_id"],
            list(dict.fromkeys(wanted.values())),
            known=sa.and_(
                item.c.snapshot_id == snapshot_id,
                item.c.rubric_id == rubric_id,
                is_one_of(tx.connection, item.c.query_id, list(queries.values())),
            ),
            extra=(["text_id"], lambda key: [texts.get(key[1])]),
        )
        return {pair: keys[key] for pair, key in wanted.items()}


def resolve_items(
    tx: WriteTransaction,
    snapshot_id: int,
    places: Mapping[Pair, tuple[str, int | None]],
    findings: Findings,
) -> LabelledItems:
    """Find the evidence that each document id means.

    An id is that of a chunk, which carries one evidence, or of an evidence; one that the snapshot
    doesn't hold stands for an evidence of that name without a text. A chunk that carries several
    evidences, none of them of its own name, leaves open which is meant: that is a fault.
    """
    names = list(dict.fromkeys(document for _, document in places))
    carried = _carried(tx.connection, snapshot_id, names)
    evidence: dict[Pair, str] = {}
    for pair, (path, line) in places.items():
        found = carried.get(pair[1], [pair[1]])
        if len(found) > 1 and pair[1] not in found:
            listed = ", ".join(shown(one) for one in found[:5])
            findings.fault(
                path,
                line,
                f"{shown(pair[1])} carries {len(found)} evidences ({listed}): name the one meant",
                rows=1,
            )
            continue
        evidence[pair] = pair[1] if pair[1] in found else found[0]
    known = _known_evidence(tx.connection, snapshot_id)
    missing = {name for name in evidence.values() if name not in known}
    if missing:
        path = next(path for pair, (path, _) in places.items() if evidence.get(pair) in missing)
        tell_unknown_documents(tx.connection, snapshot_id, {path: names}, findings)
    return LabelledItems(evidence, sum(name in missing for name in evidence.values()))


def _carried(
    connection: Connection, snapshot_id: int, names: Sequence[str]
) -> dict[str, list[str]]:
    chunk, link, evidence = table(Chunk), table(ChunkEvidence), table(Evidence)
    found: dict[str, list[str]] = defaultdict(list)
    for start in range(0, len(names), 20_000):
        statement = (
            sa.select(chunk.c.external_id, evidence.c.external_id)
            .join(link, link.c.chunk_id == chunk.c.id)
            .join(evidence, evidence.c.id == link.c.evidence_id)
            .where(
                link.c.snapshot_id == snapshot_id,
                is_one_of(connection, chunk.c.external_id, names[start : start + 20_000]),
            )
            .order_by(evidence.c.external_id)
        )
        for name, carried in connection.execute(statement):
            found[str(name)].append(str(carried))
    return found


def _known_evidence(connection: Connection, snapshot_id: int) -> set[str]:
    shown_text, evidence = table(SnapshotEvidence), table(Evidence)
    statement = (
        sa.select(evidence.c.external_id)
        .join(shown_text, shown_text.c.evidence_id == evidence.c.id)
        .where(shown_text.c.snapshot_id == snapshot_id)
    )
    return {str(name) for (name,) in connection.execute(statement)}


def _texts(connection: Connection, snapshot_id: int, keys: Sequence[int]) -> dict[int, int]:
    shown_text = table(SnapshotEvidence)
    statement = sa.select(shown_text.c.evidence_id, shown_text.c.text_id).where(
        shown_text.c.snapshot_id == snapshot_id,
        is_one_of(connection, shown_text.c.evidence_id, keys),
    )
    return {int(evidence): int(text) for evidence, text in connection.execute(statement)}
