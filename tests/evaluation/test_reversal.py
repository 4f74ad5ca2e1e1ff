"""The least number of flips that reverses a comparison, against every way to flip."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeler.evaluation.metrics import Metric, measure, parse_metric
from labeler.evaluation.ranking import JudgedRanking, Known
from labeler.evaluation.reversal import flip_tables, least_flips, reversal, worst_difference

TOP = 2.0
GAINS = (TOP, 1.0)


@dataclass(frozen=True)
class OneQuery:
    """Items of one query: their states and gains, and what both runs ranked of them."""

    states: tuple[int, ...]
    gains: tuple[float, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]


@st.composite
def queries(draw: st.DrawFn, most: int = 5) -> OneQuery:
    count = draw(st.integers(1, most))
    states = draw(st.lists(st.sampled_from([1, 0, -1, -1]), min_size=count, max_size=count))
    gains = [draw(st.sampled_from(GAINS)) if code == 1 else 0.0 for code in states]
    orders = st.permutations(range(count))
    first = draw(orders)[: draw(st.integers(0, count))]
    second = draw(orders)[: draw(st.integers(0, count))]
    return OneQuery(tuple(states), tuple(gains), tuple(first), tuple(second))


def build(rows: list[OneQuery], which: str) -> JudgedRanking:
    places = [getattr(row, which) for row in rows]
    ideal = [
        sorted((gain for gain, code in zip(row.gains, row.states, strict=True) if code != -1))[::-1]
        for row in rows
    ]
    states = [row.states[item] for row, of in zip(rows, places, strict=True) for item in of]
    gains = [
        row.gains[item] if row.states[item] != -1 else np.nan
        for row, of in zip(rows, places, strict=True)
        for item in of
    ]
    return JudgedRanking(
        starts=np.cumsum([0, *map(len, places)]),
        evidence=np.array([item for of in places for item in of], dtype=np.int64),
        states=np.array(states, dtype=np.int8),
        gains=np.array(gains, dtype=np.float64),
        framed=np.ones(len(states), dtype=np.bool_),
        known=Known(
            relevant=np.array([row.states.count(1) for row in rows]),
            unknown=np.array([row.states.count(-1) for row in rows]),
            ideal_starts=np.cumsum([0, *map(len, ideal)]),
            ideal_gains=np.array([gain for of in ideal for gain in of], dtype=np.float64),
            top_gain=TOP,
        ),
    )


def lead(metric: Metric, rows: list[OneQuery]) -> float:
    """Give the sum of differences; a query where the metric is undefined counts for nothing."""
    values = [measure(metric, build(rows, which)).value for which in ("first", "second")]
    return float(np.nansum(values[0]) - np.nansum(values[1]))


def flipped(
    rows: list[OneQuery], chosen: tuple[tuple[int, int], ...], gains: tuple[float, ...]
) -> list[OneQuery]:
    found = list(rows)
    for (query, item), gain in zip(chosen, gains, strict=True):
        row = found[query]
        states, levels = list(row.states), list(row.gains)
        states[item], levels[item] = 1, gain
        found[query] = replace(row, states=tuple(states), gains=tuple(levels))
    return found


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
