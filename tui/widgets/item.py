"""One item: the query, the passage with what is found in it, and where the passage is from."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from labeler.assessment.blind import Block
from labeler.queue.sitting.orders import Revealed, Shown
from tui.marking import query_terms
from tui.text import context_facts, line, reveal_text
from tui.widgets.finding import FindBar
from tui.widgets.lines import OneLine
from tui.widgets.passage import PassageView
from tui.widgets.query import QueryBox

__all__ = ["ContextLine", "ItemPane", "PassageRule"]


class PassageRule(OneLine):
    """The line above the passage: which lines are in sight, and whether there are more."""

    def show(self, title: str, first: int, last: int, total: int, *, is_all: bool) -> None:
        """Say which lines are in sight; when not all lines are known, that there are more."""
        count = f"{total}" if is_all else f"{total} and more"
        where = f"line {first} of {count}" if first == last else f"lines {first}-{last} of {count}"
        more = [
            *(["more above"] if first > 1 else []),
            *(["more below"] if last < total or not is_all else []),
        ]
        told = " · ".join([title, where, *more])
        self.put(("─ ", "dim"), told, (" " + "─" * 200, "dim"))


class ContextLine(Static):
    """Where the passage stands, on one line, for terminals without the side pane."""

    _told = ""
    _rows = 0

    def show(self, block: Block) -> None:
        """Show what decides whether a passage fits a query's conditions."""
        facts = [(name, value) for name, value in context_facts(block) if name != "source"]
        told = " · ".join(value if name == "title" else f"{name} {value}" for name, value in facts)
        self.set_class(bool(facts), "-known")
        if told != self._told:
            content = line((told, "italic"))
            rows = len(content.wrap(self.size.width)) if self.size.width else 0
            self.update(content, layout=not rows or rows != self._rows)
            self._told, self._rows = told, rows


class ItemPane(Vertical):
    """What is judged, or a message where there is nothing to judge."""

    class InSight(Message):
        """An item is on the screen, or what judges said of one.

        Attributes:
            what: What was given to `show`.
        """

        def __init__(self, what: Shown | Revealed) -> None:
            super().__init__()
            self.what = what

    class Searched(Message):
        """Finding begins, or has ended.

        Attributes:
            is_on: Whether keys are typed into the search.
        """

        def __init__(self, *, is_on: bool) -> None:
            super().__init__()
            self.is_on = is_on

    _title = "passage"

    def compose(self) -> ComposeResult:
        """Lay out the pane; a style sheet says what stands where."""
        yield QueryBox()
        yield PassageRule(markup=False)
        yield ContextLine(markup=False)
        yield PassageView(id="passage")
        yield FindBar()
        yield Static("Opening the database …", id="message", markup=False)

    @property
    def passage(self) -> PassageView:
        """The passage."""
        return self.query_one("#passage", PassageView)

    @property
    def is_finding(self) -> bool:
        """Whether keys are typed into the search."""
        return self.query_one(FindBar).is_open

    def show(self, what: Shown | Revealed | None) -> None:
        """Show an item, or what judges said of one, or nothing."""
        if self.is_finding:
            self._stop_finding()
        self.query_one(FindBar).forget()
        shown = what.shown if isinstance(what, Revealed) else what
        self.query_one(QueryBox).show(shown.block.query if shown else None)
        if shown is None:
            return
        self.query_one(ContextLine).show(shown.block)
        terms = query_terms(shown.block.query)
        if isinstance(what, Revealed):
            self._title = "what judges said"
            self.passage.show(reveal_text(what), what)
        else:
            self._title = "passage"
            self.passage.show(shown.item.passage, what, terms=terms)
        self._show_rule()

    def find(self) -> None:
        """Ask what is to be found in the passage."""
        self.query_one(FindBar).open()
        self.post_message(self.Searched(is_on=True))

    def on_passage_view_painted(self, event: PassageView.Painted) -> None:
        """From now on the item is on the screen."""
        event.stop()
        if isinstance(event.what, Shown | Revealed):
            self._show_rule()
            self.post_message(self.InSight(event.what))

    def on_passage_view_moved(self, event: PassageView.Moved) -> None:
        """Say which lines are in sight."""
        event.stop()
        self._show_rule()

    def on_find_bar_typed(self, event: FindBar.Typed) -> None:
        """Find what was typed."""
        event.stop()
        self.query_one(FindBar).show_count(*self.passage.find(event.text))

    def on_find_bar_stepped(self, event: FindBar.Stepped) -> None:
        """Go to the next place, or back."""
        event.stop()
        self.query_one(FindBar).show_count(*self.passage.find_next(event.steps))

    def on_find_bar_closed(self, event: FindBar.Closed) -> None:
        """Go back to judging."""
        event.stop()
        self._stop_finding()

    def _stop_finding(self) -> None:
        self.query_one(FindBar).close()
        self.passage.stop_finding()
        self.post_message(self.Searched(is_on=False))

    def _show_rule(self) -> None:
        passage = self.passage
        self.query_one(PassageRule).show(
            self._title, *passage.in_sight, is_all=passage.is_all_known
        )
