"""The lead's screen: tabs that count and compare, and the list of disputes."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tui.clock import ScreenClock
from tui.lead_keys import LEAD_KEYS, TABS, LeadTables, key_bindings, lead_help, shown_keys
from tui.lead_pages import plot_of, table_of
from tui.lead_views import DisputesView, Tab, View
from tui.screens.reading import ReadingScreen
from tui.text import Line, line
from tui.wording import MIN_HEIGHT, MIN_WIDTH

if TYPE_CHECKING:
    from labeler.queue.disputes import DisputedItem

__all__ = ["LeadScreen"]

_EVERY = 10.0
"""Seconds between two readings; a slow one is done again after twenty times its length."""

_TALL = 36
"""From so many lines on, plot and table are shown together."""

_NO_DISPUTES = "Nothing is disputed."


class LeadScreen(Screen[None]):
    """What the lead sees.

    Args:
        lead: The lead's name.
        pool: The pool that is looked at, or None for all.
        clock: Tells the time.
        tables: The keys in force.
    """

    BINDINGS: ClassVar[list[BindingType]] = key_bindings(LEAD_KEYS)

    class Wanted(Message):
        """A tab is to be read.

        Attributes:
            tab: Which.
        """

        def __init__(self, tab: Tab) -> None:
            super().__init__()
            self.tab = tab

    class Chosen(Message):
        """A dispute is to be settled.

        Attributes:
            item_id: The item.
        """

        def __init__(self, item_id: int) -> None:
            super().__init__()
            self.item_id = item_id

    class TakenBack(Message):
        """The last decision is to be taken back."""

    def __init__(self, lead: str, pool: str | None, clock: ScreenClock, tables: LeadTables) -> None:
        super().__init__()
        self._tables = tables
        self._lead = lead
        self._pool = pool
        self._clock = clock
        self._tab = Tab.QUEUE
        self._views: dict[Tab, View] = {}
        self._read_at: datetime | None = None
        self._due = 0.0
        self._as_table = False
        self._notice = ""
        self._trouble = ""
        self._marked = 0

    @property
    def tab(self) -> Tab:
        """The tab that is shown."""
        return self._tab

    def compose(self) -> ComposeResult:
        """Lay out the screen; a style sheet says what stands where."""
        yield Static(id="lead-head", markup=False)
        yield Static(id="lead-tabs", markup=False)
        with VerticalScroll(id="lead-page", can_focus=False):
            yield Static("Opening the database …", id="lead-lines", markup=False)
        yield OptionList(id="lead-disputes", markup=False)
        yield Static(id="lead-note", markup=False)
        yield Static(id="lead-keys", markup=False)

    def on_mount(self) -> None:
        """Paint first, then read; and read again as time goes by."""
        self._show()
        self.call_after_refresh(self._want)
        self.set_interval(1.0, self.tick)

    # From the database

    def show_view(self, tab: Tab, view: View, *, seconds: float) -> None:
        """Show what was read.

        Args:
            tab: The tab that it belongs to.
            view: What was read.
            seconds: How long reading took.
        """
        self._views[tab] = view
        self._read_at = self._clock.utc()
        self._due = self._clock.seconds() + max(_EVERY, 20 * seconds)
        self._trouble = ""
        self._show()

    def show_trouble(self, text: str) -> None:
        """Say why nothing could be read; it is tried again."""
        self._trouble = text
        self._due = self._clock.seconds() + _EVERY
        self._show()

    def tell(self, text: str) -> None:
        """Say what became of the last key."""
        self._notice = text
        self._show()

    def tick(self) -> None:
        """Read anew when it is time."""
        if self.is_current and self._views and self._clock.seconds() >= self._due:
            self._want()

    def on_screen_resume(self) -> None:
        """Read anew after what was done on another screen."""
        if self._views:
            self._want()

    def on_resize(self) -> None:
        """Draw for the new size."""
        self._show()

    def _want(self) -> None:
        self._due = float("inf")
        self.post_message(self.Wanted(self._tab))

    def _show(self) -> None:
        self.set_class(self._tab is Tab.DISPUTES, "-disputes")
        view = self._views.get(self._tab)
        self.query_one("#lead-head", Static).update(self._head())
        self.query_one("#lead-tabs", Static).update(self._tabs())
        self.query_one("#lead-keys", Static).update(self._keys())
        told: Content = line(("! ", "bold"), self._trouble) if self._trouble else Content("")
        if self._notice:
            told = line(("! ", "bold"), self._notice)
        self.query_one("#lead-note", Static).update(told)
        if isinstance(view, DisputesView):
            self._show_disputes(view)
        elif view is None:
            self.query_one("#lead-lines", Static).update("Reading …")
        else:
            lines = self._lines(view)
            self.query_one("#lead-lines", Static).update(Content("\n").join(lines))

    def _lines(self, view: View) -> list[Content]:
        width, height = self.app.size
        if width < MIN_WIDTH or height < MIN_HEIGHT:
            return [line(f"{width}x{height} is too small: {MIN_WIDTH}x{MIN_HEIGHT} is needed.")]
        room = width - 4
        if height >= _TALL:
            return self._both(plot_of(view, room), table_of(view, room, alone=False))
        return table_of(view, room) if self._as_table else plot_of(view, room)

    @staticmethod
    def _both(plot: list[Content], table: list[Content]) -> list[Content]:
        if [one.plain for one in plot] == [one.plain for one in table]:
            return plot  # there is nothing to draw, which is said once
        is_apart = not plot or not plot[-1].plain
        return [*plot, *([] if is_apart else [Content("")]), *table]

    def _head(self) -> Content:
        pieces: list[Line] = [("lead ", "bold"), self._lead]
        pieces.append(" · all pools" if self._pool is None else f" · pool {self._pool}")
        if self._read_at is not None:
            pieces.append(f" · as of {self._read_at:%H:%M:%S} UTC")
        return line(*pieces)

    def _tabs(self) -> Content:
        pieces: list[Line] = []
        for place, tab in enumerate(TABS, 1):
            told = f"{place} {tab.value}"
            pieces += [" " if pieces else "", (f"[{told}]", "bold") if tab is self._tab else told]
        return line(*pieces)

    def _keys(self) -> Content:
        unfit = {"lead_table"} if self._tab is Tab.DISPUTES else {"lead_open"}
        table = self._tables.lead
        pieces: list[Line] = []
        for row in table.rows:
            if row.short and row.name not in unfit:
                keys = shown_keys(table, row)
                pieces += ["  " if pieces else "", (keys, "bold"), f" {row.short}"]
        return line(*pieces)

    # Disputes

    def _show_disputes(self, view: DisputesView) -> None:
        choices = self.query_one("#lead-disputes", OptionList)
        chosen = min(choices.highlighted or 0, max(0, len(view.items) - 1))
        choices.set_options(
            [
                Option(self._dispute(one, is_chosen=place == chosen), id=str(one.item_id))
                for place, one in enumerate(view.items)
            ]
            or [Option(_NO_DISPUTES, disabled=True)]
        )
        self._marked = chosen
        if view.items:
            choices.highlighted = chosen

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Mark the dispute at the cursor by more than its colour."""
        event.stop()
        view = self._views.get(Tab.DISPUTES)
        if not isinstance(view, DisputesView) or event.option_index == self._marked:
            return
        for place in (self._marked, event.option_index):
            if place < len(view.items):
                told = self._dispute(view.items[place], is_chosen=place == event.option_index)
                event.option_list.replace_option_prompt_at_index(place, told)
        self._marked = event.option_index

    def _dispute(self, one: DisputedItem, *, is_chosen: bool) -> Content:
        mark = " · your own dispute" if one.is_own else ""
        since = "" if one.since is None else f" · {self._age(one.since)}"
        votes = "1 vote" if one.votes == 1 else f"{one.votes} votes"
        return Content("\n").join(
            [
                line(("› " if is_chosen else "  ", "bold"), (one.query, "bold")),
                line("    ", one.passage),
                line(f"    {one.state.value} · {votes}{since}{mark}"),
            ]
        )

    def _age(self, since: datetime) -> str:
        minutes = max(0, int((self._clock.utc() - since).total_seconds() // 60))
        if minutes < 60:  # noqa: PLR2004 - minutes of an hour
            return f"for {minutes} min"
        return f"for {minutes // 60} h" if minutes < 48 * 60 else f"for {minutes // 1440} days"

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Settle the dispute that was chosen."""
        event.stop()
        self._choose(event.option.id)

    def _choose(self, option: str | None) -> None:
        if option is not None:
            self._notice = ""
            self.post_message(self.Chosen(int(option)))

    # From the lead

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let keys of the list do nothing on the other tabs."""
        if action in {"open", "undo"} and self._tab is not Tab.DISPUTES:
            return False
        return super().check_action(action, parameters)

    def action_tab(self, place: int) -> None:
        """Show a tab, by its digit."""
        self._tab = TABS[place - 1]
        self._notice = ""
        self._show()
        self.query_one("#lead-page", VerticalScroll).scroll_to(y=0, animate=False)
        choices = self.query_one("#lead-disputes", OptionList)
        if self._tab is Tab.DISPUTES:
            choices.focus()
        else:
            self.set_focus(None)
        self._want()

    def action_table(self) -> None:
        """Show plots as tables, or tables as plots."""
        self._as_table = not self._as_table
        self._show()

    def action_refresh(self) -> None:
        """Read anew."""
        self._want()

    def action_move(self, lines: int) -> None:
        """Scroll by lines, or go to the next dispute."""
        if self._tab is Tab.DISPUTES:
            choices = self.query_one("#lead-disputes", OptionList)
            if lines > 0:
                choices.action_cursor_down()
            else:
                choices.action_cursor_up()
        else:
            self.query_one("#lead-page", VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        page = self.query_one("#lead-page", VerticalScroll)
        page.scroll_relative(y=pages * max(1, page.size.height - 1), animate=False)

    def action_open(self) -> None:
        """Settle the dispute at the cursor."""
        choices = self.query_one("#lead-disputes", OptionList)
        if choices.highlighted is not None:
            self._choose(choices.get_option_at_index(choices.highlighted).id)

    def action_undo(self) -> None:
        """Take the last decision back."""
        self.post_message(self.TakenBack())

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(ReadingScreen("Help", lead_help(self._tables), self._tables.compare))
