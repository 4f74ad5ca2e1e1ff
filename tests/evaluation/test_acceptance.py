"""Exact bounds on wrong labels, and the sequence of tests that chooses the threshold."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from labeler.errors import UsageError
from labeler.evaluation.acceptance import (
    AuditedStratum,
    accepted_strata,
    fixed_sequence,
    most_errors,
    most_wrong,
    power,
    votes_for_power,
    votes_without_error,
)
from labeler.evaluation.proportions import clopper_pearson

LARGE = 1_000_000


def stratum(size: int, drawn: int, wrong: int) -> AuditedStratum:
    return AuditedStratum(size, drawn, wrong, drawn)


STRATA = st.lists(
    st.integers(1, 300).flatmap(
        lambda size: st.integers(0, size).flatmap(
            lambda drawn: st.integers(0, drawn).map(lambda wrong: stratum(size, drawn, wrong))
        )
    ),
    min_size=1,
    max_size=5,
)


def test_the_votes_that_a_target_needs_are_the_known_ones() -> None:
    assert votes_without_error(LARGE, 0.9, 0.05) == 29
    assert votes_without_error(LARGE, 0.95, 0.05) == 59
    assert votes_without_error(LARGE, 0.9, 0.025) == 36
    assert votes_for_power(LARGE, 0.9, 0.05, likely=0.95) == 179


def test_a_small_set_needs_more_votes_since_they_are_no_longer_left() -> None:
    needed = [votes_without_error(size, 0.9, 0.05) for size in (100, 300, 1000, 5000)]
    assert needed == sorted(needed, key=lambda votes: -(votes or 0))
    assert votes_without_error(20, 0.9, 0.05) is None


def test_what_cannot_be_told_apart_takes_no_number_of_votes() -> None:
    assert votes_for_power(LARGE, 0.9, 0.05, likely=0.9) is None
    assert votes_for_power(500, 0.9, 0.05, likely=0.91) is None


@given(st.integers(20, 2000), st.integers(1, 400), st.sampled_from([0.8, 0.9, 0.95]))
def test_the_errors_that_are_let_pass_are_those_of_the_test(
    size: int, drawn: int, target: float
) -> None:
    drawn = min(drawn, size - 1)
    allowed = most_errors(size, drawn, target, 0.05)
    for wrong in {allowed, allowed + 1} & set(range(drawn + 1)):
        step = fixed_sequence([stratum(size, drawn, wrong)], [1], target, 0.05)[0]
        assert step.is_shown is (wrong <= allowed)


@given(st.integers(100, 5000), st.sampled_from([0.93, 0.95, 0.98]))
@settings(max_examples=30)
def test_the_draw_for_a_power_has_that_power_and_fewer_votes_do_not(
    size: int, likely: float
) -> None:
    votes = votes_for_power(size, 0.9, 0.05, likely=likely)
    if votes is not None:
        assert power(size, votes, 0.9, 0.05, likely=likely) >= 0.8
        assert power(size, votes - 1, 0.9, 0.05, likely=likely) < 0.8


@given(STRATA)
def test_a_bound_lies_between_what_was_found_and_what_there_is(
    strata: list[AuditedStratum],
) -> None:
    bound = most_wrong(strata, 0.05)
    found = sum(one.wrong for one in strata)
    assert found <= bound <= found + sum(one.size - one.drawn for one in strata)
    assert bound <= most_wrong(strata, 0.01)
    assert bound == most_wrong(strata[::-1], 0.05)


@given(STRATA, st.integers(1, 100))
def test_a_stratum_that_nobody_drew_from_may_be_wrong_throughout(
    strata: list[AuditedStratum], size: int
) -> None:
    bound = most_wrong([*strata, stratum(size, 0, 0)], 0.05)
    assert bound >= most_wrong(strata, 0.05) + size


@pytest.mark.parametrize("wrong", [0, 1, 5, 20])
def test_one_fraction_of_large_strata_gives_the_limit_of_clopper_and_pearson(wrong: int) -> None:
    strata = [stratum(500_000, 50, wrong), stratum(900_000, 90, 0), stratum(300_000, 30, 0)]
    limit = clopper_pearson(wrong, 170, confidence=0.9)[1]
    assert most_wrong(strata, 0.05) == pytest.approx(1_700_000 * limit, abs=2)


@pytest.mark.parametrize("drawn", [40, 80, 160])
@pytest.mark.parametrize("wrong", [0, 1, 4])
def test_the_bound_of_one_small_stratum_is_near_the_exact_one(drawn: int, wrong: int) -> None:
    # Of 200 labels; the exact bound turns the hypergeometric distribution round.
    exact = max(
        bad
        for bad in range(wrong, 200 - drawn + wrong + 1)
        if sum(
            math.comb(bad, found) * math.comb(200 - bad, drawn - found)
            for found in range(wrong + 1)
        )
        > 0.05 * math.comb(200, drawn)
    )
    bound = most_wrong([stratum(200, drawn, wrong)], 0.05)
    assert exact <= bound <= exact + 0.25 * exact + 2


def counts(
    random: np.random.Generator, wrong: NDArray[np.int64], sizes: list[int], drawn: list[int]
) -> NDArray[np.int64]:
    """Draw without replacement from each stratum, 4,000 times."""
    return np.column_stack(
        [
            random.hypergeometric(bad, size - bad, count, 4_000)
            for bad, size, count in zip(wrong, sizes, drawn, strict=True)
        ]
    )


@pytest.mark.parametrize(
    ("sizes", "drawn"),
    [
        ([300, 300, 300], [20, 20, 20]),
        ([900, 90, 30], [30, 30, 10]),
        ([100, 400, 40], [5, 60, 20]),
        ([60, 50], [30, 10]),
    ],
)
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_the_bound_holds_as_often_as_it_says(
    sizes: list[int], drawn: list[int], share: float
) -> None:
    random = np.random.default_rng(5)
    total = math.ceil(share * sum(sizes))
    # The wrong labels all in one stratum, spread evenly, and where fewest of them are drawn.
    first = np.array([min(total, sizes[0]), *[0] * (len(sizes) - 1)], dtype=np.int64)
    even = np.array([round(share * size) for size in sizes], dtype=np.int64)
    rare = np.zeros(len(sizes), dtype=np.int64)
    for place in sorted(range(len(sizes)), key=lambda one: drawn[one] / sizes[one]):
        rare[place] = min(sizes[place], total - rare.sum())
    for wrong in (first, even, rare):
        found = counts(random, wrong, sizes, drawn)
        patterns, times = np.unique(found, axis=0, return_counts=True)
        missed = 0
        for pattern, count in zip(patterns, times, strict=True):
            strata = [stratum(*one) for one in zip(sizes, drawn, pattern.tolist(), strict=True)]
            missed += int(count) * (most_wrong(strata, 0.05) < wrong.sum())
        assert missed / 4_000 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 4_000)


@pytest.mark.parametrize(
    "wrong",
    [
        (24, 40, 60, 90),  # every set misses the target
        (10, 30, 60, 90),  # the first reaches it, the second hardly misses it
        (20, 21, 20, 21),  # all lie on the boundary
        (0, 41, 0, 82),
        (18, 19, 40, 80),
    ],
)
def test_choosing_the_threshold_costs_nothing(wrong: tuple[int, ...]) -> None:
    sizes, drawn = [200, 200, 200, 200], [60, 60, 60, 60]
    random = np.random.default_rng(7)
    found = counts(random, np.array(wrong, dtype=np.int64), sizes, drawn)
    patterns, times = np.unique(found, axis=0, return_counts=True)
    missed = 0
    for pattern, count in zip(patterns.tolist(), times.tolist(), strict=True):
        strata = [stratum(*one) for one in zip(sizes, drawn, pattern, strict=True)]
        accepted = accepted_strata(fixed_sequence(strata, [1, 2, 3, 4], 0.9, 0.05))
        left = sum(sizes[:accepted]) - sum(drawn[:accepted])
        still_wrong = sum(wrong[:accepted]) - sum(pattern[:accepted])
        missed += count * (still_wrong > 0.1 * left)
    assert missed / 4_000 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 4_000)


def test_a_set_that_lets_none_follow_ends_the_sequence() -> None:
    bad = [stratum(1000, 60, 20), stratum(1000, 60, 0)]
    assert [step.goes_on for step in fixed_sequence(bad, [1, 2], 0.9, 0.05)] == [False]
    good = [stratum(1000, 60, 0), stratum(1000, 60, 0)]
    steps = fixed_sequence(good, [1, 2], 0.9, 0.05)
    assert ([step.is_shown for step in steps], accepted_strata(steps)) == ([True, True], 2)


def test_nothing_is_shown_before_all_of_a_draw_is_answered() -> None:
    assert fixed_sequence([stratum(1000, 60, 0), None], [2], 0.9, 0.05) == []
    steps = fixed_sequence([stratum(1000, 60, 0), None], [1, 2], 0.9, 0.05)
    assert accepted_strata(steps) == 1


def test_labels_that_people_have_judged_are_no_longer_left() -> None:
    seen = AuditedStratum(1000, 60, 0, 1000)
    assert not fixed_sequence([seen], [1], 0.9, 0.05)[0].is_shown


def test_impossible_counts_and_risks_are_refused() -> None:
    for numbers in itertools.permutations((100, 30, 2, 31)):
        if numbers != (100, 30, 2, 31):
            with pytest.raises(UsageError):
                AuditedStratum(*numbers)
    with pytest.raises(UsageError, match="risk"):
        most_wrong([stratum(10, 5, 0)], 0.5)
    with pytest.raises(UsageError, match="grow"):
        fixed_sequence([stratum(10, 5, 0)] * 2, [2, 1], 0.9, 0.05)
