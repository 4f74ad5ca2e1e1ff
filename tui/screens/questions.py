"""The screen of generated questions: what the sitting says is shown, what keys do goes to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from labeler.queue.questions.orders import OTHER, QuestionAnswered, QuestionOrder
from labeler.queue.questions.sitting import QuestionSitting
from labeler.queue.questions.tally import QuestionPhase
from tui.bindings import KeyTable, bindings
from tui.clock import ScreenClock
from tui.messages import Answered, Opened
from tui.question_keys import QUESTION_KEYS
from tui.question_text import (
    answers_for_questions,
    keys_for_questions,
    told_instead,
    why_keys,
)
from tui.screens.editing import EditingScreen
from tui.screens.reading import ReadingScreen
from tui.screens.sitting import SittingScreen
from tui.screens.writing import WritingScreen, Written
from tui.seat import Seat
from tui.text import Line
from tui.widgets.lines import FarLine, KeysLine, OneLine, PartsLine
from tui.widgets.question import QuestionPane

if TYPE_CHECKING:
    from labeler.assessment.questions import WaitingQuestion

__all__ = ["QuestionScreen"]

_DID = {"accept": "accepted", "edit": "edited", "reject": "rejected", "skip": "skipped"}
_HELP = (
    "Is this a question that somebody would ask, and does the marked evidence answer it? What "
    "wrote it, and what filters found, is not shown. A key counts once its question has been on "
    "the screen for a quarter of a second, and not from a key that is held down. What is shown as "
    "saved is on disk. Where somebody else decides the same question first, theirs counts."
)


class QuestionScreen(SittingScreen):
    """One generated question at a time.

    Args:
        seat: Who reviews.
        sitting: The state machine.
        give: Hands an order to the writer.
        start: Called after the first paint: opens the database.
        clock: Tells the time.
        table: The keys in force.
    """

    _sitting: QuestionSitting

    BINDINGS: ClassVar[list[BindingType]] = bindings(rows=QUESTION_KEYS)
    AUTO_FOCUS = ""

    def __init__(
        self,
        seat: Seat,
        sitting: QuestionSitting,
        *,
        give: Callable[[QuestionOrder], None],
        start: Callable[[], None],
        clock: ScreenClock,
        table: KeyTable,
    ) -> None:
        super().__init__()
        self._seat = seat
        self._sitting = sitting
        self._give = give
        self._start = start
        self._clock = clock
        self._table = table
        self._displayed: WaitingQuestion | None = None

    def compose(self) -> ComposeResult:
        """Lay out the screen; a style sheet says what stands where."""
        yield FarLine(id="progress", markup=False)
        yield QuestionPane(id="main")
        yield PartsLine(markup=False)
        yield OneLine(id="status", markup=False)
        yield KeysLine(markup=False)
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        """Paint first, then open the database."""
        self.sync()
        self.call_after_refresh(self._start)

    @property
    def _pane(self) -> QuestionPane:
        return self.query_one(QuestionPane)

    # From the sitting to the screen

    def sync(self) -> None:
        """Hand on what is to be written, and show where the sitting stands."""
        sitting = self._sitting
        for order in sitting.take_orders():
            self._give(order)
        if sitting.current is not self._displayed:
            self._displayed = sitting.current
            self._pane.show(self._displayed)
        self.set_class(self._displayed is not None and not sitting.is_paused, "-judging")
        self._show_progress()
        self._show_answers()
        self._show_status()
        keys = keys_for_questions(sitting, self._table, finding=self._pane.is_finding)
        self.query_one(KeysLine).show(keys)
        if told := told_instead(sitting, self._seat, self._table):
            self.query_one("#message", Static).update(Content(told), layout=False)

    def _show_progress(self) -> None:
        tally, unsaved = self._sitting.tally, self._sitting.unsaved
        done, total = tally.decided + tally.late, tally.total
        pace = tally.seconds_each
        far = f"  {done}/{total}" if total else ""
        far += f"  {pace:.1f} s each" if pace is not None else ""
        who = [self._seat.reviewer, "generated questions"]
        self.query_one("#progress", FarLine).show_far(who, done, total, far, unsaved)

    def _show_answers(self) -> None:
        parts: list[list[Line]] = []
        if self._sitting.phase is QuestionPhase.ASKING:
            parts = [[("Why? ", "bold")]]
            parts += [[(f"{key} ", "bold"), why] for key, why in why_keys()]
            parts.append(["Esc back"])
        elif self._sitting.phase is QuestionPhase.JUDGING:
            answers = answers_for_questions(self._table)
            parts = [[(f"{key} ", "bold"), word] for key, word in answers]
        self.query_one(PartsLine).show_parts(parts)

    def _show_status(self) -> None:
        sitting = self._sitting
        status = self.query_one("#status", OneLine)
        status.set_class(bool(sitting.notice or self._trouble), "-notice")
        last = sitting.last
        if sitting.notice:
            status.put(("! ", "bold"), sitting.notice)
        elif self._trouble:
            status.put(("! ", "bold"), f"waiting: {self._trouble}")
        elif last is None:
            status.put()
        else:
            note = f" ({last.note})" if last.note else ""
            state = "saved" if sitting.is_saved(last) else "not saved yet"
            undo = self._table.shown("undo")
            told = f"last: {_DID[last.kind.value]}{note} · {state} · "
            status.put(told, (undo, "bold"), " takes it back")

    # What is in sight

    def on_question_pane_in_sight(self, event: QuestionPane.InSight) -> None:
        """From now on the question is on the screen."""
        if event.question is self._displayed:
            self._in_sight_again()

    def _in_sight_again(self) -> None:
        covered = not self.is_current or self._too_small or self._pane.is_finding
        if self._displayed is not None and not covered:
            self._sitting.painted(self._displayed, self._clock.seconds())

    # From the writer

    def on_opened(self, event: Opened) -> None:
        """Begin."""
        self._sitting.notice = event.told
        self.sync()

    def on_answered(self, event: Answered[QuestionAnswered]) -> None:
        """Take an answer of the database."""
        self._sitting.answered(event.answer)
        self.sync()

    # From the reviewer

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let keys that need a question do nothing without one."""
        needs = {"accept", "edit", "reject", "skip", "why", "scroll", "page", "edge", "find"}
        if action in needs and self._sitting.current is None:
            return False
        if action == "why" and self._sitting.phase is not QuestionPhase.ASKING:
            return False
        return super().check_action(action, parameters)

    def action_accept(self) -> None:
        """Accept the question as it is."""
        self._sitting.accept()
        self.sync()

    def action_skip(self) -> None:
        """Leave the question to others."""
        self._sitting.skip()
        self.sync()

    def action_edit(self) -> None:
        """Write the question anew."""
        question = self._sitting.current
        if question is not None and self._sitting.may_edit():
            self._begin_edit(question)
        self.sync()

    def _begin_edit(self, question: WaitingQuestion) -> None:
        def keep(text: str) -> None:
            self._sitting.keep_draft(question, text)
            self.sync()

        def take(written: Written | None) -> None:
            if written is not None and written.is_finished:
                self._sitting.edit(written.text)
            elif written is not None:
                self._sitting.keep_draft(question, written.text)
            self.sync()

        text = self._sitting.drafts.get(question.question_id, question.text)
        self.app.push_screen(EditingScreen(text, keep), take)

    def action_reject(self) -> None:
        """Ask why."""
        self._sitting.ask_why()
        self.sync()

    def action_why(self, place: int) -> None:
        """Reject the question for a reason of the list, or in one's own words."""
        if place == OTHER:
            screen = WritingScreen("Why is this question rejected?", "", "rejects nothing")
            self.app.push_screen(screen, self._take_reason)
        else:
            self._sitting.reject(place)
        self.sync()

    def _take_reason(self, written: Written | None) -> None:
        if written is not None and written.is_finished:
            self._sitting.reject_with(written.text)
        self.sync()

    def action_back(self) -> None:
        """Go back from the question why."""
        self._sitting.stop_asking()
        self.sync()

    def action_undo(self) -> None:
        """Take the last event back."""
        self._sitting.undo()
        self.sync()

    def action_more(self) -> None:
        """At the end: look again whether a question waits."""
        self._sitting.look_again()
        self.sync()

    def action_help(self) -> None:
        """Show the keys."""
        rows = [(self._table.listed(row.name), row.meaning) for row in self._table.rows]
        told = [f"{shown:<12}{meaning}" for shown, meaning in rows if meaning]
        self.app.push_screen(ReadingScreen("Help", "\n".join([_HELP, "", *told]), self._table))
