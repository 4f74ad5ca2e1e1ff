"""Judged shares by rank, what one system alone brought, orders with and without it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from labeler.evaluation.pooling_bias import (
    coverage_at_ranks,
    coverage_gap,
    kendall_tau,
    only_from,
    order_change,
    without,
)
from labeler.labels import StateCode
from tests.judged import judged


def test_coverage_is_told_rank_by_rank() -> None:
    found = coverage_at_ranks(judged([[1, -1, 0], [0], [-1, -1]]), 4)
    assert found[:3] == pytest.approx([2 / 3, 0.0, 1.0])
    assert np.isnan(found[3])


def test_a_gap_needs_results_on_both_sides() -> None:
    some, nothing = np.array([1.0, 0.5, np.nan]), np.array([np.nan])
    assert coverage_gap(some, np.array([0.25])) == pytest.approx(0.5)
    assert coverage_gap(some, nothing) is None


def test_what_others_brought_too_is_no_systems_own() -> None:
    brought = {name: np.array(keys) for name, keys in {"a": [3, 1, 2], "b": [2], "c": []}.items()}
    assert only_from(brought, "a").tolist() == [1, 3]
    assert only_from(brought, "b").tolist() == []
    assert only_from({"a": np.array([2, 1])}, "a").tolist() == [1, 2]


def test_labels_taken_away_leave_unknown_items() -> None:
    states = np.array([1, 0, -1], dtype=np.int8)
    found = without(states, np.array([7, 8, 9]), np.array([8]))
    assert found.tolist() == [1, StateCode.UNKNOWN, -1]
    assert states.tolist() == [1, 0, -1]


@given(pairs=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8))
def test_tau_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    found = kendall_tau(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(kendalltau(first, second).statistic)


def test_the_fall_is_that_of_whoever_fell_farthest() -> None:
    before = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.1}
    after = {"a": 0.75, "b": 0.8, "c": 0.7, "d": 0.78}
    change = order_change(before, after)
    assert change.largest_drop == 2
    assert change.tau == pytest.approx(0.0)
    assert order_change({"a": 1.0}, {"a": 0.5}).tau is None
