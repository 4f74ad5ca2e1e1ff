"""Numbers of one column, read from the bytes of a block at once."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["decimals_at", "whole_numbers_at"]

_ZERO: Final = np.uint8(ord("0"))
_POINT: Final = ord(".")
_MINUS: Final = ord("-")
_NINE: Final = 9
_MOST_DIGITS: Final = 15  # whole numbers of so many digits are exact as floats
_LONGEST_WHOLE: Final = 9  # ... and of so many fit 32 bits
_LETTERS: Final = b"0123456789.+-eE"

_Letters = NDArray[np.uint8]
_Places = NDArray[np.int64]


def whole_numbers_at(
    letters: _Letters, ends: _Places, lengths: _Places
) -> NDArray[np.int32] | None:
    """Read words that hold digits alone; None when one holds anything else or is too long."""
    if int(lengths.max()) > _LONGEST_WHOLE:
        return None
    values, sound = _digits(letters, ends, lengths, point=-1)
    return values.astype(np.int32) if sound.all() else None


def decimals_at(block: bytes, begins: _Places, ends: _Places) -> NDArray[np.float64] | None:
    """Read words that hold decimal numbers, to the same value as ``float`` gives.

    A number of at most 15 digits, with or without a point, is a whole number divided by a power
    of ten. Both are exact as floats, so their quotient is the nearest float (Clinger 1990, "How
    to read floating point numbers accurately", the fast path). All others go through ``float``.

    Args:
        block: The text.
        begins: Where each word begins.
        ends: Where each ends, exclusive.

    Returns:
        The values, or None when a word is no finite number.
    """
    letters = np.frombuffer(block, dtype=np.uint8)
    negative = letters[begins] == _MINUS
    lengths = ends - begins - negative
    points = _points(letters, ends, lengths)
    values = np.empty(len(ends), dtype=np.float64)
    read = np.zeros(len(ends), dtype=bool)
    for point in (np.flatnonzero(np.bincount(points + 1)) - 1).tolist():
        rows = np.flatnonzero((points == point) & (lengths <= _MOST_DIGITS + (point >= 0)))
        if len(rows):
            whole, read[rows] = _digits(letters, ends[rows], lengths[rows], point)
            values[rows] = whole / 10.0 ** max(point, 0)
    np.negative(values, where=negative, out=values)
    others = np.flatnonzero(~read)
    if len(others):
        spans = zip(begins[others].tolist(), ends[others].tolist(), strict=True)
        rest = _floats([block[begin:end] for begin, end in spans])
        if rest is None:
            return None
        values[others] = rest
    return values


def _points(letters: _Letters, ends: _Places, lengths: _Places) -> _Places:
    """Find how many letters stand behind the point of each word; -1 where there is none.

    Only the last places are looked at: a point further left leaves too many digits.
    """
    points = np.full(len(ends), -1, dtype=np.int64)
    most = min(int(lengths.max()), _MOST_DIGITS + 1)
    usual = letters[max(ends[0] - most, 0) : ends[0]][::-1] == _POINT
    if usual.any():  # mostly all words have the point where the first one has it
        place = int(usual.argmax())
        if ((letters[ends - 1 - place] == _POINT) & (lengths > place)).all():
            return np.full(len(ends), place, dtype=np.int64)
    open_rows = np.arange(len(ends))
    for place in range(most):
        found = (letters[ends[open_rows] - 1 - place] == _POINT) & (lengths[open_rows] > place)
        if found.all():
            points[open_rows] = place
            break
        if found.any():
            points[open_rows[found]] = place
            open_rows = open_rows[~found]
    return points


def _digits(
    letters: _Letters, ends: _Places, lengths: _Places, point: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Read words as whole numbers, without the point that each has in the same place.

    Returns:
        The numbers, and which words hold at least one digit and nothing else.
    """
    values = np.zeros(len(ends), dtype=np.int64)
    sound = lengths > (point >= 0)
    shortest, power = int(lengths.min()), 1
    for place in range(int(lengths.max())):
        if place == point:
            continue
        # Letters below '0' wrap round to numbers above nine.
        digits = letters[ends - 1 - place] - _ZERO
        if place >= shortest:
            digits = np.where(lengths > place, digits, np.uint8(0))
        sound &= digits <= _NINE
        values += digits * np.int64(power)
        power *= 10
    return values, sound


def _floats(words: list[bytes]) -> NDArray[np.float64] | None:
    # float() also reads 'nan', 'inf' and '1_0', which are no numbers here.
    if b"".join(words).translate(None, _LETTERS):
        return None
    try:
        values = np.fromiter(map(float, words), dtype=np.float64, count=len(words))
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None
