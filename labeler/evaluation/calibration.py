"""Whether probabilities are what they say: scores, errors and risks, each with its interval.

All take probabilities that were given without the label that they are compared with. Weights are
those of a sample: one over the probability with which an item was drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.errors import UsageError
from labeler.evaluation.agreement import Estimate, NoInterval, NoValue
from labeler.evaluation.intervals import LEAST_CLUSTERS, jackknife_interval

__all__ = [
    "MassBin",
    "Murphy",
    "area_under_risk",
    "brier",
    "clustered",
    "equal_mass_bins",
    "equal_mass_error",
    "murphy",
    "risk_at_coverage",
]

Values = NDArray[np.float64]
Outcomes = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Murphy:
    """A Brier score in its parts: ``reliability - resolution + uncertainty + within``.

    Attributes:
        reliability: How far stated probabilities are from what happened, bin by bin; 0 is best.
        resolution: How far the bins' outcomes are from the mean; more is better.
        uncertainty: The variance of the outcome, which no forecast changes.
        within: What is left, since probabilities of one bin differ; near 0 for many bins.
    """

    reliability: float
    resolution: float
    uncertainty: float
    within: float


@dataclass(frozen=True, slots=True)
class MassBin:
    """One of several bins that hold about as many items each.

    Attributes:
        count: Items in it, 1 or more.
        mean_confidence: Weighted, in [0, 1].
        share: Of them that came true, weighted, in [0, 1].
    """

    count: int
    mean_confidence: float
    share: float


def brier(probability: Values, happened: Outcomes, weights: Values | None = None) -> float:
    """Give the mean squared difference of probability and outcome, 0 at best.

    Brier 1950, Monthly Weather Review 78, 1-3, halved, as is usual for two outcomes.

    Raises:
        UsageError: When there is nothing to average, or shapes differ.
    """
    weight = _weights(probability, happened, weights)
    return float(weight @ np.square(probability - happened))


def murphy(
    probability: Values, happened: Outcomes, weights: Values | None = None, *, bins: int = 10
) -> Murphy:
    """Part the Brier score over bins of equal width.

    Murphy 1973, Journal of Applied Meteorology 12, 595-600, equation 4; the part within bins is
    that of Stephenson, Coelho and Jolliffe 2008, Weather and Forecasting 23, 752-757.
    """
    weight = _weights(probability, happened, weights)
    place = _width_place(probability, bins)
    outcome = happened.astype(np.float64)
    mass = np.bincount(place, weights=weight, minlength=bins)
    safe = np.where(mass > 0, mass, 1.0)
    said = np.bincount(place, weights=weight * probability, minlength=bins) / safe
    true = np.bincount(place, weights=weight * outcome, minlength=bins) / safe
    base = float(weight @ outcome)
    reliability = float(mass @ np.square(said - true))
    resolution = float(mass @ np.square(true - base))
    uncertainty = base * (1.0 - base)
    whole = float(weight @ np.square(probability - outcome))
    within = whole - (reliability - resolution + uncertainty)
    return Murphy(reliability, resolution, uncertainty, within)


def equal_mass_bins(
    probability: Values, happened: Outcomes, weights: Values | None = None, *, bins: int = 10
) -> tuple[MassBin, ...]:
    """Part items into bins of about as many items each, from low probability to high.

    Items of the same probability stay together, so that their order changes nothing; so there may
    be fewer bins.

    Raises:
        UsageError: When there is nothing to part, shapes differ, or there is no bin.
    """
    weight = _weights(probability, happened, weights)
    if bins < 1:
        raise UsageError("a calibration error needs at least one bin")
    values, place, counts = np.unique(probability, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2.0
    of_value = np.minimum((middle / len(probability) * bins).astype(np.int64), bins - 1)
    number = of_value[place]
    found: list[MassBin] = []
    for one in np.unique(of_value[np.argsort(values)]).tolist():
        inside = number == one
        mass = float(weight[inside].sum())
        if mass <= 0:
            continue
        said = float(weight[inside] @ probability[inside]) / mass
        true = float(weight[inside] @ happened[inside]) / mass
        found.append(MassBin(int(inside.sum()), said, true))
    return tuple(found)


def equal_mass_error(
    probability: Values, happened: Outcomes, weights: Values | None = None, *, bins: int = 10
) -> float:
    """Give the expected calibration error over bins of about as many items each.

    Nguyen and O'Connor 2015, "Posterior calibration and exploratory analysis for natural language
    processing models", section 3.2. Bins of equal width leave most of them nearly empty where a
    model is sure of nearly everything.
    """
    weight = _weights(probability, happened, weights)
    values, place, counts = np.unique(probability, return_inverse=True, return_counts=True)
    del values
    middle = np.cumsum(counts) - counts / 2.0
    of_value = np.minimum((middle / len(probability) * bins).astype(np.int64), bins - 1)
    gap = np.bincount(of_value[place], weights=weight * (happened - probability), minlength=bins)
    return float(np.abs(gap).sum())


def risk_at_coverage(
    confidence: Values, wrong: Outcomes, shares: Sequence[float], weights: Values | None = None
) -> tuple[float, ...]:
    """Give the share of wrong labels among the surest part, for each share of the mass.

    Selective risk (El-Yaniv and Wiener 2010, JMLR 11, section 2). An item across the edge counts
    by the part of it that is inside, and items of one confidence stand for their mean, so their
    order changes nothing.

    Args:
        confidence: Shape (n,), n above 0.
        wrong: Shape (n,).
        shares: Parts of the mass, each in (0, 1].
        weights: Shape (n,), or None where all count the same.

    Raises:
        UsageError: When there is nothing to average, or a share is outside (0, 1].
    """
    weight = _weights(confidence, wrong, weights)
    if not all(0 < share <= 1 for share in shares):
        raise UsageError("a share of the items is above 0 and at most 1")
    reached, errors = _surest_first(confidence, wrong, weight)
    return tuple(float(np.interp(share, reached, errors)) / share for share in shares)


def area_under_risk(confidence: Values, wrong: Outcomes, weights: Values | None = None) -> float:
    """Give the mean of the risk over all coverages, in [0, 1]: AURC, 0 at best.

    Geifman, Uziel and El-Yaniv 2019, "Bias-Reduced Uncertainty Estimation", section 2: the risk of
    the surest k items, averaged over k. With weights, over the mass that is reached with each.
    """
    weight = _weights(confidence, wrong, weights)
    _, place = np.unique(-confidence, return_inverse=True)
    mass = np.bincount(place, weights=weight)
    rate = np.bincount(place, weights=weight * wrong) / np.where(mass > 0, mass, 1.0)
    order = np.argsort(place, kind="stable")
    reached = np.cumsum(weight[order])
    errors = np.cumsum(weight[order] * rate[place[order]])
    return float(weight[order] @ (errors / reached))


def clustered(
    statistic: Callable[[NDArray[np.int64]], float | None],
    clusters: NDArray[np.int64],
    *,
    least: float,
    most: float,
    confidence: float = 0.95,
) -> Estimate:
    """Give a statistic with the jackknife's interval over clusters, such as queries.

    Args:
        statistic: The value on some of the rows, or None where they don't define it.
        clusters: Shape (n,): any number that names the row's cluster.
        least: The least that the statistic can be; the interval ends there.
        most: The most that it can be.
        confidence: Of the interval, in (0, 1).
    """
    rows = np.arange(len(clusters), dtype=np.int64)
    if not len(rows):
        return Estimate(None, undefined=NoValue.NO_PAIR)
    value = statistic(rows)
    if value is None:
        return Estimate(None, undefined=NoValue.ONE_LABEL)
    names = np.unique(clusters)
    if len(names) < LEAST_CLUSTERS:
        return Estimate(value, no_interval=NoInterval.FEW_QUERIES)
    without = [statistic(rows[clusters != name]) for name in names.tolist()]
    known = [one for one in without if one is not None]
    if len(known) < len(without):
        return Estimate(value, no_interval=NoInterval.ONE_LABEL_WITHOUT_A_QUERY)
    if np.ptp(known) == 0:
        return Estimate(value, no_interval=NoInterval.NO_SPREAD)
    low, high = jackknife_interval(value, np.array(known), confidence=confidence)
    return Estimate(value, max(low, least), min(high, most))


def _surest_first(confidence: Values, wrong: Outcomes, weight: Values) -> tuple[Values, Values]:
    """Give the mass reached, and the errors in it, after each distinct confidence, from none."""
    _, place = np.unique(-confidence, return_inverse=True)
    reached = np.cumsum(np.bincount(place, weights=weight))
    errors = np.cumsum(np.bincount(place, weights=weight * wrong))
    return np.concatenate([[0.0], reached]), np.concatenate([[0.0], errors])


def _width_place(probability: Values, bins: int) -> NDArray[np.int64]:
    if bins < 1:
        raise UsageError("a calibration error needs at least one bin")
    edges = np.linspace(0.0, 1.0, bins + 1)
    found: NDArray[np.int64] = np.clip(
        np.searchsorted(edges, probability, side="left") - 1, 0, bins - 1
    )
    return found


def _weights(values: Values, outcomes: Outcomes, weights: Values | None) -> Values:
    """Give weights that add to 1."""
    if not len(values) or len(values) != len(outcomes):
        raise UsageError(f"{len(values)} values and {len(outcomes)} outcomes can't be compared")
    given = np.ones(len(values)) if weights is None else weights
    if len(given) != len(values) or (given < 0).any() or not given.sum() > 0:
        raise UsageError("a weight is 0 or more, there is one for each value, and not all are 0")
    found: Values = given / given.sum()
    return found
