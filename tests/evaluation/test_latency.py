"""Quantiles of latency and their intervals of order statistics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from labeler.errors import UsageError
from labeler.evaluation.latency import quantile


@given(
    count=st.integers(1, 400),
    share=st.sampled_from([0.5, 0.9, 0.95]),
    seed=st.integers(0, 10),
)
def test_limits_are_the_closest_that_hold_the_confidence(
    count: int, share: float, seed: int
) -> None:
    values = np.random.default_rng(seed).permutation(count).astype(float)  # value v is at rank v+1
    found = quantile(values, share)
    assert found.value == max(np.ceil(share * count - 1e-9), 1) - 1
    if found.low is None:
        assert binom.cdf(0, count, share) > 0.025
    else:
        rank = int(found.low) + 1
        assert binom.cdf(rank - 1, count, share) <= 0.025 + 1e-12
        assert binom.cdf(rank, count, share) > 0.025
    if found.high is None:
        assert binom.cdf(count - 1, count, share) < 0.975
    else:
        rank = int(found.high) + 1
        assert binom.cdf(rank - 1, count, share) >= 0.975
        assert binom.cdf(rank - 2, count, share) < 0.975


def test_p95_needs_72_observations_for_an_upper_limit() -> None:
    assert quantile(np.arange(71.0), 0.95).high is None
    assert "no upper limit" in (quantile(np.arange(71.0), 0.95).reason or "")
    assert quantile(np.arange(72.0), 0.95).high == 71.0


def test_nothing_recorded_is_no_zero() -> None:
    found = quantile(np.zeros(0), 0.5)
    assert (found.value, found.low, found.high, found.count) == (None, None, None, 0)
    assert found.reason == "no latency is recorded"


@pytest.mark.parametrize(("share", "confidence"), [(0, 0.95), (1, 0.95), (0.5, 1)])
def test_refuses_what_is_no_share(share: float, confidence: float) -> None:
    with pytest.raises(UsageError):
        quantile(np.ones(3), share, confidence=confidence)
