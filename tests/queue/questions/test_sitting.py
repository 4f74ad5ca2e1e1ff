"""The sitting over generated questions, without a database: what counts, and what is ordered."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from labeler.assessment.questions import ShownSource, WaitingQuestion
from labeler.queue.questions.orders import (
    OTHER,
    REJECT_REASONS,
    Brought,
    Decide,
    Decided,
    DraftKept,
    KeepDraft,
    More,
    QuestionOrder,
    TakeBack,
    TakenBack,
    TurnedDown,
)
from labeler.queue.questions.sitting import QuestionSitting
from labeler.queue.questions.tally import QuestionPhase
from labeler.queue.sitting.gate import MIN_SHOWN, Press
from labeler.records.questions import QuestionEventKind, QuestionKind


def question(number: int) -> WaitingQuestion:
    source = ShownSource(None, f"passage {number}", None)
    return WaitingQuestion(
        number, f"question {number}?", QuestionKind.FACTUAL, None, None, None, None, {}, (source,)
    )


@dataclass
class Sitter:
    """A reviewer at a sitting, with a database that has some questions."""

    sitting: QuestionSitting
    waiting: list[WaitingQuestion] = field(default_factory=lambda: [question(n) for n in range(9)])
    now: float = 100.0
    done: list[QuestionOrder] = field(default_factory=list)

    def work(self) -> None:
        """Do all orders."""
        while orders := self.sitting.take_orders():
            self.done += orders
            for order in orders:
                if isinstance(order, More):
                    fresh = [one for one in self.waiting if one.question_id not in order.there]
                    found = tuple(fresh[: order.count])
                    self.sitting.answered(Brought(found, len(self.waiting)))
                elif isinstance(order, Decide):
                    self.waiting = [one for one in self.waiting if one != order.question]
                    self.sitting.answered(Decided(order.key))
                elif isinstance(order, TakeBack):
                    self.take_back(order)
        if self.sitting.current is not None:
            self.sitting.painted(self.sitting.current, self.now)

    def take_back(self, order: TakeBack) -> None:
        of = next(one for one in self.done if isinstance(one, Decide) and one.key == order.of)
        self.waiting.insert(0, of.question)
        self.sitting.answered(TakenBack(order.key, of.key, of.question))

    def press(self, key: str, *, after: float = 1.0) -> None:
        self.now += after
        self.sitting.pressed(Press(key, self.now))

    def phase(self) -> QuestionPhase:
        return self.sitting.phase

    @property
    def kinds(self) -> list[str]:
        return [one.kind.value if isinstance(one, Decide) else "undo" for one in self.events]

    @property
    def events(self) -> list[Decide | TakeBack]:
        return [one for one in self.done if isinstance(one, Decide | TakeBack)]


def begun(**options: float) -> Sitter:
    keys = count(1)
    sitting = QuestionSitting(new_key=lambda: f"key {next(keys)}", **options)  # type: ignore[arg-type]  # limit is whole
    sitter = Sitter(sitting)
    sitter.work()
    return sitter


def test_each_key_decides_the_question_on_the_screen() -> None:
    sitter = begun()
    sitting = sitter.sitting
    sitter.press("a")
    assert sitting.accept()
    sitter.work()
    sitter.press("s")
    assert sitting.skip()
    sitter.work()
    sitter.press("r")
    assert sitting.ask_why()
    assert sitting.phase is QuestionPhase.ASKING
    sitter.press("2", after=0.3)
    assert sitting.reject(2)
    sitter.work()
    sitter.press("e")
    assert sitting.may_edit()
    assert sitting.edit("  another\n wording? ")
    sitter.work()
    decided = [(one.question.question_id, one.kind, one.text, one.note) for one in sitter.events]  # type: ignore[union-attr]  # nothing was undone
    assert decided == [
        (0, QuestionEventKind.ACCEPT, "", ""),
        (1, QuestionEventKind.SKIP, "", ""),
        (2, QuestionEventKind.REJECT, "", REJECT_REASONS[1]),
        (3, QuestionEventKind.EDIT, "another wording?", ""),
    ]
    assert (sitting.tally.decided, sitting.tally.skipped) == (3, 1)


def test_how_many_there_are_in_all_counts_what_was_skipped_only_while_it_is() -> None:
    sitter = begun()
    tally = sitter.sitting.tally
    at_first = tally.total
    for key, do in (("a", sitter.sitting.accept), ("s", sitter.sitting.skip)) * 3:
        sitter.press(key)
        assert do()
        sitter.work()
    assert tally.total == at_first - 3 == tally.decided + len(sitter.waiting)
    for _ in range(6):
        sitter.press("u")
        assert sitter.sitting.undo()
        sitter.work()
        assert tally.total == tally.decided + len(sitter.waiting)
    assert tally.total == at_first


def test_a_key_before_the_question_was_seen_decides_nothing() -> None:
    sitter = begun()
    sitter.press("a", after=MIN_SHOWN / 2)
    assert not sitter.sitting.accept()
    assert "less than" in sitter.sitting.notice
    sitter.press("r", after=0.05)
    assert not sitter.sitting.ask_why()
    assert sitter.events == []


def test_a_key_held_down_decides_one_question_in_the_end() -> None:
    sitter = begun()
    for after in (1.0, 0.5, 0.03, 0.03, 0.03):
        sitter.press("a", after=after)
        sitter.sitting.accept()
        sitter.work()
    assert sitter.kinds == ["accept", "accept", "undo"]
    assert sitter.sitting.tally.decided == 1
    assert "held down" in sitter.sitting.notice


def test_undo_shows_the_question_again_and_is_asked_for_once() -> None:
    sitter = begun()
    sitter.press("a")
    sitter.sitting.accept()
    sitter.press("u")
    assert sitter.sitting.undo()
    assert not sitter.sitting.undo()
    assert sitter.sitting.is_undoing
    sitter.work()
    assert sitter.sitting.current == question(0)
    assert sitter.sitting.tally.decided == 0
    assert sitter.kinds == ["accept", "undo"]


def test_while_a_decision_is_taken_back_no_other_is_given() -> None:
    sitter = begun()
    sitter.press("a")
    sitter.sitting.accept()
    sitter.work()
    sitter.press("u")
    sitter.sitting.undo()
    sitter.sitting.painted(question(1), sitter.now)
    sitter.press("s")
    assert not sitter.sitting.skip()


def test_a_reason_needs_a_digit_of_the_list() -> None:
    sitter = begun()
    assert not sitter.sitting.reject(1)
    sitter.press("r")
    sitter.sitting.ask_why()
    sitter.press("r", after=0.5)
    assert not sitter.sitting.reject(1)
    sitter.press(str(OTHER), after=0.5)
    assert not sitter.sitting.reject(OTHER)
    assert not sitter.sitting.reject_with("  ")
    assert sitter.sitting.reject_with(" it is two questions ")
    sitter.work()
    [event] = sitter.events
    assert isinstance(event, Decide)
    assert event.note == "it is two questions"


def test_the_same_wording_is_no_edit() -> None:
    sitter = begun()
    assert not sitter.sitting.edit("question  0? ")
    assert not sitter.sitting.edit("  ")
    assert sitter.sitting.current == question(0)
    sitter.sitting.keep_draft(question(1), "question one")
    sitter.sitting.keep_draft(sitter.sitting.current, "question nought")
    assert sitter.sitting.drafts == {0: "question nought"}


def test_a_limit_ends_it_and_undo_opens_it_again() -> None:
    sitter = begun(limit=2)
    for key, do in (("a", sitter.sitting.accept), ("s", sitter.sitting.skip)):
        sitter.press(key)
        do()
        sitter.work()
    assert sitter.phase() is QuestionPhase.JUDGING
    sitter.press("a")
    sitter.sitting.accept()
    sitter.work()
    assert sitter.phase() is QuestionPhase.ENDED
    assert sitter.sitting.current is None
    sitter.press("u")
    sitter.sitting.undo()
    sitter.work()
    assert sitter.phase() is QuestionPhase.JUDGING


def test_minutes_end_it_with_the_question_on_which_they_are_reached() -> None:
    sitter = begun(minutes=1.0)
    sitter.press("a", after=59.0)
    sitter.sitting.accept()
    sitter.work()
    assert sitter.phase() is QuestionPhase.JUDGING
    sitter.press("a", after=2.0)
    sitter.sitting.accept()
    sitter.work()
    assert sitter.phase() is QuestionPhase.ENDED


def test_what_is_turned_down_comes_again_and_counts_for_nothing() -> None:
    sitter = begun()
    sitter.press("e")
    sitter.sitting.edit("another wording")
    [order] = [one for one in sitter.sitting.take_orders() if isinstance(one, Decide)]
    assert sitter.sitting.unsaved == 1
    sitter.sitting.answered(TurnedDown(order.key, "the wording is the same", order.question))
    assert sitter.sitting.current == question(0)
    assert sitter.sitting.unsaved == 0
    assert sitter.sitting.last is None
    assert "the same" in sitter.sitting.notice


def test_a_late_decision_is_told_and_counted_apart() -> None:
    sitter = begun()
    sitter.press("a")
    sitter.sitting.accept()
    [order] = [one for one in sitter.sitting.take_orders() if isinstance(one, Decide)]
    sitter.sitting.answered(Decided(order.key, is_late=True))
    assert "somebody else" in sitter.sitting.notice
    assert (sitter.sitting.tally.decided, sitter.sitting.tally.late) == (0, 1)


def test_with_five_events_unsaved_no_further_one_is_taken() -> None:
    sitter = begun()
    sitter.sitting.answered(Brought(tuple(question(n) for n in range(9)), 9))
    given = 0
    for _ in range(8):
        current = sitter.sitting.current
        assert current is not None
        sitter.sitting.painted(current, sitter.now)
        sitter.press("a", after=2.0)
        given += sitter.sitting.accept()
    assert given == 5
    assert "wait to be saved" in sitter.sitting.notice


def test_when_nothing_is_left_it_says_so_and_looks_again_on_request() -> None:
    sitter = begun()
    sitter.waiting = [question(0)]
    sitter.sitting = QuestionSitting()
    sitter.work()
    sitter.press("a")
    sitter.sitting.accept()
    sitter.work()
    assert sitter.phase() is QuestionPhase.EMPTY
    sitter.waiting = [question(5)]
    sitter.sitting.look_again()
    sitter.work()
    assert sitter.sitting.current == question(5)


def test_a_draft_is_kept_once_for_the_question_it_is_of_and_comes_back() -> None:
    sitter = begun()
    current = sitter.sitting.current
    assert current is not None
    sitter.sitting.keep_draft(current, "begun")
    sitter.sitting.keep_draft(current, "begun")
    sitter.sitting.keep_draft(question(5), "of a question that isn't shown")
    assert sitter.sitting.take_orders() == [KeepDraft(current, "begun")]
    sitter.sitting.answered(DraftKept())
    sitter.sitting.answered(Brought((), 9, {0: "of before", 7: "of another"}))
    assert sitter.sitting.drafts == {0: "begun", 7: "of another"}
    sitter.press("a")
    assert sitter.sitting.accept()
    assert sitter.sitting.drafts == {7: "of another"}


def test_in_a_pause_no_time_counts_and_no_key_decides() -> None:
    sitter = begun(minutes=1.0)
    sitter.press("p", after=10)
    sitter.sitting.pause_or_resume()
    assert (sitter.phase(), sitter.sitting.is_paused) == (QuestionPhase.PAUSED, True)
    sitter.press("a", after=500)
    assert not sitter.sitting.accept()
    sitter.press("p", after=1)
    sitter.sitting.pause_or_resume()
    assert sitter.phase() is QuestionPhase.JUDGING
    sitter.work()
    sitter.press("a", after=2)
    assert sitter.sitting.accept()
    sitter.work()
    [event] = sitter.events
    assert isinstance(event, Decide)
    assert event.dwell_ms == 12_000
    assert sitter.phase() is QuestionPhase.JUDGING


def test_a_key_held_down_does_not_end_the_pause() -> None:
    sitter = begun()
    for after in (1.0, 0.03, 0.03):
        sitter.press("p", after=after)
        sitter.sitting.pause_or_resume()
    assert sitter.sitting.is_paused
