"""The lead's counts of the queue: what is left, how fast it goes, who holds what."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.calibration.policies import UNCALIBRATED
from labeler.imports.queries import QueryOptions, import_queries
from labeler.labels import NATIVE
from labeler.queue.counts import count_queue
from labeler.queue.holdings import read_holdings
from labeler.queue.progress import Progress, burn_down, read_progress
from labeler.queue.route import route_pool
from labeler.queue.sitting.session import ReviewSession
from labeler.store.database import Store
from tests.conftest import Ticking
from tests.small import QUERIES, pooled, write_jsonl

FULLY, _, NOT = NATIVE.levels


@pytest.fixture
def queue(store: Store, own_folder: Path) -> Store:
    """A routed pool: 11 items wait, each for one vote."""
    pooled(store, own_folder)
    route_pool(store, "p", UNCALIBRATED)
    return store


def progress(store: Store, clock: Ticking, pool_id: int | None = None) -> Progress:
    with store.read() as connection:
        return read_progress(connection, now=clock.now, pool_id=pool_id)


def vote(store: Store, clock: Ticking, name: str, times: int, *, seconds: float) -> None:
    """Vote so many times, each item shown for so long."""
    now = [0.0]
    session = ReviewSession(store, name, monotonic=lambda: now[0])
    for _ in range(times):
        assert session.current is not None
        now[0] += seconds
        clock.advance(seconds)
        session.vote(FULLY)
    session.close()


def test_before_the_first_vote(queue: Store, clock: Ticking) -> None:
    found = progress(queue, clock)
    assert (found.left, found.held, found.given) == (11, 0, 0)
    assert (found.burned, found.paces, found.at_work, found.time_left) == ((), (), 0, None)


def test_an_empty_project(store: Store, clock: Ticking) -> None:
    found = progress(store, clock)
    assert (found.left, found.given, found.time_left) == (0, 0, None)
    with store.read() as connection:
        assert read_holdings(connection) == ()
        assert count_queue(connection).by_domain == {}


def test_votes_burn_down_what_is_left(queue: Store, clock: Ticking) -> None:
    vote(queue, clock, "ana", 3, seconds=10)
    clock.advance(3600)
    vote(queue, clock, "bo", 2, seconds=0.2)
    found = progress(queue, clock)
    assert (found.left, found.given, found.step, found.at_work) == (6, 5, "hour", 1)
    assert [(one.votes, one.left) for one in found.burned] == [(3, 8), (2, 6)]
    ana, bo = found.paces
    assert (ana.reviewer, ana.pace.votes, ana.pace.is_rubber_stamping) == ("ana", 3, False)
    assert ana.pace.median_dwell == pytest.approx(10, abs=0.1)
    assert (bo.reviewer, bo.pace.is_rubber_stamping) == ("bo", True)
    assert found.time_left is not None
    assert found.time_left.low is None


def test_a_vote_that_was_taken_back_counts_nowhere(queue: Store, clock: Ticking) -> None:
    session = ReviewSession(queue, "ana")
    for _ in range(2):
        assert session.current is not None
        session.vote(NOT)
    assert session.undo()
    session.close()
    found = progress(queue, clock)
    assert (found.left, found.given) == (10, 1)
    assert [one.votes for one in found.burned] == [1]


def test_a_pool_keeps_to_its_items(queue: Store, clock: Ticking) -> None:
    vote(queue, clock, "ana", 2, seconds=5)
    assert progress(queue, clock, 1).given == 2
    other = progress(queue, clock, 99)
    assert (other.left, other.given, other.burned) == (0, 0, ())


def test_who_holds_what_until_when(queue: Store, clock: Ticking) -> None:
    session = ReviewSession(queue, "ana")
    assert session.current is not None
    with queue.read() as connection:
        held = read_holdings(connection)
        assert read_holdings(connection, 99) == ()
    assert {one.reviewer for one in held} == {"ana"}
    assert len(held) == progress(queue, clock).held == 3
    assert all(one.query in QUERIES for one in held)
    assert all(timedelta(0) < one.until - clock.now <= timedelta(minutes=10) for one in held)
    session.close()
    with queue.read() as connection:
        assert read_holdings(connection) == ()


def test_waiting_items_by_domain(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    changed: list[dict[str, object]] = [
        {"_id": "q1", "text": QUERIES["q1"], "domain": "returns"},
        {"_id": "q2", "text": QUERIES["q2"], "domain": "devices"},
    ]
    import_queries(store, [write_jsonl(own_folder / "q.jsonl", changed)], QueryOptions(update=True))
    route_pool(store, "p", replace(UNCALIBRATED, overlap=2))
    with store.read() as connection:
        counts = count_queue(connection)
    assert sum(counts.by_domain.values()) == counts.by_status["open"]
    assert set(counts.by_domain) == {"returns", "devices", ""}


hours = st.lists(st.integers(0, 20 * 24), min_size=1, max_size=60)


@given(hours, st.integers(0, 1000))
def test_a_burn_down_has_no_gaps_and_adds_up(given_hours: list[int], left: int) -> None:
    start = datetime(2026, 7, 1, 0, 30, tzinfo=UTC)
    step, burned = burn_down([start + timedelta(hours=one) for one in given_hours], left)
    wide = max(given_hours) - min(given_hours) > 24
    assert step == ("day" if wide else "hour")
    assert sum(one.votes for one in burned) == len(given_hours)
    assert burned[-1].left == left
    length = timedelta(days=1) if wide else timedelta(hours=1)
    for before, after in pairwise(burned):
        assert after.start - before.start == length
        assert before.left - after.votes == after.left
