from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from labeler.evaluation.estimators import Known
from labeler.evaluation.exact import (
    exact_recall,
    exact_recall_difference,
    exact_total_difference,
    hypergeometric_limits,
)
from labeler.evaluation.posterior import LabelledStratum, draw_totals
from labeler.evaluation.proportions import clopper_pearson


@settings(deadline=None)
@given(st.data(), st.integers(1, 40), st.sampled_from([0.025, 0.005, 0.1]))
def test_the_limits_are_the_totals_that_the_sample_does_not_refute(
    data: st.DataObject, size: int, tail: float
) -> None:
    labelled = data.draw(st.integers(0, size))
    relevant = data.draw(st.integers(0, labelled))
    low, high = hypergeometric_limits(size, labelled, relevant, tail)
    possible = [
        total
        for total in range(size + 1)
        if hypergeom.sf(relevant - 1, size, total, labelled) >= tail * (1 - 1e-9)
        and hypergeom.cdf(relevant, size, total, labelled) >= tail * (1 - 1e-9)
    ]
    assert (low, high) == (possible[0], possible[-1])


@pytest.mark.parametrize(("size", "labelled", "total"), [(30, 10, 3), (50, 12, 25), (40, 39, 1)])
def test_the_limits_cover_at_least_as_often_as_they_say(
    size: int, labelled: int, total: int
) -> None:
    covered = 0.0
    for relevant in range(max(0, labelled - size + total), min(labelled, total) + 1):
        low, high = hypergeometric_limits(size, labelled, relevant, 0.025)
        if low <= total <= high:
            covered += hypergeom.pmf(relevant, size, total, labelled)
    assert covered >= 0.95


def test_a_big_population_has_the_limits_of_clopper_and_pearson() -> None:
    low, high = hypergeometric_limits(2_000_000, 100, 7, 0.025)
    expected = clopper_pearson(7, 100)
    assert (low / 2_000_000, high / 2_000_000) == pytest.approx(expected, abs=1e-4)


PARTS = [
    LabelledStratum(100, 20, 6, first=True),
    LabelledStratum(80, 15, 3, second=True),
    LabelledStratum(400, 40, 1),
    LabelledStratum(30, 10, 8, first=True, second=True),
]


def test_the_exact_interval_is_wider_than_the_posterior_and_holds_it() -> None:
    known = Known(20, 15, 12)
    draws = draw_totals(PARTS, known, seed=1)
    for exact, default in (
        (exact_recall(PARTS, known), draws.recall()),
        (exact_recall_difference(PARTS, known), draws.recall_difference()),
    ):
        assert exact.low < default.low < default.high < exact.high


def test_the_limits_of_the_difference_of_totals() -> None:
    known = Known(20, 15, 12)
    found = exact_total_difference(PARTS, known)
    # Four strata share 5%: what only one of the two retrieved is all that counts.
    tail = (1 - 0.95**0.25) / 2
    ahead = hypergeometric_limits(100, 20, 6, tail)
    behind = hypergeometric_limits(80, 15, 3, tail)
    assert (found.low, found.high) == (3 + ahead[0] - behind[1], 3 + ahead[1] - behind[0])


def test_one_sampled_stratum_that_nobody_retrieved() -> None:
    found = exact_recall([LabelledStratum(50, 10, 2)], Known(8, 8, 0))
    low, high = hypergeometric_limits(50, 10, 2, 0.025)
    assert (found.low, found.high) == (8 / (8 + high), 8 / (8 + low))


def test_a_frame_that_may_be_empty_excludes_nothing() -> None:
    found = exact_recall([LabelledStratum(50, 10, 0)], Known())
    assert (found.low, found.high) == (0.0, 1.0)
    both = exact_recall_difference([LabelledStratum(50, 10, 0)], Known())
    assert (both.low, both.high) == (-1.0, 1.0)


def test_a_stratum_that_nobody_labelled_may_hold_anything() -> None:
    found = exact_recall([LabelledStratum(10, 0, 0)], Known(10, 10, 0))
    assert (found.low, found.high) == (0.5, 1.0)


def test_counts_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="3 relevant"):
        hypergeometric_limits(5, 2, 3, 0.025)
