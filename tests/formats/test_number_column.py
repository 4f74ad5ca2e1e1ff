import math
import struct
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.formats.number_column import decimals_at, whole_numbers_at


def decimals(words: list[str]) -> list[float] | None:
    block, begins, ends = laid_out(words)
    values = decimals_at(block, begins, ends)
    return None if values is None else values.tolist()


def laid_out(words: list[str]) -> tuple[bytes, np.ndarray, np.ndarray]:
    """Join words with blanks; give the text and where each begins and ends."""
    lengths = np.array([len(word) for word in words])
    ends = np.cumsum(lengths + 1) - 1
    return (" ".join(words) + " ").encode(), ends - lengths, ends


PLAIN = st.tuples(
    st.sampled_from(["", "-", "+"]), st.integers(0, 10**20), st.none() | st.integers(0, 20)
).map(lambda parts: parts[0] + pointed(str(parts[1]), parts[2]))


def pointed(digits: str, decimals: int | None) -> str:
    if decimals is None:
        return digits
    digits = digits.rjust(decimals, "0")
    return f"{digits[: len(digits) - decimals]}.{digits[len(digits) - decimals :]}"


def near_a_middle(value: float, step: int) -> str:
    """Write 19 digits of the middle between two floats, or of a number just beside it."""
    middle = (Decimal(value) + Decimal(math.nextafter(value, math.inf))) / 2
    number = middle.quantize(Decimal(10) ** (middle.adjusted() - 18)) if value else Decimal(0)
    digits = number.as_tuple()
    whole = int("".join(map(str, digits.digits))) + step
    return pointed(str(whole), -int(digits.exponent)) if int(digits.exponent) < 0 else str(whole)


NUMBERS = (
    PLAIN.filter(lambda word: any(map(str.isdigit, word)))
    | st.floats(allow_nan=False, allow_infinity=False).map(repr)
    | st.floats(0, 1).map(repr)
    | st.floats(-1000, 1000).map(repr)
    | st.builds(near_a_middle, st.floats(1e-3, 1e15), st.integers(-2, 2))
)


@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_decimals_have_the_bits_that_float_gives(words: list[str]) -> None:
    values = decimals(words)
    assert values is not None
    expected = [float(word) for word in words]
    assert struct.pack(f"{len(words)}d", *values) == struct.pack(f"{len(words)}d", *expected)


@pytest.mark.parametrize(
    "word", ["nan", "inf", "1_0", "1.2.3", "--1", "-", ".", "1e", "1e999", "0x1", "1,5", "-.", ";"]
)
@pytest.mark.parametrize("others", [[], ["1.5"], ["1.5", "2.25"]])
def test_one_word_that_is_no_number_spoils_the_block(word: str, others: list[str]) -> None:
    assert decimals([*others, word]) is None
    assert decimals([word, *others]) is None


@given(st.lists(st.integers(0, 10**9 - 1).map(str), min_size=1, max_size=8))
def test_whole_numbers(words: list[str]) -> None:
    block, begins, ends = laid_out(words)
    letters = np.frombuffer(block, dtype=np.uint8)
    values = whole_numbers_at(letters, ends, ends - begins)
    assert values is not None
    assert values.tolist() == [int(word) for word in words]


@pytest.mark.parametrize("word", ["1.0", "-1", "+1", "a", "1234567890", "1;", "1/"])
def test_other_words_are_no_whole_numbers(word: str) -> None:
    block, begins, ends = laid_out(["12", word])
    assert whole_numbers_at(np.frombuffer(block, dtype=np.uint8), ends, ends - begins) is None
