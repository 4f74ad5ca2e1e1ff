"""Uncertainty of queries and of labels together: many completed label sets, combined.

For a population of queries both count: which queries were asked, and what the unlabelled items
are. Each completed label set fills in the unlabelled items from the posterior of the sample; each
gives a mean with the variance of its clusters; Rubin's rules add the variance between the sets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.clustered import clustered_mean
from labeler.evaluation.intervals import LEAST_CLUSTERS, student_t_quantile
from labeler.evaluation.posterior import Interval

__all__ = [
    "COMPLETIONS",
    "Combined",
    "UnlabelledStratum",
    "combine_values",
    "complete",
]

COMPLETIONS = 200
"""Completed label sets that are combined."""

_LEAST_COMPLETIONS = 100
_STEPS = 60
_FARTHEST = 40.0

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class UnlabelledStratum:
    """The unlabelled items of a stratum, with what was found in the labelled ones.

    Attributes:
        items: Shape (items,): the places of its unlabelled items in the label set.
        labelled: Items of it that were drawn and labelled.
        relevant: Those among them that are relevant.
        probabilities: Shape (items,): how likely each unlabelled item is relevant, which tilts the
            draws inside the stratum, or None.
    """

    items: NDArray[np.int64]
    labelled: int
    relevant: int
    probabilities: Floats | None = None


def complete(
    strata: Sequence[UnlabelledStratum],
    size: int,
    *,
    seed: int,
    count: int = COMPLETIONS,
) -> NDArray[np.bool_]:
    """Draw completed label sets.

    In each set a stratum's share theta of relevant items comes from the beta distribution with
    ``x + 1/3`` and ``n - x + 1/3``, and each item is relevant with the probability theta, or with
    ``logistic(logit p_i + c)`` where c makes the mean of these theta.

    Args:
        strata: The strata.
        size: Places of a label set.
        seed: Decides the draws.
        count: How many sets.

    Returns:
        Shape (count, size): which places are relevant; those in no stratum are not.
    """
    rng = np.random.default_rng(seed)
    filled = np.zeros((count, size), dtype=np.bool_)
    for stratum in strata:
        if not len(stratum.items):
            continue
        misses = stratum.labelled - stratum.relevant
        theta = rng.beta(stratum.relevant + 1 / 3, misses + 1 / 3, count)[:, None]
        chance = theta
        if stratum.probabilities is not None:
            chance = _tilted(stratum.probabilities, theta)
        filled[:, stratum.items] = rng.random((count, len(stratum.items))) < chance
    return filled


def _tilted(probabilities: Floats, theta: Floats) -> Floats:
    """Shift probabilities on the logit scale until their mean is theta, by halving."""
    p = np.clip(probabilities, 1e-6, 1 - 1e-6)
    logits = np.log(p / (1 - p))[None, :]
    low, high = np.full_like(theta, -_FARTHEST), np.full_like(theta, _FARTHEST)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        mean = (1 / (1 + np.exp(-(logits + middle)))).mean(axis=1, keepdims=True)
        low, high = np.where(mean < theta, middle, low), np.where(mean < theta, high, middle)
    return np.asarray(1 / (1 + np.exp(-(logits + (low + high) / 2))))


@dataclass(frozen=True, slots=True)
class Combined:
    """A mean over a population of queries whose labels are partly unknown.

    Attributes:
        value: The mean over the completed label sets.
        error: Its standard error, of queries and labels together.
        clusters: Clusters of queries.
        query_variance: The mean variance inside a label set, W.
        label_variance: The variance between label sets, (1 + 1/M) B.
    """

    value: float
    error: float
    clusters: int
    query_variance: float
    label_variance: float

    def interval(self, *, confidence: float = 0.95) -> Interval | None:
        """Give ``value ± t_(G-1) error``, or None with fewer than 8 clusters."""
        if self.clusters < LEAST_CLUSTERS:
            return None
        reach = student_t_quantile((1 + confidence) / 2, self.clusters - 1) * self.error
        return Interval(self.value - reach, self.value + reach)


def combine_values(measured: Sequence[Floats], clusters: NDArray[np.int64]) -> Combined:
    """Combine what completed label sets say of a mean over queries.

    ``V = mean W + (1 + 1/M) B`` (Rubin 1987, "Multiple Imputation", equation 3.1.5), the variance
    inside a set being that of clusters, with the t of their number less one.

    Args:
        measured: For each set, 100 or more, the value of each query, shape (queries,).
        clusters: Shape (queries,): the cluster of each query.

    Raises:
        ValueError: When there are fewer sets.
    """
    sets = len(measured)
    if sets < _LEAST_COMPLETIONS:
        raise ValueError(f"{_LEAST_COMPLETIONS} completed label sets are the least, not {sets}")
    means = [clustered_mean(one, clusters) for one in measured]
    values = np.array([mean.value for mean in means])
    inside = float(np.mean([(mean.error or 0.0) ** 2 for mean in means]))
    between = (1 + 1 / sets) * float(np.var(values, ddof=1))
    return Combined(
        float(values.mean()), math.sqrt(inside + between), means[0].clusters, inside, between
    )
