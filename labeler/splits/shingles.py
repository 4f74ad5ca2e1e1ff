"""Word 3-grams of many texts as arrays: which text holds which, and which of them are rare."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.search.words import tokens

__all__ = [
    "COMMON_SHARE",
    "LEAST_COMMON",
    "Hashes",
    "Places",
    "Shingles",
    "distinct",
    "rare_limit",
    "read_shingles",
]

COMMON_SHARE = 0.005
"""The share of documents above which a 3-gram is common: 50 in 10,000."""

LEAST_COMMON = 10
"""In a small corpus a 3-gram of up to so many documents is rare still."""

_WORDS = 3

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]


def rare_limit(texts: int) -> int:
    """Give the number of texts up to which a 3-gram, or a whole passage, is rare."""
    return max(LEAST_COMMON, round(texts * COMMON_SHARE))


@dataclass(frozen=True, slots=True)
class Shingles:
    """Which unit (a text, or the passages of a document together) holds which 3-grams.

    Attributes:
        units: How many units there are.
        hashes: The hash of each distinct 3-gram, shape (g,), ascending.
        start: Where each unit's 3-grams begin in ``held``, shape (units + 1,).
        held: The places in ``hashes`` of the 3-grams of each unit, ascending within the unit.
    """

    units: int
    hashes: Hashes
    start: Places
    held: Places

    @property
    def sizes(self) -> Places:
        """How many distinct 3-grams each unit has, shape (units,)."""
        return np.diff(self.start)

    @property
    def owners(self) -> Places:
        """The unit of each entry of ``held``."""
        return np.repeat(np.arange(self.units, dtype=np.int64), self.sizes)

    @property
    def frequencies(self) -> Places:
        """In how many units each 3-gram stands, shape (g,)."""
        return np.bincount(self.held, minlength=len(self.hashes)).astype(np.int64)

    def merged(self, into: Places, units: int) -> Shingles:
        """Put units together.

        Args:
            into: The new unit of each unit, shape (units,), from 0.
            units: How many new units there are.
        """
        if units == self.units and bool((into == np.arange(units)).all()):
            return self
        return _sorted(into[self.owners], self.held, self.hashes, units)

    def keeping(self, wanted: NDArray[np.bool_]) -> Shingles:
        """Leave out all 3-grams but the wanted ones.

        Args:
            wanted: Shape (g,).
        """
        keep = wanted[self.held]
        counts = np.bincount(self.owners[keep], minlength=self.units)
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return Shingles(self.units, self.hashes, start, self.held[keep])


def distinct(values: Places) -> Places:
    """Sort values and keep each once: several times as fast as numpy's `unique`, which hashes."""
    ordered = np.sort(values)
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    kept: Places = ordered[first]
    return kept


def read_shingles(texts: Sequence[str]) -> Shingles:
    """Split texts into words and give their distinct 3-grams, one unit a text.

    A text of fewer than three words has none.
    """
    vocabulary = _Vocabulary()
    numbers, ends = array("L"), array("q", [0])
    for text in texts:
        numbers.extend(map(vocabulary.__getitem__, tokens(text)))
        ends.append(len(numbers))
    words = _hashed(vocabulary)[np.frombuffer(numbers, dtype=np.dtype("L"))] if numbers else None
    start = np.frombuffer(ends, dtype=np.int64)
    if words is None or len(words) < _WORDS:
        nothing = np.zeros(len(texts) + 1, dtype=np.int64)
        return Shingles(len(texts), np.empty(0, np.uint64), nothing, np.empty(0, np.int64))
    owner = np.repeat(np.arange(len(texts), dtype=np.int64), np.diff(start))
    whole = owner[: 1 - _WORDS] == owner[_WORDS - 1 :]
    grams, held = np.unique(_combined(words)[whole], return_inverse=True)
    return _sorted(owner[: 1 - _WORDS][whole], held.astype(np.int64), grams, len(texts))


class _Vocabulary(dict[str, int]):
    """Numbers words as they come."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


def _hashed(words: Iterable[str]) -> Hashes:
    digests = b"".join(
        hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for word in words
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _combined(words: Hashes) -> Hashes:
    """Hash each run of three words; which word stands where counts."""
    mixed = words[:-2] * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= _rotated(words[1:-1] * np.uint64(0xBF58476D1CE4E5B9), 23)
    mixed ^= _rotated(words[2:] * np.uint64(0x94D049BB133111EB), 47)
    mixed ^= mixed >> np.uint64(31)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> np.uint64(32)
    return mixed


def _rotated(values: Hashes, by: int) -> Hashes:
    return (values << np.uint64(by)) | (values >> np.uint64(64 - by))


def _sorted(owners: Places, held: Places, hashes: Hashes, units: int) -> Shingles:
    """Sort entries by unit and 3-gram, each pair once."""
    grams = max(len(hashes), 1)
    both = distinct(owners * grams + held)
    counts = np.bincount(both // grams, minlength=units)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Shingles(units, hashes, start, both % grams)
