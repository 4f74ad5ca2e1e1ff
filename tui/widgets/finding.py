"""The line on which a text to be found is typed; while it is there, no key gives a label."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from tui.text import displayed_line, line

__all__ = ["FindBar", "SafeInput"]


class SafeInput(Input):
    """An input in which pasted control characters become visible."""

    def validate_value(self, value: str) -> str:
        """Make what was typed or pasted safe to show."""
        return displayed_line(value)


class FindBar(Horizontal):
    """Asks what is to be found; Enter goes to the next place, Escape ends it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", show=False),
        Binding("down,ctrl+n", "step(1)", show=False),
        Binding("up,ctrl+p", "step(-1)", show=False),
    ]

    class Typed(Message):
        """Something else is to be found.

        Attributes:
            text: What was typed.
        """

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Stepped(Message):
        """The next place is to be shown, or the one before.

        Attributes:
            steps: 1 or -1.
        """

        def __init__(self, steps: int) -> None:
            super().__init__()
            self.steps = steps

    class Closed(Message):
        """Nothing is to be found any more."""

    def compose(self) -> ComposeResult:
        """Lay out the line."""
        yield Static(line(("/ ", "bold")), id="find-sign", markup=False)
        yield SafeInput(id="find-text", compact=True, select_on_focus=False)
        yield Static(id="find-count", markup=False)

    def on_mount(self) -> None:
        """Take no keys yet; nothing blinks."""
        field = self.query_one(Input)
        field.cursor_blink = False
        field.can_focus = False

    @property
    def is_open(self) -> bool:
        """Whether something is being looked for."""
        return self.has_class("-open")

    def open(self) -> None:
        """Be ready to type; what was looked for before is still there."""
        self.add_class("-open")
        field = self.query_one(Input)
        field.can_focus = True
        field.cursor_position = len(field.value)
        self.screen.set_focus(field)
        self.post_message(self.Typed(field.value))

    def close(self) -> None:
        """Go away; what was looked for is remembered."""
        self.remove_class("-open")
        # Nothing but `open` may bring the cursor here: keys would be typed and not be labels.
        self.query_one(Input).can_focus = False
        self.screen.set_focus(None)

    def forget(self) -> None:
        """Go away, and remember nothing."""
        self.close()
        with self.prevent(Input.Changed):
            self.query_one(Input).value = ""

    def show_count(self, current: int, total: int) -> None:
        """Say which place is shown, and how many there are; both 0 when there is none."""
        asked = bool(self.query_one(Input).value.strip())
        told = f"{current} of {total}" if total else "not found" if asked else ""
        self.query_one("#find-count", Static).update(line((told, "bold")))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Find while it is typed."""
        event.stop()
        if self.is_open:
            self.post_message(self.Typed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go on to the next place."""
        event.stop()
        self.post_message(self.Stepped(1))

    def action_step(self, steps: int) -> None:
        """Go to the next place, or back."""
        self.post_message(self.Stepped(steps))

    def action_close(self) -> None:
        """End it."""
        self.post_message(self.Closed())
