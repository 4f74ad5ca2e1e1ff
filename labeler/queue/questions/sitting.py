"""A sitting over generated questions as a state machine, without a screen, a clock or a database.

As in the review of passages, what happened goes in and orders come out, a decision counts only for
a question that has been on the screen for a moment, and a key held down decides nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from labeler.queue.questions.orders import (
    OTHER,
    REJECT_REASONS,
    Brought,
    Decide,
    Decided,
    DraftKept,
    KeepDraft,
    More,
    QuestionAnswered,
    QuestionOrder,
    TakeBack,
    TakenBack,
    TurnedDown,
)
from labeler.queue.questions.tally import QuestionPhase, QuestionTally
from labeler.queue.sitting.gate import Gate, Press

if TYPE_CHECKING:
    from labeler.assessment.questions import WaitingQuestion

__all__ = ["QuestionSitting"]

_AHEAD = 3
"""So many questions are there at once, the one on the screen included."""

_HELD_KEY = "taken back: the key is held down"
_SKIP = "skip"


def _new_key() -> str:
    return str(uuid.uuid4())


@dataclass
class QuestionSitting:
    """One reviewer's sitting over generated questions.

    Attributes:
        limit: Ends after so many decisions; None has no end.
        minutes: Ends with the decision at which so many minutes are reached; None has no end.
        new_key: Makes the ids of events.
        tally: What was done so far.
        notice: What the reviewer should know of the last key, or empty.
        drafts: Wordings that were begun and not given, by question.
    """

    limit: int | None = None
    minutes: float | None = None
    new_key: Callable[[], str] = _new_key
    tally: QuestionTally = field(default_factory=QuestionTally, init=False)
    notice: str = field(default="", init=False)
    drafts: dict[int, str] = field(default_factory=dict, init=False)
    _gate: Gate = field(default_factory=Gate, init=False)
    _ahead: list[WaitingQuestion] = field(default_factory=list, init=False)
    _orders: list[QuestionOrder] = field(default_factory=list, init=False)
    _unsaved: dict[str, Decide | TakeBack] = field(default_factory=dict, init=False)
    _given: list[Decide] = field(default_factory=list, init=False)
    _is_fetching: bool = field(default=False, init=False)
    _is_asking: bool = field(default=False, init=False)
    _is_used_up: bool = field(default=False, init=False)
    _is_closed: bool = field(default=False, init=False)
    _suspect: Decide | None = field(default=None, init=False)
    _began_at: float | None = field(default=None, init=False)
    _last_at: float | None = field(default=None, init=False)

    @property
    def current(self) -> WaitingQuestion | None:
        """The question to be decided now, or None."""
        return self._ahead[0] if self._ahead and not self.is_over else None

    @property
    def unsaved(self) -> int:
        """How many events aren't on disk yet."""
        return len(self._unsaved)

    @property
    def is_undoing(self) -> bool:
        """Whether an event is being taken back."""
        return any(isinstance(order, TakeBack) for order in self._unsaved.values())

    @property
    def last(self) -> Decide | None:
        """The last decision of this sitting that stands, or None."""
        return self._given[-1] if self._given else None

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached: of decisions, or of minutes."""
        decided = sum(one.kind.value != _SKIP for one in self._given)
        if self.limit is not None and decided >= self.limit:
            return True
        if self.minutes is None or self._began_at is None or self._last_at is None:
            return False
        return self._last_at - self._began_at >= self.minutes * 60

    @property
    def phase(self) -> QuestionPhase:
        """Where the sitting stands."""
        if self.is_paused:
            return QuestionPhase.PAUSED
        if self.is_over:
            return QuestionPhase.ENDED
        if self.current is not None:
            return QuestionPhase.ASKING if self._is_asking else QuestionPhase.JUDGING
        return QuestionPhase.EMPTY if self._is_used_up else QuestionPhase.WAITING

    @property
    def is_paused(self) -> bool:
        """Whether the reviewer pauses."""
        return self._gate.paused_at is not None

    def is_saved(self, decide: Decide) -> bool:
        """Tell whether a decision is on disk."""
        return decide.key not in self._unsaved

    # What is to be done

    def take_orders(self) -> list[QuestionOrder]:
        """Give what is to be done by the database, once, in order."""
        wanted = not (self._is_closed or self.is_over or self._is_fetching or self._is_used_up)
        if wanted and len(self._ahead) < _AHEAD:
            self._is_fetching = True
            there = frozenset(one.question_id for one in self._ahead)
            self._orders.append(More(_AHEAD - len(self._ahead), there))
        orders, self._orders = self._orders, []
        return orders

    # What happened on the screen

    def pressed(self, press: Press) -> None:
        """Take note of any key press, before what it means is done."""
        self._gate.pressed(press)
        if self._suspect is not None and self._suspect is self.last and self._gate.is_repeat:
            self._take_back()
            self.notice = _HELD_KEY
        self._suspect = None

    def painted(self, question: WaitingQuestion, at: float) -> None:
        """Take note that a question has been on the screen since a time, in seconds."""
        if question is self.current:
            self._gate.painted(at)
            if self._began_at is None:
                self._began_at = at

    def hidden(self) -> None:
        """Take note that the current question isn't on the screen any more."""
        self._gate.hidden()

    def pause_or_resume(self) -> None:
        """Hide the question by the last key press, or show it again; meanwhile no time counts."""
        if self._gate.is_repeat or self._gate.press is None:
            return
        if self.is_paused:
            stood_still = self._gate.resume()
            if self._began_at is not None:
                self._began_at += stood_still
        elif self.current is not None:
            self._gate.pause()
        self.notice = ""

    def accept(self) -> bool:
        """Accept the current question by the last key press; False when refused."""
        return self._decide("accept")

    def may_edit(self) -> bool:
        """Tell whether the last key press may begin an edit; if not, `notice` says why."""
        return self.current is not None and self._passes_gate()

    def edit(self, text: str) -> bool:
        """Give the current question another wording; False when it is none."""
        question = self.current
        wording = " ".join(text.split())
        if question is None:
            return False
        if not wording or wording == " ".join(question.text.split()):
            self.notice = "not edited: the wording is the same" if wording else "not edited: empty"
            return False
        self._give("edit", text=wording)
        return True

    def keep_draft(self, question: WaitingQuestion, text: str) -> None:
        """Keep a wording that isn't finished, as long as its question is to be decided."""
        if question is self.current and self.drafts.get(question.question_id) != text:
            self.drafts[question.question_id] = text
            self._orders.append(KeepDraft(question, text))

    def ask_why(self) -> bool:
        """Ask why the current question is rejected; False when the key press is refused."""
        if self.current is None or not self._passes_gate():
            return False
        self._is_asking = True
        return True

    def stop_asking(self) -> None:
        """Go back from the question why."""
        self._is_asking = False

    def reject(self, place: int) -> bool:
        """Reject the current question for one of the reasons, by their digits; False if refused."""
        if not self._is_asking or self._gate.is_repeat or not self._gate.is_digit:
            return False
        if not 1 <= place < OTHER:
            self.notice = f"1 to {OTHER} says why; Esc goes back"
            return False
        return self.reject_with(REJECT_REASONS[place - 1])

    def reject_with(self, reason: str) -> bool:
        """Reject the current question with a reason in words; False when there is none."""
        if self.current is None or not reason.strip():
            return False
        self._give("reject", note=reason.strip())
        return True

    def skip(self) -> bool:
        """Leave the current question to others by the last key press; False when refused."""
        return self._decide(_SKIP)

    def undo(self) -> bool:
        """Ask for the last event to be taken back; False when that is refused."""
        if self._gate.is_repeat:
            self.notice = "not taken: the key is held down"
            return False
        if self.is_undoing:
            return False
        self.notice = ""
        self._take_back()
        return True

    def look_again(self) -> None:
        """Look once more whether a question waits."""
        self._is_used_up = False

    def close(self) -> None:
        """End: nothing more is read."""
        self._is_closed = True

    # What the database answered

    def answered(self, answer: QuestionAnswered) -> None:
        """Take an answer of the database."""
        match answer:
            case Decided(key, is_late):
                self._decided(key, is_late=is_late)
            case TurnedDown(key, message, again):
                self._unsaved.pop(key, None)
                self._given = [one for one in self._given if one.key != key]
                self.notice = f"not saved: {message}"
                self._put_first(again)
            case TakenBack():
                self._taken_back(answer)
            case Brought(questions, waiting, drafts):
                self.drafts = {**drafts, **self.drafts}
                self._brought(questions, waiting)
            case DraftKept():
                pass

    def _decided(self, key: str, *, is_late: bool) -> None:
        order = self._unsaved.pop(key, None)
        if not isinstance(order, Decide):
            return
        if is_late:
            self.tally.late += 1
            self.notice = "somebody else had decided this question before; yours is kept, too"
        elif order.kind.value == _SKIP:
            self.tally.skipped += 1
            self.tally.total -= 1
        else:
            self.tally.decided += 1
            self.tally.dwell_ms.append(order.dwell_ms or 0)

    def _taken_back(self, answer: TakenBack) -> None:
        self._unsaved.pop(answer.key, None)
        if answer.question is None:
            self.notice = answer.message
            return
        gone = [one for one in self._given if one.key == answer.of]
        self._given = [one for one in self._given if one.key != answer.of]
        if not gone or gone[0].kind.value == _SKIP:
            # It waits for this reviewer once more; of what is decided here the total is known.
            self.tally.total += 1
        for one in gone:
            if one.kind.value == _SKIP:
                self.tally.skipped -= 1
            else:
                self.tally.decided = max(0, self.tally.decided - 1)
        self.tally.undone += 1
        if self.notice != _HELD_KEY:
            self.notice = "the last one is taken back"
        self._put_first(answer.question)

    def _brought(self, questions: tuple[WaitingQuestion, ...], waiting: int) -> None:
        self._is_fetching = False
        self.tally.total = self.tally.decided + self.tally.late + waiting
        there = {one.question_id for one in self._ahead}
        fresh = [one for one in questions if one.question_id not in there]
        self._is_used_up = not fresh
        was_empty = not self._ahead
        self._ahead += fresh
        if was_empty and fresh:
            self._next()

    # How it does it

    def _passes_gate(self) -> bool:
        reason = self._gate.refusal(self.unsaved)
        if self.is_undoing:
            reason = "not counted: the last one is being taken back"
        self.notice = reason or ""
        return reason is None

    def _decide(self, kind: str) -> bool:
        if self.current is None or not self._passes_gate():
            return False
        self._give(kind)
        if self._gate.may_be_first_repeat:
            self._suspect = self.last
        return True

    def _give(self, kind: str, *, text: str = "", note: str = "") -> None:
        from labeler.records.questions import QuestionEventKind

        question = self._ahead.pop(0)
        self.drafts.pop(question.question_id, None)
        dwell = self._gate.dwell_ms
        order = Decide(self.new_key(), question, QuestionEventKind(kind), text, note, dwell)
        self._given.append(order)
        self._unsaved[order.key] = order
        self._orders.append(order)
        self.notice = "skipped: it stays with the others" if kind == _SKIP else ""
        if self._gate.press is not None:
            self._last_at = self._gate.press.at
        self._next()

    def _take_back(self) -> None:
        self._is_asking = False
        order = TakeBack(self.new_key(), self.last.key if self.last else None)
        self._unsaved[order.key] = order
        self._orders.append(order)

    def _put_first(self, question: WaitingQuestion | None) -> None:
        if question is not None:
            there = [one for one in self._ahead if one.question_id != question.question_id]
            self._ahead = [question, *there]
            self._last_at = None
            self._next()

    def _next(self) -> None:
        self._is_asking = False
        self._gate.next_item()
