from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeler.evaluation.exact import hypergeometric_limits
from labeler.evaluation.exact_sum import WeighedStratum, exact_sum
from labeler.evaluation.posterior import Interval

weights = st.lists(st.sampled_from([-0.5, -0.1, 0.0, 0.1, 0.5]), max_size=6)


@settings(deadline=None)
@given(weights, st.integers(0, 4), st.integers(0, 4))
def test_the_limits_are_those_of_every_choice_of_so_many_items(
    of: list[float], labelled: int, relevant: int
) -> None:
    relevant = min(labelled, relevant)
    found = exact_sum([WeighedStratum(labelled, relevant, np.array(of))], confidence=0.9)
    low, high = relevant, relevant + len(of)
    if labelled:
        low, high = hypergeometric_limits(labelled + len(of), labelled, relevant, (1 - 0.9) / 2)
    sums = [
        sum(chosen)
        for count in range(low - relevant, high - relevant + 1)
        for chosen in combinations(of, count)
    ]
    assert found.low == pytest.approx(min(sums), abs=1e-12)
    assert found.high == pytest.approx(max(sums), abs=1e-12)


def test_a_stratum_that_adds_nothing_takes_no_share_of_the_error() -> None:
    alone = WeighedStratum(10, 1, np.full(40, 0.01))
    idle = WeighedStratum(10, 5, np.zeros(40))
    assert exact_sum([alone, idle], confidence=0.95) == exact_sum([alone], confidence=0.95)
    assert exact_sum([idle], confidence=0.95) == Interval(0.0, 0.0)


def test_it_holds_the_truth_at_least_as_often_as_it_says() -> None:
    rng = np.random.default_rng(7)
    sizes, positives, drawn = (60, 200), (2, 3), (15, 25)
    hits, repeats = 0, 400
    of = [rng.choice([0.0, 0.01, -0.01], size) for size in sizes]
    truth = [np.arange(size) < count for size, count in zip(sizes, positives, strict=True)]
    for _ in range(repeats):
        strata, open_sum = [], 0.0
        for size, relevant, worth, count in zip(sizes, truth, of, drawn, strict=True):
            chosen = np.isin(np.arange(size), rng.choice(size, count, replace=False))
            found = int(relevant[chosen].sum())
            strata.append(WeighedStratum(count, found, worth[~chosen]))
            open_sum += float(worth[~chosen & relevant].sum())
        limits = exact_sum(strata, confidence=0.9)
        hits += limits.low - 1e-12 <= open_sum <= limits.high + 1e-12
    assert hits >= 0.9 * repeats
