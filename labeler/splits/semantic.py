"""Edges between texts of one meaning: cosines of embeddings, where a model is there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labeler.providers.embeddings import Embedder
from labeler.records.splits import EdgeAction
from labeler.splits.content import SplitQuery
from labeler.splits.edges import Cause, Edge, edge_between
from labeler.splits.near_duplicates import Unit

__all__ = ["LINK", "REVIEW", "find_semantic_edges"]

LINK, REVIEW = 0.96, 0.92
"""Cosine of multilingual-e5-small from which two texts are linked, or shown to a person."""

_ROWS_AT_ONCE = 1_024


def find_semantic_edges(
    queries: Sequence[SplitQuery],
    proposed: Sequence[tuple[Unit, Unit, str, str]],
    embedder: Embedder,
) -> list[Edge]:
    """Compare all queries with one another, and the passages of proposed pairs.

    Args:
        queries: The queries.
        proposed: Pairs that share some 3-grams and were not linked by them, most alike first.
        embedder: Makes unit vectors.
    """
    places: dict[str, int] = {}
    for _, _, *texts in proposed:
        for text in texts:
            places.setdefault(text, len(places))
    vectors = embedder.passages(list(places))
    best: dict[tuple[str, str], Edge] = {}
    for one, other, text, other_text in proposed:
        cosine = float(vectors[places[text]] @ vectors[places[other_text]])
        if cosine >= REVIEW:
            names = f"{one.name} ~ {other.name}" if one.name else "whole texts"
            edge = _edge(one.node, other.node, Cause.SEMANTIC_PASSAGE, cosine, names)
            known = best.get((edge.left, edge.right))
            if known is None or (known.score or 0) < (edge.score or 0):
                best[edge.left, edge.right] = edge
    return _query_edges(queries, embedder) + [best[key] for key in sorted(best)]


def _edge(one: str, other: str, cause: Cause, cosine: float, evidence: str) -> Edge:
    return edge_between(
        one,
        other,
        cause,
        evidence,
        action=EdgeAction.LINK if cosine >= LINK else EdgeAction.REVIEW,
        score=round(min(cosine, 1.0), 4),
    )


def _query_edges(queries: Sequence[SplitQuery], embedder: Embedder) -> list[Edge]:
    texts = list(dict.fromkeys(query.text for query in queries if query.text.strip()))
    nodes: dict[str, str] = {}
    for query in queries:
        nodes.setdefault(query.text, query.node)
    vectors = embedder.queries(texts)
    found = []
    for first, second, cosine in _near_rows(vectors):
        ends = nodes[texts[first]], nodes[texts[second]]
        found.append(_edge(*ends, Cause.SEMANTIC_QUERY, cosine, "cosine of the queries"))
    return sorted(found, key=lambda edge: edge.key)


def _near_rows(vectors: NDArray[np.float32]) -> list[tuple[int, int, float]]:
    found = []
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        cosines = vectors[start : start + _ROWS_AT_ONCE] @ vectors.T
        for row, column in np.argwhere(cosines >= REVIEW):
            if start + row < column:
                found.append((int(start + row), int(column), float(cosines[row, column])))
    return found
