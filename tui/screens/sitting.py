"""What the screens of sittings share: what is in sight, a terminal that is too small, trouble."""

from __future__ import annotations

from typing import Protocol

from textual.screen import Screen
from textual.widgets import Static

from tui.bindings import KeyTable
from tui.clock import ScreenClock
from tui.messages import Trouble
from tui.widgets.passage_pane import PassagePane
from tui.wording import MIN_HEIGHT, MIN_WIDTH, too_small

__all__ = ["SittingScreen"]


_WHILE_PAUSED = frozenset({"pause", "help"})
_WHILE_FINDING = frozenset({"page"})


class Hideable(Protocol):
    """A sitting that can be told that nothing of it is in sight, and pauses."""

    @property
    def is_paused(self) -> bool:
        """Whether the reviewer pauses."""

    def hidden(self) -> None:
        """Take note that what was shown is out of sight: no key is an answer to it."""

    def pause_or_resume(self) -> None:
        """Hide what is shown by the last key press, or show it again."""


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

    @property
    def _pane(self) -> PassagePane:
        """Where the passage is."""
        return self.query_one("#main", PassagePane)

    def on_passage_pane_searched(self, event: PassagePane.Searched) -> None:
        """While something is typed into the search, no key is a label."""
        if event.is_on:
            self._sitting.hidden()
        else:
            self.call_after_refresh(self._in_sight_again)
        self.sync()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let keys do nothing in a small terminal, in a pause, and in a search."""
        if self._too_small:
            return False
        if self._sitting.is_paused and action not in _WHILE_PAUSED:
            return False
        if self.is_mounted and self._pane.is_finding and action not in _WHILE_FINDING:
            return False
        return super().check_action(action, parameters)

    def action_pause(self) -> None:
        """Hide what is to be judged, or show it again."""
        self._sitting.pause_or_resume()
        self.sync()
        self.call_after_refresh(self._in_sight_again)

    def action_find(self) -> None:
        """Find a text in the passage."""
        self._pane.find()

    def action_scroll(self, lines: int) -> None:
        """Scroll the passage by lines."""
        self._pane.passage.scroll_lines(lines)

    def action_page(self, pages: int) -> None:
        """Scroll the passage by pages."""
        self._pane.passage.scroll_pages(pages)

    def action_edge(self, side: int) -> None:
        """Scroll to the beginning of the passage, or to its end."""
        self._pane.passage.scroll_to_edge(end=side > 0)

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
