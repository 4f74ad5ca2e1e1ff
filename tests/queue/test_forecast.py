"""Forecasts: votes and minutes until nothing waits, from probabilities, audit and pace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.calibration.policies import (
    NINE_OF_TEN,
    UNCALIBRATED,
    Policy,
    TargetPolicy,
    parse_policy,
)
from labeler.evaluation.foresight import (
    Range,
    SequenceState,
    StratumState,
    items_to_judge,
    minutes_of,
)
from labeler.evaluation.pace import TimeLeft
from labeler.labels import Grade
from labeler.queue.forecast import Forecast, latest_policy, read_forecasts
from labeler.queue.progress import read_progress
from labeler.queue.route import route_pool
from labeler.records.queue import VotePurpose
from labeler.store.database import Store
from tests.scored import judged_pool, score, vote, wanted_votes

FULLY, PARTIALLY, NOT = Grade


def falling(place: int) -> float:
    return 0.999 - 0.3 * (place / 400) ** 6


def state(expected: float, answered: int = 0, wrong: int = 0) -> SequenceState:
    part = StratumState(1000, 100, answered, wrong, answered, expected)
    return SequenceState((part,), (1,), 0.9, 0.05)


def forecast(store: Store, policy: TargetPolicy | Policy | None = None) -> Forecast:
    with store.read() as connection:
        (found,) = read_forecasts(connection, policy=policy)
    return found


@pytest.fixture
def items(sqlite_store: Store, own_folder: Path) -> list[int]:
    return judged_pool(sqlite_store, own_folder)


def test_what_the_audit_has_found_outweighs_what_the_scores_promise() -> None:
    hopeful, _ = items_to_judge([state(0.99)], 1000, seed=1)
    found, accepted = items_to_judge([state(0.99, 90, 30)], 1000, seed=1)
    assert np.median(hopeful) == 100
    assert set(found.tolist()) == {1000}
    assert not accepted.any()


@given(st.floats(0.5, 1.0), st.integers(0, 100), st.integers(0, 40), st.integers(0, 5))
def test_votes_and_accepted_labels_add_to_what_waits(
    expected: float, answered: int, wrong: int, seed: int
) -> None:
    one = state(expected, answered, min(wrong, answered))
    votes, accepted = items_to_judge([one], 1000 - answered, seed=seed, draws=20)
    assert (votes + accepted == 1000 - answered).all()
    assert set(accepted.tolist()) <= {0, 900}
    again, _ = items_to_judge([one], 1000 - answered, seed=seed, draws=20)
    assert (votes == again).all()


def test_minutes_follow_the_pace_and_its_interval() -> None:
    votes = np.full(4000, 120)
    assert minutes_of(votes, None, seed=1) is None
    assert minutes_of(votes, TimeLeft(0.01, None, None), seed=1) == Range(72.0, 72.0, 72.0)
    found = minutes_of(votes, TimeLeft(0.01, 0.008, 0.012), seed=1)
    assert found is not None
    assert (found.low, found.middle, found.high) == pytest.approx((60, 72, 84), abs=2)


def test_before_the_audit_and_after_it(sqlite_store: Store, items: list[int]) -> None:
    score(sqlite_store, items, falling)
    planned = forecast(sqlite_store)
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    under_way = forecast(sqlite_store)
    assert (planned.audit_votes, planned.policy) == (under_way.audit_votes, "nine-of-ten")
    assert planned.audit_votes > 0
    assert planned.minutes is None
    assert under_way.chance is not None
    assert 0.5 < under_way.chance <= 1
    assert under_way.votes.low < 400
    drawn = [
        item for item, why in wanted_votes(sqlite_store).items() if why == VotePurpose.AUDIT.value
    ]
    vote(sqlite_store, drawn, lambda _: NOT)
    report = route_pool(sqlite_store, "p", NINE_OF_TEN)
    done = forecast(sqlite_store)
    assert (done.audit_votes, done.chance) == (0, 0.0)
    assert done.votes == Range(*[float(report.to_people)] * 3)
    assert under_way.votes.low <= report.to_people + len(drawn) <= under_way.votes.high
    assert done.minutes is not None


def test_votes_of_the_queue_go_on_falling_on_what_is_audited() -> None:
    """Of 1,000 labels 100 are drawn; half of these have an answer, and so have 200 others."""
    alone = SequenceState((StratumState(1000, 100, 50, 0, 50, 0.99),), (1,), 0.9, 0.05)
    among = SequenceState((StratumState(1000, 100, 50, 0, 250, 0.99),), (1,), 0.9, 0.05)
    for one, left in ((alone, 900), (among, 500)):
        _, accepted = items_to_judge([one], 1000, seed=1)
        assert np.median(accepted) == left


def test_it_counts_every_vote_that_is_wanted(sqlite_store: Store, items: list[int]) -> None:
    """Second votes too, those on items that a first person has settled among them."""
    score(sqlite_store, items, lambda _: 0.5)
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    assert forecast(sqlite_store).votes.middle == 400
    route_pool(sqlite_store, "p", NINE_OF_TEN, votes_on_influential=2)
    assert forecast(sqlite_store).votes.middle == 440
    twice = replace(NINE_OF_TEN, name="twice", overlap=2)
    route_pool(sqlite_store, "p", twice)
    assert forecast(sqlite_store, twice).votes.middle == 800
    vote(sqlite_store, items[:10], lambda _: NOT)
    with sqlite_store.read() as connection:
        left = read_progress(connection, now=sqlite_store.clock()).left
    assert forecast(sqlite_store, twice).votes.middle == left == 790


def test_what_was_drawn_from_accepted_labels_waits_too(
    sqlite_store: Store, items: list[int]
) -> None:
    easy = Policy("easy", 0.51)
    report = route_pool(sqlite_store, "p", easy)
    found = forecast(sqlite_store, easy)
    assert (found.audit_votes, found.votes.middle) == (report.audited, report.waiting)
    assert report.audited > 0


def test_without_calibrated_scores_it_counts_what_waits(
    sqlite_store: Store, items: list[int]
) -> None:
    found = forecast(sqlite_store)
    assert (found.policy, found.chance, found.votes.middle) == ("uncalibrated", None, 0)
    assert "can't be applied yet" in found.note
    strict = forecast(sqlite_store, Policy("strict", 0.999))
    assert strict.votes.middle == 400


def test_a_pool_is_forecast_by_the_policy_it_was_routed_by(
    sqlite_store: Store, items: list[int]
) -> None:
    policy = TargetPolicy("four-of-five", agreement=0.8, by_grade=((FULLY, 0.7),), votes=60)
    score(sqlite_store, items, falling)
    route_pool(sqlite_store, "p", policy)
    with sqlite_store.read() as connection:
        assert latest_policy(connection, 1) == policy
    assert forecast(sqlite_store).policy == "four-of-five"


@pytest.mark.parametrize("policy", [NINE_OF_TEN, UNCALIBRATED, Policy("a", 0.8, (NOT,), overlap=2)])
def test_a_stored_policy_is_read_back(policy: TargetPolicy | Policy) -> None:
    back = parse_policy(policy.to_json())
    assert back.digest == policy.digest
