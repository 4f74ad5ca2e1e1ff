"""What is sealed, as hashes alone: it can say that a text holds sealed words, never which.

Texts are compared by terms (`labeler.search.words.tokens`), so case, punctuation and blanks change
nothing. A sealed text of 8 terms or more is held by each run of 8 of its terms; one of 5 to 7 by
all of them as one run; a shorter one only as a whole, since its few words stand in any text. 8 is
what was measured to block 4% of train documents; 5 would block 30%.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labeler.errors import Fault, InputError
from labeler.search.words import tokens

__all__ = ["LONGEST", "SHORTEST", "SealedSet"]

LONGEST = 8
"""Terms of a run that is looked for."""
SHORTEST = 5
"""Terms of the shortest sealed text that is looked for inside other texts."""

_BYTES = 8
_RUN, _WHOLE = b"run\n", b"whole\n"


class SealedSet:
    """A set of 64-bit hashes of sealed runs of words.

    Two runs share a hash by chance once in 10^13 look-ups at a million runs; a false hit withholds
    a text that could have been used.
    """

    def __init__(self, hashes: NDArray[np.uint64]) -> None:
        """Keep hashes, sorted and each once."""
        self._hashes = hashes

    @classmethod
    def of(cls, texts: Iterable[str], *, longest: int = LONGEST) -> SealedSet:
        """Hash sealed texts.

        Args:
            texts: The texts.
            longest: Terms of a run; texts with fewer are held as the module says.
        """
        found: set[int] = set()
        for text in texts:
            terms = tokens(text)
            if not terms:
                continue
            found.add(_hash(_WHOLE, terms))
            if len(terms) >= SHORTEST:
                found.update(_hash(_RUN, run) for run in _runs(terms, min(len(terms), longest)))
        return cls(np.array(sorted(found), dtype=np.uint64))

    def __len__(self) -> int:
        return len(self._hashes)

    @property
    def digest(self) -> str:
        """The SHA-256 of the hashes."""
        return hashlib.sha256(self._hashes.astype("<u8").tobytes()).hexdigest()

    def hits(self, text: str) -> int:
        """Count the runs of sealed words that a text holds; 1 for a text that is sealed whole."""
        terms = tokens(text)
        if not terms or not len(self._hashes):
            return 0
        wanted = [
            _hash(_RUN, run)
            for length in range(SHORTEST, LONGEST + 1)
            for run in _runs(terms, length)
        ]
        wanted.append(_hash(_WHOLE, terms))
        asked = np.array(wanted, dtype=np.uint64)
        places = np.minimum(np.searchsorted(self._hashes, asked), len(self._hashes) - 1)
        return int(np.count_nonzero(self._hashes[places] == asked))

    def longest_run(self, text: str, length: int) -> int:
        """Give the terms of the longest stretch of a text of which every run is held.

        Args:
            text: The text.
            length: Terms of the runs that the set was made of.

        Returns:
            The stretch's terms, ``length`` or more; 0 when no run is held.
        """
        best = current = 0
        for run in _runs(tokens(text), length):
            place = np.searchsorted(self._hashes, np.uint64(_hash(_RUN, run)))
            held = place < len(self._hashes) and int(self._hashes[place]) == _hash(_RUN, run)
            current = current + 1 if held else 0
            best = max(best, current)
        return best + length - 1 if best else 0

    def save(self, path: Path) -> None:
        """Write the hashes, 8 bytes each, little-endian and ascending."""
        path.write_bytes(self._hashes.astype("<u8").tobytes())

    @classmethod
    def load(cls, path: Path, digest: str) -> SealedSet:
        """Read what `save` wrote.

        Raises:
            InputError: When the file isn't there, or isn't the one that the digest names.
        """
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError([Fault(str(path), None, f"can't be read: {error.strerror}")]) from None
        if hashlib.sha256(content).hexdigest() != digest or len(content) % _BYTES:
            raise InputError([Fault(str(path), None, "isn't the set of sealed words of this pack")])
        return cls(np.frombuffer(content, dtype="<u8").astype(np.uint64))


def _runs(terms: Sequence[str], length: int) -> Iterator[Sequence[str]]:
    return (terms[start : start + length] for start in range(len(terms) - length + 1))


def _hash(kind: bytes, terms: Sequence[str]) -> int:
    text = "\n".join(terms).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(kind + text, digest_size=_BYTES).digest(), "little")
