"""A text area on top of the screen of generated questions: the question's new wording."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Static, TextArea

from tui.screens.writing import Written
from tui.text import displayed_line, line

__all__ = ["EditingScreen"]

_MOMENT = 0.5
"""Seconds without a key after which what is written is kept as a draft."""


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
    """Asks for another wording; Enter gives it, Escape leaves it as a draft.

    Args:
        text: The wording to begin with.
        keep: Keeps what is written so far, a moment after the last change.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(self, text: str, keep: Callable[[str], None]) -> None:
        super().__init__()
        self._text = displayed_line(text)
        self._keep = keep
        self._resting: Timer | None = None

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

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Keep what is written so far, once nothing is typed for a moment."""
        self._stop_waiting()
        if event.text_area.text != self._text:
            self._resting = self.set_timer(_MOMENT, lambda: self._keep(self.area.text))

    def _stop_waiting(self) -> None:
        if self._resting is not None:
            self._resting.stop()

    def action_keep(self) -> None:
        """Hand over what was written."""
        self._stop_waiting()
        self.dismiss(Written(self.area.text, is_finished=True))

    def action_leave(self) -> None:
        """Go back; what was written stays as a draft."""
        self._stop_waiting()
        self.dismiss(Written(self.area.text, is_finished=False))
