"""How probable it is that as many unknown items are relevant as would change an answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.chances import probability_of_at_least
from labeler.evaluation.metrics import Kind
from labeler.labels import StateCode
from labeler.reports.evaluated import EvaluatedRuns

__all__ = ["chance_of_flips"]


def chance_of_flips(
    evaluated: EvaluatedRuns,
    kind: Kind,
    least: int,
    queries: NDArray[np.int64],
    useful: Sequence[NDArray[np.int64]],
    of_items: NDArray[np.float64],
) -> tuple[float | None, str | None]:
    """Give the probability that so many items are relevant as a change needs.

    Which of them are relevant matters, too, so that a change is no more probable than this.

    Args:
        evaluated: The runs with what is known.
        kind: What is measured.
        least: The least number of items that changes the answer.
        queries: Keys of the queries that count.
        useful: For each of them, keys of the evidence that could be among those items.
        of_items: Shape (items,): calibrated probabilities of the labels' items being relevant;
            not a number where there is none.

    Returns:
        The probability, or None with the reason.
    """
    labels = evaluated.labels
    if kind in {Kind.PRECISION, Kind.RECIPROCAL_RANK}:
        found = [
            labels.places(np.full(len(keys), query), keys)
            for query, keys in zip(queries.tolist(), useful, strict=True)
        ]
        chosen = np.concatenate([np.zeros(0, dtype=np.int64), *found])
        if (chosen < 0).any():
            return None, "items that could reverse it lie outside the frame"
    else:
        # What no run has in its first places counts, too: it is a part of the ideal.
        inside = np.isin(labels.queries, queries) & (labels.states == StateCode.UNKNOWN)
        chosen = np.flatnonzero(inside)
    chances = of_items[chosen]
    if np.isnan(chances).any():
        return None, "the scores leave out items that could reverse it"
    return probability_of_at_least(least, chances), None
