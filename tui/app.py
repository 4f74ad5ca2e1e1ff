"""The review app: it joins the screen, the sitting and the writer, and ends when all is saved."""

from __future__ import annotations

from collections.abc import Callable

from labeler.queue.sitting.machine import Sitting
from labeler.queue.sitting.orders import Answer, Order
from labeler.queue.sitting.tally import Tally
from tui.clock import ScreenClock, SystemClock
from tui.key_tables import review_keys
from tui.screens.evidence import Find
from tui.screens.review import ReviewScreen
from tui.seat import Seat
from tui.sitting_app import PAINT, SittingApp, run_sitting
from tui.writer import Desk, Writer

__all__ = ["ReviewApp", "Seat", "run_review"]


class ReviewApp(SittingApp):
    """Reviewing in a terminal.

    Args:
        seat: Who reviews, and what.
        open_desk: Opens the database; called in the writer's thread, after the first paint.
        clock: Tells the time.
        find: Searches the snapshot of an item for words, in any thread; None where nobody may.
        give_way: See `Writer`.

    Attributes:
        sitting: The state machine.
    """

    TITLE = "labeler review"

    def __init__(
        self,
        seat: Seat,
        open_desk: Callable[[], Desk[Order, Answer]],
        clock: ScreenClock | None = None,
        *,
        find: Find | None = None,
        give_way: float = 0.0,
    ) -> None:
        super().__init__(clock or SystemClock())
        table = review_keys(seat.keys)
        self.set_keymap(table.keymap)
        self.sitting = Sitting(limit=seat.limit, minutes=seat.minutes, reveal=seat.reveal)
        self._any_sitting = self.sitting
        writer: Writer[Order, Answer] = Writer(open_desk, self._post, give_way=give_way)
        self._writer = writer
        self._review = ReviewScreen(
            seat,
            self.sitting,
            give=writer.give,
            start=writer.start,
            clock=self._clock,
            table=table,
            find=find,
        )
        self._any_screen = self._review


def run_review(
    seat: Seat, open_desk: Callable[[], Desk[Order, Answer]], find: Find | None = None
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
    tally = Tally()

    def make(opened_desk: Callable[[], Desk[Order, Answer]]) -> ReviewApp:
        nonlocal tally
        app = ReviewApp(seat, opened_desk, find=find, give_way=PAINT)
        tally = app.sitting.tally
        return app

    kept, lost = run_sitting(open_desk, make)
    return tally, kept, lost
