"""What the lead's threads tell its screens. Nothing else crosses between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from labeler.errors import LabelerError
from tui.lead_views import Tab, View

if TYPE_CHECKING:
    from labeler.queue.comparison import Comparison

__all__ = ["Compared", "Decision", "Held", "Kept", "Read", "Refused", "Settled", "Unread"]


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision that can be taken back."""

    comparison: Comparison
    key: str


class Read(Message):
    """A tab was read."""

    def __init__(self, tab: Tab, view: View, seconds: float) -> None:
        super().__init__()
        self.tab = tab
        self.view = view
        self.seconds = seconds


class Unread(Message):
    """A tab couldn't be read."""

    def __init__(self, error: LabelerError, *, is_open: bool) -> None:
        super().__init__()
        self.error = error
        self.is_open = is_open


class Held(Message):
    """A dispute waits for the lead's blind vote."""

    def __init__(self, item_id: int) -> None:
        super().__init__()
        self.item_id = item_id


class Compared(Message):
    """The look is stored, and what was said is there."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__()
        self.comparison = comparison


class Settled(Message):
    """What the lead did with a dispute is on disk."""

    def __init__(self, told: str, decision: Decision | None = None) -> None:
        super().__init__()
        self.told = told
        self.decision = decision


class Kept(Message):
    """A note is on disk."""


class Refused(Message):
    """What the lead asked for wasn't done."""

    def __init__(self, error: LabelerError) -> None:
        super().__init__()
        self.error = error
