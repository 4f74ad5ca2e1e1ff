"""Hidden repeats: own items that come back, change nothing, and tell how steady a reviewer is."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.blind_judgments import read_blind_judgments
from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.calibration.policies import UNCALIBRATED
from labeler.imports.queries import QueryOptions, import_queries
from labeler.labels import NATIVE, Level
from labeler.queue.claims import LEASE, queue_left, release
from labeler.queue.filters import QueueFilter
from labeler.queue.repeating import AFTER_ITEMS, claim_repeat
from labeler.queue.repeats import read_repeats, read_steadiness
from labeler.queue.reveals import reveal
from labeler.queue.route import route_pool
from labeler.queue.sitting.desk import Desk
from labeler.queue.sitting.orders import (
    Count,
    Counted,
    Fetch,
    Fetched,
    HoldAgain,
    Kept,
    Renew,
    Renewed,
    Shown,
    Skip,
    TakenBack,
    Undo,
    Vote,
)
from labeler.records import table
from labeler.records.judgments import Decision, Judgment, Occasion
from labeler.records.queue import Assignment, ReviewEvent, VotePurpose
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from labeler.store.maintenance import check
from labeler.store.projections import projection_digest
from labeler.store.registry import assessor_key
from tests.conftest import Ticking
from tests.small import QUERIES, HandJudge, judge, pooled, write_jsonl

FULLY, PARTIALLY, NOT = NATIVE.levels
A_DAY = timedelta(days=1).total_seconds()


def chances(seed: int = 7) -> Callable[[], float]:
    return random.Random(seed).random  # noqa: S311 - repeatable, not secret


@pytest.fixture
def queue(store: Store, own_folder: Path) -> Store:
    """A routed pool: 11 items wait."""
    pooled(store, own_folder)
    route_pool(store, "p", UNCALIBRATED)
    return store


@pytest.fixture
def ana(queue: Store) -> int:
    with queue.write("review start") as tx:
        return assessor_key(tx, AssessorKind.PERSON, "ana")


_keys = itertools.count()


def fetch(desk: Desk, count: int = 1) -> list[Shown]:
    answer = desk.perform(Fetch(count, frozenset()))
    assert isinstance(answer, Fetched)
    return list(answer.items)


def vote(desk: Desk, shown: Shown, level: Level | None = FULLY) -> str:
    key = f"key {next(_keys)}"
    assert desk.perform(Vote(key, shown, level, "", 900)) == Kept(key)
    return key


def begun(store: Store, votes: int = 5, level: Level | None = FULLY) -> tuple[Desk, list[int]]:
    """Vote on some items; give the desk and the items."""
    desk, items = Desk(store, "ana"), []
    for _ in range(votes):
        (shown,) = fetch(desk)
        items.append(shown.claim.item_id)
        vote(desk, shown, level)
    return desk, items


def always_repeating(store: Store) -> Desk:
    return Desk(store, "ana", repeats=1.0, chance=chances())


def test_an_item_comes_back_on_another_day_and_not_before(
    queue: Store, ana: int, clock: Ticking
) -> None:
    _, items = begun(queue)
    assert claim_repeat(queue, ana, chances()) is None
    clock.advance(A_DAY)
    held = claim_repeat(queue, ana, chances())
    assert held is not None
    assert held.purpose is VotePurpose.REPEAT
    assert held.item_id in items


def test_an_item_comes_back_after_so_many_others(queue: Store, ana: int) -> None:
    _, items = begun(queue, votes=5)
    came = {
        None
        if (held := claim_repeat(queue, ana, chances(seed), after_items=3)) is None
        else held.item_id
        for seed in range(12)
    }
    assert came - {None} <= set(items[:2])
    assert came != {None}
    assert claim_repeat(queue, ana, chances(), after_items=5) is None
    assert AFTER_ITEMS == 50


def test_every_vote_is_as_likely_to_come_back(queue: Store, ana: int, clock: Ticking) -> None:
    _, items = begun(queue, votes=4)
    clock.advance(A_DAY)
    counts = dict.fromkeys(items, 0)
    chance = chances()
    for _ in range(80):
        held = claim_repeat(queue, ana, chance)
        assert held is not None
        counts[held.item_id] += 1
        release(queue, ana)
    assert min(counts.values()) > 8


def test_a_repeat_changes_no_label_and_makes_no_dispute(
    queue: Store, ana: int, clock: Ticking
) -> None:
    _, items = begun(queue, votes=3, level=FULLY)
    clock.advance(A_DAY)
    with queue.read() as connection:
        before = labels_in_force(connection, items_of_pool(1))
        digest = projection_digest(connection)
        decisions = connection.execute(sa.select(sa.func.count(table(Decision).c.id))).scalar()
    desk = always_repeating(queue)
    (again,) = fetch(desk)
    assert again.claim.item_id in items
    vote(desk, again, NOT)
    with queue.read() as connection:
        assert labels_in_force(connection, items_of_pool(1)) == before
        assert projection_digest(connection) == digest
        assert connection.execute(sa.select(sa.func.count(table(Decision).c.id))).scalar() == (
            decisions
        )
        occasions = connection.execute(sa.select(table(Judgment).c.occasion)).scalars().all()
        blind = read_blind_judgments(connection, None, None)
    assert sorted(occasions) == [Occasion.FIRST.value] * 3 + [Occasion.REPEAT.value]
    assert len(blind.judgments) == 3
    route_pool(queue, "p", UNCALIBRATED)
    with queue.read() as connection:
        assert labels_in_force(connection, items_of_pool(1)) == before
    assert all(not finding.problems for finding in check(queue))


def test_a_sitting_shows_a_repeat_as_any_other_item(queue: Store, clock: Ticking) -> None:
    begun(queue, votes=3)
    clock.advance(A_DAY)
    desk = always_repeating(queue)
    first = desk.perform(Count())
    (again,) = fetch(desk)
    assert desk.perform(Count()) == Counted(3, 9)
    vote(desk, again, NOT)
    # One more is done, as after any vote: nothing tells that it was none of those that waited.
    assert (first, desk.perform(Count())) == (Counted(3, 8), Counted(4, 8))


def test_what_a_repeat_takes_the_place_of_still_waits(queue: Store, clock: Ticking) -> None:
    begun(queue, votes=2)
    clock.advance(A_DAY)
    desk = always_repeating(queue)
    seen: list[int] = []
    while items := fetch(desk, 2):
        for shown in items:
            seen.append(shown.claim.item_id)
            vote(desk, shown)
    # Both came back once, all 11 were seen, and the queue is empty.
    assert len(seen) == 11
    assert len(set(seen)) == 11
    assert queue_left(queue, 1).waiting == 0


def test_an_item_comes_back_once(queue: Store, ana: int, clock: Ticking) -> None:
    begun(queue, votes=1)
    clock.advance(A_DAY)
    desk = always_repeating(queue)
    (again,) = fetch(desk)
    assert claim_repeat(queue, ana, chances()) is None
    vote(desk, again)
    clock.advance(A_DAY)
    with queue.read() as connection:
        assert len(read_repeats(connection)) == 1
    assert claim_repeat(queue, ana, chances()) is None


def test_a_skipped_repeat_does_not_come_again(queue: Store, ana: int, clock: Ticking) -> None:
    begun(queue, votes=1)
    clock.advance(A_DAY)
    desk = always_repeating(queue)
    (again,) = fetch(desk)
    desk.perform(Skip("skip", again, 500))
    assert claim_repeat(queue, ana, chances()) is None
    with queue.read() as connection:
        assert read_repeats(connection) == ()


def test_a_repeat_is_taken_back_as_any_vote(queue: Store, clock: Ticking) -> None:
    _, (item,) = begun(queue, votes=1)
    clock.advance(A_DAY)
    desk = always_repeating(queue)
    (again,) = fetch(desk)
    key = vote(desk, again, NOT)
    back = desk.perform(Undo("undo", key))
    assert isinstance(back, TakenBack)
    assert back.shown is not None
    assert back.shown.claim.item_id == item
    with queue.read() as connection:
        assert read_repeats(connection) == ()
    vote(desk, back.shown, PARTIALLY)
    with queue.read() as connection:
        (pair,) = read_repeats(connection)
        assert len(labels_in_force(connection, items_of_pool(1))) == 1
    assert pair.first != pair.again


def test_a_skipped_repeat_is_brought_back_as_any_skipped_item(queue: Store, clock: Ticking) -> None:
    begun(queue, votes=1)
    clock.advance(A_DAY)
    desk = always_repeating(queue)
    (again,) = fetch(desk)
    skip = Skip("skip", again, 500)
    desk.perform(skip)
    back = desk.perform(HoldAgain(skip))
    assert isinstance(back, TakenBack)
    assert not back.message
    assert back.shown is not None
    assert back.shown.block == again.block
    vote(desk, back.shown, NOT)
    with queue.read() as connection:
        assert len(read_repeats(connection)) == 1


def test_nobody_else_is_ever_given_a_repeat(queue: Store, ana: int, clock: Ticking) -> None:
    _, (item,) = begun(queue, votes=1)
    clock.advance(A_DAY)
    held = claim_repeat(queue, ana, chances())
    assert held is not None
    bo = Desk(queue, "bo")
    before = queue_left(queue, 2)
    assert before.held == 0
    clock.advance(LEASE.total_seconds() + 60)
    assert item not in [shown.claim.item_id for shown in fetch(bo, 50)]
    place = table(Assignment)
    with queue.read() as connection:
        purposes = set(connection.execute(sa.select(place.c.purpose)).scalars())
    assert VotePurpose.REPEAT.value not in purposes


def test_a_repeat_whose_lease_ended_is_stored_all_the_same_and_nothing_is_said(
    queue: Store, clock: Ticking
) -> None:
    begun(queue, votes=1)
    clock.advance(A_DAY)
    desk = always_repeating(queue)
    (again,) = fetch(desk)
    clock.advance(LEASE.total_seconds() + 60)
    fetch(Desk(queue, "bo"), 50)
    assert desk.perform(Renew((again.claim,))) == Renewed(frozenset())
    vote(desk, again, NOT)
    with queue.read() as connection:
        assert len(read_repeats(connection)) == 1


def test_what_was_revealed_does_not_come_back(queue: Store, ana: int, clock: Ticking) -> None:
    judge(queue, HandJudge())
    desk = Desk(queue, "ana")
    (shown,) = fetch(desk)
    key = vote(desk, shown)
    assert reveal(queue, ana, shown.claim, "look", of=key)
    clock.advance(A_DAY)
    assert claim_repeat(queue, ana, chances()) is None


def test_what_changed_does_not_come_back(
    queue: Store, ana: int, clock: Ticking, own_folder: Path
) -> None:
    begun(queue, votes=1)
    clock.advance(A_DAY)
    rows: list[dict[str, object]] = [
        {"_id": key, "text": f"{text}, please"} for key, text in QUERIES.items()
    ]
    path = write_jsonl(own_folder / "q.jsonl", rows)
    import_queries(queue, [path], QueryOptions(update=True))
    assert claim_repeat(queue, ana, chances()) is None


def test_what_was_taken_back_or_is_not_asked_for_does_not_come_back(
    queue: Store, ana: int, clock: Ticking
) -> None:
    desk, _ = begun(queue, votes=2)
    desk.perform(Undo("undo 1", None))
    desk.perform(Undo("undo 2", None))
    desk.close()
    clock.advance(A_DAY)
    assert claim_repeat(queue, ana, chances()) is None
    (shown,) = fetch(desk)
    vote(desk, shown)
    clock.advance(A_DAY)
    assert claim_repeat(queue, ana, chances(), only=QueueFilter(slices=(("no", "no"),))) is None
    assert claim_repeat(queue, ana, chances(), only=QueueFilter(1)) is not None


def test_the_share_is_that_of_the_settings(queue: Store, clock: Ticking) -> None:
    begun(queue, votes=5)
    clock.advance(A_DAY)
    drawn = iter([0.3, 0.19, 0.0, 0.9])
    desk = Desk(queue, "ana", repeats=0.2, chance=lambda: next(drawn))
    purposes = [shown.claim.purpose for shown in fetch(desk, 3)]
    assert purposes == [VotePurpose.PRIMARY, VotePurpose.REPEAT, VotePurpose.PRIMARY]
    never = Desk(queue, "ana", repeats=0.0, chance=lambda: 0.0)
    assert len(fetch(never, 3)) == 3


def test_the_lead_reads_how_steady_each_reviewer_is(queue: Store, clock: Ticking) -> None:
    for name, second in (("ana", NOT), ("bo", FULLY)):
        desk = Desk(queue, name)
        for _ in range(3):
            (shown,) = fetch(desk)
            vote(desk, shown, FULLY)
        desk.close()
        clock.advance(A_DAY)
        desk = Desk(queue, name, repeats=1.0, chance=chances())
        for level in (FULLY, second, None):
            (again,) = fetch(desk)
            assert again.claim.purpose is VotePurpose.REPEAT
            vote(desk, again, level)
        desk.close()
    with queue.read() as connection:
        ana, bo = read_steadiness(connection)
        assert read_steadiness(connection, pool_id=99) == ()
        assert read_steadiness(connection, pool_id=1) == (ana, bo)
    assert (ana.reviewer, ana.scale, bo.reviewer) == ("ana", NATIVE.name, "bo")
    told = (ana.steadiness.repeated, ana.steadiness.labelled, ana.steadiness.same)
    assert told == (3, 2, 1)
    assert (bo.steadiness.same, bo.steadiness.gave_up_once) == (2, 1)
    assert ana.steadiness.exact.value == pytest.approx(0.5)
    assert timedelta(days=1) <= ana.apart < timedelta(days=1, minutes=5)


def test_the_first_label_is_that_which_stood_when_the_item_came_back(
    queue: Store, clock: Ticking
) -> None:
    desk, _ = begun(queue, votes=1, level=NOT)
    back = desk.perform(Undo("undo", None))
    assert isinstance(back, TakenBack)
    assert back.shown is not None
    vote(desk, back.shown, PARTIALLY)
    clock.advance(A_DAY)
    again_desk = always_repeating(queue)
    (again,) = fetch(again_desk)
    vote(again_desk, again, PARTIALLY)
    with queue.read() as connection:
        (pair,) = read_repeats(connection)
    assert pair.first == pair.again


def test_no_event_is_without_its_purpose(queue: Store, clock: Ticking) -> None:
    begun(queue, votes=1)
    clock.advance(A_DAY)
    desk = always_repeating(queue)
    (again,) = fetch(desk)
    vote(desk, again)
    event = table(ReviewEvent)
    with queue.read() as connection:
        purposes = connection.execute(sa.select(event.c.purpose).order_by(event.c.id)).scalars()
        assert list(purposes) == [VotePurpose.PRIMARY.value, VotePurpose.REPEAT.value]
