"""A text area on top of the screen of generated questions: the question's new wording."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from tui.screens.writing import Written
from tui.text import displayed_line, line

__all__ = ["EditingScreen"]


class WordingArea(TextArea):
    """A text area for one line of any length: what is typed or pasted into it is made safe."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "screen.keep", show=False)]

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.prevent_default()
            return
        await super()._on_key(event)

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        self.insert(displayed_line(event.text))


class EditingScreen(ModalScreen[Written]):
    """Asks for another wording; Enter gives it, Escape leaves it as a draft."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = displayed_line(text)

    def compose(self) -> ComposeResult:
        """Lay out title, text area and keys."""
        with Vertical(id="slip"):
            title = "The question in other words; it goes through the filters again"
            yield Static(line((title, "bold")), markup=False)
            yield WordingArea(self._text, soft_wrap=True, id="wording", compact=True)
            yield Static(
                line(("Enter", "bold"), " gives it   ", ("Esc", "bold"), " leaves it as a draft"),
                markup=False,
            )

    @property
    def area(self) -> TextArea:
        """Where it is written."""
        return self.query_one(TextArea)

    def on_mount(self) -> None:
        """Be ready to write behind the last word; nothing blinks."""
        self.area.cursor_blink = False
        self.area.move_cursor(self.area.document.end)
        self.area.focus()

    def action_keep(self) -> None:
        """Hand over what was written."""
        self.dismiss(Written(self.area.text, is_finished=True))

    def action_leave(self) -> None:
        """Go back; what was written stays as a draft."""
        self.dismiss(Written(self.area.text, is_finished=False))
