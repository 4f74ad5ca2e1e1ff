"""Sample sizes, allocation, draws."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.evaluation.sampling import keyed_draw, zero_error_sample_size


@pytest.mark.parametrize(
    ("target", "confidence", "size"),
    [(0.90, 0.95, 29), (0.95, 0.95, 59), (0.99, 0.95, 299), (0.95, 0.99, 90), (0.5, 0.75, 2)],
)
def test_published_sizes(target: float, confidence: float, size: int) -> None:
    """The sizes of discovery sampling without an error, as auditing tables print them."""
    assert zero_error_sample_size(target, confidence) == size


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_the_size_is_the_least_that_suffices(target: float, confidence: float) -> None:
    size = zero_error_sample_size(target, confidence)
    assert (1 - confidence) ** (1 / size) >= target - 1e-9
    if size > 1:
        assert (1 - confidence) ** (1 / (size - 1)) < target + 1e-9


@pytest.mark.parametrize(("target", "confidence"), [(0, 0.9), (1, 0.9), (0.9, 0), (0.9, 1)])
def test_impossible_targets_are_refused(target: float, confidence: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        zero_error_sample_size(target, confidence)


@given(st.text(max_size=5), st.sets(st.text(max_size=4), max_size=30), st.data())
def test_a_draw_follows_from_seed_and_keys(seed: str, keys: set[str], data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(keys)))
    listed = sorted(keys)
    drawn = keyed_draw(seed, listed, count)
    assert drawn == keyed_draw(seed, listed[::-1], count)
    assert len(set(drawn)) == count
    assert keyed_draw(seed, listed, len(listed))[:count] == drawn


def test_every_unit_is_drawn_equally_often() -> None:
    keys = [f"unit-{number}" for number in range(10)]
    counts = Counter(key for seed in range(4000) for key in keyed_draw(str(seed), keys, 3))
    # 4,000 draws of 3 in 10: 1,200 each, with a standard deviation of 29.
    assert all(abs(counts[key] - 1200) < 5 * 29 for key in keys)


def test_a_draw_that_can_not_be_is_refused() -> None:
    with pytest.raises(ValueError, match="can't be drawn"):
        keyed_draw("s", ["a"], 2)
    with pytest.raises(ValueError, match="comes twice"):
        keyed_draw("s", ["a", "a"], 1)
