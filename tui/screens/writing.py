"""One line to write, on top of the review: a note, or the reason of a flag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tui.text import line
from tui.widgets.finding import SafeInput

__all__ = ["WritingScreen", "Written"]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written, and whether it is finished."""

    text: str
    is_finished: bool


class WritingScreen(ModalScreen[Written]):
    """Asks for a line; Enter keeps it, Escape leaves it as a draft."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(self, title: str, draft: str, leave: str) -> None:
        super().__init__()
        self._title = title
        self._draft = draft
        self._leave = leave

    def compose(self) -> ComposeResult:
        """Lay out title, input and keys."""
        with Vertical(id="slip"):
            yield Static(line((self._title, "bold")), markup=False)
            yield SafeInput(self._draft, select_on_focus=False)
            yield Static(
                line(("Enter", "bold"), " keeps it   ", ("Esc", "bold"), f" {self._leave}"),
                markup=False,
            )

    def on_mount(self) -> None:
        """Be ready to write; nothing blinks."""
        field = self.query_one(Input)
        field.cursor_blink = False
        field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Hand over what was written."""
        self.dismiss(Written(event.value, is_finished=True))

    def action_leave(self) -> None:
        """Hand over what was begun."""
        self.dismiss(Written(self.query_one(Input).value, is_finished=False))
