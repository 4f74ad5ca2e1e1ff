"""Pairs of texts that may be near duplicates: proposed cheaply, verified elsewhere.

Two ways, since each misses what the other finds: locality-sensitive hashing of MinHash signatures
(Broder 1997; the library rensa makes them) for texts that are alike as a whole, and an index of the
rarest 3-grams for a short text inside of a long one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labeler.splits.shingles import Hashes, Places, Shingles, distinct

__all__ = ["BANDS", "INDEXED_FREQUENCY", "PERMUTATIONS", "propose_pairs"]

PERMUTATIONS = 128
BANDS = 64
"""Bands of two rows: texts of Jaccard similarity 1/3, as two of one length are at a containment of
1/2, share a band with probability 0.9995; at 0.1 it is 0.47."""

INDEXED_FREQUENCY = 10
"""A 3-gram of up to so many texts proposes each pair of them."""

_SHARED = 3
"""So many of the rarest 3-grams have to be shared."""

_SEED = 20_260_701
_ROWS_AT_ONCE = 10_000
_ALL_PAIRS = 16
"""A larger bucket is a family of copies: each is paired with the next and with the first."""


def propose_pairs(signed: Shingles, rare: Shingles) -> NDArray[np.int64]:
    """Propose pairs of units, lower one first, in order.

    Args:
        signed: The 3-grams that signatures are made of; a unit with none is left out.
        rare: The rare 3-grams of the same units.

    Returns:
        Shape (p, 2), rows distinct.
    """
    pairs = [_from_bands(signed), _from_rarest(rare)]
    both = distinct(np.concatenate(pairs))
    units = max(signed.units, 1)
    return np.stack([both // units, both % units], axis=1)


def _from_bands(signed: Shingles) -> Places:
    present = np.flatnonzero(signed.sizes > 0)
    if len(present) < 2:  # noqa: PLR2004 - a pair
        return np.empty(0, np.int64)
    signatures = _signatures(signed, present)
    rows = PERMUTATIONS // BANDS
    found = []
    for band in range(BANDS):
        part = signatures[:, band * rows : (band + 1) * rows].astype(np.uint64)
        key = (part[:, 0] << np.uint64(32)) | part[:, 1]
        found.append(_pairs_of_equal(key, present, signed.units))
    return distinct(np.concatenate(found))


def _signatures(signed: Shingles, present: Places) -> NDArray[np.uint32]:
    from rensa import RMinHash

    parts = []
    for first in range(0, len(present), _ROWS_AT_ONCE):
        units = present[first : first + _ROWS_AT_ONCE]
        # Units without a 3-gram take no room, so those from the first to the last are one slice.
        low, high = signed.start[units[0]], signed.start[units[-1] + 1]
        tokens = signed.hashes[signed.held[low:high]]
        ends = (signed.start[units + 1] - low).astype(np.uint64)
        offsets = np.concatenate([np.zeros(1, np.uint64), ends])
        matrix = RMinHash.digest_matrix_from_flat_token_hashes(tokens, offsets, PERMUTATIONS, _SEED)
        parts.append(np.array(matrix.to_rows(), dtype=np.uint32))
    return np.concatenate(parts)


def _pairs_of_equal(key: Hashes, units: Places, total: int) -> Places:
    """Pair units whose keys are equal; a pair is the number ``low * total + high``."""
    order = np.argsort(key, kind="stable")
    sorted_key, members = key[order], units[order]
    starts = np.flatnonzero(np.concatenate([[True], sorted_key[1:] != sorted_key[:-1]]))
    sizes = np.diff(np.concatenate([starts, [len(members)]]))
    found = []
    for distance in range(1, _ALL_PAIRS):
        fits = sizes > distance
        if not fits.any():
            break
        small = fits & (sizes <= _ALL_PAIRS)
        if distance == 1:
            small = fits
        firsts = _places(starts[small], sizes[small] - distance)
        found.append(members[firsts] * total + members[firsts + distance])
    large = sizes > _ALL_PAIRS
    rest = _places(starts[large] + 1, sizes[large] - 1)
    heads = np.repeat(members[starts[large]], sizes[large] - 1)
    found.append(heads * total + members[rest])
    # A stable sort keeps units ascending within a bucket, so the lower one comes first.
    return np.concatenate(found)


def _places(starts: Places, counts: Places) -> Places:
    """List ``start, start + 1, ...``, as many as each count says."""
    if not len(starts):
        return np.empty(0, np.int64)
    before = np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(starts, counts) + np.arange(counts.sum()) - before


def _from_rarest(rare: Shingles) -> Places:
    frequency = rare.frequencies
    few = (frequency > 1) & (frequency <= INDEXED_FREQUENCY)
    keep = few[rare.held]
    held, owners = rare.held[keep], rare.owners[keep]
    order = np.argsort(held, kind="stable")
    held, owners = held[order], owners[order]
    found = []
    for distance in range(1, INDEXED_FREQUENCY):
        same = held[distance:] == held[:-distance]
        found.append(owners[:-distance][same] * rare.units + owners[distance:][same])
    pairs = np.sort(np.concatenate(found))
    # A pair that is there three times stands at two places behind itself, too.
    often = pairs[: 1 - _SHARED] == pairs[_SHARED - 1 :]
    return distinct(pairs[: 1 - _SHARED][often])
