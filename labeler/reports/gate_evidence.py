"""What is known about one check of a gate: pure arithmetic over what was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.completion import combine_values
from labeler.evaluation.gate_checks import (
    Evidence,
    IntervalBy,
    Requirement,
    Role,
    confidence_for,
    least_queries_for_quantile,
    least_queries_for_share,
    needs_exact_limits,
)
from labeler.evaluation.intervals import LEAST_CLUSTERS, student_t_quantile
from labeler.evaluation.latency import quantile
from labeler.evaluation.paired import mean_interval, no_spread_interval
from labeler.evaluation.posterior import Interval
from labeler.evaluation.proportions import clopper_pearson

__all__ = [
    "Sampled",
    "Series",
    "evidence_of_latency",
    "evidence_of_series",
    "inner_confidence",
    "ranges",
    "share_of_queries",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Series:
    """One metric, or a difference of two runs, query by query; each array has that shape.

    Attributes:
        value: The metric as its name says; not a number where it is undefined.
        lower: The least that it can be, whatever the unknown labels are.
        upper: The most.
        coverage: The share of judged places, not a number where nothing was returned; None where
            no label matters.
        clusters: The cluster of each query.
        least: The least that a value can be.
        most: The most.
        ceiling: The most that any ranking could reach, or None.
    """

    value: Floats
    lower: Floats
    upper: Floats
    coverage: Floats | None
    clusters: NDArray[np.int64]
    least: float
    most: float
    ceiling: Floats | None = None

    def of(self, inside: NDArray[np.bool_]) -> Series:
        """Give the same over some of the queries."""
        return Series(
            self.value[inside],
            self.lower[inside],
            self.upper[inside],
            None if self.coverage is None else self.coverage[inside],
            self.clusters[inside],
            self.least,
            self.most,
            None if self.ceiling is None else self.ceiling[inside],
        )


@dataclass(frozen=True, eq=False)
class Sampled:
    """The same under label sets that a sample completed; arrays of the shape (sets, queries).

    Attributes:
        lower: The metric under each set, the least that what is outside of the frame leaves open.
        upper: The most.
        positives: Relevant items among the sampled ones.
        limits: Exact limits of the mean over these queries, whatever the labels are that the sample
            leaves open, with the confidence of `inner_confidence`; None where the sample gives
            none.
    """

    lower: Floats
    upper: Floats
    positives: int
    limits: Interval | None = None

    def of(self, inside: NDArray[np.bool_]) -> Sampled:
        """Give the same over some of the queries."""
        return Sampled(self.lower[:, inside], self.upper[:, inside], self.positives)


def inner_confidence(confidence: float) -> float:
    """Give the confidence of two intervals, one of labels and one of queries, that go together.

    Each has half of the error, so that both hold at once with the confidence (Bonferroni).
    """
    return (1 + confidence) / 2


def ranges(*, against_baseline: bool) -> tuple[float, float]:
    """Give what a metric in [0, 1], or a difference of two, can be."""
    return (-1.0, 1.0) if against_baseline else (0.0, 1.0)


def evidence_of_series(
    asked: Requirement, series: Series, sampled: Sampled | None, agreement: float | None
) -> Evidence:
    """Gather what a check is decided by.

    Without a sample the interval runs from the lower limit with the unknown labels at their worst
    to the upper limit with them at their best, so that it holds whatever they are. With a sample it
    holds the uncertainty of queries and of labels together (Rubin 1987); where few sampled items
    are relevant, the sample's exact limits with that of queries added, or nothing of the sample
    where it gives none. A veto on a share of queries has the limits of Clopper and Pearson.
    """
    confidence = confidence_for(asked.role, asked.alpha)
    defined = ~np.isnan(series.value)
    bounded = ~(np.isnan(series.lower) | np.isnan(series.upper))
    clusters = len(np.unique(series.clusters[bounded]))
    lowest = _mean(series.lower, bounded)
    highest = _mean(series.upper, bounded)
    is_share = asked.role is Role.VETO and _is_share(series, bounded)
    worst, best = (
        _exact_share(values[bounded], confidence)
        if is_share
        else _interval(series, values, bounded, confidence)
        for values in (series.lower, series.upper)
    )
    interval = Interval(worst.low, best.high) if worst is not None and best is not None else None
    made_by = IntervalBy.EXACT_SHARE if is_share else IntervalBy.BOUNDS
    value = _mean(series.value, defined)
    share = share_of_queries(worst, best, lowest, highest)
    positives = None
    if sampled is not None:
        combined = _combined(series, sampled, confidence)
        if combined is not None:
            positives = sampled.positives
            if not needs_exact_limits(asked.role, positives):
                value, interval, share = combined
                made_by = IntervalBy.SAMPLE
            elif sampled.limits is not None:
                value = combined[0]
                interval, share = _exact(series, sampled, sampled.limits, confidence)
                made_by = IntervalBy.EXACT_SAMPLE
    return Evidence(
        value=value,
        interval=interval,
        lowest=lowest,
        highest=highest,
        ceiling=None if series.ceiling is None else _mean(series.ceiling, bounded),
        clusters=clusters,
        queries=int(bounded.sum()),
        needed_queries=_needed(asked, series.value[defined], confidence, series),
        coverage=_mean_or_none(series.coverage),
        query_share=share,
        positives=positives,
        agreement=agreement,
        interval_by=made_by,
    )


def evidence_of_latency(asked: Requirement, latencies: Floats, share: float) -> Evidence:
    """Gather what a check of a quantile of latency is decided by, in milliseconds.

    Every measured query is a cluster of its own: how long an answer takes depends little on what
    other queries it is a paraphrase of.
    """
    confidence = confidence_for(asked.role, asked.alpha)
    found = quantile(latencies, share, confidence=confidence)
    interval = None
    if found.low is not None or found.high is not None:
        interval = Interval(
            found.low if found.low is not None else 0.0,
            found.high if found.high is not None else float("inf"),
        )
    return Evidence(
        value=found.value,
        interval=interval,
        lowest=None,
        highest=None,
        ceiling=None,
        clusters=found.count,
        queries=found.count,
        needed_queries=least_queries_for_quantile(share, confidence),
        interval_by=IntervalBy.ORDER,
    )


def _mean(values: Floats, chosen: NDArray[np.bool_]) -> float | None:
    return float(values[chosen].mean()) if chosen.any() else None


def _mean_or_none(values: Floats | None) -> float | None:
    # A query for which nothing was returned has nothing that could be judged.
    return None if values is None else _mean(values, ~np.isnan(values))


def _interval(
    series: Series, values: Floats, chosen: NDArray[np.bool_], confidence: float
) -> Interval | None:
    return mean_interval(
        values[chosen],
        series.clusters[chosen],
        least=series.least,
        most=series.most,
        confidence=confidence,
    )


def _is_share(series: Series, chosen: NDArray[np.bool_]) -> bool:
    """Tell whether each cluster is one query with a value of 0 or 1, whatever is unknown."""
    limits = np.concatenate([series.lower[chosen], series.upper[chosen]])
    alone = len(np.unique(series.clusters[chosen])) == int(chosen.sum())
    return series.least == 0 and alone and bool(np.isin(limits, (0.0, 1.0)).all())


def _exact_share(values: Floats, confidence: float) -> Interval | None:
    if len(values) < LEAST_CLUSTERS:
        return None
    limits = clopper_pearson(int(values.sum()), len(values), confidence=confidence)
    return Interval(*limits)


def _exact(
    series: Series, sampled: Sampled, limits: Interval, confidence: float
) -> tuple[Interval | None, float]:
    """Add the uncertainty of queries to a sample's exact limits; give its share of the width."""
    inner = inner_confidence(confidence)
    reaches = []
    for values in (sampled.lower, sampled.upper):
        mean = combine_values(list(values), series.clusters)
        if mean.clusters < LEAST_CLUSTERS:
            return None, 1.0
        if mean.query_variance:
            error = math.sqrt(mean.query_variance)
            reach = student_t_quantile((1 + inner) / 2, mean.clusters - 1) * error
        else:
            alike = no_spread_interval(
                mean.value, mean.clusters, least=series.least, most=series.most, confidence=inner
            )
            reach = max(mean.value - alike.low, alike.high - mean.value)
        reaches.append(reach)
    low, high = limits.low - max(reaches), limits.high + max(reaches)
    spread, labels = 4 * max(reaches) ** 2, limits.width**2
    share = spread / (spread + labels) if spread + labels > 0 else 1.0
    return Interval(max(series.least, low), min(series.most, high)), share


def share_of_queries(
    worst: Interval | None, best: Interval | None, lowest: float | None, highest: float | None
) -> float:
    """Give how much of the interval's width, squared, comes of the spread between queries."""
    if worst is None or best is None or lowest is None or highest is None:
        return 1.0
    spread = max(worst.width, best.width) ** 2
    labels = (highest - lowest) ** 2
    return spread / (spread + labels) if spread + labels > 0 else 1.0


def _combined(
    series: Series, sampled: Sampled, confidence: float
) -> tuple[float, Interval, float] | None:
    """Combine the label sets: value, interval, and the share of variance that queries have.

    Queries count on which the metric is defined under every label set.
    """
    usable = ~(np.isnan(sampled.lower) | np.isnan(sampled.upper)).any(axis=0)
    if not usable.any():
        return None
    low, high = (
        combine_values(list(values[:, usable]), series.clusters[usable])
        for values in (sampled.lower, sampled.upper)
    )
    from_below = low.interval(confidence=confidence)
    from_above = high.interval(confidence=confidence)
    if from_below is None or from_above is None:
        return None
    left_open = ((high.value - low.value) / 2) ** 2
    whole = low.query_variance + low.label_variance + left_open
    interval = Interval(max(series.least, from_below.low), min(series.most, from_above.high))
    return low.value, interval, low.query_variance / whole if whole else 1.0


def _needed(asked: Requirement, values: Floats, confidence: float, series: Series) -> int:
    """Give the queries that a share needs, for values that are all 0 or 1."""
    is_share = len(values) > 0 and bool(np.isin(values, (0.0, 1.0)).all())
    if not is_share or series.least < 0 or not 0 < asked.boundary < 1:
        return 0
    return least_queries_for_share(asked.boundary, confidence)
