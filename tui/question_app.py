"""The app of generated questions: it joins their screen, the sitting and the writer."""

from __future__ import annotations

from collections.abc import Callable

from labeler.queue.questions.orders import QuestionAnswered, QuestionOrder
from labeler.queue.questions.sitting import QuestionSitting
from labeler.queue.questions.tally import QuestionTally
from tui.clock import ScreenClock, SystemClock
from tui.key_tables import question_keys
from tui.screens.questions import QuestionScreen
from tui.seat import Seat
from tui.sitting_app import PAINT, SittingApp, run_sitting
from tui.writer import Desk, Writer

__all__ = ["QuestionApp", "run_questions"]


class QuestionApp(SittingApp):
    """Accepting, editing and rejecting generated questions in a terminal.

    Args:
        seat: Who reviews, and what.
        open_desk: Opens the database; called in the writer's thread, after the first paint.
        clock: Tells the time.
        give_way: See `Writer`.

    Attributes:
        sitting: The state machine.
    """

    TITLE = "labeler review --questions"

    def __init__(
        self,
        seat: Seat,
        open_desk: Callable[[], Desk[QuestionOrder, QuestionAnswered]],
        clock: ScreenClock | None = None,
        *,
        give_way: float = 0.0,
    ) -> None:
        super().__init__(clock or SystemClock())
        table = question_keys(seat.keys)
        self.set_keymap(table.keymap)
        self.sitting = QuestionSitting(limit=seat.limit, minutes=seat.minutes)
        self._any_sitting = self.sitting
        writer: Writer[QuestionOrder, QuestionAnswered] = Writer(
            open_desk, self._post, give_way=give_way
        )
        self._writer = writer
        self._any_screen = QuestionScreen(
            seat,
            self.sitting,
            give=writer.give,
            start=writer.start,
            clock=self._clock,
            table=table,
        )


def run_questions(
    seat: Seat, open_desk: Callable[[], Desk[QuestionOrder, QuestionAnswered]]
) -> tuple[QuestionTally, int, int]:
    """Run the app until it ends.

    Returns:
        What the sitting came to, how many events are kept in the journal alone, and how many
        nowhere.

    Raises:
        LabelerError: When the database can't be opened or used.
    """
    tally = QuestionTally()

    def make(opened_desk: Callable[[], Desk[QuestionOrder, QuestionAnswered]]) -> QuestionApp:
        nonlocal tally
        app = QuestionApp(seat, opened_desk, give_way=PAINT)
        tally = app.sitting.tally
        return app

    kept, lost = run_sitting(open_desk, make)
    return tally, kept, lost
