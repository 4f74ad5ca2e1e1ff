"""Four retrievers that really run over the demo: lexical, dense, hybrid, filtered."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from labeler.demo.project import Conditions, DemoProject, DemoQuery, DemoRun, Document
from labeler.providers.embeddings import Embedder
from labeler.search.dense import DenseIndex
from labeler.search.lexical import LexicalIndex

__all__ = ["DEPTH", "allowed_documents", "fuse", "in_force", "run_retrievers"]

DEPTH = 20
"""How many chunks a retriever returns for a query."""

_FUSED_DEPTH = 50
_RRF_K = 60

Hits = list[tuple[str, float]]


def run_retrievers(
    demo: DemoProject,
    embedder: Embedder | None,
    clock: Callable[[], float],
    *,
    depth: int = DEPTH,
) -> tuple[DemoRun, ...]:
    """Run the retrievers over all queries, one query at a time.

    - ``lexical``: BM25 over title and text.
    - ``dense``: the dot product of embeddings of the same.
    - ``hybrid``: reciprocal rank fusion of both.
    - ``filtered``: the same fusion, over the chunks that fit the query's conditions by their
      documents' metadata; over all chunks when nothing fits.

    Without an embedder there are two: ``lexical``, and ``filtered-lexical``, which is the lexical
    one over the chunks that fit.

    Each part (lexical search, embedding and dense search, fusion) is done and timed once for a
    query, and a retriever's latency is the sum of the parts that it needs, one after another. So a
    query is embedded once, and the latencies of a caching embedder are those of a cold cache
    unless the caller warmed it.

    Args:
        demo: The demo project.
        embedder: Embeds the chunks, once, and the queries; None to do without.
        clock: Seconds, from any start, such as `time.perf_counter`.
        depth: How many chunks to return, 1 or more.

    Returns:
        One run for each retriever, queries in the order of the demo.
    """
    engine = _Engine(demo, embedder, clock, depth)
    found = {query.id: engine.answer(query) for query in demo.queries}
    names = next(iter(found.values())) if found else {}
    return tuple(
        DemoRun(
            retriever=name,
            hits={query_id: tuple(answers[name].hits) for query_id, answers in found.items()},
            latency_ms={
                query_id: 1000.0 * answers[name].seconds for query_id, answers in found.items()
            },
        )
        for name in names
    )


@dataclass(frozen=True, slots=True)
class _Answer:
    hits: Hits
    seconds: float


class _Engine:
    """The two indexes over the demo, and what the four retrievers do with them."""

    def __init__(
        self,
        demo: DemoProject,
        embedder: Embedder | None,
        clock: Callable[[], float],
        depth: int,
    ) -> None:
        self._clock = clock
        self._depth = depth
        self._embedder = embedder
        self._documents = demo.documents
        self._document_of = {chunk.id: chunk.document.id for chunk in demo.chunks}
        texts = {chunk.id: chunk.indexed_text for chunk in demo.chunks}
        self._lexical = LexicalIndex(texts)
        self._dense = (
            None
            if embedder is None
            else DenseIndex(list(texts), embedder.passages(list(texts.values())))
        )

    def answer(self, query: DemoQuery) -> dict[str, _Answer]:
        """Give each retriever's hits and time for one query."""
        every = len(self._document_of)
        lexical = self._timed(lambda: self._lexical.search(query.text, every))
        if self._dense is None or self._embedder is None:
            filtered = self._timed(lambda: self._filtered(query, [lexical.hits]))
            return {
                "lexical": _Answer(lexical.hits[: self._depth], lexical.seconds),
                "filtered-lexical": _Answer(filtered.hits, lexical.seconds + filtered.seconds),
            }
        index, embedder = self._dense, self._embedder
        dense = self._timed(lambda: index.search(embedder.queries([query.text])[0], every))
        both = [lexical.hits, dense.hits]
        hybrid = self._timed(lambda: fuse(hits[:_FUSED_DEPTH] for hits in both)[: self._depth])
        filtered = self._timed(lambda: self._filtered(query, both))
        searches = lexical.seconds + dense.seconds
        return {
            "lexical": _Answer(lexical.hits[: self._depth], lexical.seconds),
            "dense": _Answer(dense.hits[: self._depth], dense.seconds),
            "hybrid": _Answer(hybrid.hits, searches + hybrid.seconds),
            "filtered": _Answer(filtered.hits, searches + filtered.seconds),
        }

    def _filtered(self, query: DemoQuery, rankings: Sequence[Hits]) -> Hits:
        allowed = allowed_documents(self._documents, query.conditions)
        fitting = [
            [hit for hit in hits if self._document_of[hit[0]] in allowed] for hits in rankings
        ]
        kept = fitting if any(fitting) else rankings
        if len(kept) == 1:
            return kept[0][: self._depth]
        return fuse(hits[:_FUSED_DEPTH] for hits in kept)[: self._depth]

    def _timed(self, work: Callable[[], Hits]) -> _Answer:
        start = self._clock()
        hits = work()
        return _Answer(hits, self._clock() - start)


def fuse(rankings: Iterable[Sequence[tuple[str, float]]]) -> Hits:
    """Fuse rankings by reciprocal rank, best first, ties by id descending.

    Each ranking adds ``1 / (60 + rank)`` to a chunk, ranks from 1: Cormack, Clarke and Buettcher
    2009, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods".
    """
    scores: dict[str, float] = {}
    for hits in rankings:
        for rank, (chunk_id, _) in enumerate(hits, start=1):
            scores[chunk_id] = scores.get(chunk_id, 0.0) + 1.0 / (_RRF_K + rank)
    return sorted(scores.items(), key=lambda hit: (hit[1], hit[0]), reverse=True)


def allowed_documents(documents: Sequence[Document], conditions: Conditions) -> set[str]:
    """Choose the documents whose metadata fit a query's conditions.

    A document without a product or a region fits all of them. With a date, the version in force
    on that day fits and no other. The audience is left out: no document says it in its metadata.
    """
    successors = {document.supersedes: document for document in documents if document.supersedes}
    return {
        document.id
        for document in documents
        if conditions.product in {None, document.product} or document.product is None
        if conditions.region in {None, document.region} or document.region is None
        if conditions.date is None or in_force(document, conditions.date, successors)
    }


def in_force(document: Document, day: dt.date, successors: Mapping[str, Document]) -> bool:
    """Tell whether a document is in force on a day: it has begun, and its successor hasn't.

    Args:
        document: The document.
        day: The day that is asked for.
        successors: The document that supersedes another, by the other's id.
    """
    successor = successors.get(document.id)
    replaced = successor is not None and successor.effective_date <= day
    return document.effective_date <= day and not replaced
