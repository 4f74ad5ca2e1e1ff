"""The least number of flips that reverses a comparison, against every way to flip."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeler.evaluation.metrics import Metric, measure, parse_metric
from labeler.evaluation.reversal import flip_tables, least_flips, reversal, worst_difference
from tests.evaluation.flips import GAINS, TOP, OneQuery, build, flipped, queries


def lead(metric: Metric, rows: list[OneQuery]) -> float:
    """Give the sum of differences; a query where the metric is undefined counts for nothing."""
    values = [measure(metric, build(rows, which)).value for which in ("first", "second")]
    return float(np.nansum(values[0]) - np.nansum(values[1]))


def brute_force(metric: Metric, rows: list[OneQuery], gains: tuple[float, ...]) -> int | None:
    unknown = [
        (query, item)
        for query, row in enumerate(rows)
        for item, code in enumerate(row.states)
        if code == -1
    ]
    for count in range(len(unknown) + 1):
        for chosen in combinations(unknown, count):
            for given_gains in product(gains, repeat=count):
                if lead(metric, flipped(rows, chosen, given_gains)) < -1e-9:
                    return count
    return None


@pytest.mark.parametrize(
    "name", ["P@1", "P@2", "P@3", "MRR", "MRR@2", "recall@1", "recall@2", "recall@3"]
)
@settings(max_examples=35, deadline=None)
@given(rows=st.lists(queries(), min_size=1, max_size=3))
def test_the_number_is_that_of_trying_everything(name: str, rows: list[OneQuery]) -> None:
    metric = parse_metric(name)
    found = reversal(metric, build(rows, "first"), build(rows, "second"))
    assert found.is_exact
    assert found.least == brute_force(metric, rows, (TOP,))


@pytest.mark.parametrize("name", ["nDCG@1", "nDCG@2", "nDCG@4"])
@settings(max_examples=35, deadline=None)
@given(rows=st.lists(queries(4), min_size=1, max_size=2))
def test_for_ndcg_it_is_exact_with_top_gains_and_bounds_with_others(
    name: str, rows: list[OneQuery]
) -> None:
    metric = parse_metric(name)
    found = reversal(metric, build(rows, "first"), build(rows, "second"))
    assert found.most == brute_force(metric, rows, (TOP,))
    with_any = brute_force(metric, rows, GAINS)
    if with_any is None:
        assert found.most is None
    else:
        assert found.least is not None
        assert found.least <= with_any


@pytest.mark.parametrize("name", ["P@2", "MRR", "recall@2", "nDCG@2"])
@settings(max_examples=25, deadline=None)
@given(rows=st.lists(queries(4), min_size=1, max_size=2))
def test_the_worst_case_is_that_of_trying_everything(name: str, rows: list[OneQuery]) -> None:
    metric = parse_metric(name)
    unknown = [
        (query, item)
        for query, row in enumerate(rows)
        for item, code in enumerate(row.states)
        if code == -1
    ]
    least = min(
        lead(metric, flipped(rows, chosen, (TOP,) * count))
        for count in range(len(unknown) + 1)
        for chosen in combinations(unknown, count)
    )
    tables = flip_tables(metric, build(rows, "first"), build(rows, "second")).tables
    assert worst_difference(tables) == pytest.approx(least, abs=1e-9)


def test_a_greedy_choice_is_not_enough_for_recall() -> None:
    """Two flips in one query together do more than the best two single ones."""
    tables = [np.array([0.5, 0.45, -0.4]), np.array([0.3, 0.2]), np.array([-0.35])]
    assert least_flips(tables) == 2


def test_what_nothing_reverses_has_no_number() -> None:
    rows = [OneQuery((1, 0, -1), (2.0, 0.0, 0.0), (0,), (1,))]
    found = reversal(parse_metric("P@1"), build(rows, "first"), build(rows, "second"))
    assert (found.least, found.most, found.available) == (None, None, 0)


def test_a_comparison_that_the_other_leads_needs_none() -> None:
    rows = [OneQuery((1, 0), (2.0, 0.0), (1,), (0,))]
    assert reversal(parse_metric("P@1"), build(rows, "first"), build(rows, "second")).least == 0
