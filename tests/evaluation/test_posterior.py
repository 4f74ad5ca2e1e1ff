from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import betabinom

from labeler.evaluation.estimators import Known
from labeler.evaluation.posterior import LabelledStratum, draw_totals


@st.composite
def strata(draw: st.DrawFn) -> LabelledStratum:
    size = draw(st.integers(0, 80))
    labelled = draw(st.integers(0, size))
    return LabelledStratum(
        size,
        labelled,
        draw(st.integers(0, labelled)),
        first=draw(st.booleans()),
        second=draw(st.booleans()),
    )


def test_the_total_of_a_stratum_is_beta_binomial() -> None:
    draws = draw_totals([LabelledStratum(60, 20, 5)], Known(), seed=1, draws=40_000)
    expected = betabinom(40, 5 + 1 / 3, 15 + 1 / 3)
    assert draws.total.mean() == pytest.approx(5 + expected.mean(), abs=0.1)
    assert draws.total.std() == pytest.approx(expected.std(), rel=0.03)
    found = draws.relevant()
    assert (found.low - 5, found.high - 5) == (expected.ppf(0.025), expected.ppf(0.975))


def test_a_prior_may_lean_on_calibrated_probabilities() -> None:
    draws = draw_totals([LabelledStratum(1000, 0, 0, rate=0.8)], Known(), seed=1, draws=40_000)
    assert draws.total.mean() == pytest.approx(1000 * (0.25 + 1.6) / 2.5, rel=0.01)


@settings(deadline=None, max_examples=50)
@given(st.lists(strata(), max_size=6), st.integers(0, 5))
def test_intervals_keep_inside_what_is_possible(parts: list[LabelledStratum], known: int) -> None:
    draws = draw_totals(parts, Known(known, known, 0), seed=3, draws=500)
    least = known + sum(part.relevant for part in parts)
    most = known + sum(part.size - part.labelled + part.relevant for part in parts)
    whole = draws.relevant()
    assert least <= whole.low <= whole.high <= most
    found = draws.recall()
    assert 0 <= found.low <= found.high <= 1
    difference = draws.recall_difference()
    assert -1 <= difference.low <= difference.high <= 1


@settings(deadline=None, max_examples=30)
@given(st.lists(strata(), min_size=1, max_size=5))
def test_what_is_labelled_wholly_has_no_width(parts: list[LabelledStratum]) -> None:
    wholly = [
        LabelledStratum(part.labelled, part.labelled, part.relevant, part.first, part.second)
        for part in parts
    ]
    draws = draw_totals(wholly, Known(2, 1, 1), seed=3, draws=500)
    relevant = sum(part.relevant for part in parts) + 2
    first = sum(part.relevant for part in parts if part.first) + 1
    found = draws.recall()
    assert (found.low, found.high) == (first / relevant, first / relevant)


def test_a_frame_that_may_hold_nothing_relevant_excludes_no_recall() -> None:
    nothing = draw_totals([LabelledStratum(4, 4, 0)], Known(), seed=1)
    assert (nothing.recall().low, nothing.recall().high) == (0.0, 1.0)
    assert (nothing.recall_difference().low, nothing.recall_difference().high) == (-1.0, 1.0)


def test_two_systems_share_what_both_retrieved() -> None:
    both = [LabelledStratum(100, 10, 5, first=True, second=True)]
    draws = draw_totals(both, Known(10, 10, 4), seed=1)
    found = draws.precision_difference(100)
    assert (found.low, found.high) == (0.06, 0.06)
    assert draws.precision(100).width > 0.1


def test_the_seed_decides_the_draws() -> None:
    part = [LabelledStratum(50, 5, 2, first=True)]
    first, again = (draw_totals(part, Known(), seed=8).total for _ in range(2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, draw_totals(part, Known(), seed=9).total)


def test_counts_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="3 relevant of 2 labelled of 5"):
        LabelledStratum(5, 2, 3)
    with pytest.raises(ValueError, match="500 draws"):
        draw_totals([], Known(), seed=1, draws=50)
