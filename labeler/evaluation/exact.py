"""Exact, conservative limits from a stratified sample: for vetoes, and where positives are few.

Each group of strata gets the exact limits of its total, and the estimate takes the worst corner of
the box that they span.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import product

import numpy as np

from labeler.evaluation.estimators import Known
from labeler.evaluation.posterior import Interval, LabelledStratum

__all__ = [
    "exact_recall",
    "exact_recall_difference",
    "exact_total",
    "exact_total_difference",
    "hypergeometric_limits",
]

Cell = tuple[bool, bool]
Limits = tuple[int, int]


@lru_cache(maxsize=4096)
def hypergeometric_limits(size: int, labelled: int, relevant: int, tail: float) -> Limits:
    """Give exact limits of the relevant units in a stratum of which some are labelled.

    The limits are the totals under which so many relevant units or more, and so many or fewer, in
    a sample drawn without replacement have a probability of ``tail`` or more: the interval of
    Clopper and Pearson (1934) for a finite population (Wright 1991, "Exact confidence bounds when
    sampling from small finite universes").

    Args:
        size: Units of the stratum.
        labelled: Units drawn from it, 0 to its size.
        relevant: Those that are relevant.
        tail: The probability on each side, in (0, 0.5].

    Raises:
        ValueError: When the counts don't belong together.
    """
    if not 0 <= relevant <= labelled <= size or not 0 < tail <= 0.5:  # noqa: PLR2004 - a half
        raise ValueError(f"{relevant} relevant of {labelled} of {size} at a tail of {tail}")
    # A probability that equals the tail, as 1 of 40 does, isn't refuted by the rounding of a float.
    enough = tail * (1 - 1e-9)
    least, most = relevant, size - (labelled - relevant)
    low, high = least, most
    # The chance of so many or more grows with the total: the lower limit is the first total under
    # which it passes the tail.
    first, last = least, most
    while first < last:
        middle = (first + last) // 2
        if _chance_of_more(size, labelled, relevant, middle) >= enough:
            last = middle
        else:
            first = middle + 1
    low = first
    first, last = least, most
    while first < last:
        middle = (first + last + 1) // 2
        if _chance_of_more(size, labelled, labelled - relevant, size - middle) >= enough:
            first = middle
        else:
            last = middle - 1
    high = first
    return low, max(low, high)


def _chance_of_more(size: int, labelled: int, at_least: int, total: int) -> float:
    """Give P(X >= at_least) for a hypergeometric count X."""
    most = min(labelled, total)
    if at_least > most:
        return 0.0
    least = max(at_least, labelled - (size - total))
    if least <= max(0, labelled - (size - total)):
        return 1.0
    counts = np.arange(least, most + 1, dtype=np.float64)
    logs = (
        _log_choose(total, counts)
        + _log_choose(size - total, labelled - counts)
        - _log_choose(size, np.float64(labelled))
    )
    return float(np.exp(logs).sum())


def _log_choose(n: int, k: np.ndarray | np.float64) -> np.ndarray:
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def _cells(strata: Sequence[LabelledStratum], confidence: float) -> dict[Cell, Limits]:
    """Give the limits of the total of each cell, all of them at once with the confidence.

    The strata share the error by Sidak (1967): each keeps ``1 - confidence^(1/H)``. A stratum
    without a label has no limits but its size, and takes no share.
    """
    open_ones = [one for one in strata if 0 < one.labelled < one.size]
    tail = (1 - confidence ** (1 / len(open_ones))) / 2 if open_ones else 0.5
    cells: dict[Cell, Limits] = {}
    for one in strata:
        if one.labelled == 0:
            limits = 0, one.size
        else:
            limits = hypergeometric_limits(one.size, one.labelled, one.relevant, tail)
        low, high = cells.get((one.first, one.second), (0, 0))
        cells[one.first, one.second] = low + limits[0], high + limits[1]
    return cells


def exact_recall(
    strata: Sequence[LabelledStratum], known: Known, *, confidence: float = 0.95
) -> Interval:
    """Give conservative limits of the first system's pooled recall."""
    return _corners(_cells(strata, confidence), known, (1, 0), least=0.0)


def exact_recall_difference(
    strata: Sequence[LabelledStratum], known: Known, *, confidence: float = 0.95
) -> Interval:
    """Give conservative limits of the first system's pooled recall less the second's."""
    return _corners(_cells(strata, confidence), known, (1, -1), least=-1.0)


def exact_total(
    strata: Sequence[LabelledStratum], known: Known, *, confidence: float = 0.95
) -> Interval:
    """Give conservative limits of the number of relevant units in the frame."""
    cells = _cells(strata, confidence).values()
    return Interval(
        float(known.total + sum(low for low, _ in cells)),
        float(known.total + sum(high for _, high in cells)),
    )


def exact_total_difference(
    strata: Sequence[LabelledStratum], known: Known, *, confidence: float = 0.95
) -> Interval:
    """Give conservative limits of how many more relevant units the first retrieved.

    Divided by k times the number of queries it is the difference of their mean P@k.
    """
    cells = _cells(strata, confidence)
    ahead, behind = cells.get((True, False), (0, 0)), cells.get((False, True), (0, 0))
    lead = known.first - known.second
    return Interval(float(lead + ahead[0] - behind[1]), float(lead + ahead[1] - behind[0]))


def _corners(
    cells: dict[Cell, Limits], known: Known, sign: tuple[int, int], *, least: float
) -> Interval:
    """Take the least and the largest ratio over all corners of the box of totals.

    A ratio of two sums that are linear in each total is monotone in each, so that its extremes
    over a box lie in corners.
    """
    found: list[float] = []
    for corner in product(*cells.values()):
        totals = dict(zip(cells, corner, strict=True))
        total = known.total + sum(totals.values())
        if total == 0:
            return Interval(least, 1.0)
        top = sign[0] * known.first + sign[1] * known.second
        top += sum((sign[0] * a + sign[1] * b) * count for (a, b), count in totals.items())
        found.append(top / total)
    low, high = min(found, default=math.nan), max(found, default=math.nan)
    return Interval(low, high)
