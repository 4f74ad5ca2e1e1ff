"""Quantiles of latency, with intervals made of order statistics."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from labeler.errors import UsageError
from labeler.evaluation.ranking import Numbers

__all__ = ["Quantile", "quantile"]


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile of a sample, with the interval of the population's.

    Attributes:
        share: Which quantile, in (0, 1).
        value: The least observation that a share of all does not exceed; None without any.
        low: The lower limit, an observation; None where none is low enough.
        high: The upper limit, an observation; None where none is high enough.
        count: How many observations.
        reason: What is missing, and why.
    """

    share: float
    value: float | None
    low: float | None
    high: float | None
    count: int
    reason: str | None = None


def quantile(values: Numbers, share: float, *, confidence: float = 0.95) -> Quantile:
    """Give a quantile and its distribution-free interval.

    The interval runs from the l-th to the u-th smallest observation, where fewer than l, and u or
    more, of n independent ones lie below the population's quantile with a probability of
    (1 - confidence) / 2 at most (David and Nagaraja 2003, "Order Statistics", section 7.1). Both
    limits of p95 need 72 observations.

    Args:
        values: The observations, in any order and unit.
        share: In (0, 1).
        confidence: In (0, 1).

    Raises:
        UsageError: When the share or the confidence is outside its range.
    """
    if not 0 < share < 1 or not 0 < confidence < 1:
        raise UsageError(f"no quantile {share} at confidence {confidence}")
    count = len(values)
    if not count:
        return Quantile(share, None, None, None, 0, "no latency is recorded")
    from scipy.stats import binom

    ordered = np.sort(values)
    tail = (1 - confidence) / 2
    low = int(binom.ppf(tail, count, share))
    high = int(binom.ppf(1 - tail, count, share)) + 1
    # Rounding must not turn an exact product, such as 0.95 * 20, into one place more.
    value = float(ordered[max(math.ceil(share * count - 1e-9), 1) - 1])
    missing = [name for name, there in (("lower", low >= 1), ("upper", high <= count)) if not there]
    return Quantile(
        share=share,
        value=value,
        low=float(ordered[low - 1]) if low >= 1 else None,
        high=float(ordered[high - 1]) if high <= count else None,
        count=count,
        reason=f"{count} observations give no {' and no '.join(missing)} limit"
        if missing
        else None,
    )
