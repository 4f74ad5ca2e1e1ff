"""Intervals for statistics over clusters, such as queries, by leaving one out at a time."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from labeler.errors import UsageError

__all__ = ["LEAST_CLUSTERS", "jackknife_interval", "student_t_quantile"]

LEAST_CLUSTERS = 8
"""With fewer clusters no interval is given: how well it covers was measured from 8 on."""


def jackknife_interval(
    value: float, without: NDArray[np.float64], *, confidence: float = 0.95
) -> tuple[float, float]:
    """Give the interval around a statistic whose clusters were left out one at a time.

    ``value ± t * se`` with ``se^2 = (G - 1) / G * sum (without_g - mean)^2`` (Efron and Tibshirani
    1993, "An Introduction to the Bootstrap", equation 11.5) and the quantile of Student's t with
    G - 1 degrees of freedom (Miller 1974, Biometrika 61, 1-15).

    Args:
        value: The statistic over all clusters.
        without: Shape (clusters,): the statistic without each of them.
        confidence: In (0, 1).

    Returns:
        The lower and the upper limit; they may lie outside what the statistic can be.

    Raises:
        UsageError: When there are fewer than 8 clusters.
    """
    clusters = len(without)
    if clusters < LEAST_CLUSTERS:
        raise UsageError(f"an interval needs {LEAST_CLUSTERS} clusters, not {clusters}")
    spread = float(np.square(without - without.mean()).sum()) * (clusters - 1) / clusters
    reach = student_t_quantile((1 + confidence) / 2, clusters - 1) * math.sqrt(spread)
    return value - reach, value + reach


@lru_cache(maxsize=256)
def student_t_quantile(probability: float, degrees: int) -> float:
    """Give the quantile of Student's t for whole degrees of freedom.

    Args:
        probability: In [0.5, 1).
        degrees: Degrees of freedom, 1 or more.

    Raises:
        UsageError: When an argument is outside its range.
    """
    if not 0.5 <= probability < 1 or degrees < 1:  # noqa: PLR2004 - the median
        raise UsageError(f"no quantile of t for {probability} with {degrees} degrees of freedom")
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))
