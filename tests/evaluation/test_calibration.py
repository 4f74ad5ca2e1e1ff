from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from labeler.errors import UsageError
from labeler.evaluation.agreement import NoInterval, NoValue
from labeler.evaluation.calibration import (
    area_under_risk,
    brier,
    clustered,
    equal_mass_bins,
    equal_mass_error,
    murphy,
    risk_at_coverage,
)
from labeler.evaluation.skill import accuracy_at_coverage, auc, expected_calibration_error

LEVELS = [0.05, 0.2, 0.35, 0.5, 0.75, 0.95]
ROWS = st.lists(st.tuples(st.sampled_from(LEVELS), st.booleans()), min_size=1, max_size=60)
WEIGHTED = st.lists(
    st.tuples(st.sampled_from(LEVELS), st.booleans(), st.integers(1, 4)), min_size=1, max_size=25
)


def arrays(rows: list[tuple[float, bool]]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    return np.array([one[0] for one in rows]), np.array([one[1] for one in rows])


@given(WEIGHTED)
def test_a_weight_is_as_good_as_so_many_rows(rows: list[tuple[float, bool, int]]) -> None:
    sure, true = np.array([one[0] for one in rows]), np.array([one[1] for one in rows])
    times = np.array([one[2] for one in rows])
    weight = times.astype(np.float64)
    all_sure, all_true = np.repeat(sure, times), np.repeat(true, times)
    assert brier(sure, true, weight) == pytest.approx(brier(all_sure, all_true))
    assert expected_calibration_error(sure, true, weight) == pytest.approx(
        expected_calibration_error(all_sure, all_true)
    )
    area = auc(all_sure, all_true)
    assert auc(sure, true, weight) == (None if area is None else pytest.approx(area))
    shares = [0.2, 0.4, 1.0]
    assert risk_at_coverage(sure, true, shares, weight) == pytest.approx(
        risk_at_coverage(all_sure, all_true, shares)
    )


@given(ROWS)
def test_without_weights_they_are_what_is_known_elsewhere(rows: list[tuple[float, bool]]) -> None:
    sure, true = arrays(rows)
    whole = risk_at_coverage(sure, ~true, [1.0])[0]
    assert whole == pytest.approx(1 - accuracy_at_coverage(sure, true, [1.0])[0])


@given(ROWS, st.integers(1, 12))
def test_murphys_parts_add_to_the_brier_score(rows: list[tuple[float, bool]], bins: int) -> None:
    sure, true = arrays(rows)
    parts = murphy(sure, true, bins=bins)
    total = parts.reliability - parts.resolution + parts.uncertainty + parts.within
    assert total == pytest.approx(brier(sure, true))
    assert min(parts.reliability, parts.resolution, parts.uncertainty) >= 0


def test_murphy_has_nothing_within_where_a_bin_holds_one_probability() -> None:
    sure, true = np.array([0.25, 0.25, 0.75, 0.75]), np.array([False, True, True, True])
    parts = murphy(sure, true)
    # By hand: bins say 1/4 and 3/4, and 1/2 and 1 came true, over a base rate of 3/4.
    assert parts.reliability == pytest.approx(0.5 * (0.25**2) + 0.5 * (0.25**2))
    assert parts.resolution == pytest.approx(0.25**2)
    assert parts.uncertainty == pytest.approx(0.75 * 0.25)
    assert parts.within == pytest.approx(0)


def test_brier_by_hand() -> None:
    assert brier(np.array([0.9, 0.2]), np.array([True, True])) == pytest.approx((0.01 + 0.64) / 2)


@given(ROWS, st.integers(1, 12))
def test_bins_of_equal_mass_hold_everything_once(rows: list[tuple[float, bool]], bins: int) -> None:
    sure, true = arrays(rows)
    found = equal_mass_bins(sure, true, bins=bins)
    assert sum(one.count for one in found) == len(rows)
    assert len(found) <= bins
    means = [one.mean_confidence for one in found]
    assert means == sorted(means)
    by_bins = sum(one.count * abs(one.mean_confidence - one.share) for one in found) / len(rows)
    assert equal_mass_error(sure, true, bins=bins) == pytest.approx(by_bins)


def test_bins_of_equal_mass_are_even_where_confidences_differ() -> None:
    sure = np.linspace(0.9, 0.99, 100)
    found = equal_mass_bins(sure, np.ones(100, dtype=np.bool_))
    assert [one.count for one in found] == [10] * 10
    # All of them lie in the last bin of equal width.
    assert equal_mass_error(sure, np.ones(100, dtype=np.bool_)) == pytest.approx(0.055)


@given(st.lists(st.tuples(st.sampled_from([0.2, 0.5, 0.9]), st.booleans()), min_size=1, max_size=5))
def test_risk_and_its_area_do_not_depend_on_the_order(rows: list[tuple[float, bool]]) -> None:
    areas, risks = set(), set()
    for order in permutations(rows):
        sure, wrong = arrays(list(order))
        areas.add(round(area_under_risk(sure, wrong), 12))
        risks.add(round(risk_at_coverage(sure, wrong, [0.6])[0], 12))
    assert len(areas) == len(risks) == 1


def test_risk_by_hand() -> None:
    sure, wrong = np.array([0.9, 0.8, 0.7, 0.6]), np.array([False, True, False, True])
    assert risk_at_coverage(sure, wrong, [0.25, 0.5, 1.0]) == pytest.approx((0, 0.5, 0.5))
    # 0.4 of four items is the surest and six tenths of the second.
    assert risk_at_coverage(sure, wrong, [0.4])[0] == pytest.approx(0.6 / 1.6)
    assert area_under_risk(sure, wrong) == pytest.approx((0 + 1 / 2 + 1 / 3 + 2 / 4) / 4)


@pytest.mark.parametrize("share", [0.0, 1.01, -0.2])
def test_shares_outside_their_range_are_refused(share: float) -> None:
    with pytest.raises(UsageError, match="above 0 and at most 1"):
        risk_at_coverage(np.array([0.5]), np.array([True]), [share])


@pytest.mark.parametrize("weights", [[0.0, 0.0], [1.0], [-1.0, 2.0]])
def test_weights_that_are_none_are_refused(weights: list[float]) -> None:
    with pytest.raises(UsageError, match="weight"):
        brier(np.array([0.5, 0.5]), np.array([True, False]), np.array(weights))


def test_an_interval_over_clusters_of_means_is_students() -> None:
    """One row a cluster: the jackknife of a mean gives its standard error exactly."""
    values = np.array([0.1, 0.4, 0.2, 0.9, 0.7, 0.3, 0.5, 0.6, 0.8, 0.2])
    found = clustered(lambda rows: float(values[rows].mean()), np.arange(10), least=-1.0, most=2.0)
    assert found.value == pytest.approx(values.mean())
    reach = 2.262157 * values.std(ddof=1) / math.sqrt(10)
    assert found.low == pytest.approx(values.mean() - reach, abs=1e-6)
    assert found.high == pytest.approx(values.mean() + reach, abs=1e-6)


def test_why_there_is_no_interval() -> None:
    values = np.arange(10.0)

    def mean(rows: NDArray[np.int64]) -> float:
        return float(values[rows].mean())

    def lacking(rows: NDArray[np.int64]) -> float | None:
        return 1.0 if 0 in rows else None

    def nothing(rows: NDArray[np.int64]) -> float | None:
        return None

    def steady(rows: NDArray[np.int64]) -> float:
        return 1.0

    few = clustered(mean, np.arange(10) % 7, least=0, most=9)
    assert (few.value, few.no_interval) == (4.5, NoInterval.FEW_QUERIES)
    clusters = np.arange(10)
    one = clustered(lacking, clusters, least=0, most=1)
    assert one.no_interval is NoInterval.ONE_LABEL_WITHOUT_A_QUERY
    assert clustered(steady, clusters, least=0, most=1).no_interval is NoInterval.NO_SPREAD
    assert clustered(nothing, clusters, least=0, most=1).undefined is NoValue.ONE_LABEL
    assert clustered(mean, np.array([], dtype=int), least=0, most=1).undefined is NoValue.NO_PAIR


@given(st.integers(0, 200))
def test_limits_stay_within_what_can_be(seed: int) -> None:
    random = np.random.default_rng(seed)
    wrong = random.uniform(size=40) < 0.05
    found = clustered(
        lambda rows: float(wrong[rows].mean()), np.arange(40) // 4, least=0.0, most=1.0
    )
    if found.low is not None and found.high is not None:
        assert found.value is not None
        assert 0 <= found.low <= found.value <= found.high <= 1
