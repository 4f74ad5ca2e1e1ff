"""Point estimates from a stratified sample, and their design-based variances.

Units are drawn without replacement inside strata; every unit of a stratum has the inclusion
probability n_h / N_h. What was labelled before the draw is known with certainty and added apart.
Intervals come from `labeler.evaluation.posterior`; the standard errors here are for display, and
for telling how much a sample is worth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Auxiliary",
    "Known",
    "PointEstimate",
    "StratifiedSample",
    "Strength",
    "design_effect",
    "difference_ratio",
    "difference_total",
    "effective_size",
    "horvitz_thompson",
    "power_tuning",
    "strength",
    "variance_of_total",
]

LEAST_EFFECTIVE_SIZE = 20.0
LEAST_POSITIVES = 10
_FOLDS = 5

Floats = NDArray[np.float64]


class Strength(StrEnum):
    """How far an estimate can be leaned on."""

    SOUND = "sound"
    WEAK = "weak"
    NO_POSITIVES = "no positives"


@dataclass(frozen=True, slots=True)
class PointEstimate:
    """An estimate with its standard error; either is None where it is undefined."""

    value: float | None
    error: float | None


@dataclass(frozen=True, slots=True)
class Known:
    """What is known with certainty: relevant units labelled before the draw.

    Attributes:
        total: All of them.
        first: Those among them that the first system retrieved.
        second: Those among them that the second system retrieved.
    """

    total: int = 0
    first: int = 0
    second: int = 0


@dataclass(frozen=True, eq=False)
class Auxiliary:
    """A judge's probabilities p, for an estimate that leans on them.

    Attributes:
        values: Shape (units,): p of each labelled unit, from a model that never saw its label.
        totals: Shape (strata,): the sum of p over all units of each stratum.
    """

    values: Floats
    totals: Floats


@dataclass(frozen=True, eq=False)
class StratifiedSample:
    """Labelled units of a stratified sample, one place a unit.

    Attributes:
        sizes: Shape (strata,): the units of each stratum, N_h.
        strata: Shape (units,): the stratum of each labelled unit.
        values: Shape (units,): what was found, 1 for relevant, or any other number.
    """

    sizes: NDArray[np.int64]
    strata: NDArray[np.int64]
    values: Floats

    def __post_init__(self) -> None:
        if self.strata.shape != self.values.shape:
            raise ValueError("each labelled unit has one stratum and one value")
        counts = self.counts
        if len(counts) != len(self.sizes) or (counts > self.sizes).any():
            raise ValueError("more units are labelled than a stratum has")
        if ((counts == 0) & (self.sizes > 0)).any():
            raise ValueError("a stratum with units has none that is labelled: collapse it first")

    @property
    def counts(self) -> NDArray[np.int64]:
        """Labelled units of each stratum, n_h."""
        return np.bincount(self.strata, minlength=len(self.sizes)).astype(np.int64)

    @property
    def weights(self) -> Floats:
        """The weight N_h / n_h of each labelled unit."""
        ratio = self.sizes / np.maximum(self.counts, 1)
        return np.asarray(ratio[self.strata], dtype=np.float64)

    def with_values(self, values: Floats) -> StratifiedSample:
        """Give the same sample with other values."""
        return StratifiedSample(self.sizes, self.strata, values)


def horvitz_thompson(sample: StratifiedSample, known: float = 0.0) -> PointEstimate:
    """Estimate a total: ``known + sum_h (N_h / n_h) sum_s z`` (Horvitz and Thompson 1952).

    Args:
        sample: The sample of what isn't known.
        known: The total over what is known with certainty.
    """
    value = known + float((sample.weights * sample.values).sum())
    return PointEstimate(value, math.sqrt(variance_of_total(sample)))


def variance_of_total(sample: StratifiedSample) -> float:
    """Give ``sum_h N_h^2 (1 - n_h / N_h) s_h^2 / n_h`` (Cochran 1977, equation 5.11).

    A stratum of which one unit is labelled shows no spread: it takes that of its unit together
    with those of the next stratum that has one too or more, which is too large rather than too
    small where the two differ (collapsed strata, Cochran 1977, section 5A.12).
    """
    sizes, counts = sample.sizes.astype(np.float64), sample.counts
    spread = _spread(sample)
    used = counts > 0
    n = counts[used].astype(np.float64)
    whole = sizes[used]
    return float((whole**2 * (1 - n / whole) * spread[used] / n).sum())


def _spread(sample: StratifiedSample) -> Floats:
    """Give s_h^2 of each stratum, 0 where all units are labelled."""
    counts = sample.counts
    order = np.argsort(sample.strata, kind="stable")
    parts = np.split(sample.values[order], np.cumsum(counts)[:-1])
    filled = [place for place in range(len(counts)) if counts[place]]
    spread = np.zeros(len(counts))
    for at, place in enumerate(filled):
        units = parts[place]
        if len(units) == 1 and sample.sizes[place] > 1 and len(filled) > 1:
            neighbour = filled[at + 1] if at + 1 < len(filled) else filled[at - 1]
            units = np.concatenate([units, parts[neighbour]])
        if len(units) > 1:
            spread[place] = float(np.var(units, ddof=1))
    return spread


def power_tuning(sample: StratifiedSample, auxiliary: Floats) -> float:
    """Choose how far to lean on an auxiliary value: 0 not at all, 1 wholly.

    ``sum_h N_h^2 (1 - f_h) cov_h(z, p) / n_h`` over the same sum with ``var_h(p)``, clipped to
    [0, 1]: the value that makes the variance of the difference estimator least (Angelopoulos,
    Duchi and Zrnic 2023, "PPI++", section 3, for strata drawn without replacement).

    Args:
        sample: The sample, with the values z.
        auxiliary: Shape (units,): p of each labelled unit, from a model that never saw them.
    """
    counts, sizes = sample.counts, sample.sizes.astype(np.float64)
    top = bottom = 0.0
    for place in np.flatnonzero(counts > 1):
        inside = sample.strata == place
        n, whole = float(counts[place]), float(sizes[place])
        factor = whole**2 * (1 - n / whole) / n
        both = np.cov(sample.values[inside], auxiliary[inside], ddof=1)
        top += factor * float(both[0, 1])
        bottom += factor * float(both[1, 1])
    return float(np.clip(top / bottom, 0.0, 1.0)) if bottom > 0 else 0.0


def difference_total(
    sample: StratifiedSample, auxiliary: Auxiliary, *, known: float = 0.0
) -> PointEstimate:
    """Estimate a total with a judge's probabilities as auxiliary values.

    ``known + lambda sum_U p + sum_h (N_h / n_h) sum_s (z - lambda p)``: the difference estimator
    (Sarndal, Swensson and Wretman 1992, section 6.3), known as prediction-powered inference with
    power tuning (Angelopoulos, Duchi and Zrnic 2023).

    Args:
        sample: The sample, with the values z.
        auxiliary: The probabilities.
        known: The total over what is known with certainty.
    """
    residual, leaned = _leaned(sample, auxiliary)
    value = known + float(leaned.sum()) + float((residual.weights * residual.values).sum())
    return PointEstimate(value, math.sqrt(variance_of_total(residual)))


def _leaned(sample: StratifiedSample, auxiliary: Auxiliary) -> tuple[StratifiedSample, Floats]:
    """Give the residuals ``z - lambda p``, and ``lambda sum_U p`` of each stratum.

    Lambda is cross-fitted: every unit's residual uses the lambda of the folds that it isn't in, so
    that tuning on the same units adds no bias. Each unit stands for its share of its stratum, so
    its fold's lambda does too.
    """
    fold = _folds(sample, _FOLDS)
    tuned = np.zeros(len(sample.values))
    for part in range(_FOLDS):
        others = fold != part
        if not others.all() and others.any():
            tuned[fold == part] = _tuning_of(sample, auxiliary.values, others)
    share = tuned / np.maximum(sample.counts, 1)[sample.strata]
    of_stratum = np.bincount(sample.strata, share, len(sample.sizes))
    residual = sample.with_values(sample.values - tuned * auxiliary.values)
    return residual, of_stratum * auxiliary.totals


def _tuning_of(sample: StratifiedSample, auxiliary: Floats, chosen: NDArray[np.bool_]) -> float:
    strata = sample.strata[chosen]
    there = np.bincount(strata, minlength=len(sample.sizes)) > 0
    part = StratifiedSample(np.where(there, sample.sizes, 0), strata, sample.values[chosen])
    return power_tuning(part, auxiliary[chosen])


def _folds(sample: StratifiedSample, folds: int) -> NDArray[np.int64]:
    """Part each stratum's units into folds by their order."""
    fold = np.zeros(len(sample.strata), dtype=np.int64)
    for place in range(len(sample.sizes)):
        inside = np.flatnonzero(sample.strata == place)
        fold[inside] = np.arange(len(inside)) % folds
    return fold


def difference_ratio(
    sample: StratifiedSample,
    numerator: Floats,
    *,
    known_numerator: float = 0.0,
    known_total: float = 0.0,
    auxiliary: Auxiliary | None = None,
) -> PointEstimate:
    """Estimate pooled recall, or the difference of two systems' pooled recall.

    ``T_a / T`` with a = z times ``numerator``: 1 where the system retrieved a stratum (recall), or
    the difference of two such indicators (paired difference; the shared total keeps their
    covariance). That is the mean over a domain whose size is unknown (Hajek 1971). The variance is
    that of ``(z - lambda p) (numerator - ratio) / T``, by Taylor linearisation (Sarndal, Swensson
    and Wretman 1992, result 5.6.2); lambda is 0 without auxiliary values, and cross-fitted with
    them, for both totals alike.

    Args:
        sample: The sample, with the values z in {0, 1}.
        numerator: Shape (strata,): 1[retrieved], or 1[retrieved by A] - 1[retrieved by B].
        known_numerator: The sum of the numerator over known relevant units.
        known_total: The number of known relevant units.
        auxiliary: A judge's probabilities, where both totals are to lean on them.
    """
    residual, leaned = sample, np.zeros(len(sample.sizes))
    if auxiliary is not None:
        residual, leaned = _leaned(sample, auxiliary)
    found = leaned + np.bincount(
        residual.strata, residual.weights * residual.values, len(sample.sizes)
    )
    total = known_total + float(found.sum())
    if total <= 0:
        return PointEstimate(None, None)
    ratio = (known_numerator + float((found * numerator).sum())) / total
    linear = residual.with_values(residual.values * (numerator[residual.strata] - ratio) / total)
    return PointEstimate(ratio, math.sqrt(variance_of_total(linear)))


def effective_size(weights: Floats) -> float:
    """Give Kish's effective sample size ``(sum w)^2 / sum w^2`` (Kish 1965, section 11.7)."""
    squares = float(np.square(weights).sum())
    return float(weights.sum()) ** 2 / squares if squares else 0.0


def design_effect(weights: Floats) -> float | None:
    """Give Kish's loss by unequal weights, ``n / effective size``; None without units."""
    size = effective_size(weights)
    return len(weights) / size if size else None


def strength(weights: Floats, positives: int) -> Strength:
    """Say how far an estimate can be leaned on, by its effective size and its positives.

    Args:
        weights: Shape (units,): the weight of each labelled unit.
        positives: How many of them are relevant, unweighted.
    """
    if positives == 0:
        return Strength.NO_POSITIVES
    if effective_size(weights) < LEAST_EFFECTIVE_SIZE or positives < LEAST_POSITIVES:
        return Strength.WEAK
    return Strength.SOUND
