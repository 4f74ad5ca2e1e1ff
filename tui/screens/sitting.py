"""What the screens of sittings share: what is in sight, a terminal that is too small, trouble."""

from __future__ import annotations

from typing import Protocol

from textual.screen import Screen
from textual.widgets import Static

from tui.bindings import KeyTable
from tui.clock import ScreenClock
from tui.messages import Trouble
from tui.wording import MIN_HEIGHT, MIN_WIDTH, too_small

__all__ = ["SittingScreen"]


class Hideable(Protocol):
    """A sitting that can be told that nothing of it is in sight."""

    def hidden(self) -> None:
        """Take note that what was shown is out of sight: no key is an answer to it."""


class SittingScreen(Screen[None]):
    """The screen of a sitting; one of its widgets, with the id too-small, says so."""

    _sitting: Hideable
    _clock: ScreenClock
    _table: KeyTable

    def __init__(self) -> None:
        super().__init__()
        self._trouble = ""
        self._too_small = False

    def sync(self) -> None:
        """Hand on what is to be written, and show where the sitting stands."""
        raise NotImplementedError

    def _in_sight_again(self) -> None:
        """Take note that what is to be judged is on the screen, if it is."""
        raise NotImplementedError

    def _resized(self) -> None:
        """Do what else there is to do in a terminal of another size."""

    def on_screen_suspend(self) -> None:
        """Another screen lies on top."""
        self._sitting.hidden()

    def on_screen_resume(self) -> None:
        """What is to be judged is in sight again, once it is painted."""
        self.call_after_refresh(self._in_sight_again)

    def on_resize(self) -> None:
        """Say how large a terminal is needed when this one is too small."""
        width, height = self.app.size
        self._too_small = width < MIN_WIDTH or height < MIN_HEIGHT
        self.set_class(self._too_small, "-too-small")
        if self._too_small:
            self._sitting.hidden()
            self.query_one("#too-small", Static).update(too_small(width, height, self._table))
        else:
            self.call_after_refresh(self._in_sight_again)
        self._resized()

    def on_trouble(self, event: Trouble) -> None:
        """Say that the database can't be written just now, or that it can again."""
        self._trouble = event.text
        self.sync()
