from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from labeler.errors import UsageError
from labeler.evaluation.proportions import clopper_pearson


@settings(deadline=None)
@given(st.data(), st.integers(1, 400), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_limits_are_those_of_scipy(data: st.DataObject, trials: int, confidence: float) -> None:
    successes = data.draw(st.integers(0, trials))
    expected = binomtest(successes, trials).proportion_ci(confidence, method="exact")
    assert clopper_pearson(successes, trials, confidence=confidence) == pytest.approx(
        (expected.low, expected.high), abs=1e-9
    )


def test_none_of_29_is_the_known_bound() -> None:
    low, high = clopper_pearson(0, 29, confidence=0.9)
    assert low == 0
    assert high == pytest.approx(1 - 0.05 ** (1 / 29))
    assert clopper_pearson(29, 29, confidence=0.9) == pytest.approx((1 - high, 1.0))


@pytest.mark.parametrize(
    ("successes", "trials", "confidence"), [(0, 0, 0.9), (3, 2, 0.9), (-1, 2, 0.9), (1, 2, 1.0)]
)
def test_what_has_no_interval(successes: int, trials: int, confidence: float) -> None:
    with pytest.raises(UsageError):
        clopper_pearson(successes, trials, confidence=confidence)
