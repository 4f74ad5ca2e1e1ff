from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.evaluation.intervals import student_t_quantile
from labeler.evaluation.pace import BREAK, VoteTime, pace_of, seconds_spent, time_left

START = datetime(2026, 7, 1, 9, 0, tzinfo=UTC)


def votes(*seconds: float, dwell_ms: int | None = 4000) -> list[VoteTime]:
    return [VoteTime(START + timedelta(seconds=one), dwell_ms) for one in seconds]


def test_a_vote_takes_the_time_since_the_one_before() -> None:
    assert seconds_spent(votes(0, 10, 25)) == [4.0, 10.0, 15.0]


def test_after_a_break_a_vote_takes_as_long_as_its_item_was_shown() -> None:
    pause = BREAK.total_seconds()
    assert seconds_spent(votes(0, pause, 2 * pause + 1)) == [4.0, pause, 4.0]
    assert seconds_spent(votes(0, 10, dwell_ms=None)) == [10.0]


def test_a_dwell_over_a_break_is_no_work() -> None:
    assert seconds_spent(votes(0, dwell_ms=3_600_000)) == [BREAK.total_seconds()]


@given(st.lists(st.integers(0, 100_000), min_size=1), st.randoms(use_true_random=False))
def test_the_order_of_votes_changes_nothing(seconds: list[int], random: object) -> None:
    shuffled = list(seconds)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert seconds_spent(votes(*shuffled)) == seconds_spent(votes(*seconds))
    assert len(seconds_spent(votes(*seconds))) == len(seconds)


def test_the_pace_of_a_person() -> None:
    pace = pace_of(votes(0, 8, 16, 24, dwell_ms=8000))
    assert (pace.votes, pace.median_dwell, pace.is_rubber_stamping) == (4, 8.0, False)
    assert pace.per_hour == pytest.approx(450)


@pytest.mark.parametrize(("dwell", "is_stamping"), [(499, True), (500, False), (None, False)])
def test_a_median_under_half_a_second_is_rubber_stamping(
    dwell: int | None, is_stamping: bool
) -> None:
    assert pace_of(votes(0, 1, 2, dwell_ms=dwell)).is_rubber_stamping is is_stamping


def test_no_votes_have_no_pace() -> None:
    pace = pace_of([])
    assert (pace.votes, pace.median_dwell, pace.per_hour) == (0, None, None)
    assert time_left(10, []) is None
    assert time_left(10, [[]]) is None


def test_a_few_votes_give_no_range() -> None:
    left = time_left(360, [[10.0] * 70])
    assert left is not None
    assert (left.hours, left.low, left.high) == (1.0, None, None)


def test_the_range_is_that_of_batch_means() -> None:
    spent = [10.0 + (batch % 4) for batch in range(12) for _ in range(10)]
    left = time_left(3600, [spent])
    assert left is not None
    # With batches of one size the jackknife of a mean is its standard error.
    means = np.array([10.0 + (batch % 4) for batch in range(12)])
    reach = student_t_quantile(0.975, 11) * means.std(ddof=1) / np.sqrt(12)
    assert left.hours == pytest.approx(means.mean())
    assert (left.low, left.high) == pytest.approx((means.mean() - reach, means.mean() + reach))


def test_people_are_no_one_batch() -> None:
    left = time_left(3600, [[5.0] * 3, [20.0] * 3, *([[10.0] * 10] * 7)])
    assert left is not None
    assert left.low is not None
    assert left.low < left.hours < (left.high or 0)


def test_nothing_left_takes_no_time() -> None:
    left = time_left(0, [[10.0] * 100])
    assert left is not None
    assert (left.hours, left.low, left.high) == (0.0, 0.0, 0.0)
