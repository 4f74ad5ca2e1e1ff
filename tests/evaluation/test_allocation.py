from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.evaluation.allocation import next_units, worth_of_relevant
from labeler.evaluation.sample_estimates import Estimand

STRATA = st.lists(st.tuples(st.integers(0, 60), st.floats(0, 1)), min_size=1, max_size=8)


def _variance(sizes: list[int], rates: list[float], counts: tuple[int, ...]) -> float:
    spread = [max(rate * (1 - rate), 0.05) for rate in rates]
    return sum(
        size**2 * s / n for size, s, n in zip(sizes, spread, counts, strict=True) if n and size
    )


@given(STRATA, st.integers(0, 200))
def test_the_whole_sample_is_shared_and_no_stratum_gets_more_than_it_has(
    strata: list[tuple[int, float]], total: int
) -> None:
    sizes, rates = [size for size, _ in strata], [rate for _, rate in strata]
    counts = next_units(sizes, rates, total)
    assert sum(counts) == min(total, sum(sizes))
    assert all(0 <= n <= size for n, size in zip(counts, sizes, strict=True))
    if total >= 3 * len(sizes):
        assert all(n >= min(3, size) for n, size in zip(counts, sizes, strict=True))


@given(st.lists(st.tuples(st.integers(2, 12), st.floats(0, 1)), min_size=2, max_size=3))
def test_no_other_sharing_with_the_floor_has_a_smaller_variance(
    strata: list[tuple[int, float]],
) -> None:
    sizes, rates = [size for size, _ in strata], [rate for _, rate in strata]
    total = min(sum(sizes), len(sizes) + 6)
    found = next_units(sizes, rates, total, floor=1)
    others = [
        counts
        for counts in product(*(range(1, size + 1) for size in sizes))
        if sum(counts) == total
    ]
    best = min(_variance(sizes, rates, counts) for counts in others)
    assert _variance(sizes, rates, tuple(found)) == pytest.approx(best)


@given(STRATA, st.integers(0, 60), st.integers(0, 60))
def test_two_draws_come_to_what_one_would_have_been(
    strata: list[tuple[int, float]], first: int, second: int
) -> None:
    sizes, rates = [size for size, _ in strata], [rate for _, rate in strata]
    start = next_units(sizes, rates, first)
    more = next_units(sizes, rates, second, drawn=start)
    together = [a + b for a, b in zip(start, more, strict=True)]
    if first >= 3 * len(sizes):
        assert together == next_units(sizes, rates, first + second)
    assert all(n <= size for n, size in zip(together, sizes, strict=True))


def test_the_big_stratum_with_few_relevant_units_is_not_starved() -> None:
    sizes, rates = [1000, 20], [0.001, 0.5]
    assert next_units(sizes, rates, 30, least_variance=1e-9) == [23, 7]
    assert next_units(sizes, rates, 30) == [27, 3]


def test_a_sample_too_small_for_the_floor_goes_to_the_largest_first() -> None:
    assert next_units([5, 50, 20], [0.5, 0.5, 0.5], 2) == [0, 1, 1]


def test_more_drawn_than_there_is_is_refused() -> None:
    with pytest.raises(ValueError, match="no stratum"):
        next_units([3], [0.5], 1, drawn=[4])


def test_worth_draws_units_to_where_they_count() -> None:
    sizes, rates = [500, 500], [0.3, 0.3]
    assert next_units(sizes, rates, 40, worth=[1.0, 1.0]) == [20, 20]
    assert next_units(sizes, rates, 40, worth=[3.0, 1.0]) == [30, 10]
    assert next_units(sizes, rates, 40, worth=[1.0, 0.0]) == [37, 3]


def test_the_worth_of_a_unit_is_how_far_it_moves_recall_and_its_difference() -> None:
    relevant: dict[tuple[str, ...], float] = {("A",): 30, ("B",): 10, ("A", "B"): 40, (): 20}
    worth = worth_of_relevant(relevant, ["A", "B"])
    # Recall is .7 for A and .5 for B, and the difference .2.
    expected = {("A",): (0.3, -0.5, 0.8), ("B",): (-0.7, 0.5, -1.2), (): (-0.7, -0.5, -0.2)}
    for who, moves in expected.items():
        assert worth[who] ** 2 == pytest.approx(sum(move**2 for move in moves) / 3)
    alone = worth_of_relevant({("A",): 0.0, (): 0.0}, ["A"])
    assert alone == {("A",): 0.5, (): 0.5}


def test_the_worth_for_one_measure_is_how_far_a_unit_moves_it_alone() -> None:
    relevant: dict[tuple[str, ...], float] = {("A",): 30, ("B",): 10, ("A", "B"): 40, (): 20}
    expected = {
        Estimand.RECALL: (0.3, 0.7, 0.3, 0.7),
        Estimand.RECALL_DIFFERENCE: (0.8, 1.2, 0.2, 0.2),
        Estimand.PRECISION: (1.0, 0.0, 1.0, 0.0),
        Estimand.PRECISION_DIFFERENCE: (1.0, 1.0, 0.0, 0.0),
        Estimand.RELEVANT: (1.0, 1.0, 1.0, 1.0),
    }
    for measure, worths in expected.items():
        found = worth_of_relevant(relevant, ["A", "B"], measure)
        assert tuple(found.values()) == pytest.approx(worths)
    with pytest.raises(ValueError, match="two runs"):
        worth_of_relevant(relevant, ["A"], Estimand.PRECISION_DIFFERENCE)


def test_with_one_rate_for_all_the_rest_goes_in_proportion() -> None:
    assert next_units([900, 90, 10], [0.5] * 3, 103) == [91, 9, 3]
