"""What is raised inside this package when an answer can't be read without guessing."""

from __future__ import annotations

__all__ = ["CutOff", "UnreadableAnswer"]


class UnreadableAnswer(Exception):  # noqa: N818 - a state of an answer, never shown as an error
    """A text from which no answer can be read; it is asked for again or goes to a person.

    Attributes:
        why: A short reason, such as ``two answers that differ``.
        at: Where in the text reading stopped, in characters.
    """

    def __init__(self, why: str, at: int = 0) -> None:
        super().__init__(why)
        self.why = why
        self.at = at


class CutOff(UnreadableAnswer):
    """A text that stops in the middle: thoughts that never end, JSON that never closes."""

    def __init__(self, what: str, at: int = 0) -> None:
        super().__init__(f"cut off: {what}", at)
