"""The review app: it joins the screen, the sitting and the writer, and ends when all is saved."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import App
from textual.message import Message
from textual.screen import Screen

from labeler.queue.sitting.gate import Press
from labeler.queue.sitting.machine import Sitting
from labeler.queue.sitting.tally import Tally
from tui.bindings import key_table
from tui.clock import ScreenClock, SystemClock
from tui.messages import Broke, Finished
from tui.screens.evidence import Find
from tui.screens.review import ReviewScreen
from tui.seat import Seat
from tui.writer import Desk, Writer

__all__ = ["ReviewApp", "Seat", "run_review"]

_SWITCH = 0.0005
"""Seconds after which a thread gives way to another that waits; Python's own 0.005 add up."""

_PAINT = 0.012
"""Seconds that painting the next item takes: so long a vote gives way to it."""


class ReviewApp(App[None]):
    """Reviewing in a terminal.

    Args:
        seat: Who reviews, and what.
        open_desk: Opens the database; called in the writer's thread, after the first paint.
        clock: Tells the time.
        find: Searches the snapshot of an item for words, in any thread; None where nobody may.
        give_way: See `Writer`.

    Attributes:
        sitting: The state machine.
        error: What kept the writer from going on, or None.
        lost: How many events were given up by quitting twice, and are in no file either.
        kept: How many of those given up are kept in the journal, and stored at the next start.
    """

    CSS_PATH = "app.tcss"
    TITLE = "labeler review"
    ENABLE_COMMAND_PALETTE: ClassVar[bool] = False

    def __init__(
        self,
        seat: Seat,
        open_desk: Callable[[], Desk],
        clock: ScreenClock | None = None,
        *,
        find: Find | None = None,
        give_way: float = 0.0,
    ) -> None:
        super().__init__()
        self.animation_level = "none"
        table = key_table(seat.keys)
        self.set_keymap(table.keymap)
        self.sitting = Sitting(limit=seat.limit, minutes=seat.minutes, reveal=seat.reveal)
        self.error: Exception | None = None
        self.lost = self.kept = 0
        self._clock = clock or SystemClock()
        self._is_ending = False
        self._writer = Writer(open_desk, self._post, give_way=give_way)
        self._review = ReviewScreen(
            seat,
            self.sitting,
            give=self._writer.give,
            start=self._writer.start,
            clock=self._clock,
            table=table,
            find=find,
        )

    def _post(self, message: Message) -> None:
        self._review.post_message(message)

    def get_default_screen(self) -> Screen[None]:
        """Begin with the review itself."""
        return self._review

    async def on_event(self, event: events.Event) -> None:
        """Tell the sitting of every key before what it means is done."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            self.sitting.pressed(Press(event.key, self._clock.of(event)))
            self._review.sync()
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
            self.sitting.close()
            self.sitting.notice = "saving, then ending; q once more leaves it to the next start"
            self._review.sync()
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
        self.lost = self.sitting.unsaved if lost is None else lost
        self.kept = self.sitting.unsaved - self.lost

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


def run_review(
    seat: Seat, open_desk: Callable[[], Desk], find: Find | None = None
) -> tuple[Tally, int, int]:
    """Run the app until it ends.

    Args:
        seat: Who reviews, and what.
        open_desk: Opens the database; called in the writer's thread, after the first paint.
        find: Searches the snapshot of an item for words, in any thread.

    Returns:
        What the sitting came to, how many events are kept in the journal alone, and how many
        nowhere.

    Raises:
        LabelerError: When the database can't be opened or used.
    """

    def opened_desk() -> Desk:
        desk = open_desk()
        # What is loaded by now stays: going through it for garbage would hold a key up for 0.1 s.
        gc.freeze()
        return desk

    sys.setswitchinterval(_SWITCH)
    app = ReviewApp(seat, opened_desk, find=find, give_way=_PAINT)
    app.run()
    if app.failure is not None:
        raise app.failure
    return app.sitting.tally, app.kept, app.lost
