"""What was said of a disputed item, as A, B, C, beside the item; and what is to become of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from labeler.labels import Level
from labeler.queue.sitting.answers import answers_in_order
from labeler.queue.sitting.gate import Gate, Press
from tui.clock import ScreenClock
from tui.lead_keys import COMPARE_KEYS, LeadTables, key_bindings, lead_help, shown_keys
from tui.screens.reading import ReadingScreen
from tui.screens.writing import WritingScreen, Written
from tui.text import Line, context_text, level_name, line, rubric_text
from tui.widgets.item import ContextLine
from tui.widgets.passage import PassageView
from tui.widgets.query import QueryBox

if TYPE_CHECKING:
    from labeler.queue.comparison import Comparison

__all__ = ["CompareScreen", "said_text"]


def said_text(comparison: Comparison) -> str:
    """Write out what was said, letter by letter, the person's own blind vote first."""
    own = comparison.own
    rows = [f"You, blind: {level_name(own.level)}" if own is not None else "You: no blind vote"]
    for one in comparison.others:
        rows += ["", f"{one.letter}  {level_name(one.level)}"]
        if one.quote:
            rows.append(f"   quote: “{one.quote}”")
        rows += [f"   said: {words}" for words in one.said]
    if not comparison.others:
        rows += ["", "Nobody else's judgment is in force."]
    return "\n".join(rows)


class CompareScreen(Screen[None]):
    """One dispute after the look.

    Args:
        comparison: What is shown; that it is shown is on disk.
        clock: Tells the time.
        tables: The keys in force.
    """

    BINDINGS: ClassVar[list[BindingType]] = key_bindings(COMPARE_KEYS)
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012 - typed by Textual

    class Decided(Message):
        """A level is to be in force.

        Attributes:
            comparison: The dispute.
            level: The level.
            dwell_ms: For how long the comparison had been on the screen.
        """

        def __init__(self, comparison: Comparison, level: Level, dwell_ms: int) -> None:
            super().__init__()
            self.comparison = comparison
            self.level = level
            self.dwell_ms = dwell_ms

    class SentBack(Message):
        """Another vote is to be asked for."""

        def __init__(self, comparison: Comparison) -> None:
            super().__init__()
            self.comparison = comparison

    class Unclear(Message):
        """The rubric is to be marked as unclear.

        Attributes:
            comparison: The dispute.
            words: What is unclear, or empty.
        """

        def __init__(self, comparison: Comparison, words: str) -> None:
            super().__init__()
            self.comparison = comparison
            self.words = words

    class Noted(Message):
        """A note is to be kept."""

        def __init__(self, comparison: Comparison, text: str) -> None:
            super().__init__()
            self.comparison = comparison
            self.text = text

    class Leave(Message):
        """Back to the list."""

    def __init__(self, comparison: Comparison, clock: ScreenClock, tables: LeadTables) -> None:
        super().__init__()
        self._tables = tables
        self._comparison = comparison
        self._clock = clock
        self._gate = Gate()
        self._is_saving = False

    def compose(self) -> ComposeResult:
        """Lay out the screen; a style sheet says what stands where."""
        yield Static(id="compare-head", markup=False)
        yield QueryBox()
        with Vertical(id="compare-body"):
            with Vertical(id="compare-passage-part"):
                yield Static(line(("─ passage " + "─" * 200, "dim")), classes="compare-title")
                yield ContextLine(markup=False)
                yield PassageView(id="compare-passage")
            with Vertical(id="compare-said-part"):
                yield Static(line(("─ what was said " + "─" * 200, "dim")), classes="compare-title")
                yield PassageView(id="compare-said")
        yield Static(id="compare-answers", markup=False)
        yield Static(id="compare-note", markup=False)
        yield Static(id="compare-keys", markup=False)

    def on_mount(self) -> None:
        """Show the dispute."""
        block = self._comparison.block
        self.query_one("#compare-head", Static).update(
            line(("dispute", "bold"), f" · {self._comparison.snapshot}")
        )
        self.query_one(QueryBox).show(block.query)
        self.query_one(ContextLine).show(block)
        self.query_one("#compare-passage", PassageView).show(block.items[0].passage)
        self.query_one("#compare-said", PassageView).show(said_text(self._comparison), self)
        table = self._tables.compare
        pieces: list[Line] = [("Decide: ", "bold")]
        for place, level in enumerate(self._levels, 1):
            keys = table.answer(place)
            pieces += ["  " if place > 1 else "", (f"{keys} ", "bold"), level_name(level)]
        self.query_one("#compare-answers", Static).update(line(*pieces))
        pieces = []
        for row in table.rows:
            if row.short:
                keys = shown_keys(table, row)
                pieces += ["  " if pieces else "", (keys, "bold"), f" {row.short}"]
        self.query_one("#compare-keys", Static).update(line(*pieces))

    @property
    def _levels(self) -> tuple[Level, ...]:
        answers = answers_in_order(self._comparison.block.rubric)
        return tuple(level for level in answers if level is not None)

    # What happened

    def pressed(self, press: Press) -> None:
        """Take note of a key press, before what it means is done."""
        self._gate.pressed(press)

    def on_passage_view_painted(self, event: PassageView.Painted) -> None:
        """From now on what was said is on the screen."""
        if event.what is self:
            self._gate.painted(self._clock.seconds())

    def on_screen_suspend(self) -> None:
        """Another screen lies on top."""
        self._gate.hidden()

    def on_screen_resume(self) -> None:
        """The dispute is in sight again, once it is painted."""
        self.call_after_refresh(lambda: self._gate.painted(self._clock.seconds()))

    def tell(self, text: str) -> None:
        """Say why the last key wasn't taken; the dispute is still to be settled."""
        self._is_saving = False
        self.query_one("#compare-note", Static).update(line(("! ", "bold"), text))

    def _passes(self) -> bool:
        if self._is_saving:
            return False
        reason = self._gate.refusal(0)
        if reason is not None:
            self.tell(reason)
        return reason is None

    def _saving(self, message: Message) -> None:
        self._is_saving = True
        self.query_one("#compare-note", Static).update("saving …")
        self.post_message(message)

    # From the lead

    def action_decide(self, place: int) -> None:
        """Put a level in force, by its place from the worst."""
        levels = self._levels
        if not self._passes():
            return
        if place > len(levels):
            self.tell(f"there are {len(levels)} levels; x sends it back, g marks the rubric")
            return
        self._saving(self.Decided(self._comparison, levels[place - 1], self._gate.dwell_ms))

    def action_send_back(self) -> None:
        """Ask one more person."""
        if self._passes():
            self._saving(self.SentBack(self._comparison))

    def action_unclear(self) -> None:
        """Say what is unclear in the rubric."""
        if self._passes():
            screen = WritingScreen("What is unclear in the rubric?", "", "drops it")
            self.app.push_screen(screen, self._take_unclear)

    def _take_unclear(self, written: Written | None) -> None:
        if written is not None and written.is_finished:
            self._saving(self.Unclear(self._comparison, written.text))

    def action_note(self) -> None:
        """Write a note."""
        if not self._is_saving:
            self.app.push_screen(
                WritingScreen("Note on this item", "", "drops it"), self._take_note
            )

    def _take_note(self, written: Written | None) -> None:
        if written is not None and written.is_finished and written.text.strip():
            self.post_message(self.Noted(self._comparison, written.text.strip()))

    def action_rubric(self) -> None:
        """Show what each level means."""
        text = rubric_text(self._comparison.block.rubric)
        self.app.push_screen(ReadingScreen("Rubric", text, self._tables.compare))

    def action_context(self) -> None:
        """Show the whole query, and where the passage is from."""
        of = self._comparison
        text = context_text(of.block, of.snapshot, of.around, is_known=True, was=None)
        self.app.push_screen(ReadingScreen("Query and context", text, self._tables.compare))

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(ReadingScreen("Help", lead_help(self._tables), self._tables.compare))

    def action_said(self, lines: int) -> None:
        """Scroll what was said."""
        self.query_one("#compare-said", PassageView).scroll_lines(lines)

    def action_passage(self, pages: int) -> None:
        """Page through the passage."""
        self.query_one("#compare-passage", PassageView).scroll_pages(pages)

    def action_leave(self) -> None:
        """Go back to the list."""
        if not self._is_saving:
            self.post_message(self.Leave())
