"""One column of ids, numbered without a Python object a row.

A dictionary of a million new texts costs more CPU than all the rest of reading a run, so ids are
kept as fixed-width bytes and equal ones are found by sorting 64-bit hashes. Every pair that the
hashes call equal is compared; on a collision, or with ids too long for fixed width, a dictionary
does the same work.
"""

from __future__ import annotations

from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["LONGEST_FIXED", "IdColumn", "texts_at"]

LONGEST_FIXED: Final = 128
_WORD: Final = 8
# Keeps the first k bytes of a little-endian word.
_FIRST_BYTES = np.array([(1 << (8 * k)) - 1 for k in range(9)], dtype=np.uint64)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_STEP = 0x9E3779B97F4A7C15

_Ids = NDArray[np.bytes_]
_Codes = NDArray[np.int32]


class IdColumn:
    """Takes the ids of a column block by block; ids are UTF-8 and hold no NUL.

    Args:
        in_runs: Whether neighbours are mostly equal, as query ids are; then only changes are kept.
    """

    def __init__(self, *, in_runs: bool) -> None:
        self._in_runs = in_runs
        self._blocks: list[_Ids | list[bytes]] = []
        self._counts: list[NDArray[np.int64]] = []

    def add(self, ids: _Ids) -> None:
        """Take the ids of a block, as ``texts_at`` gives them."""
        if self._in_runs:
            words = ids.view("<u8").reshape(len(ids), -1)
            changes = np.flatnonzero(
                np.concatenate(([True], (words[1:] != words[:-1]).any(axis=1)))
            )
            self._counts.append(np.diff(changes, append=len(ids)))
            ids = ids[changes]
        self._blocks.append(ids)

    def add_list(self, ids: list[bytes]) -> None:
        """Take the ids of a few rows, of any length."""
        self._blocks.append(ids)
        self._counts.append(np.ones(len(ids), dtype=np.int64))

    def numbered(self) -> tuple[list[str], _Codes]:
        """Give the distinct ids in the order in which they come, and each row's place there."""
        if not any(map(len, self._blocks)):
            return [], np.empty(0, dtype=np.int32)
        ids = self._fixed()
        numbered = None if ids is None else _by_hash(ids)
        distinct, codes = numbered or self._by_dictionary()
        if self._in_runs:
            codes = np.repeat(codes, np.concatenate(self._counts))
        return distinct, codes

    def _fixed(self) -> _Ids | None:
        """Put the blocks together in one width, or give None when an id is too long for that."""
        lists = (block for block in self._blocks if isinstance(block, list))
        if any(len(key) > LONGEST_FIXED for key in chain.from_iterable(lists)):
            return None
        blocks = [np.array(block, dtype="S") if isinstance(block, list) else block
                  for block in self._blocks if len(block)]  # fmt: skip
        width = max(block.itemsize for block in blocks)
        kind = f"S{-(-width // _WORD) * _WORD}"
        if len(blocks) == 1 and blocks[0].dtype == kind:
            return blocks[0]
        return np.concatenate(blocks, dtype=kind, casting="same_kind")

    def _by_dictionary(self) -> tuple[list[str], _Codes]:
        known: dict[bytes, int] = {}
        lists = (block if isinstance(block, list) else block.tolist() for block in self._blocks)
        codes = [known.setdefault(key, len(known)) for key in chain.from_iterable(lists)]
        return [key.decode("utf-8") for key in known], np.array(codes, dtype=np.int32)


def texts_at(padded: bytes, begins: NDArray[np.int64], lengths: NDArray[np.int64]) -> _Ids:
    """Copy words out of a text as fixed-width bytes, a multiple of 8 wide.

    Args:
        padded: The text, with at least as many bytes behind its end as the longest word has, and
            8 more.
        begins: Where each word begins.
        lengths: How long each is, in bytes.
    """
    width = -(-int(lengths.max()) // _WORD) * _WORD
    # A view in which item i is the `width` bytes from byte i on; taking items copies them.
    windows = np.ndarray((len(padded) - width + 1,), dtype=f"V{width}", buffer=padded, strides=(1,))
    words = windows[begins].view("<u8").reshape(len(begins), -1)
    for place in range(words.shape[1]):
        words[:, place] &= _FIRST_BYTES[np.clip(lengths - place * _WORD, 0, _WORD)]
    return words.view(f"S{width}").reshape(-1)


def _by_hash(ids: _Ids) -> tuple[list[str], _Codes] | None:
    words = ids.view("<u8").reshape(len(ids), -1)
    hashes = _hashes(words)
    order = np.argsort(hashes)
    sorted_hashes = hashes[order]
    begins = np.flatnonzero(np.concatenate(([True], sorted_hashes[1:] != sorted_hashes[:-1])))
    first_rows = np.minimum.reduceat(order, begins)
    first_of = np.empty(len(ids), dtype=np.int64)
    first_of[order] = np.repeat(first_rows, np.diff(begins, append=len(ids)))
    again = np.flatnonzero(first_of != np.arange(len(ids)))
    for column in range(words.shape[1]):
        if (words[again, column] != words[first_of[again], column]).any():
            return None
    is_first = np.zeros(len(ids), dtype=bool)
    is_first[first_rows] = True
    codes = (np.cumsum(is_first, dtype=np.int32) - np.int32(1))[first_of]
    return _texts(words[is_first]), codes


def _texts(words: NDArray[np.uint64]) -> list[str]:
    """Decode fixed-width ids; no id holds NUL or a line end."""
    # Each id, zeros up to the width, a line end: without the zeros that is a text of lines.
    lines = np.zeros((len(words), words.shape[1] + 1), dtype="<u8")
    lines[:, :-1] = words
    lines[:, -1] = ord("\n")
    text = lines.tobytes().translate(None, b"\x00").decode("utf-8")
    return text.removesuffix("\n").split("\n")


def _hashes(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash rows of words; a word of zeros adds nothing, so that the width plays no part."""
    hashes = np.zeros(len(words), dtype=np.uint64)
    for place in range(words.shape[1]):
        mixed = words[:, place] ^ (words[:, place] >> np.uint64(32))
        mixed *= np.uint64((_STEP * (2 * place + 1)) % 2**64)
        mixed ^= mixed >> np.uint64(29)
        mixed *= _MIX
        hashes += mixed
    return hashes
