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
_MOST_DIGITS: Final = 19  # whole numbers of so many digits fit 64 bits
_EXACT: Final = 2**53  # whole numbers up to here are exact as floats
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

    A number of at most 19 digits, with or without a point, is a whole number divided by a power
    of ten. Where both are exact as floats, their quotient is the nearest float (Clinger 1990, "How
    to read floating point numbers accurately", the fast path); for larger whole numbers see
    ``_quotients``. All others go through ``float``.

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
            whole, sound = _digits(letters, ends[rows], lengths[rows], point)
            values[rows], sure = _quotients(whole, 10.0 ** max(point, 0))
            read[rows] = sound & sure
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
    """Find how many letters stand behind the first point of each word; -1 where there is none.

    Only the first places are looked at: a point further right comes after too many digits.
    """
    points = np.full(len(ends), -1, dtype=np.int64)
    begins, left = ends - lengths, lengths
    rows = np.arange(len(ends))
    for place in range(min(int(lengths.max()), _MOST_DIGITS + 1)):
        # Behind the end of a short word stands a gap or another word, whose points don't count.
        found = (letters[np.minimum(begins + place, len(letters) - 1)] == _POINT) & (left > place)
        points[rows[found]] = left[found] - 1 - place
        if found.any():
            begins, left, rows = begins[~found], left[~found], rows[~found]
        if not len(rows):
            break
    return points


def _digits(
    letters: _Letters, ends: _Places, lengths: _Places, point: int
) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Read words as whole numbers, without the point that each has in the same place.

    Returns:
        The numbers, and which words hold at least one digit and nothing else.
    """
    values = np.zeros(len(ends), dtype=np.uint64)
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
        values += digits * np.uint64(power)
        power *= 10
    return values, sound


def _quotients(
    whole: NDArray[np.uint64], power: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Divide by a power of ten up to 10^22, rounding once to the nearest float.

    Whole numbers above 2^53 are taken as a float and a rest, and the quotient as a float and a
    correction, with Dekker's exact product (1971, "A floating-point technique for extending the
    available precision"). The sum is the nearest float unless it lies too close to the middle
    between two floats for the correction to tell.

    Returns:
        The quotients, and which of them are sure to be the nearest float.
    """
    values = whole.astype(np.float64)
    large = np.flatnonzero(whole > _EXACT)
    head = values[large]
    values /= power
    sure = np.ones(len(whole), dtype=bool)
    if len(large):
        rest = (whole[large] - head.astype(np.uint64)).view(np.int64)
        quotient = values[large]
        product, error = _exact_product(quotient, power)
        correction = ((head - product) - error + rest) / power
        nearest = quotient + correction
        left_over = np.abs(correction - (nearest - quotient))
        gap = np.spacing(nearest)
        # The middle is half a gap away, or a quarter below a power of two.
        close = np.minimum(np.abs(left_over - gap / 2), np.abs(left_over - gap / 4))
        sure[large] = close > gap * 2.0**-40
        values[large] = nearest
    return values, sure


def _exact_product(
    left: NDArray[np.float64], right: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Multiply; the product and its rounding error together are exact."""
    splitter = 2.0**27 + 1
    left_high = left * splitter - (left * splitter - left)
    right_high = right * splitter - (right * splitter - right)
    left_low, right_low = left - left_high, right - right_high
    product = left * right
    error = left_high * right_high - product
    error += left_high * right_low
    error += left_low * right_high
    error += left_low * right_low
    return product, error


def _floats(words: list[bytes]) -> NDArray[np.float64] | None:
    # float() also reads 'nan', 'inf' and '1_0', which are no numbers here.
    if b"".join(words).translate(None, _LETTERS):
        return None
    try:
        values = np.fromiter(map(float, words), dtype=np.float64, count=len(words))
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None
