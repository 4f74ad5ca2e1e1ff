"""Intervals for totals and ratios of a stratified sample: the finite-population posterior.

What is left unlabelled in a stratum follows a beta-binomial distribution, given what was labelled
there (Webber 2012, "Approximate recall confidence intervals", arXiv:1202.2880, section 4; here for
strata, for two systems at a time, and with a part that is known). The correction for finite
populations is part of it: a stratum that is labelled wholly adds no uncertainty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.estimators import Known

__all__ = ["DRAWS", "Interval", "LabelledStratum", "TotalDraws", "draw_totals"]

DRAWS = 2000
"""Draws from the posterior that an interval is read from."""

_LEAST_DRAWS = 500
_NEUTRAL = 1 / 3

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelledStratum:
    """A stratum of units that are alike in who retrieved them, and what was found in it.

    Attributes:
        size: Units of the stratum.
        labelled: Units drawn at random from it that have a label.
        relevant: Those among them that are relevant.
        first: Whether the first system retrieved its units in its top k.
        second: Whether the second system did.
        rate: The mean probability that its units are relevant, for a prior that leans on it: from
            probabilities that were calibrated on people's labels, or, for a part of a stratum, from
            what was found in all of it. None is a neutral prior.
    """

    size: int
    labelled: int
    relevant: int
    first: bool = False
    second: bool = False
    rate: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.relevant <= self.labelled <= self.size:
            raise ValueError(
                f"{self.relevant} relevant of {self.labelled} labelled of {self.size} units"
            )

    @property
    def prior(self) -> tuple[float, float]:
        """The parameters of the beta prior: 1/3 and 1/3, or .25 + 2p and .25 + 2(1 - p)."""
        if self.rate is None:
            return _NEUTRAL, _NEUTRAL
        return 0.25 + 2 * self.rate, 0.25 + 2 * (1 - self.rate)


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of a stated confidence, from both sides."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """Its length."""
        return self.high - self.low


@dataclass(frozen=True, eq=False)
class TotalDraws:
    """Draws from the joint posterior of three totals of relevant units.

    Attributes:
        total: Shape (draws,): all relevant units of the frame.
        first: Those that the first system retrieved.
        second: Those that the second system retrieved.
    """

    total: Floats
    first: Floats
    second: Floats

    def recall(self, *, confidence: float = 0.95) -> Interval:
        """Give the interval of the first system's pooled recall."""
        return self._ratio(self.first, 0.0, 1.0, confidence)

    def recall_difference(self, *, confidence: float = 0.95) -> Interval:
        """Give the interval of the first system's pooled recall less the second's."""
        return self._ratio(self.first - self.second, -1.0, 1.0, confidence)

    def precision(self, places: int, *, confidence: float = 0.95) -> Interval:
        """Give the interval of the first system's mean P@k.

        Args:
            places: k times the number of queries.
            confidence: In (0, 1).
        """
        return _between(self.first / places, self.first / places, confidence)

    def precision_difference(self, places: int, *, confidence: float = 0.95) -> Interval:
        """Give the interval of the first system's mean P@k less the second's."""
        top = (self.first - self.second) / places
        return _between(top, top, confidence)

    def relevant(self, *, confidence: float = 0.95) -> Interval:
        """Give the interval of the number of relevant units in the frame."""
        return _between(self.total, self.total, confidence)

    def _ratio(self, top: Floats, least: float, most: float, confidence: float) -> Interval:
        # A frame without a relevant unit has no recall: such a draw excludes no value at all.
        empty = self.total == 0
        under = np.where(empty, 1.0, self.total)
        return _between(
            np.where(empty, least, top / under), np.where(empty, most, top / under), confidence
        )


def _between(lower: Floats, upper: Floats, confidence: float) -> Interval:
    tail = (1 - confidence) / 2
    return Interval(float(np.quantile(lower, tail)), float(np.quantile(upper, 1 - tail)))


def draw_totals(
    strata: Sequence[LabelledStratum],
    known: Known,
    *,
    seed: int | np.random.Generator,
    draws: int = DRAWS,
) -> TotalDraws:
    """Draw from the posterior of the totals of relevant units.

    For each stratum ``x_h + Binomial(N_h - n_h, theta)`` with ``theta`` from the beta distribution
    with ``x_h + a`` and ``n_h - x_h + b``.

    Args:
        strata: The strata, each alike in who retrieved its units.
        known: The relevant units that are known with certainty, apart from the strata.
        seed: A whole number, or a generator.
        draws: 500 or more.

    Raises:
        ValueError: When fewer draws are asked for.
    """
    if draws < _LEAST_DRAWS:
        raise ValueError(f"an interval needs {_LEAST_DRAWS} draws, not {draws}")
    rng = np.random.default_rng(seed)
    total = np.full(draws, float(known.total))
    first = np.full(draws, float(known.first))
    second = np.full(draws, float(known.second))
    for stratum in strata:
        found = np.full(draws, float(stratum.relevant))
        if stratum.size > stratum.labelled:
            a, b = stratum.prior
            misses = stratum.labelled - stratum.relevant
            theta = rng.beta(stratum.relevant + a, misses + b, draws)
            found += rng.binomial(stratum.size - stratum.labelled, theta)
        total += found
        if stratum.first:
            first += found
        if stratum.second:
            second += found
    return TotalDraws(total, first, second)
