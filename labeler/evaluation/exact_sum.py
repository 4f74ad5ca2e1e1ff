"""Exact, conservative limits of a weighted sum over what a stratified sample left unlabelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.exact import hypergeometric_limits
from labeler.evaluation.posterior import Interval

__all__ = ["WeighedStratum", "exact_sum"]


@dataclass(frozen=True, eq=False)
class WeighedStratum:
    """A stratum with what its unlabelled items would add if they were relevant.

    Attributes:
        labelled: Items that were drawn and labelled.
        relevant: Those that are relevant.
        weights: Shape (unlabelled items,): what each adds.
    """

    labelled: int
    relevant: int
    weights: NDArray[np.float64]


def exact_sum(strata: Sequence[WeighedStratum], *, confidence: float) -> Interval:
    """Give conservative limits of the sum of the weights of relevant unlabelled items.

    Each stratum's number of relevant items gets the limits of Clopper and Pearson (1934) for a
    finite population, the strata sharing the error by Sidak (1967); so many items are then the
    ones that add least, or most. A stratum where no item adds anything takes no share, and one
    without a label has no limits but its size.

    Args:
        strata: The strata.
        confidence: Of both limits together, in (0, 1).
    """
    counted = [one for one in strata if one.weights.any()]
    drawn = [one for one in counted if one.labelled]
    tail = (1 - confidence ** (1 / len(drawn))) / 2 if drawn else 0.5
    low = high = 0.0
    for one in counted:
        least, most = 0, len(one.weights)
        if one.labelled:
            size = one.labelled + len(one.weights)
            limits = hypergeometric_limits(size, one.labelled, one.relevant, tail)
            least, most = (limit - one.relevant for limit in limits)
        ascending = np.sort(one.weights)
        smallest = np.concatenate([[0.0], np.cumsum(ascending)])
        largest = np.concatenate([[0.0], np.cumsum(ascending[::-1])])
        low += float(smallest[least : most + 1].min())
        high += float(largest[least : most + 1].max())
    return Interval(low, high)
