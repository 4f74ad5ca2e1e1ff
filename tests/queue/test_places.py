"""Leases that ended: a vote is kept, and counts where there is room for it."""

from __future__ import annotations

import io
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from labeler.calibration.policies import Policy
from labeler.cli.review_lines import review_lines
from labeler.labels import NATIVE
from labeler.queue.claims import LEASE, Claim, claim, renew
from labeler.queue.places import Place, choose_place
from labeler.queue.route import route_pool
from labeler.queue.sitting.session import ReviewSession
from labeler.queue.votes import Saved
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.queue import Assignment, AssignmentState, EventKind, ReviewEvent, VotePurpose
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from labeler.store.projections import judgments_in_force
from labeler.store.registry import assessor_key
from tests.conftest import Ticking
from tests.small import pooled

FULLY, PARTIALLY, NOT = NATIVE.levels
NOW = datetime(2026, 7, 1, tzinfo=UTC)
ANA, BO, CY = 1, 2, 3
WAITING, HELD, DONE = AssignmentState
PRIMARY, OVERLAP = VotePurpose.PRIMARY, VotePurpose.OVERLAP
AFTER_LEASE = (LEASE + timedelta(minutes=1)).total_seconds()


def slot(
    key: int,
    state: AssignmentState,
    holder: int | None = None,
    purpose: VotePurpose = PRIMARY,
    *,
    ended: bool = False,
) -> Place:
    until = NOW + timedelta(minutes=-1 if ended else 5) if state is HELD else None
    return Place(key, purpose, state, holder, until)


def chosen(*places: Place, purpose: VotePurpose = PRIMARY, has_voted: bool = False) -> int | None:
    """Give the place that ana's vote on her claim of place 1 takes."""
    found = choose_place(places, Claim(1, 7, 8, purpose), ANA, now=NOW, has_voted=has_voted)
    return None if found is None else found.key


def test_a_held_place_is_taken() -> None:
    assert chosen(slot(1, HELD, ANA)) == 1


def test_a_lease_that_ended_costs_nothing_while_the_place_is_there() -> None:
    assert chosen(slot(1, WAITING)) == 1
    assert chosen(slot(1, HELD, BO)) == 1


def test_another_free_place_comes_before_one_that_somebody_else_holds() -> None:
    assert chosen(slot(1, HELD, BO), slot(2, WAITING, purpose=OVERLAP)) == 2
    assert chosen(slot(1, HELD, BO), slot(2, HELD, ANA, OVERLAP)) == 2
    assert chosen(slot(1, DONE, BO), slot(2, WAITING, purpose=OVERLAP)) == 2
    assert chosen(slot(2, WAITING, purpose=OVERLAP)) == 2


def test_where_all_places_are_done_or_held_by_others_there_is_no_room() -> None:
    assert chosen(slot(1, DONE, BO)) is None
    assert chosen() is None
    assert chosen(slot(1, DONE, BO), slot(2, HELD, CY, OVERLAP)) is None
    assert chosen(slot(1, DONE, BO), slot(2, HELD, CY, OVERLAP, ended=True)) == 2


def test_nobody_counts_twice() -> None:
    assert chosen(slot(1, HELD, ANA), has_voted=True) is None
    assert chosen(slot(1, WAITING), slot(2, WAITING, purpose=OVERLAP), has_voted=True) is None


def test_who_settles_a_dispute_takes_no_other_vote_s_place() -> None:
    settles = VotePurpose.ADJUDICATION
    assert chosen(slot(1, DONE, BO, settles), slot(2, WAITING), purpose=settles) is None
    assert chosen(slot(1, HELD, ANA, settles), purpose=settles, has_voted=True) == 1
    assert chosen(slot(1, DONE, BO), slot(2, WAITING, purpose=settles)) is None


def test_a_hidden_repeat_is_no_place_for_a_vote() -> None:
    assert chosen(slot(1, DONE, BO), slot(2, HELD, ANA, VotePurpose.REPEAT)) is None


places = st.builds(
    Place,
    key=st.integers(1, 9),
    purpose=st.sampled_from(VotePurpose),
    state=st.sampled_from(AssignmentState),
    holder=st.sampled_from([ANA, BO, CY]),
    until=st.sampled_from([NOW - timedelta(minutes=1), NOW + timedelta(minutes=1)]),
)


@given(given_places=st.lists(places, unique_by=lambda place: place.key), voted=st.booleans())
def test_no_place_is_taken_from_who_has_a_right_to_it(
    given_places: list[Place], voted: bool
) -> None:
    found = choose_place(given_places, Claim(1, 7, 8, PRIMARY), ANA, now=NOW, has_voted=voted)
    free = [
        one
        for one in given_places
        if one.purpose in {PRIMARY, OVERLAP, VotePurpose.AUDIT}
        and (one.state is WAITING or (one.state is HELD and one.holder == ANA))
    ]
    if voted:
        assert found is None
    elif free:
        assert found in free
    elif found is not None:
        assert found.state is HELD
        assert found.key == 1 or (found.until is not None and found.until < NOW)


@pytest.fixture
def queue(store: Store, own_folder: Path) -> Store:
    """A routed pool of which each item wants two votes."""
    pooled(store, own_folder)
    route_pool(store, "p", Policy("two", 0.95, overlap=2))
    return store


def counting(store: Store) -> list[tuple[int, int]]:
    """Give who has a vote in force on which item."""
    judgment = table(Judgment)
    with store.read() as connection:
        statement = sa.select(judgment.c.item_id, judgment.c.assessor_id)
        rows = connection.execute(statement.where(judgments_in_force())).all()
    return sorted((row.item_id, row.assessor_id) for row in rows)


def slots(store: Store, item: int) -> list[tuple[str, str, int | None]]:
    place = table(Assignment)
    with store.read() as connection:
        statement = sa.select(place.c.purpose, place.c.state, place.c.assessor_id)
        rows = connection.execute(statement.where(place.c.item_id == item).order_by(place.c.slot))
        return [tuple(row) for row in rows]


def test_two_who_read_the_same_item_both_count_where_two_are_wanted(
    queue: Store, clock: Ticking
) -> None:
    ana = ReviewSession(queue, "ana")
    shown = ana.current
    assert shown is not None
    clock.advance(AFTER_LEASE)
    bo = ReviewSession(queue, "bo")
    assert bo.current is not None
    assert bo.current.claim == shown.claim
    assert ana.vote(FULLY) is Saved.COUNTED
    assert bo.vote(FULLY) is Saved.COUNTED
    assert counting(queue) == [(shown.claim.item_id, 1), (shown.claim.item_id, 2)]
    assert {state for _, state, _ in slots(queue, shown.claim.item_id)} == {DONE.value}


def test_a_second_vote_that_comes_first_leaves_the_first_one_wanted(
    queue: Store, clock: Ticking
) -> None:
    ana = ReviewSession(queue, "ana")
    shown = ana.current
    assert shown is not None
    bo = ReviewSession(queue, "bo")
    while bo.current is not None and bo.current.claim.item_id != shown.claim.item_id:
        bo.skip()
    assert bo.current is not None
    assert bo.current.claim.purpose is OVERLAP
    clock.advance(LEASE.total_seconds() / 2)
    cy = ReviewSession(queue, "cy", with_skipped=True)
    clock.advance(LEASE.total_seconds() / 2 + 60)
    # Whoever asks next sends back what ana's lease had held.
    assert cy.current is not None
    cy.close()
    assert bo.vote(FULLY) is Saved.COUNTED
    assert [row[:2] for row in slots(queue, shown.claim.item_id)] == [
        (PRIMARY.value, WAITING.value),
        (OVERLAP.value, DONE.value),
    ]
    route_pool(queue, "p", Policy("two", 0.95, overlap=2))
    assert slots(queue, shown.claim.item_id)[0][:2] == (PRIMARY.value, WAITING.value)
    assert ana.vote(FULLY) is Saved.COUNTED
    assert len(counting(queue)) == 2


def test_one_person_who_is_shown_an_item_twice_counts_once(queue: Store, clock: Ticking) -> None:
    """The lease of the first place went to somebody else, and the second place came to her."""
    ana, bo = ReviewSession(queue, "ana"), ReviewSession(queue, "bo")
    first = ana.current
    assert first is not None
    clock.advance(AFTER_LEASE)
    assert bo.current is not None
    assert bo.current.claim == first.claim
    with queue.write("review start") as tx:
        key = assessor_key(tx, AssessorKind.PERSON, "ana")
    again = next(one for one in claim(queue, key, 50) if one.item_id == first.claim.item_id)
    assert again.purpose is OVERLAP
    assert ana.vote(NOT) is Saved.COUNTED
    # Her vote took the place that she held, so that bo's still counts, and nothing stays held.
    assert [row[1:] for row in slots(queue, first.claim.item_id)] == [
        (HELD.value, 2),
        (DONE.value, 1),
    ]
    assert bo.vote(NOT) is Saved.COUNTED
    assert len(counting(queue)) == 2


def test_who_sits_in_two_windows_is_told_that_the_second_vote_may_be_their_own(
    queue: Store,
) -> None:
    one = ReviewSession(queue, "ana")
    assert one.current is not None
    other = ReviewSession(queue, "ana")
    assert other.current is not None
    assert one.current.claim.item_id == other.current.claim.item_id
    assert one.vote(NOT) is Saved.COUNTED
    told = io.StringIO()
    review_lines(other, io.StringIO("3\nq\n"), told)
    assert "fully_relevant: kept as extra, it doesn't count" in told.getvalue()
    assert "you elsewhere" in told.getvalue()
    assert len(counting(queue)) == 1


def test_an_extra_vote_is_on_record_and_counts_for_nothing(queue: Store, clock: Ticking) -> None:
    ana = ReviewSession(queue, "ana")
    shown = ana.current
    assert shown is not None
    clock.advance(AFTER_LEASE)
    for name in ("bo", "cy"):
        other = ReviewSession(queue, name)
        while other.current is not None and other.current.claim.item_id != shown.claim.item_id:
            other.skip()
        other.vote(NOT)
        other.close()
    assert ana.vote(FULLY) is Saved.EXTRA
    assert "it doesn't count: others, or you elsewhere, voted meanwhile" in ana.notice
    assert counting(queue) == [(shown.claim.item_id, 2), (shown.claim.item_id, 3)]
    event = table(ReviewEvent)
    with queue.read() as connection:
        kinds = connection.execute(sa.select(event.c.kind, event.c.assessor_id)).all()
    assert Counter(tuple(row) for row in kinds)[EventKind.VOTE.value, 1] == 1


def test_a_skip_after_the_lease_leaves_the_item_with_who_has_it(
    queue: Store, clock: Ticking
) -> None:
    ana = ReviewSession(queue, "ana")
    shown = ana.current
    assert shown is not None
    clock.advance(AFTER_LEASE)
    bo = ReviewSession(queue, "bo")
    assert bo.current is not None
    ana.skip()
    assert slots(queue, shown.claim.item_id)[0] == (PRIMARY.value, HELD.value, 2)


def test_renewing_tells_what_is_lost_and_takes_back_what_nobody_has(
    queue: Store, clock: Ticking
) -> None:
    with queue.write("review start") as tx:
        ana, bo = (assessor_key(tx, AssessorKind.PERSON, name) for name in ("ana", "bo"))
    held = claim(queue, ana, 3)
    clock.advance(AFTER_LEASE)
    (taken,) = claim(queue, bo, 1)
    assert taken == held[0]
    with queue.work() as connection:
        lost = renew(connection, held, ana, clock() + LEASE)
    assert lost == {held[0].assignment_id}
    assert [one.item_id for one in claim(queue, bo, 3)] != [one.item_id for one in held[1:]]
    place = table(Assignment)
    with queue.read() as connection:
        keys = sa.select(place.c.id).where(place.c.assessor_id == ana, place.c.state == HELD.value)
        assert set(connection.execute(keys).scalars()) == {one.assignment_id for one in held[1:]}


def test_activity_holds_an_item_for_as_long_as_it_goes_on(queue: Store, clock: Ticking) -> None:
    with queue.write("review start") as tx:
        ana, bo = (assessor_key(tx, AssessorKind.PERSON, name) for name in ("ana", "bo"))
    (held,) = claim(queue, ana, 1)
    for _ in range(5):
        clock.advance(timedelta(minutes=9).total_seconds())
        with queue.work() as connection:
            assert renew(connection, [held], ana, clock() + LEASE) == set()
        assert held.assignment_id not in {one.assignment_id for one in claim(queue, bo, 100)}
        with queue.work() as connection:
            connection.execute(
                sa.update(table(Assignment))
                .where(table(Assignment).c.assessor_id == bo)
                .values(state=WAITING.value, assessor_id=None)
            )
    clock.advance(AFTER_LEASE)
    assert held.assignment_id in {one.assignment_id for one in claim(queue, bo, 100)}
