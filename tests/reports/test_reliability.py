"""Judges' confidence beside people's blind votes; audit draws are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.calibration.policies import UNCALIBRATED
from labeler.errors import NotFoundError
from labeler.labels import NATIVE, Grade
from labeler.queue.route import route_pool
from labeler.queue.sitting.session import ReviewSession
from labeler.records import table
from labeler.records.queue import ReviewEvent, VotePurpose
from labeler.reports.reliability import AUDIT_DRAWS, OTHER_VOTES, read_reliability
from labeler.store.database import Store
from tests.small import HandJudge, judge, pooled

FULLY, PARTIALLY, NOT = NATIVE.levels
DOUBTFUL = {
    "c03": (Grade.FULLY_RELEVANT, 0.55),
    "c07": (Grade.FULLY_RELEVANT, 0.6),
    "c10": (Grade.PARTIALLY_RELEVANT, 0.58),
}


@pytest.fixture
def reviewed(store: Store, own_folder: Path) -> Store:
    """Everything that goes to people was judged not relevant by ana."""
    pooled(store, own_folder)
    judge(store, HandJudge(DOUBTFUL))
    route_pool(store, "p", UNCALIBRATED)
    session = ReviewSession(store, "ana")
    while session.current is not None:
        session.vote(NOT)
    session.close()
    return store


def audited(store: Store) -> int:
    event = table(ReviewEvent)
    statement = sa.select(sa.func.count()).where(event.c.purpose == VotePurpose.AUDIT.value)
    with store.read() as connection:
        return int(connection.execute(statement).scalar_one())


def test_audit_draws_and_other_votes_are_counted_apart(reviewed: Store) -> None:
    with reviewed.read() as connection:
        drawn, other = read_reliability(connection, "p")
    assert (drawn.source, other.source) == (AUDIT_DRAWS, OTHER_VOTES)
    assert drawn.items == audited(reviewed) > 0
    (top,) = drawn.bins
    assert top.mean_confidence == pytest.approx(0.99)
    assert top.share == 1.0
    assert other.items == 3
    (doubtful,) = other.bins
    assert (doubtful.count, doubtful.agreed, doubtful.share) == (3, 0, 0.0)
    assert doubtful.mean_confidence == pytest.approx((0.55 + 0.6 + 0.58) / 3)
    assert (drawn.judge, drawn.calibrations) == ("by-hand", ())


def test_the_latest_version_of_a_judge_counts(reviewed: Store) -> None:
    judge(reviewed, HandJudge({**DOUBTFUL, "c03": (Grade.NOT_RELEVANT, 0.52)}, version="2"))
    with reviewed.read() as connection:
        found = read_reliability(connection)
    (other,) = (one for one in found if one.source == OTHER_VOTES)
    assert sum(one.agreed for one in other.bins) == 1


def test_a_vote_that_was_taken_back_counts_nowhere(reviewed: Store) -> None:
    session = ReviewSession(reviewed, "ana")
    while session.undo():
        pass
    with reviewed.read() as connection:
        assert read_reliability(connection) == ()


def test_without_judges_or_people_there_is_nothing(store: Store, own_folder: Path) -> None:
    with store.read() as connection:
        assert read_reliability(connection) == ()
    pooled(store, own_folder)
    judge(store, HandJudge())
    with store.read() as connection:
        assert read_reliability(connection) == ()
        with pytest.raises(NotFoundError):
            read_reliability(connection, "nowhere")
