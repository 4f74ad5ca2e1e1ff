"""A blind vote on a disputed item: the review screen, with one item and a way to what follows."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Static

from labeler.queue.sitting.answers import Phase
from tui.lead_keys import BLIND_KEYS, key_bindings
from tui.screens.review import ReviewScreen

__all__ = ["BlindScreen"]

_VOTED = (
    "Your blind vote is saved.\n\n"
    "Enter shows what all others said, as A, B, C; that you look is stored first.\n\n"
    "u takes your vote back. Esc leaves it as it is: it settles the dispute until you decide."
)
_LEFT = "You left it to others. Esc goes back to the list."


class BlindScreen(ReviewScreen):
    """The same screen, the same keys and the same gate as in any sitting."""

    BINDINGS: ClassVar[list[BindingType]] = key_bindings(BLIND_KEYS)

    class Compare(Message):
        """The vote is saved; what others said is to be shown."""

    class Leave(Message):
        """Back to the list."""

    def _show_message(self) -> None:
        super()._show_message()
        if self._sitting.phase is Phase.ENDED and self._sitting.unsaved == 0:
            self.query_one("#message", Static).update(_VOTED)
        elif self._sitting.phase is Phase.EMPTY:
            self.query_one("#message", Static).update(_LEFT)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let nobody look before the vote is on disk."""
        if action == "compare":
            return self._sitting.phase is Phase.ENDED and self._sitting.unsaved == 0
        return super().check_action(action, parameters)

    def action_compare(self) -> None:
        """Go on to what others said."""
        self.post_message(self.Compare())

    def action_back(self) -> None:
        """Go back from the question why it can't be judged, or else to the list."""
        if self._sitting.phase is Phase.ASKING:
            super().action_back()
        else:
            self.post_message(self.Leave())

    def action_widen(self) -> None:
        """Stay with the one item."""
