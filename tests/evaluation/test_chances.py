"""The probability that so many items are relevant, against adding up every outcome."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from labeler.errors import UsageError
from labeler.evaluation.chances import probability_of_at_least


@given(chances=st.lists(st.floats(0, 1), max_size=7), count=st.integers(0, 8))
def test_it_is_the_sum_over_all_outcomes(chances: list[float], count: int) -> None:
    whole = sum(
        prod(p if hit else 1 - p for p, hit in zip(chances, hits, strict=True))
        for hits in product((0, 1), repeat=len(chances))
        if sum(hits) >= count
    )
    assert probability_of_at_least(count, np.array(chances)) == pytest.approx(whole, abs=1e-12)


def test_equal_chances_give_the_binomial() -> None:
    found = probability_of_at_least(60, np.full(400, 0.12))
    assert found == pytest.approx(binom.sf(59, 400, 0.12), rel=1e-9)


@pytest.mark.parametrize(("count", "chance"), [(-1, 0.5), (1, 1.5), (1, np.nan)])
def test_refuses_what_is_no_count_or_probability(count: int, chance: float) -> None:
    with pytest.raises(UsageError):
        probability_of_at_least(count, np.array([chance]))
