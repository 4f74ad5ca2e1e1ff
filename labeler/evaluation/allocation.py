"""How many units to draw from which stratum, before anybody has labelled one of them."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence

from labeler.evaluation.sample_estimates import Estimand

__all__ = ["LEAST_VARIANCE", "LEAST_VARIANCE_CALIBRATED", "next_units", "worth_of_relevant"]

LEAST_VARIANCE = 0.05
"""No stratum is taken for surer than this on rates that nobody checked against people."""

LEAST_VARIANCE_CALIBRATED = 0.02
"""The same for rates from calibrated probabilities."""


def next_units(
    sizes: Sequence[int],
    rates: Sequence[float],
    total: int,
    *,
    drawn: Sequence[int] | None = None,
    worth: Sequence[float] | None = None,
    floor: int = 3,
    least_variance: float = LEAST_VARIANCE,
) -> list[int]:
    """Share a sample among strata by Neyman allocation with a floor.

    Each stratum gets the floor first (largest first, where the sample is too small for all). Each
    further unit goes where it lowers the variance of what is estimated most: by
    ``w_h^2 (1/n_h - 1/(n_h + 1))`` with
    ``w_h = N_h worth_h sqrt(max(p_h (1 - p_h), least_variance))``, which is the optimum of Neyman
    (1934, JRSS 97, 558-625) in whole units (Wright 2012, The American Statistician 66, 217-224).
    The floor is small: a large one would starve the one big stratum in which relevant units are
    rare, and with it the coverage of every interval.

    Args:
        sizes: Units of each stratum, 0 or more.
        rates: The share of relevant units that is expected in each, in [0, 1].
        total: Units to draw now, 0 or more.
        drawn: Units drawn of each stratum before; none by default.
        worth: How much a relevant unit of each moves what is estimated, 0 or more; 1 by default,
            which is right for their total.
        floor: The least of each stratum, where it has as many.
        least_variance: The least variance of a unit that is assumed, in (0, 0.25].

    Returns:
        Units to draw now of each stratum; they add to the total, or to all that are left.

    Raises:
        ValueError: When the arguments don't belong together.
    """
    before = list(drawn) if drawn is not None else [0] * len(sizes)
    value = list(worth) if worth is not None else [1.0] * len(sizes)
    if not len(sizes) == len(rates) == len(before) == len(value):
        raise ValueError("sizes, rates, worth and what was drawn have one value a stratum")
    if total < 0 or any(not 0 <= had <= size for had, size in zip(before, sizes, strict=True)):
        raise ValueError("no stratum has fewer units than were drawn of it")
    counts = list(before)
    left = min(total, sum(sizes) - sum(before))
    largest_first = sorted(range(len(sizes)), key=lambda place: (-sizes[place], place))
    for least in range(1, floor + 1):
        for place in largest_first:
            if left and counts[place] < min(least, sizes[place]):
                counts[place] += 1
                left -= 1
    weights = [
        size * one * math.sqrt(max(rate * (1 - rate), least_variance))
        for size, one, rate in zip(sizes, value, rates, strict=True)
    ]
    _give(counts, sizes, weights, left)
    return [now - had for now, had in zip(counts, before, strict=True)]


def worth_of_relevant(
    relevant: Mapping[tuple[str, ...], float],
    runs: Sequence[str],
    measure: Estimand | None = None,
) -> dict[tuple[str, ...], float]:
    """Say how much a relevant unit moves what is estimated, by who retrieved it.

    A unit moves the recall R of a run by ``1[retrieved] - R``, and a difference of two runs by
    ``1[A] - 1[B] - (R_A - R_B)``, both over the total (the linearised values of Sarndal, Swensson
    and Wretman 1992, result 5.6.2). It moves precision by ``1[retrieved]``, and its difference by
    ``1[A] - 1[B]``, both over the places: what no compared run retrieved says nothing of it. The
    root mean square over all that is meant makes the sum of the variances least (Cochran 1977,
    section 5A.4, compromise allocation).

    Args:
        relevant: The relevant units that are expected or known, by the runs that retrieved them.
        runs: The runs; the first is compared with each other one.
        measure: What is to be as narrow as can be, of the first run or of the first less each other
            one; None is the recall of every run and its differences.

    Returns:
        The worth of each group of units, in [0, 2].

    Raises:
        ValueError: When a difference is meant and there is one run.
    """
    total = sum(relevant.values())
    recall = {
        run: sum(count for who, count in relevant.items() if run in who) / total if total else 0.5
        for run in runs
    }

    def moves(who: tuple[str, ...]) -> list[float]:
        held = [float(run in who) for run in runs]
        if measure in {Estimand.RECALL, Estimand.RECALL_DIFFERENCE, None}:
            held = [one - recall[run] for one, run in zip(held, runs, strict=True)]
        gaps = [held[0] - other for other in held[1:]]
        if measure in {Estimand.RECALL, Estimand.PRECISION}:
            return held[:1]
        return [*held, *gaps] if measure is None else gaps

    if measure is Estimand.RELEVANT:
        return dict.fromkeys(relevant, 1.0)
    if len(runs) == 1 and measure in {Estimand.RECALL_DIFFERENCE, Estimand.PRECISION_DIFFERENCE}:
        raise ValueError("a difference needs two runs")
    return {
        who: math.sqrt(sum(move**2 for move in moves(who)) / len(moves(who))) for who in relevant
    }


def _give(counts: list[int], sizes: Sequence[int], weights: Sequence[float], left: int) -> None:
    """Give each unit that is left to the stratum where it is worth most."""

    def worth(place: int) -> float:
        n = counts[place]
        return math.inf if n == 0 else weights[place] ** 2 / (n * (n + 1))

    heap = [(-worth(place), place) for place in range(len(sizes)) if counts[place] < sizes[place]]
    heapq.heapify(heap)
    for _ in range(left):
        _, place = heapq.heappop(heap)
        counts[place] += 1
        if counts[place] < sizes[place]:
            heapq.heappush(heap, (-worth(place), place))
