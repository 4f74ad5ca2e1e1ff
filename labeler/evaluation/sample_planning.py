"""How wide an interval a sample will have, before anybody votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labeler.evaluation.allocation import LEAST_VARIANCE, next_units
from labeler.evaluation.estimators import Known
from labeler.evaluation.posterior import LabelledStratum
from labeler.evaluation.sample_estimates import DrawnStratum, Estimand, estimate

__all__ = ["PlannedStratum", "expected_width", "votes_for_width"]

_REPEATS = 20
_DRAWS = 500


@dataclass(frozen=True, slots=True)
class PlannedStratum:
    """A stratum that nothing is drawn of yet.

    Attributes:
        size: Its items.
        rate: The share of relevant items that is expected, in [0, 1]: an assumption.
        first: Whether the first system retrieved its items in its top k.
        second: Whether the second system did.
        worth: What allocation takes a relevant item of it to be worth.
        is_calibrated: Whether the rate comes from probabilities calibrated on people's labels, so
            that the interval will lean on it.
    """

    size: int
    rate: float
    first: bool = False
    second: bool = False
    worth: float = 1.0
    is_calibrated: bool = False


def expected_width(
    estimand: Estimand,
    strata: Sequence[PlannedStratum],
    counts: Sequence[int],
    known: Known,
    *,
    seed: int,
    places: int = 0,
) -> float:
    """Give the mean width of the 95% interval over simulated answers.

    In each repetition a stratum's relevant items follow the rate that is expected of it, and the
    sample follows from them; the estimate is made just as it will be.

    Args:
        estimand: What will be estimated.
        strata: The strata.
        counts: How many items will be drawn of each.
        known: Relevant items that are labelled already.
        seed: Decides the simulation.
        places: k times the number of queries; for precision.
    """
    rng = np.random.default_rng(seed)
    widths = []
    for _ in range(_REPEATS):
        drawn = []
        for one, count in zip(strata, counts, strict=True):
            relevant = int(rng.binomial(one.size, one.rate))
            found = int(rng.hypergeometric(relevant, one.size - relevant, count)) if count else 0
            prior = one.rate if one.is_calibrated else None
            part = LabelledStratum(one.size, count, found, one.first, one.second, prior)
            drawn.append(DrawnStratum(part))
        found_interval = estimate(
            estimand, drawn, known, seed=int(rng.integers(2**31)), places=places, draws=_DRAWS
        ).interval
        widths.append(found_interval.width)
    return float(np.mean(widths))


def votes_for_width(
    estimand: Estimand,
    strata: Sequence[PlannedStratum],
    known: Known,
    target: float,
    *,
    seed: int,
    places: int = 0,
    least_variance: float = LEAST_VARIANCE,
) -> int | None:
    """Give the least number of votes for an interval no wider than a target, by halving.

    Args:
        estimand: What will be estimated.
        strata: The strata.
        known: Relevant items that are labelled already.
        target: The whole width of the interval, above 0.
        seed: Decides the simulation.
        places: k times the number of queries; for precision.
        least_variance: See `labeler.evaluation.allocation.next_units`.

    Returns:
        The number of votes; None when all items of the frame would not be enough.
    """
    sizes, rates = [one.size for one in strata], [one.rate for one in strata]
    worth = [one.worth for one in strata]

    def width(votes: int) -> float:
        counts = next_units(sizes, rates, votes, worth=worth, least_variance=least_variance)
        return expected_width(estimand, strata, counts, known, seed=seed, places=places)

    low, high = 0, sum(sizes)
    if width(high) > target:
        return None
    while low < high:
        middle = (low + high) // 2
        if width(middle) <= target:
            high = middle
        else:
            low = middle + 1
    return high
