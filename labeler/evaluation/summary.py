"""One number for many queries: macro, micro and weighted means, with the interval of clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.clustered import clustered_mean
from labeler.evaluation.intervals import LEAST_CLUSTERS
from labeler.evaluation.paired import bounded_interval
from labeler.evaluation.ranking import Measured, Numbers

__all__ = ["Mean", "Summary", "mean_over", "summarise"]

NO_QUERIES = "there are no queries"


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over queries that come in clusters.

    Attributes:
        value: The mean over queries where it is defined; None where there is none.
        low: The lower limit of the 95% interval, or None.
        high: The upper limit, or None.
        queries: Queries where it is defined.
        clusters: Clusters that they belong to.
        reason: Why there is no value, or else no interval.
    """

    value: float | None
    low: float | None
    high: float | None
    queries: int
    clusters: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """A measure of one run over some queries.

    Attributes:
        macro: The mean over queries, each counting once.
        micro: The sum of numerators over the sum of denominators.
        weighted: The mean over queries, each counting by its share of production.
        lower: The least that the macro mean can be, over the queries where it is defined.
        upper: The most.
        judged_only: The mean over queries with judged places, taking judged places alone.
        judged_only_queries: How many queries those are.
        undefined: Queries where the measure is undefined.
    """

    macro: Mean
    micro: float | None
    weighted: Mean
    lower: float | None
    upper: float | None
    judged_only: float | None
    judged_only_queries: int
    undefined: int


def summarise(
    measured: Measured, clusters: NDArray[np.int64], weights: Numbers, *, why_undefined: str
) -> Summary:
    """Summarise a measure over queries.

    Args:
        measured: The measure, each array of the shape (queries,).
        clusters: Shape (queries,): what is resampled together.
        weights: Shape (queries,): shares of production, on any scale.
        why_undefined: What is told where no query has a value.
    """
    defined = ~np.isnan(measured.value)
    only = ~np.isnan(measured.judged_only)
    whole = float(measured.whole[defined].sum())
    return Summary(
        macro=mean_over(measured.value, clusters, why_undefined=why_undefined),
        micro=float(measured.part[defined].sum()) / whole if whole > 0 else None,
        weighted=mean_over(measured.value, clusters, weights, why_undefined=why_undefined),
        lower=float(measured.lower[defined].mean()) if defined.any() else None,
        upper=float(measured.upper[defined].mean()) if defined.any() else None,
        judged_only=float(measured.judged_only[only].mean()) if only.any() else None,
        judged_only_queries=int(only.sum()),
        undefined=int((~defined).sum()),
    )


def mean_over(
    values: Numbers,
    clusters: NDArray[np.int64],
    weights: Numbers | None = None,
    *,
    why_undefined: str,
) -> Mean:
    """Give the mean over the queries where it is defined, with its 95% interval.

    The interval is that of `labeler.evaluation.paired.bounded_interval`. It speaks of other queries
    of the same kind; what is not judged is no part of it.

    Args:
        values: Shape (queries,): each in [0, 1]; not a number where undefined.
        clusters: Shape (queries,).
        weights: Shape (queries,); 1 by default.
        why_undefined: What is told where no query has a value.
    """
    defined = ~np.isnan(values)
    there = clusters[defined]
    count = len(np.unique(there))
    if not len(values):
        return Mean(None, None, None, 0, 0, NO_QUERIES)
    if not defined.any():
        return Mean(None, None, None, 0, 0, why_undefined)
    weight = None if weights is None else weights[defined]
    if weight is not None and not weight.sum() > 0:
        return Mean(None, None, None, len(there), count, "no query has a weight above 0")
    found = clustered_mean(values[defined], there, weight)
    interval = bounded_interval(found, least=0.0, most=1.0)
    if interval is None:
        reason = f"no interval: {count} clusters of queries, {LEAST_CLUSTERS} are the least"
        return Mean(found.value, None, None, len(there), count, reason)
    return Mean(found.value, interval.low, interval.high, len(there), count)
