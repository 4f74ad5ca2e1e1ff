"""Means over queries that come in clusters, with the interval of the clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.intervals import LEAST_CLUSTERS, student_t_quantile

__all__ = ["ClusteredMean", "clustered_mean"]


@dataclass(frozen=True, slots=True)
class ClusteredMean:
    """A mean over queries, its standard error over clusters, and their number.

    Attributes:
        value: The mean.
        error: The standard error; None with a single cluster.
        clusters: How many clusters.
    """

    value: float
    error: float | None
    clusters: int

    def interval(self, *, confidence: float = 0.95) -> tuple[float, float] | None:
        """Give ``value ± t_(G-1) error``, or None with fewer than 8 clusters."""
        if self.error is None or self.clusters < LEAST_CLUSTERS:
            return None
        reach = student_t_quantile((1 + confidence) / 2, self.clusters - 1) * self.error
        return self.value - reach, self.value + reach


def clustered_mean(
    values: NDArray[np.float64],
    clusters: NDArray[np.int64],
    weights: NDArray[np.float64] | None = None,
) -> ClusteredMean:
    """Give the mean of queries' values as a ratio over clusters.

    ``sum_g S_g / sum_g n_g`` with ``se^2 = G / (G - 1) sum_g (S_g - mean n_g)^2 / (sum n_g)^2``
    (Cochran 1977, equation 2.45, the ratio of cluster totals to cluster sizes).

    Args:
        values: Shape (queries,): one value a query, such as a paired difference.
        clusters: Shape (queries,): the cluster of each.
        weights: Shape (queries,): what each query counts; 1 by default.

    Raises:
        ValueError: When there are no queries, or nothing has weight.
    """
    weights = np.ones(len(values)) if weights is None else weights
    if not len(values) or not weights.sum() > 0:
        raise ValueError("a mean needs queries that count")
    _, place = np.unique(clusters, return_inverse=True)
    sums = np.bincount(place, weights=weights * values)
    sizes = np.bincount(place, weights=weights)
    count, whole = len(sizes), float(sizes.sum())
    mean = float(sums.sum()) / whole
    if count == 1:
        return ClusteredMean(mean, None, 1)
    squares = float(np.square(sums - mean * sizes).sum())
    return ClusteredMean(mean, math.sqrt(count / (count - 1) * squares) / whole, count)
