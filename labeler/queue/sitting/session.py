"""A sitting whose orders are done at once: what the line mode drives."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from labeler.errors import ConflictError
from labeler.labels import Level
from labeler.queue.claims import QueueLeft
from labeler.queue.sitting.desk import Desk
from labeler.queue.sitting.gate import Press
from labeler.queue.sitting.machine import Sitting
from labeler.queue.sitting.orders import Answer, Kept, Order, Shown, TakenBack, TurnedDown
from labeler.queue.sitting.tally import Tally
from labeler.queue.votes import Saved
from labeler.store.database import Store

__all__ = ["ReviewSession", "Shown", "Tally"]


@dataclass
class ReviewSession:
    """One reviewer's sitting, line by line.

    A line that was typed and ended is no key press: the gate for votes doesn't ask how long the
    item had been shown.

    Attributes:
        store: The project.
        reviewer: The reviewer's name.
        pool_id: Take items of this pool only; None takes all.
        with_skipped: Take items again that the reviewer skipped before.
        monotonic: Tells seconds, for the time that an item was shown.
    """

    store: Store
    reviewer: str
    pool_id: int | None = None
    with_skipped: bool = False
    monotonic: Callable[[], float] = time.monotonic
    _desk: Desk = field(init=False)
    _sitting: Sitting = field(default_factory=Sitting, init=False)
    _orders: list[Order] = field(default_factory=list, init=False)
    _lines: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._desk = Desk(self.store, self.reviewer, self.pool_id, self.with_skipped)

    @property
    def tally(self) -> Tally:
        """What was done so far."""
        return self._sitting.tally

    @property
    def current(self) -> Shown | None:
        """The item to be judged now, or None when nothing is left for this reviewer."""
        if not self._sitting.ahead:
            self._sitting.retry()
        self._perform()
        shown = self._sitting.current
        if shown is not None:
            self._sitting.painted(shown, self.monotonic())
        return shown

    def vote(self, level: Level | None, note: str = "") -> Saved:
        """Store a vote on the current item and go on; None says that it can't be judged.

        Raises:
            LookupError: When there is no current item.
            ConflictError: When the item changed meanwhile; it is then shown anew.
        """
        self._line()
        key = self._sitting.vote(level, note).key
        for answer in self._perform(until=key):
            if isinstance(answer, TurnedDown):
                raise ConflictError(answer.message, hint="look at it again and vote once more")
            if isinstance(answer, Kept) and answer.key == key:
                return Saved.EXTRA if answer.extra else Saved.COUNTED
        raise LookupError("the vote was not answered")

    def skip(self) -> None:
        """Leave the current item to others and go on.

        Raises:
            LookupError: When there is no current item.
        """
        self._line()
        self._sitting.skip()
        self._perform()

    def note(self, text: str, *, is_flag: bool = False) -> None:
        """Keep a note, or a flag with its reason, with the current item.

        Raises:
            LookupError: When there is no current item.
        """
        self._line()
        self._sitting.note(text, is_flag=is_flag)
        self._perform()

    def undo(self) -> bool:
        """Take the last vote back and show its item again; False when `notice` says why not."""
        self._line()
        self._sitting.undo()
        answers = self._perform()
        return any(isinstance(answer, TakenBack) and not answer.message for answer in answers)

    @property
    def notice(self) -> str:
        """What the reviewer should know of the last line, or empty."""
        return self._sitting.notice

    @property
    def standing(self) -> int:
        """How many votes of this sitting stand."""
        return self._sitting.standing

    def left(self) -> QueueLeft:
        """Count what is left for this reviewer, those held ahead included."""
        left = self._desk.left()
        held = len(self._sitting.ahead)
        return QueueLeft(left.waiting + held, left.skipped, left.held, left.next_free)

    def close(self) -> None:
        """Give back what is held ahead."""
        self._sitting.close()
        self._perform()
        self._desk.close()

    def _line(self) -> None:
        if not self._sitting.ahead:
            self._perform()
        self._lines += 1
        # No two lines are one key held down.
        self._sitting.pressed(Press(f"line {self._lines}", self.monotonic()))

    def _perform(self, *, until: str | None = None) -> list[Answer]:
        """Do what is ordered, up to the event with a key, so that it can be told as saved at once.

        What is left, or what an error keeps from being done, is done first the next time.
        """
        self._orders += self._sitting.take_orders()
        answers: list[Answer] = []
        while self._orders:
            answer = self._desk.perform(self._orders[0])
            del self._orders[0]
            self._sitting.answered(answer)
            answers.append(answer)
            if until is not None and getattr(answer, "key", None) == until:
                break
        return answers
