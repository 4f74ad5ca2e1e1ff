"""Time as the screen needs it; tests bring their own."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from typing import Protocol

from textual.events import Key

__all__ = ["ScreenClock", "SystemClock"]


class ScreenClock(Protocol):
    """Tells seconds from any start, when a key was pressed, and the time of day."""

    def seconds(self) -> float:
        """Tell seconds that only ever grow."""

    def of(self, key: Key) -> float:
        """Tell when a key reached the program, on the clock of `seconds`."""

    def utc(self) -> datetime:
        """Tell the time of day, in UTC."""


class SystemClock:
    """The machine's clocks. A key's time is that of its arrival, however late it is handled."""

    def seconds(self) -> float:
        """Tell seconds on the clock that Textual stamps its events with."""
        return time.perf_counter() if sys.platform == "win32" else time.monotonic()

    def of(self, key: Key) -> float:
        """Tell when a key reached the program."""
        return key.time

    def utc(self) -> datetime:
        """Tell the time of day, in UTC."""
        return datetime.now(UTC)
