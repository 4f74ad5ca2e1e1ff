import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.evaluation.paired import (
    NoDecision,
    bootstrap_interval,
    mean_interval,
    no_spread_interval,
    paired_difference,
)

NAN = math.nan


def test_a_difference_is_that_of_queries_on_which_both_are_defined() -> None:
    first = np.array([1.0, 0.5, NAN, 0.0] + [0.5] * 8)
    second = np.array([0.0, 0.5, 1.0, NAN] + [0.25] * 8)
    found = paired_difference(first, second, np.arange(12))
    assert (found.queries, found.undefined, found.clusters) == (10, 2, 10)
    assert (found.wins, found.losses) == (9, 0)
    assert found.first == pytest.approx(0.55)
    assert found.second == pytest.approx(0.25)
    assert found.value == pytest.approx(0.3)


def test_the_interval_is_that_of_a_paired_t_test_when_every_query_is_a_cluster() -> None:
    from scipy import stats

    rng = np.random.default_rng(3)
    first, second = rng.random(20), rng.random(20)
    expected = stats.ttest_rel(first, second)
    limits = expected.confidence_interval(0.95)
    found = paired_difference(first, second, np.arange(20))
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((limits.low, limits.high))
    assert found.p == pytest.approx(expected.pvalue)


def test_paraphrases_in_one_cluster_count_as_one() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.random(15), rng.random(15)
    alone = paired_difference(first, second, np.arange(15))
    repeated = paired_difference(
        np.repeat(first, 4), np.repeat(second, 4), np.repeat(np.arange(15), 4)
    )
    assert alone.interval is not None
    assert repeated.interval is not None
    assert repeated.interval.width == pytest.approx(alone.interval.width)
    apart = paired_difference(np.repeat(first, 4), np.repeat(second, 4), np.arange(60))
    assert apart.interval is not None
    assert apart.interval.width < 0.6 * alone.interval.width


def test_too_few_clusters_and_no_spread_have_no_interval_and_say_so() -> None:
    values = np.linspace(0, 1, 14)
    few = paired_difference(values, values * 0, np.repeat(np.arange(7), 2))
    assert (few.interval, few.bootstrap, few.p) == (None, None, None)
    assert few.reason is NoDecision.FEW_CLUSTERS
    same = paired_difference(values, values, np.arange(14))
    assert (same.value, same.interval, same.p) == (0.0, None, 1.0)
    assert same.reason is NoDecision.NO_SPREAD
    shifted = paired_difference(np.full(14, 0.75), np.full(14, 0.25), np.arange(14))
    assert (shifted.value, shifted.p) == (0.5, 2.0**-13)
    none = paired_difference(np.full(9, NAN), values[:9], np.arange(9))
    assert (none.value, none.queries, none.undefined) == (None, 0, 9)
    assert none.reason is NoDecision.NO_QUERY


@given(st.lists(st.floats(0, 1), min_size=8, max_size=40), st.integers(0, 5))
def test_changing_sides_changes_the_sign_and_nothing_else(values: list[float], seed: int) -> None:
    first = np.array(values)
    second = np.random.default_rng(seed).permutation(first)
    one = paired_difference(first, second, np.arange(len(first)), resamples=50)
    other = paired_difference(second, first, np.arange(len(first)), resamples=50)
    assert one.value == pytest.approx(-(other.value or 0.0), abs=1e-12)
    assert (one.wins, one.losses) == (other.losses, other.wins)
    assert one.p == pytest.approx(other.p)


def test_a_bootstrap_repeats_with_its_seed_and_widens_with_confidence() -> None:
    values = np.random.default_rng(1).normal(size=30)
    one = bootstrap_interval(values, np.arange(30), seed=4)
    assert bootstrap_interval(values, np.arange(30), seed=4) == one
    assert bootstrap_interval(values, np.arange(30), seed=5) != one
    assert bootstrap_interval(values, np.arange(30), seed=4, confidence=0.8).width < one.width
    assert one.low < values.mean() < one.high


def test_a_flawless_share_is_not_certain() -> None:
    found = mean_interval(np.ones(60), np.arange(60), least=0.0, most=1.0)
    assert found is not None
    # Of 60 of 60 the lower limit of Clopper and Pearson is .025^(1/60).
    assert found.low == pytest.approx(0.025 ** (1 / 60))
    assert found.high == 1.0
    nothing = mean_interval(np.zeros(60), np.arange(60), least=-1.0, most=1.0, confidence=0.9)
    assert nothing is not None
    assert nothing.low == pytest.approx(-nothing.high)
    assert nothing == no_spread_interval(0.0, 60, least=-1.0, most=1.0, confidence=0.9)


def test_a_mean_of_bounded_values_stays_inside_its_range() -> None:
    values = np.array([1.0] * 19 + [0.0])
    found = mean_interval(values, np.arange(20), least=0.0, most=1.0)
    assert found is not None
    assert found.high == 1.0
    assert mean_interval(values[:7], np.arange(7), least=0.0, most=1.0) is None
    assert mean_interval(values[:0], np.arange(0), least=0.0, most=1.0) is None
