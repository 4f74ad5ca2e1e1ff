"""A page of text on top of the review: the rubric, the context, the help."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.bindings import ANSWER_LETTERS, KEYS
from tui.text import line
from tui.widgets.passage import PassageView

__all__ = ["ReadingScreen", "help_text"]


class ReadingScreen(ModalScreen[None]):
    """A text with a title, which scrolls; any of a few keys closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,r,c,question_mark,f1,enter", "close", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("space,pagedown", "page(1)", show=False),
        Binding("b,pageup", "page(-1)", show=False),
    ]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        """Lay out title, text and the keys that close it."""
        with Vertical(id="page"):
            yield Static(line((self._title, "bold")), markup=False)
            yield PassageView(id="page-text")
            yield Static(
                line(("Esc", "bold"), " back   ", ("j k", "bold"), " scroll"), markup=False
            )

    def on_mount(self) -> None:
        """Show the text."""
        self.query_one(PassageView).show(self._text)

    def action_close(self) -> None:
        """Go back to the review."""
        self.dismiss()

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.query_one(PassageView).scroll_lines(lines)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        self.query_one(PassageView).scroll_pages(pages)


def help_text() -> str:
    """Write the help from the table of keys."""
    letters = " ".join(ANSWER_LETTERS)
    digits = " ".join(str(place) for place in range(1, len(ANSWER_LETTERS) + 1))
    answers = (
        f"{letters}, or {digits}: the answers, from the worst to the best. The last one is can't "
        "judge, and asks for one more key that says why."
    )
    gate = (
        "An answer counts once its item has been on the screen for a quarter of a second, and not "
        "from a key that is held down. What is shown as saved is on disk."
    )
    rows = ["One key labels and goes on.", "", answers, "", gate, ""]
    rows += [f"{row.shown:<7}{row.meaning}" for row in KEYS if row.meaning]
    return "\n".join(rows)
