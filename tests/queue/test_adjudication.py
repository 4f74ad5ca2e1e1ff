"""Disputes: who may settle one, what is shown when, and the three ends that one comes to."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.blind_judgments import read_blind_judgments
from labeler.calibration.policies import UNCALIBRATED
from labeler.errors import ConflictError
from labeler.imports.queries import QueryOptions, import_queries
from labeler.labels import Grade, Level
from labeler.queue.adjudication import (
    decide,
    mark_rubric_unclear,
    send_back,
    take_back_decision,
)
from labeler.queue.claims import LEASE
from labeler.queue.comparison import Comparison, _Said, lettered
from labeler.queue.dispute_access import hold_dispute, look
from labeler.queue.disputes import DisputedItem, DisputeState, list_disputes
from labeler.queue.route import route_pool
from labeler.queue.sitting.session import ReviewSession
from labeler.records import table
from labeler.records.judgments import Basis
from labeler.records.queue import Assignment
from labeler.reports.answers import answers_of_people, levels_by_key
from labeler.store.database import Store
from labeler.store.maintenance import check
from labeler.store.projections import projection_digest, rebuild
from tests.conftest import Ticking
from tests.disputed import (
    FULLY,
    NOT,
    NOTE,
    PARTIALLY,
    QUOTE,
    REASON,
    blind_vote,
    disputed_project,
    events_of,
    key,
    label_of,
    person,
)
from tests.small import QUERIES, write_jsonl


@pytest.fixture
def item(store: Store, own_folder: Path) -> int:
    """The one item that ana and bo contradict each other on."""
    return disputed_project(store, own_folder)[0]


def disputes(store: Store, name: str) -> tuple[DisputedItem, ...]:
    who = person(store, name)
    with store.read() as connection:
        return list_disputes(connection, who, now=store.clock())


def states(store: Store, name: str) -> list[DisputeState]:
    return [one.state for one in disputes(store, name)]


def compared(store: Store, item_id: int, level: Level | None = FULLY) -> tuple[int, Comparison]:
    lead = blind_vote(store, "lea", item_id, level)
    return lead, look(store, lead, item_id, key())


def sound(store: Store) -> None:
    """Check that the log and what is derived from it agree."""
    with store.read() as connection:
        now = projection_digest(connection)
    assert rebuild(store) == (now, now)
    assert [found for found in check(store) if found.problems] == []


def people_say(store: Store, item_id: int) -> str:
    """Tell what agreement takes people to say of an item: by blind votes alone."""
    with store.read() as connection:
        levels = levels_by_key(connection)
        read = read_blind_judgments(connection, None, None)
        said = answers_of_people(connection, read, levels)[0].of[item_id]
    return levels[said][1].name if said > 0 else "no label"


def wanted(store: Store, item_id: int) -> list[tuple[str, str]]:
    slot = table(Assignment)
    statement = (
        sa.select(slot.c.purpose, slot.c.state).where(slot.c.item_id == item_id).order_by(slot.c.id)
    )
    with store.read() as connection:
        return [(str(purpose), str(state)) for purpose, state in connection.execute(statement)]


def test_a_list_shows_nobodys_label(store: Store, item: int) -> None:
    (one,) = disputes(store, "lea")
    assert (one.item_id, one.state, one.votes, one.is_own) == (item, DisputeState.OPEN, 2, False)
    assert one.since is not None
    assert one.query in QUERIES.values()
    assert not {"level", "label", "grade", "reviewer"} & set(DisputedItem.__slots__)
    assert [one.is_own for one in disputes(store, "ana")] == [True]


def test_blind_vote_then_look_then_decision(store: Store, item: int) -> None:
    lead = blind_vote(store, "lea", item, FULLY)
    assert states(store, "lea") == [DisputeState.TO_COMPARE]
    assert states(store, "cy") == []
    comparison = look(store, lead, item, key())
    decide(store, lead, comparison, PARTIALLY, key())
    label = label_of(store, item)
    assert label is not None
    assert (label.grade, label.basis) == (Grade.PARTIALLY_RELEVANT, Basis.ADJUDICATION)
    assert events_of(store, lead) == [
        ("vote", "adjudication"),
        ("reveal", None),
        ("vote", "adjudication"),
    ]
    assert disputes(store, "lea") == ()
    assert people_say(store, item) == "fully_relevant"
    assert set(wanted(store, item)) == {
        ("primary", "done"),
        ("overlap", "done"),
        ("adjudication", "done"),
    }
    sound(store)


def test_the_blind_vote_settles_until_somebody_decides(store: Store, item: int) -> None:
    blind_vote(store, "lea", item, NOT)
    label = label_of(store, item)
    assert label is not None
    assert (label.grade, label.basis) == (Grade.NOT_RELEVANT, Basis.ADJUDICATION)


def test_what_is_shown_has_letters_and_no_names(store: Store, item: int) -> None:
    _, comparison = compared(store, item)
    assert comparison.own is not None
    assert comparison.own.level is not None
    assert comparison.own.level.name == FULLY.name
    assert [one.letter for one in comparison.others] == ["A", "B", "C"]
    by_level = {one.level.name: one for one in comparison.others if one.level}
    assert by_level["partially_relevant"].quote == QUOTE
    assert by_level["partially_relevant"].said == (REASON,)
    assert by_level["not_relevant"].said == (NOTE,)
    assert by_level["fully_relevant"].said == ()
    assert not {"ana", "bo", "oracle"} & set(repr(comparison.others).split("'"))


def test_the_letters_stay_and_tell_nothing(store: Store, item: int) -> None:
    lead, first = compared(store, item)
    assert look(store, lead, item, key()).others == first.others
    judgments = [_Said(number, None, "", (str(number),)) for number in range(3)]
    orders = [
        tuple(one.said[0] for one in lettered(judgments, seed=str(seed))) for seed in range(3000)
    ]
    counts = {order: orders.count(order) for order in set(orders)}
    # Six orders, each 500 times give or take five standard deviations.
    assert len(counts) == 6
    assert all(400 < count < 600 for count in counts.values())


def test_nobody_looks_before_a_blind_vote(store: Store, item: int) -> None:
    lead = person(store, "lea")
    with pytest.raises(ConflictError, match="before a blind vote"):
        look(store, lead, item, key())
    assert events_of(store, lead) == []


@pytest.mark.parametrize("name", ["ana", "bo"])
def test_an_own_dispute_is_refused_unless_forced(store: Store, item: int, name: str) -> None:
    who = person(store, name)
    with pytest.raises(ConflictError, match="part of this dispute"):
        hold_dispute(store, who, item)
    with pytest.raises(ConflictError, match="part of this dispute"):
        look(store, who, item, key())
    assert hold_dispute(store, who, item, force=True) is None
    comparison = look(store, who, item, key(), force=True)
    assert comparison.own is not None
    assert len(comparison.others) == 2
    decide(store, who, comparison, PARTIALLY, key())
    label = label_of(store, item)
    assert label is not None
    assert (label.grade, label.basis) == (Grade.PARTIALLY_RELEVANT, Basis.ADJUDICATION)
    # Agreement keeps to what both said blind, so they still contradict each other there.
    assert people_say(store, item) == "no label"
    sound(store)


def test_sent_back_asks_for_another_vote_first(store: Store, item: int) -> None:
    lead, comparison = compared(store, item)
    sent = key()
    send_back(store, lead, comparison, sent)
    send_back(store, lead, comparison, sent)
    assert label_of(store, item) is None or label_of(store, item).basis is not Basis.ADJUDICATION  # type: ignore[union-attr]
    assert states(store, "lea") == [DisputeState.ANOTHER_VOTE]
    assert people_say(store, item) == "fully_relevant"
    assert [one for one in wanted(store, item) if one[1] == "waiting"] == [
        ("overlap", "waiting"),
        ("adjudication", "waiting"),
    ]
    session = ReviewSession(store, "cy")
    while session.current is not None and session.current.claim.item_id != item:
        session.skip()
    assert session.current is not None
    assert session.current.claim.purpose.value == "overlap"
    session.vote(NOT)
    session.close()
    # Who sent it back compares again, with one more judgment, and votes blind no second time.
    assert hold_dispute(store, lead, item) is None
    again = look(store, lead, item, key())
    assert len(again.others) == 4
    assert again.own is not None
    assert again.own.level is not None
    assert again.own.level.name == FULLY.name
    decide(store, lead, again, NOT, key())
    label = label_of(store, item)
    assert label is not None
    assert (label.grade, label.basis) == (Grade.NOT_RELEVANT, Basis.ADJUDICATION)
    sound(store)


def test_who_sent_it_back_gets_it_in_no_sitting(store: Store, item: int) -> None:
    lead, comparison = compared(store, item)
    send_back(store, lead, comparison, key())
    session = ReviewSession(store, "lea", with_skipped=True)
    while session.current is not None:
        assert session.current.claim.item_id != item
        session.vote(NOT)


def test_an_unclear_rubric_leaves_it_open_and_asks_nobody(store: Store, item: int) -> None:
    lead, comparison = compared(store, item)
    mark_rubric_unclear(store, lead, comparison, "when is a rule partly met?", key())
    assert states(store, "lea") == [DisputeState.RUBRIC_UNCLEAR]
    assert all(state == "done" for _, state in wanted(store, item))
    route_pool(store, "p", UNCALIBRATED)
    assert all(state == "done" for _, state in wanted(store, item))
    sound(store)
    again = look(store, lead, item, key())
    decide(store, lead, again, FULLY, key())
    label = label_of(store, item)
    assert label is not None
    assert label.basis is Basis.ADJUDICATION


def test_a_decision_is_taken_back_and_given_again(store: Store, item: int) -> None:
    lead, comparison = compared(store, item)
    decision, undo = key(), key()
    decide(store, lead, comparison, NOT, decision)
    decide(store, lead, comparison, FULLY, decision)
    label = label_of(store, item)
    assert label is not None
    assert label.grade is Grade.NOT_RELEVANT, "an event that is known changes nothing"
    take_back_decision(store, lead, comparison, decision, undo)
    take_back_decision(store, lead, comparison, decision, undo)
    assert states(store, "lea") == [DisputeState.OPEN]
    with pytest.raises(ConflictError, match="no longer in force"):
        take_back_decision(store, lead, comparison, decision, key())
    decide(store, lead, look(store, lead, item, key()), FULLY, key())
    label = label_of(store, item)
    assert label is not None
    assert label.grade is Grade.FULLY_RELEVANT
    assert people_say(store, item) == "fully_relevant"
    sound(store)


def test_undo_in_a_sitting_takes_the_decision_back_too(store: Store, item: int) -> None:
    lead, comparison = compared(store, item)
    decide(store, lead, comparison, NOT, key())
    desk = ReviewSession(store, "lea")
    assert desk.undo()
    assert states(store, "lea") == [DisputeState.OPEN]
    desk.close()
    sound(store)


def test_who_cannot_judge_it_leaves_it_open_and_may_still_decide(store: Store, item: int) -> None:
    lead, comparison = compared(store, item, None)
    assert comparison.own is not None
    assert comparison.own.level is None
    assert states(store, "lea") == [DisputeState.OPEN]
    decide(store, lead, comparison, PARTIALLY, key())
    label = label_of(store, item)
    assert label is not None
    assert label.basis is Basis.ADJUDICATION


def test_an_item_that_somebody_holds_is_left_to_them(
    store: Store, item: int, clock: Ticking
) -> None:
    cy = person(store, "cy")
    assert hold_dispute(store, cy, item) is not None
    assert states(store, "lea") == [DisputeState.HELD]
    lead = person(store, "lea")
    with pytest.raises(ConflictError, match="until 12:1"):
        hold_dispute(store, lead, item)
    clock.advance((LEASE + timedelta(minutes=1)).total_seconds())
    assert hold_dispute(store, lead, item) is not None


def test_what_somebody_else_settled_meanwhile_is_refused(store: Store, item: int) -> None:
    lead, comparison = compared(store, item, None)
    blind_vote(store, "cy", item, NOT)
    with pytest.raises(ConflictError, match="somebody else settled"):
        decide(store, lead, comparison, FULLY, key())
    with pytest.raises(ConflictError, match="somebody else settled"):
        send_back(store, lead, comparison, key())
    dan = person(store, "dan")
    with pytest.raises(ConflictError, match="somebody else settled"):
        hold_dispute(store, dan, item)


def test_what_changed_meanwhile_is_not_decided(store: Store, item: int, own_folder: Path) -> None:
    lead, comparison = compared(store, item)
    name = next(name for name, text in QUERIES.items() if text == comparison.block.query.text)
    changed: list[dict[str, object]] = [{"_id": name, "text": "something else"}]
    import_queries(store, [write_jsonl(own_folder / "q.jsonl", changed)], QueryOptions(update=True))
    with pytest.raises(ConflictError, match="changed while it was on the screen"):
        decide(store, lead, comparison, NOT, key())
    decide(store, lead, look(store, lead, item, key()), NOT, key())


def test_an_item_without_a_dispute_is_refused(store: Store, item: int) -> None:
    with store.read() as connection:
        others = sa.select(table(Assignment).c.item_id).where(table(Assignment).c.item_id != item)
        other = int(connection.execute(others.limit(1)).scalar_one())
    lead = person(store, "lea")
    with pytest.raises(ConflictError, match="no longer disputed"):
        hold_dispute(store, lead, other)


def test_a_pool_keeps_to_its_items(store: Store, item: int) -> None:
    who = person(store, "lea")
    with store.read() as connection:
        assert list_disputes(connection, who, now=store.clock(), pool_id=2) == ()
        assert len(list_disputes(connection, who, now=store.clock(), pool_id=1)) == 1
        assert len(list_disputes(connection, None, now=store.clock())) == 1
