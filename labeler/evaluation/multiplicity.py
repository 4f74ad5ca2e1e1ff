"""Several comparisons at a time: what was declared beforehand shares one error.

Holm's procedure takes p-values from anywhere. Max-T resamples all comparisons together, so that
comparisons that go hand in hand cost less; it needs the values of all of them on the same clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.intervals import LEAST_CLUSTERS
from labeler.evaluation.posterior import Interval

__all__ = ["Simultaneous", "holm", "max_t"]

_FLIPS = 4999

Floats = NDArray[np.float64]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values so that the error over all of them is held.

    ``max over j <= i of min(1, (m - j + 1) p_(j))`` in the order of the p-values (Holm 1979,
    Scandinavian Journal of Statistics 6, 65-70). A comparison without a p-value was declared all
    the same: it counts in m, and stays without one.

    Args:
        p_values: In any order; None where a comparison is undefined.

    Returns:
        The adjusted p-values, in the same order.
    """
    count = len(p_values)
    known = [(p, place) for place, p in enumerate(p_values) if p is not None]
    # Those without a p-value come last, where the factor is least.
    adjusted: list[float | None] = [None] * count
    largest = 0.0
    for step, (p, place) in enumerate(sorted(known)):
        largest = max(largest, min(1.0, (count - step) * p))
        adjusted[place] = largest
    return adjusted


@dataclass(frozen=True, slots=True)
class Simultaneous:
    """One of several comparisons, with the error shared among all.

    Attributes:
        value: The mean difference.
        interval: Holds together with the intervals of all others.
        p: Adjusted for all comparisons, by step-down.
    """

    value: float
    interval: Interval
    p: float


def max_t(
    differences: Floats,
    clusters: NDArray[np.int64],
    weights: Floats | None = None,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    flips: int = _FLIPS,
) -> list[Simultaneous] | None:
    """Compare several systems on the same queries, with one error for all of them.

    The sign of each cluster's deviation is flipped at random, the same for all comparisons, and
    the largest |t| of each flip is kept: the sign-flip form of max-T with step-down (Westfall and
    Young 1993, "Resampling-Based Multiple Testing", algorithm 2.8; Romano and Wolf 2005). For
    intervals deviations from the mean are flipped, for p-values the differences themselves.

    Args:
        differences: Shape (comparisons, queries), all defined.
        clusters: Shape (queries,): the cluster of each query.
        weights: Shape (queries,): what each query counts; 1 by default.
        confidence: Of all intervals together, in (0, 1).
        seed: Decides the flips.
        flips: How many.

    Returns:
        One result a comparison; None with fewer than 8 clusters, or where a comparison shows no
        spread.
    """
    weights = np.ones(differences.shape[1]) if weights is None else weights
    _, place = np.unique(clusters, return_inverse=True)
    count = int(place.max()) + 1 if len(place) else 0
    if count < LEAST_CLUSTERS:
        return None
    sums: Floats = np.stack(
        [np.bincount(place, weights=weights * one).astype(np.float64) for one in differences]
    )
    sizes = np.bincount(place, weights=weights).astype(np.float64)
    means = sums.sum(axis=1) / sizes.sum()
    deviations = sums - means[:, None] * sizes
    errors = _errors(deviations, sizes)
    if (errors == 0).any():
        return None
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (flips, count))
    around = _flipped(deviations, sizes, signs)
    critical = float(np.quantile(around.max(axis=1), confidence, method="higher"))
    under_null = _flipped(sums, sizes, signs)
    p_values = _step_down(np.abs(means) / errors, under_null)
    return [
        Simultaneous(
            float(mean),
            Interval(float(mean - critical * error), float(mean + critical * error)),
            float(p),
        )
        for mean, error, p in zip(means, errors, p_values, strict=True)
    ]


def _errors(deviations: Floats, sizes: Floats) -> Floats:
    count = len(sizes)
    squares = np.square(deviations).sum(axis=-1)
    return np.asarray(np.sqrt(count / (count - 1) * squares) / sizes.sum())


def _flipped(values: Floats, sizes: Floats, signs: Floats) -> Floats:
    """Give |t| of each comparison for each flip; shape (flips, comparisons)."""
    found = np.empty((len(signs), len(values)))
    for column, one in enumerate(values):
        flipped = signs * one
        means = flipped.sum(axis=1, keepdims=True) / sizes.sum()
        errors = _errors(flipped - means * sizes, sizes)
        with np.errstate(divide="ignore"):
            found[:, column] = np.abs(means[:, 0]) / errors
    return found


def _step_down(observed: Floats, under_null: Floats) -> Floats:
    order = np.argsort(-observed)
    adjusted = np.empty(len(observed))
    largest = 0.0
    for step, place in enumerate(order):
        most = under_null[:, order[step:]].max(axis=1)
        # What was observed is one of the flips, so that no p is 0.
        p = (1 + int((most >= observed[place]).sum())) / (1 + len(under_null))
        largest = max(largest, p)
        adjusted[place] = largest
    return adjusted
