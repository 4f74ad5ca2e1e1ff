"""Samples with known inclusion probabilities: how many units, and which."""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Sequence

__all__ = ["keyed_draw", "zero_error_sample_size"]


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
