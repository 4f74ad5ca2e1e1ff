"""The vote gate: which key presses may count. Decisions over plain values; times are passed in.

People type ahead, and keyboards repeat a key that is held down. Measured without a gate, three
presses within 6 ms put two votes on one item and none on another.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = [
    "FIRST_REPEAT",
    "MIN_SHOWN",
    "REPEAT_GAP",
    "UNSAVED_LIMIT",
    "Gate",
    "Press",
    "is_repeat",
    "may_be_first_repeat",
    "refusal",
]

MIN_SHOWN = 0.25
"""For how many seconds an item must have been on the screen."""

REPEAT_GAP = 0.12
"""Presses of one key that follow each other faster, in seconds, come from a key held down."""

FIRST_REPEAT = 1.1
"""After how many seconds at the most a key that is held down repeats for the first time."""

UNSAVED_LIMIT = 5
"""With so many events that aren't on disk yet, no further votes are taken."""


@dataclass(frozen=True, slots=True)
class Press:
    """One key press.

    Attributes:
        key: The name of the key.
        at: When it reached the program, in seconds of a monotonic clock.
    """

    key: str
    at: float


def is_repeat(press: Press, before: Press | None) -> bool:
    """Tell whether a press comes from a key that is held down, by the press before it."""
    return before is not None and press.key == before.key and press.at - before.at < REPEAT_GAP


def may_be_first_repeat(press: Press, before: Press | None) -> bool:
    """Tell whether a press may be the first that a held key makes by itself.

    A terminal says nothing of a key's release. The first repeat comes after half a second or so,
    and looks like a press: only what follows it tells.
    """
    return before is not None and press.key == before.key and press.at - before.at < FIRST_REPEAT


def refusal(
    press: Press, before: Press | None, *, painted_at: float | None, unsaved: int
) -> str | None:
    """Say why a press doesn't count for the current item, or None when it does.

    Args:
        press: The press.
        before: The press before it, of any key.
        painted_at: Since when the item is on the screen, or None when it isn't.
        unsaved: How many events aren't on disk yet.
    """
    if is_repeat(press, before):
        return "not counted: the key is held down"
    if painted_at is None:
        return "not counted: the item wasn't on the screen yet"
    if press.at - painted_at < MIN_SHOWN:
        return f"not counted: the item had been shown for less than {MIN_SHOWN * 1000:.0f} ms"
    if unsaved >= UNSAVED_LIMIT:
        return f"not counted: {unsaved} events wait to be saved; the database is busy"
    return None


@dataclass
class Gate:
    """What is known of the last two key presses and of how long the current item is on the screen.

    Attributes:
        press: The last press, or None before the first.
        before: The press before it.
        shown_at: Since when the current item has been seen; None before its first paint.
        painted_at: Since when it has been on the screen without a break; None while it isn't.
        paused_at: Since when the reviewer pauses, or None.
    """

    press: Press | None = field(default=None, init=False)
    before: Press | None = field(default=None, init=False)
    shown_at: float | None = field(default=None, init=False)
    painted_at: float | None = field(default=None, init=False)
    paused_at: float | None = field(default=None, init=False)

    def pressed(self, press: Press) -> None:
        """Take note of a press."""
        self.before, self.press = self.press, press

    def painted(self, at: float) -> None:
        """Take note that the current item is on the screen since a time, in seconds."""
        if self.paused_at is not None:
            return
        self.painted_at = at
        if self.shown_at is None:
            self.shown_at = at

    def hidden(self) -> None:
        """Take note that the current item isn't on the screen any more."""
        self.painted_at = None

    def next_item(self) -> None:
        """Take note that another item is the current one; it hasn't been painted."""
        self.shown_at = self.painted_at = None

    def pause(self) -> None:
        """Let the time stand still from the last press on; the item is hidden."""
        self.painted_at = None
        if self.press is not None:
            self.paused_at = self.press.at

    def resume(self) -> float:
        """Let the time go on from the last press; tell for how many seconds it stood still."""
        if self.paused_at is None or self.press is None:
            return 0.0
        paused = max(0.0, self.press.at - self.paused_at)
        self.paused_at = None
        if self.shown_at is not None:
            self.shown_at += paused
        return paused

    @property
    def is_repeat(self) -> bool:
        """Whether the last press comes from a key held down."""
        return self.press is not None and is_repeat(self.press, self.before)

    @property
    def may_be_first_repeat(self) -> bool:
        """Whether the last press may be the first that a held key made by itself."""
        return self.press is not None and may_be_first_repeat(self.press, self.before)

    @property
    def is_digit(self) -> bool:
        """Whether the last press was a digit."""
        return self.press is not None and self.press.key.isdigit()

    @property
    def dwell_ms(self) -> int:
        """From the item's first paint to the last press, in milliseconds."""
        if self.shown_at is None or self.press is None:
            return 0
        return max(0, round((self.press.at - self.shown_at) * 1000))

    def refusal(self, unsaved: int) -> str | None:
        """Say why the last press doesn't count for the current item, or None when it does."""
        if self.press is None:
            return "not counted: no key was pressed"
        return refusal(self.press, self.before, painted_at=self.painted_at, unsaved=unsaved)
