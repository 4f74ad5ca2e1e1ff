"""Containment: what share of the smaller text's 3-grams stands in the larger one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labeler.splits.shingles import Places, Shingles

__all__ = ["shared_counts"]

_PAIRS_AT_ONCE = 20_000


def shared_counts(shingles: Shingles, pairs: NDArray[np.int64]) -> Places:
    """Count the 3-grams that both units of each pair hold.

    Args:
        shingles: The 3-grams of all units.
        pairs: Pairs of units, shape (p, 2).

    Returns:
        Shape (p,).
    """
    grams = max(len(shingles.hashes), 1)
    every = shingles.owners * grams + shingles.held
    sizes = shingles.sizes
    swap = sizes[pairs[:, 0]] > sizes[pairs[:, 1]]
    small = np.where(swap, pairs[:, 1], pairs[:, 0])
    large = np.where(swap, pairs[:, 0], pairs[:, 1])
    counts = np.zeros(len(pairs), dtype=np.int64)
    for first in range(0, len(pairs), _PAIRS_AT_ONCE):
        part = slice(first, first + _PAIRS_AT_ONCE)
        lengths = sizes[small[part]]
        begin = np.repeat(shingles.start[small[part]], lengths)
        within = np.arange(len(begin)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        wanted = np.repeat(large[part], lengths) * grams + shingles.held[begin + within]
        place = np.searchsorted(every, wanted)
        hit = every[np.minimum(place, len(every) - 1)] == wanted if len(every) else wanted < 0
        which = np.repeat(np.arange(len(lengths)), lengths)
        counts[part] = np.bincount(which[hit], minlength=len(lengths))
    return counts
