"""Whether a judge's labels drifted: the same items labelled on two occasions, in one square table.

Rows are labels of the first occasion and columns those of the second, levels from worst to best, as
in `labeler.evaluation.agreement.confusion_tables`. Tests tell that labels moved; only equivalence
within stated limits tells that they didn't.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.clustered import clustered_mean
from labeler.evaluation.intervals import LEAST_CLUSTERS, student_t_quantile
from labeler.evaluation.posterior import Interval

__all__ = [
    "MarginalTest",
    "Shift",
    "ShiftVerdict",
    "bhapkar",
    "marginal_shift",
    "mcnemar_exact",
    "stuart_maxwell",
]

Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MarginalTest:
    """A test that both occasions gave each level equally often.

    Attributes:
        statistic: The chi-squared statistic.
        degrees: Its degrees of freedom: levels that changed, less one.
        p: The p-value; 1 where nothing moved.
    """

    statistic: float
    degrees: int
    p: float


def stuart_maxwell(table: Table) -> MarginalTest:
    """Test marginal homogeneity of a square table.

    ``d' S^-1 d`` with ``d_k = n_k. - n_.k`` and ``S_kk = n_k. + n_.k - 2 n_kk``,
    ``S_kl = -(n_kl + n_lk)``, one level left out (Stuart 1955, Biometrika 42, 412-416; Maxwell
    1970, British Journal of Psychiatry 116, 651-655). Levels that were given on neither occasion
    are left out, and so are those that never moved.

    Args:
        table: Shape (levels, levels): counts.
    """
    gaps, covariance = _marginal_gaps(table)
    return _quadratic(gaps, covariance)


def bhapkar(table: Table) -> MarginalTest:
    """Test marginal homogeneity with the variance that holds when the margins differ.

    Bhapkar 1966, Journal of the American Statistical Association 61, 228-235. It equals
    ``W / (1 - W / n)`` with W of Stuart and Maxwell (Keefe 1982), so it is never smaller.

    Args:
        table: Shape (levels, levels): counts.
    """
    plain = stuart_maxwell(table)
    total = float(table.sum())
    if plain.degrees == 0:
        return plain
    statistic = plain.statistic / (1 - plain.statistic / total) if plain.statistic < total else None
    if statistic is None:
        return MarginalTest(float("inf"), plain.degrees, 0.0)
    return MarginalTest(statistic, plain.degrees, _upper_tail(statistic, plain.degrees))


def _marginal_gaps(table: Table) -> tuple[NDArray[np.float64], Table]:
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    moved = rows + columns - 2 * np.diag(table) > 0
    part = table[np.ix_(moved, moved)]
    gaps = (rows - columns)[moved]
    covariance = -(part + part.T)
    np.fill_diagonal(covariance, (rows + columns - 2 * np.diag(table))[moved])
    return gaps, covariance


def _quadratic(gaps: NDArray[np.float64], covariance: Table) -> MarginalTest:
    if not len(gaps):
        return MarginalTest(0.0, 0, 1.0)
    # Levels that exchange labels among themselves alone have a sum of 0 of their own: the rank
    # tells how many gaps are free.
    degrees = int(np.linalg.matrix_rank(covariance))
    statistic = float(gaps @ np.linalg.pinv(covariance, hermitian=True) @ gaps)
    return MarginalTest(max(0.0, statistic), degrees, _upper_tail(statistic, degrees))


def _upper_tail(statistic: float, degrees: int) -> float:
    from scipy.special import chdtrc

    return float(chdtrc(degrees, max(0.0, statistic)))


def mcnemar_exact(raised: int, lowered: int) -> float:
    """Give the exact p, from both sides, that a move is as likely up as down.

    Twice the smaller tail of the binomial with a half (McNemar 1947, Psychometrika 12, 153-157),
    1 where nothing moved.

    Args:
        raised: Items that became relevant, 0 or more.
        lowered: Items that ceased to be.

    Raises:
        ValueError: When a count is negative.
    """
    if raised < 0 or lowered < 0:
        raise ValueError(f"counts are 0 or more, not {raised} and {lowered}")
    if raised + lowered == 0:
        return 1.0
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(raised, lowered), raised + lowered, 0.5)))


class ShiftVerdict(StrEnum):
    """What two occasions tell of a judge."""

    STEADY = "steady"
    DRIFTED = "drifted"
    UNDECIDED = "undecided"
    FEW_QUERIES = "too few queries"


@dataclass(frozen=True, slots=True)
class Shift:
    """How the share of relevant labels moved between two occasions.

    Attributes:
        items: Items labelled on both.
        raised: Those that became relevant.
        lowered: Those that ceased to be.
        value: The second share less the first.
        interval: The interval of 1 - 2 alpha over queries that the two one-sided tests compare
            with the margin, or None with too few queries.
        margin: Within which the shares count as the same.
        p: The exact p of McNemar; it takes items for independent.
        verdict: Steady when the interval lies inside the margin; drifted when it lies off 0 and
            isn't inside; else undecided: a large p shows nothing.
    """

    items: int
    raised: int
    lowered: int
    value: float
    interval: Interval | None
    margin: float
    p: float
    verdict: ShiftVerdict


def marginal_shift(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    clusters: NDArray[np.int64],
    *,
    margin: float,
    alpha: float = 0.05,
) -> Shift:
    """Test whether the share of relevant labels stayed within a margin.

    Two one-sided tests (Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15,
    657-680): the same as an interval of ``1 - 2 alpha`` inside the margin, here that of cluster-t
    over queries.

    Args:
        first: Shape (items,): 1 relevant, 0 not, on the first occasion.
        second: Shape (items,): the same on the second.
        clusters: Shape (items,): the query of each item.
        margin: Above 0.
        alpha: Of each one-sided test, in (0, 0.5).

    Raises:
        ValueError: When there are no items, or the margin isn't above 0.
    """
    if not len(first) or not margin > 0:
        raise ValueError("a shift needs items, and a margin above 0")
    moves = (second - first).astype(np.float64)
    raised, lowered = int((moves > 0).sum()), int((moves < 0).sum())
    mean = clustered_mean(moves, clusters)
    interval = None
    verdict = ShiftVerdict.FEW_QUERIES
    if mean.clusters >= LEAST_CLUSTERS and mean.error is not None:
        reach = student_t_quantile(1 - alpha, mean.clusters - 1) * mean.error
        if mean.error == 0:
            # Nothing moved: at most 1 - alpha^(1/G) of the queries could have.
            reach = 1 - alpha ** (1 / mean.clusters)
        interval = Interval(mean.value - reach, mean.value + reach)
        if -margin < interval.low and interval.high < margin:
            verdict = ShiftVerdict.STEADY
        elif interval.low > 0 or interval.high < 0:
            verdict = ShiftVerdict.DRIFTED
        else:
            verdict = ShiftVerdict.UNDECIDED
    return Shift(
        items=len(moves),
        raised=raised,
        lowered=lowered,
        value=mean.value,
        interval=interval,
        margin=margin,
        p=mcnemar_exact(raised, lowered),
        verdict=verdict,
    )
