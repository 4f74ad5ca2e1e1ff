"""What the apps of sittings share: keys reach the sitting first, and they end when all is saved."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, TypeVar

from textual import events
from textual.app import App
from textual.message import Message
from textual.screen import Screen

from labeler.queue.sitting.gate import Press
from tui.clock import ScreenClock
from tui.messages import Broke, Finished
from tui.screens.sitting import SittingScreen
from tui.writer import Desk, Writer

__all__ = ["PAINT", "SittingApp", "run_sitting"]

_SWITCH = 0.0005
"""Seconds after which a thread gives way to another that waits; Python's own 0.005 add up."""

PAINT = 0.012
"""Seconds that painting the next item takes: so long a vote gives way to it."""

OrderT = TypeVar("OrderT")
AnswerT = TypeVar("AnswerT")


class AnySitting(Protocol):
    """A sitting, whatever is judged in it.

    Attributes:
        notice: What the reviewer should know of the last key, or empty.
    """

    notice: str

    @property
    def unsaved(self) -> int:
        """How many events aren't on disk yet."""

    def pressed(self, press: Press) -> None:
        """Take note of any key press, before what it means is done."""

    def close(self) -> None:
        """End."""


class SittingApp(App[None]):
    """An app with a sitting, its screen, and the writer at the database.

    Attributes:
        error: What kept the writer from going on, or None.
        lost: How many events were given up by quitting twice, and are in no file either.
        kept: How many of those given up are kept in the journal, and stored at the next start.
    """

    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE: ClassVar[bool] = False

    _any_sitting: AnySitting
    _any_screen: SittingScreen
    _writer: Writer[Any, Any]

    def __init__(self, clock: ScreenClock) -> None:
        super().__init__()
        self.animation_level = "none"
        self.error: Exception | None = None
        self.lost = self.kept = 0
        self._clock = clock
        self._is_ending = False

    def _post(self, message: Message) -> None:
        self._any_screen.post_message(message)

    def get_default_screen(self) -> Screen[None]:
        """Begin with the sitting itself."""
        return self._any_screen

    async def on_event(self, event: events.Event) -> None:
        """Tell the sitting of every key before what it means is done."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            self._any_sitting.pressed(Press(event.key, self._clock.of(event)))
            self._any_screen.sync()
        await super().on_event(event)

    async def action_quit(self) -> None:
        """End once everything is saved; asked twice, end at once."""
        if not self._writer.is_alive():
            self.exit()
        elif self._is_ending:
            self._give_up()
            self.exit()
        else:
            self._is_ending = True
            self._any_sitting.close()
            told = "saving, then ending; q once more leaves it to the next start"
            self._any_sitting.notice = told
            self._any_screen.sync()
            self._writer.finish()

    def on_finished(self, _: Finished) -> None:
        """Everything is saved."""
        self.exit()

    def on_broke(self, event: Broke) -> None:
        """The writer can't go on."""
        self.error = event.error
        self._give_up()
        self.exit()

    def _give_up(self) -> None:
        lost = self._writer.abandon()
        self.lost = self._any_sitting.unsaved if lost is None else lost
        self.kept = self._any_sitting.unsaved - self.lost

    @property
    def failure(self) -> Exception | None:
        """What ended the app before its time, or None."""
        return self.error or self._exception

    def _fatal_error(self) -> None:
        # Textual would print the values of all local names, texts from outside among them. The
        # command line says that this is a bug, and how to report it.
        self._close_messages_no_wait()

    def on_unmount(self) -> None:
        """However the app ends, what was given to the writer is written, if that is quick."""
        if self._writer.is_alive():
            self._writer.finish()
            self._writer.join(timeout=0 if self.lost or self.kept else 2)


def run_sitting(
    open_desk: Callable[[], Desk[OrderT, AnswerT]],
    make: Callable[[Callable[[], Desk[OrderT, AnswerT]]], SittingApp],
) -> tuple[int, int]:
    """Run an app until it ends.

    Args:
        open_desk: Opens the database.
        make: Makes the app, from what opens the database.

    Returns:
        How many events are kept in the journal alone, and how many nowhere.

    Raises:
        LabelerError: When the database can't be opened or used.
    """

    def opened_desk() -> Desk[OrderT, AnswerT]:
        desk = open_desk()
        # What is loaded by now stays: going through it for garbage would hold a key up for 0.1 s.
        gc.freeze()
        return desk

    sys.setswitchinterval(_SWITCH)
    app = make(opened_desk)
    app.run()
    if app.failure is not None:
        raise app.failure
    return app.kept, app.lost
