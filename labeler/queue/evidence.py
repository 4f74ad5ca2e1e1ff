"""A reviewer's own search over the snapshot that an item is from: for evidence that is missing.

What it gives is blind: passages and titles. Nothing here touches runs, ranks or scores of runs, or
anybody's label; of a passage that the queue or the labels know already, just that is told.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.blind import PassageContext
from labeler.errors import JudgeError, MissingExtraError
from labeler.records import table
from labeler.records.corpus import Evidence, SnapshotChunk, SnapshotDocument, SnapshotEvidence
from labeler.records.ledger import Embedding
from labeler.records.pools import Item
from labeler.records.project import Text
from labeler.search.function_words import telling
from labeler.search.scan import scan
from labeler.search.words import tokens
from labeler.store.bulk import is_one_of
from labeler.store.database import Store

if TYPE_CHECKING:
    from labeler.providers.embeddings import Embedder
    from labeler.search.dense import DenseIndex

__all__ = ["EvidenceSearch", "FoundPassage", "own_embedder"]

_ITEM, _TEXT, _NAME = table(Item), table(Text), table(Evidence)
_EVIDENCE = table(SnapshotEvidence)

_DEPTH = 20
"""How many passages a search gives."""

_FUSED = 50
"""How many passages of either search are fused."""

_RRF_K = 60


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that a search found.

    Attributes:
        evidence_id: The evidence whose representative text it is.
        passage: The text.
        context: Where it stands in the corpus.
        is_known: It is in the queue already, or was judged, for the same query.
    """

    evidence_id: int
    passage: str
    context: PassageContext
    is_known: bool


def own_embedder() -> Embedder | None:
    """Load the embedded model, or give None where it isn't installed or can't run."""
    from labeler.providers.embeddings import E5Embedder

    try:
        return E5Embedder()
    except (MissingExtraError, JudgeError):
        return None


@dataclass
class EvidenceSearch:
    """Searches the representative texts of snapshots; safe for threads, one search at a time.

    Words are looked for by BM25. Where the project holds embeddings of the embedded model for some
    of the texts, these are searched by meaning as well, and both lists are fused by reciprocal
    rank (Cormack, Clarke and Buettcher 2009).

    Attributes:
        store: The project.
        make_embedder: Loads the model; called once, and only where embeddings are there.
    """

    store: Store
    make_embedder: Callable[[], Embedder | None] = own_embedder
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _embedder: Embedder | None = field(default=None, init=False)
    _dense: tuple[int, DenseIndex | None] | None = field(default=None, init=False)

    def find(self, item_id: int, words: str, depth: int = _DEPTH) -> tuple[FoundPassage, ...]:
        """Search the snapshot of an item, best first; nothing when no word is given."""
        terms = telling(tokens(words), None)
        if not terms:
            return ()
        with self._lock, self.store.read() as connection:
            item = connection.execute(sa.select(_ITEM).where(_ITEM.c.id == item_id)).one()
            texts = _texts(connection, item.snapshot_id)
            hits = [key for key, _ in scan(texts, terms, _FUSED)]
            by_meaning = self._by_meaning(connection, item.snapshot_id, words)
            found = _fused(hits, by_meaning)[:depth] if by_meaning else hits[:depth]
            return _passages(connection, item, found)

    def _by_meaning(self, connection: Connection, snapshot_id: int, words: str) -> list[str]:
        if self._dense is None or self._dense[0] != snapshot_id:
            self._dense = (snapshot_id, self._index(connection, snapshot_id))
        index = self._dense[1]
        if index is None or self._embedder is None:
            return []
        return [key for key, _ in index.search(self._embedder.queries([words])[0], _FUSED)]

    def _index(self, connection: Connection, snapshot_id: int) -> DenseIndex | None:
        """Gather the embeddings that the project has of a snapshot's texts; None when none."""
        vector = table(Embedding)
        if connection.execute(sa.select(vector.c.text_digest).limit(1)).first() is None:
            return None
        if self._embedder is None:
            self._embedder = self.make_embedder()
        if self._embedder is None:
            return None
        import numpy as np

        from labeler.providers.embeddings import embedding_key
        from labeler.search.dense import DenseIndex

        own = sa.select(vector.c.text_digest, vector.c.vector).where(
            vector.c.model_digest == self._embedder.digest
        )
        vectors = {str(key): bytes(body) for key, body in connection.execute(own)}
        digest, cut = self._embedder.digest, self._embedder.cut
        ids: list[str] = []
        rows: list[bytes] = []
        for name, text in _texts(connection, snapshot_id) if vectors else ():
            body = vectors.get(embedding_key(digest, "passage", text[:cut]))
            if body is not None:
                ids.append(name)
                rows.append(body)
        if not ids:
            return None
        matrix = np.frombuffer(b"".join(rows), dtype="<f2").reshape(len(rows), -1)
        return DenseIndex(ids, matrix.astype(np.float32))


def _texts(connection: Connection, snapshot_id: int) -> Iterator[tuple[str, str]]:
    """Go through the representative texts of a snapshot, by the names of their evidences."""
    statement = (
        sa.select(_NAME.c.external_id, _TEXT.c.body)
        .join(_EVIDENCE, _EVIDENCE.c.evidence_id == _NAME.c.id)
        .join(_TEXT, _TEXT.c.id == _EVIDENCE.c.text_id)
        .where(_EVIDENCE.c.snapshot_id == snapshot_id, _TEXT.c.body.is_not(None))
    )
    rows = connection.execute(statement, execution_options={"yield_per": 1000})
    for name, body in rows:
        yield str(name), str(body)


def _fused(*rankings: list[str]) -> list[str]:
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + 1.0 / (_RRF_K + rank)
    return sorted(scores, key=lambda key: (scores[key], key), reverse=True)


def _passages(
    connection: Connection, item: sa.Row[tuple[int, ...]], names: list[str]
) -> tuple[FoundPassage, ...]:
    chunk, document = table(SnapshotChunk), table(SnapshotDocument)
    other = _ITEM.alias("other")
    known = sa.exists().where(
        other.c.query_id == item.query_id,
        other.c.evidence_id == _EVIDENCE.c.evidence_id,
        other.c.rubric_id == item.rubric_id,
        other.c.snapshot_id == _EVIDENCE.c.snapshot_id,
    )
    statement = (
        sa.select(
            _NAME.c.external_id,
            _EVIDENCE.c.evidence_id,
            _TEXT.c.body,
            sa.func.coalesce(chunk.c.title, document.c.title).label("title"),
            document.c.product,
            document.c.region,
            document.c.effective_date,
            document.c.source,
            known.label("is_known"),
        )
        .select_from(_EVIDENCE)
        .join(_NAME, _NAME.c.id == _EVIDENCE.c.evidence_id)
        .join(_TEXT, _TEXT.c.id == _EVIDENCE.c.text_id)
        .join(
            chunk,
            sa.and_(
                chunk.c.snapshot_id == _EVIDENCE.c.snapshot_id,
                chunk.c.chunk_id == _EVIDENCE.c.chunk_id,
            ),
        )
        .join(
            document,
            sa.and_(
                document.c.snapshot_id == _EVIDENCE.c.snapshot_id,
                document.c.document_id == chunk.c.document_id,
            ),
        )
        .where(
            _EVIDENCE.c.snapshot_id == item.snapshot_id,
            is_one_of(connection, _NAME.c.external_id, names),
        )
    )
    found = {
        row.external_id: FoundPassage(
            row.evidence_id,
            row.body,
            PassageContext(row.title, row.product, row.region, row.effective_date, row.source),
            bool(row.is_known),
        )
        for row in connection.execute(statement)
    }
    return tuple(found[name] for name in names if name in found)
