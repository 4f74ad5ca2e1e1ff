"""Samples with known inclusion probabilities: how many, from which stratum, which units."""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Mapping, Sequence

__all__ = ["allocate", "keyed_draw", "zero_error_sample_size"]


def zero_error_sample_size(target: float, confidence: float) -> int:
    """Give the least sample that can show a share of right labels, when none in it is wrong.

    With n right of n, the one-sided exact lower bound is (1 - confidence)^(1/n) (Clopper & Pearson
    1934, the case x = n), so n is the least whole number with target^n <= 1 - confidence: 29 for
    90% at 95%.

    Args:
        target: The share that is to be shown, in (0, 1).
        confidence: The level of the bound, in (0, 1).

    Raises:
        ValueError: When either is not inside (0, 1).
    """
    if not 0 < target < 1 or not 0 < confidence < 1:
        raise ValueError(f"target {target} and confidence {confidence} lie between 0 and 1")
    # Rounding must not turn an exact power, such as 0.5^2 = 1 - 0.75, into one more unit.
    return max(1, math.ceil(math.log(1 - confidence) / math.log(target) - 1e-9))


def allocate(sizes: Mapping[str, int], total: int, *, floor: int = 3) -> dict[str, int]:
    """Share a sample among strata: a floor for each, the rest in proportion to what is left.

    A stratum never gets more than its size, and a sample that is too small for the floor gives
    each stratum its turn, the largest first.

    Args:
        sizes: Units of each stratum.
        total: Units to draw.
        floor: The least of each stratum, where it has as many.

    Returns:
        Units to draw of each stratum; they add to the total, or to all units if those are fewer.
    """
    order = sorted(sizes, key=lambda name: (-sizes[name], name))
    wanted = min(total, sum(sizes.values()))
    drawn = dict.fromkeys(sizes, 0)
    for _ in range(floor):
        for name in order:
            if sum(drawn.values()) < wanted and drawn[name] < sizes[name]:
                drawn[name] += 1
    while sum(drawn.values()) < wanted:
        # The next unit goes where the share that is drawn is smallest.
        open_to = [name for name in order if drawn[name] < sizes[name]]
        drawn[min(open_to, key=lambda name: (drawn[name] + 1) / sizes[name])] += 1
    return drawn


def keyed_draw(seed: str, keys: Sequence[str], count: int) -> list[str]:
    """Draw units without replacement: those with the smallest HMAC-SHA256 of their key.

    The draw follows from the seed and the keys alone, whatever the order in which they come; a
    larger draw with the same seed holds a smaller one. Each unit has the probability count/N.

    Args:
        seed: The draw's seed.
        keys: Distinct keys of the units.
        count: How many, from 0 to their number.

    Returns:
        The keys drawn, in the order of their HMAC.

    Raises:
        ValueError: When more are to be drawn than there are, or a key comes twice.
    """
    if len(set(keys)) < len(keys):
        raise ValueError("a key comes twice")
    if not 0 <= count <= len(keys):
        raise ValueError(f"{count} can't be drawn of {len(keys)}")

    def place(key: str) -> bytes:
        return hmac.new(seed.encode(), key.encode(), hashlib.sha256).digest()

    return sorted(keys, key=place)[:count]
