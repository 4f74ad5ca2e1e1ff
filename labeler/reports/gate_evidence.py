"""What is known about one check of a gate: pure arithmetic over what was measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.completion import combine_values
from labeler.evaluation.gate_checks import (
    Evidence,
    Requirement,
    confidence_for,
    least_queries_for_quantile,
    least_queries_for_share,
)
from labeler.evaluation.latency import quantile
from labeler.evaluation.paired import mean_interval
from labeler.evaluation.posterior import Interval

__all__ = ["Sampled", "Series", "evidence_of_latency", "evidence_of_series", "ranges"]

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
    """

    lower: Floats
    upper: Floats
    positives: int

    def of(self, inside: NDArray[np.bool_]) -> Sampled:
        """Give the same over some of the queries."""
        return Sampled(self.lower[:, inside], self.upper[:, inside], self.positives)


def ranges(*, against_baseline: bool) -> tuple[float, float]:
    """Give what a metric in [0, 1], or a difference of two, can be."""
    return (-1.0, 1.0) if against_baseline else (0.0, 1.0)


def evidence_of_series(
    asked: Requirement, series: Series, sampled: Sampled | None, agreement: float | None
) -> Evidence:
    """Gather what a check is decided by.

    Without a sample the interval runs from the lower limit with the unknown labels at their worst
    to the upper limit with them at their best, so that it holds whatever they are. With a sample it
    holds the uncertainty of queries and of labels together (Rubin 1987).
    """
    confidence = confidence_for(asked.role, asked.alpha)
    defined = ~np.isnan(series.value)
    bounded = ~(np.isnan(series.lower) | np.isnan(series.upper))
    clusters = len(np.unique(series.clusters[bounded]))
    lowest = _mean(series.lower, bounded)
    highest = _mean(series.upper, bounded)
    worst = _interval(series, series.lower, bounded, confidence)
    best = _interval(series, series.upper, bounded, confidence)
    interval = Interval(worst.low, best.high) if worst is not None and best is not None else None
    value = _mean(series.value, defined)
    share = _query_share(worst, best, lowest, highest)
    positives = None
    if sampled is not None:
        combined = _combined(series, sampled, confidence)
        if combined is not None:
            value, interval, share = combined
            positives = sampled.positives
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


def _query_share(
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
