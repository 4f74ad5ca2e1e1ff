"""Means over queries: macro, micro, weighted, with the interval of clusters or a reason."""

from __future__ import annotations

import numpy as np
import pytest

from labeler.evaluation.ranking import recall_at
from labeler.evaluation.summary import mean_over, summarise
from tests.judged import judged


def test_macro_micro_and_weighted_are_three_numbers() -> None:
    measured = recall_at(judged([[1, 1], [0], [0]], missed=[0, 6, 0]), 5)
    found = summarise(
        measured, np.arange(3), np.array([1.0, 3.0, 9.0]), why_undefined="nothing known"
    )
    assert found.macro.value == pytest.approx(0.5)
    assert found.micro == pytest.approx(2 / 8)
    # The query without known relevant evidence has no recall, whatever its weight.
    assert found.weighted.value == pytest.approx(0.25)
    assert found.undefined == 1
    assert found.macro.queries == 2


def test_bounds_are_over_the_queries_that_have_a_value() -> None:
    measured = recall_at(judged([[1, -1], [-1]], missed=[1, 0]), 5)
    found = summarise(measured, np.arange(2), np.ones(2), why_undefined="nothing known")
    assert found.macro.value == pytest.approx(1 / 2)
    assert found.lower == pytest.approx(1 / 2)
    assert found.upper == pytest.approx(2 / 3)


def test_few_clusters_give_no_interval_and_say_why() -> None:
    values = np.linspace(0, 1, 20)
    enough = mean_over(values, np.arange(20), why_undefined="-")
    assert enough.low is not None
    assert enough.high is not None
    assert enough.low < enough.value < enough.high  # type: ignore[operator]  # it has one
    few = mean_over(values, np.arange(20) % 5, why_undefined="-")
    assert (few.low, few.high, few.clusters) == (None, None, 5)
    assert few.reason is not None
    assert "5 clusters" in few.reason


def test_an_interval_lies_where_the_measure_can_lie() -> None:
    values = np.array([1.0] * 19 + [0.8])
    near_the_end = mean_over(values, np.arange(20), why_undefined="-")
    assert near_the_end.high == 1.0
    assert near_the_end.low == pytest.approx(0.96907, abs=1e-5)
    # All alike: one of 20 can still be another with a chance of 1 - .025^(1/20).
    alike = mean_over(np.ones(20), np.arange(20), why_undefined="-")
    assert alike.low == pytest.approx(0.025 ** (1 / 20))
    assert alike.high == 1.0


def test_queries_of_one_cluster_widen_the_interval() -> None:
    pairs = np.repeat(np.linspace(0, 1, 10), 2)
    alone = mean_over(pairs, np.arange(20), why_undefined="-")
    together = mean_over(pairs, np.repeat(np.arange(10), 2), why_undefined="-")
    assert together.low < alone.low < alone.high < together.high  # type: ignore[operator]  # both


def test_what_has_no_mean_says_why() -> None:
    nothing = np.array([np.nan, np.nan])
    assert mean_over(nothing, np.arange(2), why_undefined="nothing known").reason == "nothing known"
    assert mean_over(nothing[:0], np.arange(0), why_undefined="-").reason == "there are no queries"
    weightless = mean_over(np.ones(2), np.arange(2), np.zeros(2), why_undefined="-")
    assert weightless.value is None
    assert "weight" in (weightless.reason or "")
