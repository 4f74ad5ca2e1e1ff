"""Agreement of an assessor with the own earlier labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import UsageError
from labeler.evaluation.agreement import NoValue, confusion_tables, estimate, quadratic_kappa
from labeler.evaluation.steadiness import CANNOT_JUDGE, steadiness


def test_labels_and_abstentions_are_counted_apart() -> None:
    first = np.array([0, 1, 2, CANNOT_JUDGE, 1, CANNOT_JUDGE], dtype=np.int64)
    again = np.array([0, 2, 2, CANNOT_JUDGE, CANNOT_JUDGE, 0], dtype=np.int64)
    found = steadiness(first, again, np.arange(6, dtype=np.int64), 3)
    assert (found.repeated, found.labelled, found.same, found.gave_up_once) == (6, 3, 2, 2)
    assert found.exact.value == pytest.approx(2 / 3)


def test_it_is_the_kappa_of_two_assessors() -> None:
    first = np.array([0, 0, 1, 1, 2, 2, 2, 0], dtype=np.int64)
    again = np.array([0, 1, 1, 2, 2, 2, 0, 0], dtype=np.int64)
    queries = np.array([1, 1, 2, 2, 3, 3, 4, 4], dtype=np.int64)
    found = steadiness(first, again, queries, 3)
    assert found.kappa == estimate(confusion_tables(first, again, queries, 3), quadratic_kappa)


def test_without_a_pair_there_is_no_number() -> None:
    nothing = np.array([], dtype=np.int64)
    found = steadiness(nothing, nothing, nothing, 3)
    assert (found.repeated, found.exact.value) == (0, None)
    assert found.kappa.undefined is NoValue.NO_PAIR
    gave_up = np.array([CANNOT_JUDGE], dtype=np.int64)
    assert steadiness(gave_up, gave_up, gave_up, 2).labelled == 0


def test_what_can_t_be_paired_is_refused() -> None:
    one, two = np.zeros(1, dtype=np.int64), np.zeros(2, dtype=np.int64)
    with pytest.raises(UsageError, match="can't be paired"):
        steadiness(one, two, two, 3)
    with pytest.raises(UsageError, match="none of the 3 levels"):
        steadiness(one + 3, one, one, 3)


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2), st.integers(0, 9)), max_size=40))
def test_counts_hold_together(pairs: list[tuple[int, int, int]]) -> None:
    first, again, queries = (
        np.array([pair[place] for pair in pairs], dtype=np.int64) for place in range(3)
    )
    found = steadiness(first, again, queries, 3)
    back = steadiness(again, first, queries, 3)
    assert found.same <= found.labelled <= found.repeated == len(pairs)
    assert found.labelled + found.gave_up_once <= found.repeated
    assert (found.same, found.exact.value) == (back.same, back.exact.value)
    if found.labelled:
        assert found.exact.value == pytest.approx(found.same / found.labelled)
