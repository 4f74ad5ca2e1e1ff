from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from labeler.evaluation.agreement import (
    NoInterval,
    NoValue,
    confusion_tables,
    estimate,
    exact_agreement,
)
from labeler.evaluation.transitions import choose_flips, flips_of

LEVELS = 3
PAIRS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 11)), min_size=1, max_size=120
)
STATES = st.dictionaries(
    st.integers(1, 10_000), st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=40
)


def tables_of(pairs: list[tuple[int, int, int]]) -> NDArray[np.float64]:
    first, second, clusters = np.array(pairs, dtype=np.int64).T
    return confusion_tables(first, second, clusters, LEVELS)


@given(PAIRS)
def test_flips_are_what_is_counted_pair_by_pair(pairs: list[tuple[int, int, int]]) -> None:
    found = flips_of(tables_of(pairs))
    assert found.labels == len(pairs)
    assert found.raised == sum(second > first for first, second, _ in pairs)
    assert found.lowered == sum(second < first for first, second, _ in pairs)
    assert found.flipped == found.raised + found.lowered
    assert found.share.value == pytest.approx(found.flipped / found.labels)


@given(PAIRS)
def test_the_interval_is_that_of_agreement_turned_over(pairs: list[tuple[int, int, int]]) -> None:
    tables = tables_of(pairs)
    share, exact = flips_of(tables).share, estimate(tables, exact_agreement, least=0.0)
    assert share.no_interval == exact.no_interval
    if share.low is None or share.high is None or exact.low is None or exact.high is None:
        assert (share.low, share.high) == (exact.low, exact.high) == (None, None)
    else:
        assert share.low == pytest.approx(1 - exact.high, abs=1e-9)
        assert share.high == pytest.approx(1 - exact.low, abs=1e-9)


def test_the_interval_is_wide_where_flips_come_by_query() -> None:
    # Ten queries of ten items; ten flips, spread over all queries or all in one.
    spread = [(0, int(item == 0), query) for query in range(10) for item in range(10)]
    heaped = [(0, int(query == 0), query) for query in range(10) for item in range(10)]
    even = flips_of(tables_of([*spread, (0, 1, 0)])).share
    uneven = flips_of(tables_of([*heaped, (0, 1, 1)])).share
    assert even.value == uneven.value == pytest.approx(11 / 101)
    assert even.high is not None
    assert uneven.high is not None
    assert even.high < 0.15
    assert uneven.high > 0.3


def test_what_has_no_share_or_no_interval_says_why() -> None:
    nothing = flips_of(np.zeros((0, LEVELS, LEVELS)))
    assert (nothing.labels, nothing.share.value) == (0, None)
    assert nothing.share.undefined is NoValue.NO_PAIR
    few = flips_of(tables_of([(0, 1, query) for query in range(7)]))
    assert (few.share.value, few.share.no_interval) == (1.0, NoInterval.FEW_QUERIES)
    none = flips_of(tables_of([(0, 0, query) for query in range(9)]))
    assert (none.share.value, none.share.no_interval) == (0.0, NoInterval.NO_SPREAD)


def chosen(flips: dict[int, tuple[int, int]], count: int, seed: int) -> list[int]:
    before = np.array([one for one, _ in flips.values()], dtype=np.int64)
    after = np.array([other for _, other in flips.values()], dtype=np.int64)
    return choose_flips(list(flips), before, after, count=count, seed=seed)


@given(STATES, st.integers(0, 50), st.integers(0, 5))
def test_flips_across_the_boundary_come_first(
    flips: dict[int, tuple[int, int]], count: int, seed: int
) -> None:
    found = chosen(flips, count, seed)
    assert len(found) == len(set(found)) == min(count, len(flips))
    crosses = [flips[item][0] != flips[item][1] for item in found]
    assert crosses == sorted(crosses, reverse=True)
    assert sum(crosses) == min(count, sum(one != other for one, other in flips.values()))


@given(STATES, st.integers(0, 50), st.integers(0, 5))
def test_the_choice_follows_from_the_seed_alone(
    flips: dict[int, tuple[int, int]], count: int, seed: int
) -> None:
    found = chosen(flips, count, seed)
    assert chosen(dict(reversed(flips.items())), count, seed) == found
    assert set(found) <= set(chosen(flips, count + 3, seed))


def test_another_seed_chooses_others() -> None:
    flips = dict.fromkeys(range(1, 200), (0, 1))
    assert len({tuple(chosen(flips, 5, seed)) for seed in range(20)}) > 15
