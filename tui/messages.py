"""What the writer thread tells the screen. Nothing else crosses between the two."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual.message import Message

__all__ = ["Answered", "Broke", "Finished", "Opened", "Trouble"]

AnswerT = TypeVar("AnswerT")
"""What a sitting's database side answers."""


class Opened(Message):
    """The database is open; what was left of earlier sittings is told."""

    def __init__(self, told: str = "") -> None:
        super().__init__()
        self.told = told


class Answered(Message, Generic[AnswerT]):
    """An order was done; what it says is saved is on disk."""

    def __init__(self, answer: AnswerT) -> None:
        super().__init__()
        self.answer = answer


class Trouble(Message):
    """The database can't be written just now; the order is tried again. Empty when it is over."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Broke(Message):
    """The writer can't go on: the database can't be opened, or there is a bug."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class Finished(Message):
    """All orders were done, what was held is given back, and the database is closed."""
