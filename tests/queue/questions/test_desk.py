"""Decisions on generated questions in the database: each once, by whom, and taken back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.question_events import question_verdicts
from labeler.assessment.questions import WaitingQuestion
from labeler.queue.questions.desk import QuestionDesk
from labeler.queue.questions.orders import (
    Brought,
    Decide,
    Decided,
    DraftKept,
    KeepDraft,
    More,
    TakeBack,
    TakenBack,
    TurnedDown,
)
from labeler.queue.sitting.journal import Journal, journal_line
from labeler.queue.sitting.replay import replay_journals
from labeler.records import table
from labeler.records.questions import QuestionEvent, QuestionEventKind
from labeler.store.database import Store
from labeler.store.journals import journal_places
from tests.generated import LEAVE, add_questions

ACCEPT, EDIT = QuestionEventKind.ACCEPT, QuestionEventKind.EDIT
REJECT, SKIP = QuestionEventKind.REJECT, QuestionEventKind.SKIP


@pytest.fixture
def keys(store: Store, own_folder: Path) -> list[int]:
    return add_questions(store, own_folder, LEAVE)


def brought(desk: QuestionDesk, count: int = 9) -> tuple[WaitingQuestion, ...]:
    answer = desk.perform(More(count, frozenset()))
    assert isinstance(answer, Brought)
    return answer.questions


def kinds(store: Store) -> list[str]:
    event = table(QuestionEvent)
    with store.read() as connection:
        rows = connection.execute(sa.select(event.c.kind).order_by(event.c.id))
        return [str(kind) for (kind,) in rows]


def test_each_reviewer_has_an_order_of_their_own_over_the_same_questions(
    store: Store, keys: list[int]
) -> None:
    orders = {
        tuple(one.question_id for one in brought(QuestionDesk(store, name)))
        for name in ("ana", "ben", "cem", "dora", "emil")
    }
    assert len(orders) > 1
    assert {frozenset(order) for order in orders} == {frozenset(keys)}


def test_what_is_decided_is_in_force_and_not_brought_again(store: Store, keys: list[int]) -> None:
    desk = QuestionDesk(store, "ana")
    accepted, edited, rejected, skipped = brought(desk)
    for order in (
        Decide("k1", accepted, ACCEPT, dwell_ms=900),
        Decide("k2", edited, EDIT, "In other words?"),
        Decide("k3", rejected, REJECT, note="nobody would ask this"),
        Decide("k4", skipped, SKIP),
    ):
        assert desk.perform(order) == Decided(order.key)
    assert brought(desk) == ()
    assert [one.question_id for one in brought(QuestionDesk(store, "ben"))] == [skipped.question_id]
    with store.read() as connection:
        verdicts = question_verdicts(connection, keys)
    assert verdicts[edited.question_id].text == "In other words?"
    assert verdicts[rejected.question_id].note == "nobody would ask this"
    assert {one.kind for one in verdicts.values()} == {ACCEPT, EDIT, REJECT}


def test_the_same_event_counts_once(store: Store, keys: list[int]) -> None:
    desk = QuestionDesk(store, "ana")
    first = brought(desk)[0]
    for _ in range(2):
        assert desk.perform(Decide("k", first, ACCEPT)) == Decided("k")
        assert isinstance(desk.perform(TakeBack("u", "k")), TakenBack)
    assert kinds(store) == ["accept", "undo"]


def test_a_second_decision_is_kept_and_told_as_late(store: Store, keys: list[int]) -> None:
    ana, ben = QuestionDesk(store, "ana"), QuestionDesk(store, "ben")
    first = brought(ana)[0]
    assert ana.perform(Decide("a", first, ACCEPT)) == Decided("a")
    assert ben.perform(Decide("b", first, REJECT, note="no")) == Decided("b", is_late=True)
    with store.read() as connection:
        assert question_verdicts(connection, [first.question_id])[first.question_id].kind is ACCEPT


def test_undo_goes_back_step_by_step_across_sittings_and_leaves_others_alone(
    store: Store, keys: list[int]
) -> None:
    desk, ben = QuestionDesk(store, "ana"), QuestionDesk(store, "ben")
    one, two, three, _ = brought(desk)
    desk.perform(Decide("k1", one, ACCEPT))
    desk.perform(Decide("k2", two, SKIP))
    ben.perform(Decide("b", three, ACCEPT))
    later = QuestionDesk(store, "ana")
    assert later.perform(TakeBack("u1")) == TakenBack("u1", "k2", two)
    assert later.perform(TakeBack("u2")) == TakenBack("u2", "k1", one)
    nothing = later.perform(TakeBack("u3"))
    assert isinstance(nothing, TakenBack)
    assert nothing.question is None
    assert nothing.message
    assert {question.question_id for question in brought(later)} == set(keys) - {three.question_id}


def test_an_edit_without_a_change_is_turned_down(store: Store, keys: list[int]) -> None:
    desk = QuestionDesk(store, "ana")
    first = brought(desk)[0]
    answer = desk.perform(Decide("k", first, EDIT, first.text))
    assert isinstance(answer, TurnedDown)
    assert answer.again == first
    assert kinds(store) == []


def test_only_what_is_asked_for_is_brought(store: Store, keys: list[int]) -> None:
    assert brought(QuestionDesk(store, "ana", domain="it")) == ()
    assert len(brought(QuestionDesk(store, "ana", domain="hr", language="en"))) == len(keys)


def test_a_reviewer_is_shown_nothing_of_the_generator(store: Store, keys: list[int]) -> None:
    assert "secret-generator" not in repr(brought(QuestionDesk(store, "ana")))


def left_behind(store: Store, lines: Callable[[], list[str]]) -> Path:
    """Leave a journal as a process does that was killed."""
    path = journal_places(store.location)[0].new_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")
    return path


def test_events_of_a_journal_are_stored_at_the_next_start_each_once(
    store: Store, keys: list[int]
) -> None:
    desk = QuestionDesk(store, "ana")
    one, two, three, _ = brought(desk)
    orders = (
        Decide("k1", one, EDIT, "In other words?", dwell_ms=1200),
        Decide("k2", two, REJECT, note="wrong evidence"),
        TakeBack("u", "k2"),
        Decide("k3", three, ACCEPT),
    )
    at = store.clock()
    path = left_behind(store, lambda: [journal_line(order, "ana", at) for order in orders])
    assert desk.perform(orders[0]) == Decided("k1")  # this one had reached the database
    replayed = replay_journals(store)
    assert replayed.problems == ()
    assert (replayed.stored, replayed.known) == (3, 1)
    assert kinds(store) == ["edit", "reject", "undo", "accept"]
    assert not path.exists()
    with store.read() as connection:
        event = table(QuestionEvent)
        when = sa.select(event.c.at).where(event.c.event_key == "k3")
        assert connection.execute(when).scalar_one() == at


def test_a_question_that_is_not_what_was_shown_is_not_replayed(
    store: Store, keys: list[int]
) -> None:
    first = brought(QuestionDesk(store, "ana"))[0]
    line = journal_line(Decide("k", first, ACCEPT), "ana", store.clock())
    left_behind(store, lambda: [line.replace(first.digest, "0" * 64)])
    replayed = replay_journals(store)
    assert len(replayed.problems) == 1
    assert "isn't what was shown" in replayed.problems[0]
    assert kinds(store) == []


def test_a_journal_keeps_what_the_database_does_not_take(store: Store, keys: list[int]) -> None:
    first = brought(QuestionDesk(store, "ana"))[0]
    journal = Journal(journal_places(store.location), "ana", store.clock)
    order = Decide("k", first, ACCEPT)
    journal.expect(order)
    journal.expect(More(1, frozenset()))
    assert journal.flush() == 0
    assert journal.kept == 1
    journal.settled(order)
    journal.close()
    assert journal.path is None


def test_a_draft_outlives_the_process_and_is_forgotten_once_the_question_is_decided(
    store: Store, keys: list[int]
) -> None:
    desk = QuestionDesk(store, "ana")
    first, second, *_ = brought(desk)
    assert desk.perform(KeepDraft(first, "not done")) == DraftKept()
    assert desk.perform(KeepDraft(second, "nor this")) == DraftKept()
    assert desk.perform(KeepDraft(second, "")) == DraftKept()
    # No word of its end: another process comes after one that was killed.
    for name, expected in (("ana", {first.question_id: "not done"}), ("bo", {})):
        answer = QuestionDesk(store, name).perform(More(9, frozenset()))
        assert isinstance(answer, Brought)
        assert answer.drafts == expected
    again = QuestionDesk(store, "ana")
    again.perform(Decide("key", first, EDIT, text="Done at last?"))
    again.perform(TakeBack("undo", "key"))
    answer = QuestionDesk(store, "ana").perform(More(9, frozenset()))
    assert isinstance(answer, Brought)
    assert answer.drafts == {}
    left = [path for place in journal_places(store.location) for path in _drafts(place.folder)]
    assert left == []


def _drafts(folder: Path) -> list[Path]:
    return list(folder.glob("*drafts-*")) if folder.is_dir() else []


def test_a_file_of_drafts_that_is_no_such_file_holds_none(store: Store, keys: list[int]) -> None:
    desk = QuestionDesk(store, "ana")
    (first, *_) = brought(desk)
    desk.perform(KeepDraft(first, "not done"))
    (path,) = [path for place in journal_places(store.location) for path in _drafts(place.folder)]
    for content in (b"", b"[1]", b'{"a": 1}', b"\xff{"):
        path.write_bytes(content)
        answer = QuestionDesk(store, "ana").perform(More(9, frozenset()))
        assert isinstance(answer, Brought)
        assert answer.drafts == {}
