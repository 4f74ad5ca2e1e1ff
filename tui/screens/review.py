"""The review screen: what the sitting says is shown; what the reviewer does goes to the sitting."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Static

from labeler.queue.sitting.answers import Phase
from labeler.queue.sitting.machine import Sitting
from labeler.queue.sitting.orders import Order, Shown
from tui.bindings import MAX_ANSWERS, bindings
from tui.clock import ScreenClock
from tui.messages import Answered, Opened, Trouble
from tui.screens.reading import ReadingScreen, help_text
from tui.screens.writing import WritingScreen, Written
from tui.seat import Seat
from tui.text import context_text, rubric_text
from tui.widgets.lines import AnswersLine, KeysLine, ProgressLine, StatusLine
from tui.widgets.passage import ContextLine, PassageRule, PassageView
from tui.widgets.query import QueryBox
from tui.widgets.side import SidePane
from tui.wording import MIN_HEIGHT, MIN_WIDTH, nothing_left, sitting_ended

__all__ = ["ReviewScreen"]

_LOOK_AGAIN = 10.0
"""Seconds between two looks at a queue of which others hold the rest."""

_NEED_ITEM = frozenset({"answer", "skip", "flag", "note", "context", "rubric"})


class ReviewScreen(Screen[None]):
    """One item at a time.

    Args:
        seat: Who reviews.
        sitting: The state machine.
        give: Hands an order to the writer.
        start: Called after the first paint: opens the database.
        clock: Tells the time.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings()
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012 - typed by Textual

    def __init__(
        self,
        seat: Seat,
        sitting: Sitting,
        *,
        give: Callable[[Order], None],
        start: Callable[[], None],
        clock: ScreenClock,
    ) -> None:
        super().__init__()
        self._seat = seat
        self._sitting = sitting
        self._give = give
        self._start = start
        self._clock = clock
        self._displayed: Shown | None = None
        self._trouble = ""
        self._too_small = False
        self._looked_at = 0.0

    def compose(self) -> ComposeResult:
        """Lay out the screen; a style sheet says what stands where."""
        yield ProgressLine(markup=False)
        with Horizontal(id="body"):
            with Vertical(id="main"):
                yield QueryBox()
                yield PassageRule(markup=False)
                yield ContextLine(markup=False)
                yield PassageView(id="passage")
                yield Static("Opening the database …", id="message", markup=False)
            yield SidePane(markup=False)
        yield AnswersLine(markup=False)
        yield StatusLine(markup=False)
        yield KeysLine(markup=False)
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        """Paint first, then open the database."""
        self.sync()
        self.call_after_refresh(self._start)
        self.set_interval(1.0, self.tick)

    # From the sitting to the screen

    def sync(self) -> None:
        """Hand on what is to be written, and show where the sitting stands."""
        sitting = self._sitting
        for order in sitting.take_orders():
            self._give(order)
        shown = sitting.current
        if shown is not self._displayed:
            self._displayed = shown
            self._show_item(shown)
        snapshot = shown.snapshot if shown else ""
        self.query_one(ProgressLine).show(
            self._seat.reviewer, snapshot, sitting.tally, sitting.unsaved
        )
        self.query_one(AnswersLine).show(
            shown.block.rubric if shown else None, asking=sitting.phase is Phase.ASKING
        )
        last = sitting.last_vote
        self.query_one(StatusLine).show(
            sitting.notice,
            self._trouble,
            last,
            last_saved=last is not None and sitting.is_saved(last.key),
        )
        self.query_one(SidePane).show(shown, sitting.draft)
        self._show_message()

    def _show_item(self, shown: Shown | None) -> None:
        self.set_class(shown is not None, "-judging")
        self.query_one(QueryBox).show(shown.block.query if shown else None)
        if shown is None:
            return
        self.query_one(ContextLine).show(shown.block)
        self.query_one("#passage", PassageView).show(shown.item.passage, shown)
        self._show_rule()

    def _show_message(self) -> None:
        sitting, message = self._sitting, self.query_one("#message", Static)
        match sitting.phase:
            case Phase.EMPTY if sitting.left is not None:
                now = self._clock.utc()
                message.update(nothing_left(sitting.left, sitting.tally, self._seat.pool, now))
            case Phase.ENDED:
                message.update(sitting_ended(sitting.tally, self._seat.limit or 0))
            case Phase.WAITING if self._displayed is None and sitting.tally.done:
                message.update("Looking for the next item …")
            case _:
                pass

    def _show_rule(self) -> None:
        first, last, total = self.query_one("#passage", PassageView).in_sight
        self.query_one(PassageRule).show(first, last, total)

    # What is in sight

    def on_passage_view_painted(self, event: PassageView.Painted) -> None:
        """From now on the item is on the screen."""
        if event.what is self._displayed:
            self._in_sight_again()
            self._show_rule()

    def on_passage_view_moved(self) -> None:
        """Say which lines are in sight."""
        self._show_rule()

    def on_screen_suspend(self) -> None:
        """Another screen lies on top."""
        self._sitting.hidden()

    def on_screen_resume(self) -> None:
        """The item is in sight again, once it is painted."""
        self.call_after_refresh(self._in_sight_again)

    def on_resize(self) -> None:
        """Say how large a terminal is needed when this one is too small."""
        width, height = self.app.size
        self._too_small = width < MIN_WIDTH or height < MIN_HEIGHT
        self.set_class(self._too_small, "-too-small")
        if self._too_small:
            self._sitting.hidden()
            self.query_one("#too-small", Static).update(
                f"This terminal has {width}x{height} cells;\n"
                f"reviewing needs {MIN_WIDTH}x{MIN_HEIGHT}.\nNo key labels here. q ends."
            )
        else:
            self.call_after_refresh(self._in_sight_again)

    def _in_sight_again(self) -> None:
        if self._displayed is not None and self.is_current and not self._too_small:
            self._sitting.painted(self._displayed, self._clock.seconds())

    # From the writer

    def on_opened(self, _: Opened) -> None:
        """Begin."""
        self._sitting.begin()
        self.sync()

    def on_answered(self, event: Answered) -> None:
        """Take an answer of the database."""
        self._sitting.answered(event.answer)
        self.sync()

    def on_trouble(self, event: Trouble) -> None:
        """Say that the database can't be written just now, or that it can again."""
        self._trouble = event.text
        self.sync()

    def tick(self) -> None:
        """Count down to the next free item, and look for it."""
        left = self._sitting.left.left if self._sitting.left is not None else None
        if left is None or not left.held:
            return
        due = left.next_free is not None and self._clock.utc() >= left.next_free
        if due or self._clock.seconds() - self._looked_at >= _LOOK_AGAIN:
            self._looked_at = self._clock.seconds()
            self._sitting.retry()
        self.sync()

    # From the reviewer

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let keys that need an item do nothing without one; in a small terminal, all keys."""
        if self._too_small:
            return False
        if action in _NEED_ITEM and self._sitting.current is None:
            return False
        return super().check_action(action, parameters)

    def action_answer(self, place: int) -> None:
        """Give an answer, by its place from the worst."""
        shown = self._sitting.current
        if shown is not None and len(shown.block.rubric.scale.levels) >= MAX_ANSWERS:
            self._sitting.notice = "this scale has too many levels for keys: use --plain"
        else:
            self._sitting.choose(place)
        self.sync()

    def action_undo(self) -> None:
        """Take the last vote back."""
        self._sitting.undo()
        self.sync()

    def action_skip(self) -> None:
        """Leave the item to others."""
        self._sitting.skip_by_key()
        self.sync()

    def action_widen(self) -> None:
        """Take skipped items again, or items of all pools."""
        self._sitting.widen()
        self.sync()

    def action_back(self) -> None:
        """Go back from the question why an item can't be judged."""
        self._sitting.stop_asking()
        self.sync()

    def action_note(self) -> None:
        """Write a note."""
        screen = WritingScreen("Note on this item", self._sitting.draft, "leaves it as a draft")
        self.app.push_screen(screen, self._take_note)

    def _take_note(self, written: Written | None) -> None:
        if written is not None and self._sitting.current is not None:
            if written.is_finished:
                self._sitting.note(written.text)
            else:
                self._sitting.keep_draft(written.text)
        self.sync()

    def action_flag(self) -> None:
        """Flag the item."""
        screen = WritingScreen("Flag this item: what is wrong with it?", "", "drops it")
        self.app.push_screen(screen, self._take_flag)

    def _take_flag(self, written: Written | None) -> None:
        if written is not None and written.is_finished and self._sitting.current is not None:
            self._sitting.note(written.text, is_flag=True)
        self.sync()

    def action_context(self) -> None:
        """Show the whole query and where the passage stands."""
        if (shown := self._displayed) is not None:
            self.app.push_screen(
                ReadingScreen("Query and context", context_text(shown.block, shown.snapshot))
            )

    def action_rubric(self) -> None:
        """Show what each level means."""
        if (shown := self._displayed) is not None:
            self.app.push_screen(ReadingScreen("Rubric", rubric_text(shown.block.rubric)))

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(ReadingScreen("Help", help_text()))

    def action_scroll(self, lines: int) -> None:
        """Scroll the passage by lines."""
        self.query_one("#passage", PassageView).scroll_lines(lines)

    def action_page(self, pages: int) -> None:
        """Scroll the passage by pages."""
        self.query_one("#passage", PassageView).scroll_pages(pages)
