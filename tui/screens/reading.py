"""A page of text on top of the review: the rubric, the context, the help."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.bindings import KeyTable, bindings
from tui.text import line
from tui.widgets.passage import PassageView

__all__ = ["ReadingScreen", "help_text"]

_CLOSING = ("back", "quit", "rubric", "context", "judges", "help")


class ReadingScreen(ModalScreen[None]):
    """A text with a title, which scrolls; any of a few keys closes it.

    Args:
        title: The title.
        text: The text.
        table: The keys in force.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "scroll_down", "scroll_up", "page_down", "page_up", "top", "bottom"
    )

    def __init__(self, title: str, text: str, table: KeyTable | None = None) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._table = table or KeyTable()

    def compose(self) -> ComposeResult:
        """Lay out title, text and the keys that close it."""
        with Vertical(id="page"):
            yield Static(line((self._title, "bold")), markup=False)
            yield PassageView(id="page-text")
            down, up = self._table.shown("scroll_down"), self._table.shown("scroll_up")
            yield Static(
                line(("Esc", "bold"), " back   ", (f"{down} {up}", "bold"), " scroll"),
                markup=False,
            )

    def on_mount(self) -> None:
        """Show the text."""
        self.query_one(PassageView).show(self._text)

    def show(self, text: str) -> None:
        """Show another text, such as one that was waited for."""
        self._text = text
        # Not there yet when the page was only just opened, and not any more once it is closed.
        for view in self.query(PassageView):
            view.show(text)

    def on_key(self, event: events.Key) -> None:
        """Close on the keys that open such pages, and on those that lead back."""
        if event.key == "enter" or event.key in self._table.keys_of(*_CLOSING):
            event.stop()
            self.dismiss()

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.query_one(PassageView).scroll_lines(lines)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        self.query_one(PassageView).scroll_pages(pages)

    def action_edge(self, side: int) -> None:
        """Scroll to the beginning, or to the end."""
        self.query_one(PassageView).scroll_to_edge(end=side > 0)


def help_text(table: KeyTable | None = None) -> str:
    """Write the help from the table of keys."""
    keys = table or KeyTable()
    answers = (
        f"{'  '.join(keys.answer(place) for place in range(1, 5))}: the answers, from the worst to "
        "the best. The last one is can't judge, and asks for one more key that says why."
    )
    gate = (
        "An answer counts once its item has been on the screen for a quarter of a second, and not "
        "from a key that is held down. What is shown as saved is on disk."
    )
    rows = ["One key labels and goes on.", "", answers, "", gate, ""]
    told = [(keys.listed(row.name), row.meaning) for row in keys.rows if row.meaning]
    rows += [f"{shown:<10}  {meaning}" for shown, meaning in told]
    rows += ["", "Other keys: [review.keys] in labeler.toml, by the names in docs/review.md."]
    return "\n".join(rows)
