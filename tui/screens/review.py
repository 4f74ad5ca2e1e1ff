"""The review screen: what the sitting says is shown; what the reviewer does goes to the sitting."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Static

from labeler.queue.sitting.answers import Phase
from labeler.queue.sitting.machine import Sitting
from labeler.queue.sitting.orders import Answer, Order, Revealed, Shown, Surrounded
from tui.around import Around
from tui.bindings import KeyTable, bindings
from tui.clock import ScreenClock
from tui.messages import Answered, Opened
from tui.screens.evidence import Find
from tui.screens.pages import Pages
from tui.screens.review_keys import ReviewKeys
from tui.seat import Seat
from tui.widgets.item import ItemPane
from tui.widgets.lines import AnswersLine, KeysLine, ProgressLine, StatusLine
from tui.widgets.side import SidePane
from tui.wording import keys_now, message_of

__all__ = ["ReviewScreen"]

_LOOK_AGAIN = 10.0
"""Seconds between two looks at a queue of which others hold the rest."""

_NEED_ITEM = frozenset(
    {"skip", "flag", "note", "context", "rubric", "find", "highlight", "evidence", "query"}
)


class ReviewScreen(ReviewKeys):
    """One item at a time.

    Args:
        seat: Who reviews.
        sitting: The state machine.
        give: Hands an order to the writer.
        start: Called after the first paint: opens the database.
        clock: Tells the time.
        table: The keys in force.
        find: Searches the snapshot of an item for words, or None.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings()
    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012 - typed by Textual
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]  # noqa: RUF012 - typed by Textual

    def __init__(
        self,
        seat: Seat,
        sitting: Sitting,
        *,
        give: Callable[[Order], None],
        start: Callable[[], None],
        clock: ScreenClock,
        table: KeyTable | None = None,
        find: Find | None = None,
    ) -> None:
        super().__init__()
        self._seat = seat
        self._sitting = sitting
        self._give = give
        self._start = start
        self._clock = clock
        self._table = table or KeyTable()
        self._find = find
        self._around = Around(give)
        self._pages = Pages(sitting, self._around, self._table)
        self._displayed: Shown | Revealed | None = None
        self._seen: Shown | Revealed | None = None
        self._looked_at = 0.0

    def compose(self) -> ComposeResult:
        """Lay out the screen; a style sheet says what stands where."""
        yield ProgressLine(markup=False)
        with Horizontal(id="body"):
            yield ItemPane(id="main")
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
        displayed = sitting.revealed or sitting.current
        if displayed is not self._displayed:
            self._displayed = displayed
            self._seen = None
            self._item.show(displayed)
        elif displayed is not None and self._seen is displayed and not sitting.is_in_sight:
            # It is the next item once more, as after a change of mind, and stands there already.
            self.call_after_refresh(self._in_sight_again)
        self.set_class(displayed is not None and not sitting.is_paused, "-judging")
        self._show_lines(displayed.shown if isinstance(displayed, Revealed) else displayed)
        self._show_side()
        self._show_message()

    def _show_lines(self, shown: Shown | None) -> None:
        sitting = self._sitting
        judging = shown if not sitting.is_paused else None
        snapshot = shown.snapshot if shown else ""
        self.query_one(ProgressLine).show(
            self._seat.reviewer, snapshot, sitting.tally, sitting.unsaved
        )
        finding = self._item.is_finding
        self.query_one(AnswersLine).show(
            judging.block.rubric if judging else None,
            asking=sitting.phase is Phase.ASKING,
            finding=finding,
            table=self._table,
        )
        last = sitting.last
        self.query_one(StatusLine).show(
            sitting.notice,
            self._trouble,
            last,
            last_saved=last is not None and sitting.is_saved(last.key),
            undo_key=self._table.shown("undo"),
        )
        self.query_one(KeysLine).show(keys_now(sitting, self._table, finding=finding))

    def _show_side(self) -> None:
        displayed = None if self._sitting.is_paused else self._displayed
        shown = displayed.shown if isinstance(displayed, Revealed) else displayed
        if shown is not None and self.has_class("-wide"):
            self._around.want(shown.claim.item_id)
        around = self._around.of(shown.claim.item_id) if shown else None
        self.query_one(SidePane).show(shown, self._sitting.draft, around)

    def _show_message(self) -> None:
        told = message_of(self._sitting, self._seat, self._table, self._clock.utc())
        if told:
            self.query_one("#message", Static).update(told, layout=False)

    # What is in sight

    def on_item_pane_in_sight(self, event: ItemPane.InSight) -> None:
        """From now on the item is on the screen."""
        if event.what is self._displayed:
            self._seen = event.what
            self._in_sight_again()

    def _resized(self) -> None:
        if self.is_mounted:
            self.call_after_refresh(self._show_side)

    def _in_sight_again(self) -> None:
        covered = not self.is_current or self._too_small or self._item.is_finding
        if covered or self._sitting.is_paused:
            return
        if isinstance(self._displayed, Shown):
            self._sitting.painted(self._displayed, self._clock.seconds())
        elif self._displayed is not None:
            self._sitting.reveal_painted(self._clock.seconds())

    # From the writer

    def on_opened(self, event: Opened) -> None:
        """Begin."""
        self._sitting.begin()
        self._sitting.notice = event.told
        self.sync()

    def on_answered(self, event: Answered[Answer]) -> None:
        """Take an answer of the database."""
        if isinstance(event.answer, Surrounded):
            self._around.take(event.answer)
        self._sitting.answered(event.answer)
        self._pages.renew()
        self.sync()

    def tick(self) -> None:
        """Count down to the next free item, and look for it."""
        left = self._sitting.left.left if self._sitting.left is not None else None
        if left is None or not left.held or self._sitting.is_paused:
            return
        due = left.next_free is not None and self._clock.utc() >= left.next_free
        if due or self._clock.seconds() - self._looked_at >= _LOOK_AGAIN:
            self._looked_at = self._clock.seconds()
            self._sitting.retry()
        self.sync()

    # From the reviewer

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let keys that need an item do nothing without one."""
        sitting = self._sitting
        if action in _NEED_ITEM and sitting.current is None:
            return False
        if action == "go_on" and sitting.revealed is None:
            return False
        if action == "answer" and self._displayed is None:
            return False
        return super().check_action(action, parameters)
