"""Eight features of a (query, passage) pair inside the block of passages judged for the query.

They are the signals of the embedded judge. Some are relative to the block, so a block should hold
all that was pooled for its query: the same pair in another block has other features.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labeler.search.lexical import TermStatistics, bm25, tokens

__all__ = ["FEATURES", "WINDOW", "block_features"]

FEATURES: tuple[str, ...] = (
    "cosine",
    "query_coverage",
    "bm25_share",
    "window_coverage",
    "log_length",
    "cosine_in_block",
    "bm25_in_block",
    "log_cosine_rank",
)
"""What the columns of `block_features` are:

- ``cosine``: dot product of the unit vectors of query and passage, in [-1, 1].
- ``query_coverage``: share of the query's idf whose terms stand in the passage, in [0, 1].
- ``bm25_share``: BM25 over the sum of the query's idf, in [0, 1).
- ``window_coverage``: the best coverage within `WINDOW` consecutive terms, in [0, 1].
- ``log_length``: ln(1 + number of terms of the passage).
- ``cosine_in_block``, ``bm25_in_block``: z-scores within the block; 0 where all are equal.
- ``log_cosine_rank``: ln of the rank by cosine within the block, best is 1, ties share their mean.
"""

WINDOW = 30
"""Terms in a window of ``window_coverage``: about two sentences."""


def block_features(
    query: str,
    passages: Sequence[str],
    query_vector: NDArray[np.float32],
    passage_vectors: NDArray[np.float32],
    statistics: TermStatistics,
) -> NDArray[np.float64]:
    """Compute the features of one block.

    Rows don't depend on the order of the passages, to the last bit: sums over the block are exact.

    Args:
        query: The query's text.
        passages: The n passages of the block.
        query_vector: Shape (d,), unit length.
        passage_vectors: Shape (n, d), unit length, in the order of the passages.
        statistics: Term statistics of the corpus, or of the pool where there is no more.

    Returns:
        Shape (n, 8), the columns in the order of `FEATURES`; finite for any texts.
    """
    # A product and a sum by row: BLAS gives other bits to the same row in another place.
    cosine = np.sum(
        passage_vectors.astype(np.float64) * query_vector.astype(np.float64), axis=1, dtype=float
    )
    weights = {term: statistics.idf(term) for term in tokens(query)}
    total = math.fsum(weights.values())
    lexical = np.array(
        [_lexical(weights, total, tokens(passage), statistics) for passage in passages],
        dtype=np.float64,
    ).reshape(len(passages), 4)
    return np.column_stack(
        [
            cosine,
            lexical,
            _standardised(cosine),
            _standardised(lexical[:, 1]),
            np.log(_mean_ranks(cosine)),
        ]
    )


def _lexical(
    weights: dict[str, float], total: float, terms: list[str], statistics: TermStatistics
) -> tuple[float, float, float, float]:
    """Give coverage, BM25 share, window coverage and log length of one passage."""
    length = math.log1p(len(terms))
    if total <= 0:
        return 0.0, 0.0, 0.0, length
    held = set(terms)
    coverage = math.fsum(weight for term, weight in weights.items() if term in held) / total
    score = bm25(tuple(weights), terms, statistics) / total
    return coverage, score, _window_coverage(weights, terms) / total, length


def _window_coverage(weights: dict[str, float], terms: list[str]) -> float:
    """Give the greatest idf of distinct query terms within `WINDOW` consecutive terms."""
    hits = [place for place, term in enumerate(terms) if term in weights]
    inside: Counter[str] = Counter()
    best = 0.0
    first = 0
    for place in hits:
        inside[terms[place]] += 1
        while place - hits[first] >= WINDOW:
            leaving = terms[hits[first]]
            inside[leaving] -= 1
            if not inside[leaving]:
                del inside[leaving]
            first += 1
        best = max(best, math.fsum(weights[term] for term in inside))
    return best


def _standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give z-scores (population deviation); zeros where the values hardly differ."""
    if not len(values):
        return values
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((values - mean) ** 2) / len(values))
    if deviation < 1e-9:  # noqa: PLR2004 - rounding noise of equal scores is no difference
        return np.zeros(len(values))
    return (values - mean) / deviation


def _mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give ranks from 1 for the greatest value; equal values share the mean of their ranks."""
    _, place, counts = np.unique(-values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: NDArray[np.float64] = (last - (counts - 1) / 2.0)[place]
    return ranks
