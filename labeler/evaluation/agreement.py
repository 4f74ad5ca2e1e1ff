"""How far assessors agree beyond chance: pure functions over tables of counts.

Every coefficient is ``1 - observed / expected`` for some disagreement that was observed and some
that chance would give. So the functions here give these two numbers, exact where counts are, and
`estimate` makes of them a value with an interval. Where nothing is expected to disagree, as with
one label in use, a coefficient is undefined: it is None with the reason, never 0, 1 or NaN.

A table has one row for each level of the first assessor and one column for each of the second, in
the order of the scale, all levels of the scale included. Tables are stacked by cluster, which for
labels is the query: error goes by query, so pairs of one query are no independent draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labeler.errors import UsageError
from labeler.evaluation.intervals import LEAST_CLUSTERS, jackknife_interval

__all__ = [
    "Disagreement",
    "Estimate",
    "NoInterval",
    "NoValue",
    "cohen_kappa",
    "coincidence_tables",
    "confusion_tables",
    "estimate",
    "exact_agreement",
    "gwet_ac1",
    "krippendorff_nominal",
    "krippendorff_ordinal",
    "paired_coincidences",
    "quadratic_kappa",
]

Tables = NDArray[np.float64]
"""Shape (..., levels, levels): counts of pairs of labels."""

NOT_LABELLED = -1
"""Stands in `coincidence_tables` for a unit that an assessor didn't label."""


class Disagreement(NamedTuple):
    """What disagreed and what chance would give, in one unit; shapes (...,).

    Attributes:
        observed: The disagreement observed, 0 or more.
        expected: The disagreement expected by chance; 0 where the coefficient is undefined.
    """

    observed: NDArray[np.float64]
    expected: NDArray[np.float64]


Coefficient = Callable[[Tables], Disagreement]


class NoValue(StrEnum):
    """Why a coefficient is undefined."""

    NO_PAIR = "no pair labelled by both"
    ONE_LABEL = "one label in use"


class NoInterval(StrEnum):
    """Why a coefficient has no interval."""

    FEW_QUERIES = "fewer than 8 queries"
    ONE_LABEL_WITHOUT_A_QUERY = "one label in use once a query is left out"
    NO_SPREAD = "leaving out a query changes nothing"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A coefficient with its interval.

    Attributes:
        value: The coefficient, or None where it is undefined.
        low: The lower limit, or None.
        high: The upper limit, or None.
        undefined: Why there is no value, or None when there is one.
        no_interval: Why there is a value and no interval, or None.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    undefined: NoValue | None = None
    no_interval: NoInterval | None = None


def confusion_tables(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    clusters: NDArray[np.int64],
    levels: int,
) -> Tables:
    """Count the pairs of labels of two assessors, cluster by cluster.

    Args:
        first: Shape (pairs,): the first assessor's level, from 0 (worst).
        second: Shape (pairs,): the second's.
        clusters: Shape (pairs,): any number that names the pair's cluster.
        levels: How many levels the scale has, 2 or more.

    Returns:
        Shape (clusters, levels, levels); the sum over clusters is the confusion table.

    Raises:
        UsageError: When the arrays differ in length or a level isn't one of the scale's.
    """
    if not len(first) == len(second) == len(clusters):
        raise UsageError(f"{len(first)} and {len(second)} labels can't be paired")
    _check_levels(first, levels, least=0)
    _check_levels(second, levels, least=0)
    names, place = np.unique(clusters, return_inverse=True)
    cell = (place * levels + first) * levels + second
    counts = np.bincount(cell, minlength=len(names) * levels * levels)
    return counts.reshape(len(names), levels, levels).astype(np.float64)


def paired_coincidences(tables: Tables) -> Tables:
    """Turn confusion tables of two assessors into the coincidences that alpha takes."""
    return tables + np.swapaxes(tables, -1, -2)


def coincidence_tables(
    ratings: NDArray[np.int64], clusters: NDArray[np.int64], levels: int
) -> Tables:
    """Count the coinciding labels of any number of assessors, cluster by cluster.

    A unit with m labels gives all its ordered pairs, each weighing 1 / (m - 1); one with a single
    label gives none (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", part D).

    Args:
        ratings: Shape (assessors, units): levels from 0 (worst), -1 where there is no label.
        clusters: Shape (units,): any number that names the unit's cluster.
        levels: How many levels the scale has, 2 or more.

    Returns:
        Shape (clusters, levels, levels), each table symmetric.

    Raises:
        UsageError: When the shapes don't fit or a level isn't one of the scale's.
    """
    if ratings.ndim != 2 or ratings.shape[1] != len(clusters):  # noqa: PLR2004 - rows and columns
        raise UsageError(f"ratings of shape {ratings.shape} for {len(clusters)} units")
    _check_levels(ratings, levels, least=NOT_LABELLED)
    given = np.stack([(ratings == level).sum(axis=0) for level in range(levels)], axis=1)
    many = given.sum(axis=1) > 1
    given, names = given[many].astype(np.float64), clusters[many]
    weighted = given / (given.sum(axis=1, keepdims=True) - 1)
    parts = [names == name for name in np.unique(names)]
    tables = np.zeros((len(parts), levels, levels))
    for place, part in enumerate(parts):
        # A label paired with itself is no pair, so the diagonal loses each label once.
        tables[place] = given[part].T @ weighted[part] - np.diag(weighted[part].sum(axis=0))
    return tables


def exact_agreement(tables: Tables) -> Disagreement:
    """Give the share of pairs with the same label as both; chance is not taken off."""
    total = tables.sum(axis=(-2, -1))
    return Disagreement(total - np.trace(tables, axis1=-2, axis2=-1), total)


def cohen_kappa(tables: Tables) -> Disagreement:
    """Give kappa: agreement beyond what the two assessors' own shares of labels give by chance.

    Cohen 1960, Educational and Psychological Measurement 20, 37-46, equation 1.
    """
    levels = tables.shape[-1]
    return _weighted(tables, 1 - np.eye(levels))


def quadratic_kappa(tables: Tables) -> Disagreement:
    """Give kappa with disagreements weighed by the square of how many levels lie between.

    Cohen 1968, Psychological Bulletin 70, 213-220, with the weights of Fleiss and Cohen 1973,
    Educational and Psychological Measurement 33, 613-619. Distances go by the place on the scale,
    so a level that nobody used still counts.
    """
    place = np.arange(tables.shape[-1], dtype=np.float64)
    return _weighted(tables, np.square(place[:, None] - place[None, :]))


def krippendorff_nominal(coincidences: Tables) -> Disagreement:
    """Give Krippendorff's alpha where any two different labels disagree alike.

    Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", part C; takes coincidences,
    not confusion tables.
    """
    levels = coincidences.shape[-1]
    return _alpha(coincidences, np.broadcast_to(1 - np.eye(levels), coincidences.shape))


def krippendorff_ordinal(coincidences: Tables) -> Disagreement:
    """Give Krippendorff's alpha for ordered labels, which disagree by the labels between them.

    The distance of c and k is the square of the number of labels given from c to k, the two ends
    counting half (Krippendorff 2011, part E); takes coincidences, not confusion tables.
    """
    given = coincidences.sum(axis=-1)
    # Labels below the middle of each level; the difference of two is what lies between them.
    middle = np.cumsum(given, axis=-1) - given / 2
    return _alpha(coincidences, np.square(middle[..., :, None] - middle[..., None, :]))


def gwet_ac1(tables: Tables) -> Disagreement:
    """Give AC1: agreement beyond chance that stays steady where one label is rare.

    Gwet 2008, British Journal of Mathematical and Statistical Psychology 61, 29-48: chance is
    ``sum of p_k (1 - p_k) / (K - 1)`` over all K levels of the scale, p_k the mean share of level
    k. With one label in use the formula gives 1; as that tells nothing of how two assessors would
    tell labels apart, it counts as undefined here too.
    """
    levels = tables.shape[-1]
    total = tables.sum(axis=(-2, -1))
    twice = tables.sum(axis=-1) + tables.sum(axis=-2)
    # Both shares are multiplied by (2n)^2, so that no division rounds them before the last.
    whole = 2 * total
    chance = (twice * (whole[..., None] - twice)).sum(axis=-1) / (levels - 1)
    apart = total - np.trace(tables, axis1=-2, axis2=-1)
    several = (twice > 0).sum(axis=-1) > 1
    return Disagreement(apart * 4 * total, np.where(several, np.square(whole) - chance, 0.0))


def estimate(
    tables: Tables, coefficient: Coefficient, *, least: float = -1.0, confidence: float = 0.95
) -> Estimate:
    """Give a coefficient over all clusters, with the interval of a jackknife over them.

    The interval is meant to cover in 95 of 100 samples of queries. With kappas on TREC DL 2019, 8
    to 60 queries and 20 pairs of each it did in 90 to 96 (tests/benchmarks/bench_agreement.py).

    Args:
        tables: Shape (clusters, levels, levels), as `confusion_tables` or, for alpha,
            `coincidence_tables` gives them.
        coefficient: One of the functions of this module.
        least: The least that the coefficient can be; the interval ends there, and at 1.
        confidence: Of the interval, in (0, 1).
    """
    total = tables.sum(axis=0)
    if not total.any():
        return Estimate(None, undefined=NoValue.NO_PAIR)
    value = _values(coefficient(total[None]))
    if value is None:
        return Estimate(None, undefined=NoValue.ONE_LABEL)
    found = float(value[0])
    used = tables[tables.any(axis=(1, 2))]
    if len(used) < LEAST_CLUSTERS:
        return Estimate(found, no_interval=NoInterval.FEW_QUERIES)
    without = _values(coefficient(total - used))
    if without is None:
        return Estimate(found, no_interval=NoInterval.ONE_LABEL_WITHOUT_A_QUERY)
    if np.ptp(without) == 0:
        return Estimate(found, no_interval=NoInterval.NO_SPREAD)
    low, high = jackknife_interval(found, without, confidence=confidence)
    return Estimate(found, max(low, least), min(high, 1.0))


def _values(disagreement: Disagreement) -> NDArray[np.float64] | None:
    """Give the coefficients, or None when one of them is undefined."""
    observed, expected = disagreement
    return 1 - observed / expected if (expected > 0).all() else None


def _weighted(tables: Tables, weights: NDArray[np.float64]) -> Disagreement:
    total = tables.sum(axis=(-2, -1))
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    by_chance = rows[..., :, None] * columns[..., None, :]
    return Disagreement(
        total * (weights * tables).sum(axis=(-2, -1)), (weights * by_chance).sum(axis=(-2, -1))
    )


def _alpha(coincidences: Tables, distances: NDArray[np.float64]) -> Disagreement:
    given = coincidences.sum(axis=-1)
    total = given.sum(axis=-1)
    by_chance = given[..., :, None] * given[..., None, :]
    return Disagreement(
        (total - 1) * (distances * coincidences).sum(axis=(-2, -1)),
        (distances * by_chance).sum(axis=(-2, -1)),
    )


def _check_levels(labels: NDArray[np.int64], levels: int, *, least: int) -> None:
    if levels < 2:  # noqa: PLR2004 - a scale with one level tells nothing
        raise UsageError(f"agreement needs 2 levels or more, not {levels}")
    if labels.size and not (labels.min() >= least and labels.max() < levels):
        raise UsageError(f"a label is none of the {levels} levels")
