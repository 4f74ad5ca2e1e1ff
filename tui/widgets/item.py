"""One item: the query, the passage with what is found in it, and where the passage is from."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Static

from labeler.assessment.blind import Block
from labeler.queue.sitting.orders import Revealed, Shown
from tui.marking import query_terms
from tui.text import context_facts, line, reveal_text
from tui.widgets.finding import FindBar
from tui.widgets.passage import PassageView
from tui.widgets.passage_pane import PassagePane, PassageRule
from tui.widgets.query import QueryBox

__all__ = ["ContextLine", "ItemPane"]


class ContextLine(Static):
    """Where the passage stands, above it in any terminal: it may decide what it answers."""

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


class ItemPane(PassagePane):
    """What is judged, or a message where there is nothing to judge."""

    class InSight(Message):
        """An item is on the screen, or what judges said of one.

        Attributes:
            what: What was given to `show`.
        """

        def __init__(self, what: Shown | Revealed) -> None:
            super().__init__()
            self.what = what

    def compose(self) -> ComposeResult:
        """Lay out the pane; a style sheet says what stands where."""
        yield QueryBox()
        yield PassageRule(markup=False)
        yield ContextLine(markup=False)
        yield PassageView(id="passage")
        yield FindBar()
        yield Static("Opening the database …", id="message", markup=False)

    def show(self, what: Shown | Revealed | None) -> None:
        """Show an item, or what judges said of one, or nothing."""
        self._forget_search()
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

    def on_passage_view_painted(self, event: PassageView.Painted) -> None:
        """From now on the item is on the screen."""
        event.stop()
        if isinstance(event.what, Shown | Revealed):
            self._show_rule()
            self.post_message(self.InSight(event.what))
