"""A sitting whose orders are done at once: what the line mode drives."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from labeler.assessment.query_changes import QueryChange
from labeler.errors import ConflictError, StoreError
from labeler.labels import Level
from labeler.queue.claims import QueueLeft
from labeler.queue.evidence import EvidenceSearch, FoundPassage
from labeler.queue.filters import EVERYTHING, QueueFilter
from labeler.queue.sitting.desk import Desk
from labeler.queue.sitting.gate import UNSAVED_LIMIT, Press
from labeler.queue.sitting.journal import Journal
from labeler.queue.sitting.machine import Sitting
from labeler.queue.sitting.orders import (
    Answer,
    Fetched,
    Kept,
    Order,
    Revealed,
    Shown,
    TakenBack,
    TurnedDown,
)
from labeler.queue.sitting.tally import Tally
from labeler.queue.votes import Saved
from labeler.settings import Reveal
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
        only: What is taken.
        with_skipped: Take items again that the reviewer skipped before.
        limit: Ends after so many votes; None has no end.
        minutes: Ends with the item on which so many minutes are reached; None has no end.
        reveal: Whether judges' labels are shown after the vote.
        repeats: The share of items that are the reviewer's own ones again, untold.
        journal: Where events are kept that the database doesn't take for now, or None.
        monotonic: Tells seconds, for the time that an item was shown.
    """

    store: Store
    reviewer: str
    only: QueueFilter = EVERYTHING
    with_skipped: bool = False
    limit: int | None = None
    minutes: float | None = None
    reveal: Reveal = Reveal.NEVER
    repeats: float = 0.0
    journal: Journal | None = None
    monotonic: Callable[[], float] = time.monotonic
    _desk: Desk = field(init=False)
    _sitting: Sitting = field(init=False)
    _orders: list[Order] = field(default_factory=list, init=False)
    _lines: int = field(default=0, init=False)
    _search: EvidenceSearch | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._desk = Desk(
            self.store, self.reviewer, self.only, self.with_skipped, repeats=self.repeats
        )
        self._sitting = Sitting(limit=self.limit, minutes=self.minutes, reveal=self.reveal)

    @property
    def tally(self) -> Tally:
        """What was done so far."""
        return self._sitting.tally

    @property
    def current(self) -> Shown | None:
        """The item to be judged now, or None when nothing is left for this reviewer.

        Raises:
            StoreError: When the database can't be used, and nothing is held ahead.
        """
        if not self._sitting.ahead:
            self._sitting.retry()
        try:
            self._perform()
        except StoreError:
            if self._sitting.current is None:
                raise
        shown = self._sitting.current
        if shown is not None:
            self._sitting.painted(shown, self.monotonic())
        return shown

    def vote(self, level: Level | None, note: str = "") -> Saved:
        """Store a vote on the current item and go on; None says that it can't be judged.

        Raises:
            LookupError: When there is no current item.
            ConflictError: When the item changed meanwhile; it is then shown anew.
            StoreError: When the database doesn't take it for now. The vote is given again, and
                kept in the journal until then.
        """
        self._line()
        key = self._sitting.vote(level, note).key
        for answer in self._perform(until=key):
            if isinstance(answer, TurnedDown):
                raise ConflictError(answer.message, hint="look at it again and vote once more")
            if isinstance(answer, Kept) and answer.key == key:
                return Saved.EXTRA if answer.extra else Saved.COUNTED
        raise LookupError("the vote was not answered")

    def catch_up(self) -> str:
        """Save what waits for the database, when no further vote should be taken before.

        Returns:
            What keeps it from being saved, or nothing.
        """
        if self._sitting.unsaved < UNSAVED_LIMIT:
            return ""
        try:
            self._perform()
        except StoreError as error:
            return f"{self._sitting.unsaved} events wait to be saved: {error.message}"
        return ""

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

    def find(self, words: str) -> tuple[FoundPassage, ...]:
        """Search the snapshot of the current item for a passage that is missing.

        Raises:
            LookupError: When there is no current item.
        """
        if self._search is None:
            self._search = EvidenceSearch(self.store)
        shown = self._sitting.current
        if shown is None:
            raise LookupError("there is no current item")
        return self._search.find(shown.claim.item_id, words)

    def propose_evidence(self, shown: Shown, evidence_id: int) -> None:
        """Have somebody else judge an evidence for the query of an item."""
        self._line()
        self._sitting.propose_evidence(shown, evidence_id)
        self._perform()

    def propose_query(self, shown: Shown, change: QueryChange, words: str = "") -> None:
        """Propose another domain or other conditions for the query of an item."""
        self._line()
        self._sitting.propose_query(shown, change, words)
        self._perform()

    def undo(self) -> bool:
        """Take the last vote, or skip, back and show its item; `notice` says so, or why not."""
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

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached: of votes, or of minutes."""
        return self._sitting.is_over

    @property
    def revealed(self) -> Revealed | None:
        """What judges said of the item that was just voted on, until `go_on`."""
        self._perform()
        return self._sitting.revealed

    def go_on(self) -> None:
        """Go on from what judges said."""
        self._sitting.go_on()

    @property
    def may_reveal(self) -> bool:
        """Whether, at the end, what judges said of the sitting's items may be asked for."""
        return self.reveal is Reveal.END and self.standing > 0

    def reveal_all(self) -> tuple[Revealed, ...]:
        """Give what judges said of the items that were voted on; the sitting ends with it."""
        self._sitting.finish()
        self._sitting.ask_what_judges_said()
        self._perform()
        return self._sitting.all_revealed

    def widen(self) -> None:
        """When nothing is left: take skipped items again, or else what the filter leaves out."""
        self._sitting.widen()
        self._perform()

    @property
    def nothing_left(self) -> Fetched | None:
        """What is left, once nothing can be taken; else None."""
        return self._sitting.left

    def left(self) -> QueueLeft:
        """Count what is left for this reviewer, those held ahead included."""
        left = self._desk.left()
        held = len(self._sitting.ahead)
        return QueueLeft(left.waiting + held, left.skipped, left.held, left.next_free)

    def close(self) -> None:
        """Give back what is held ahead; what the database doesn't take stays in the journal."""
        self._sitting.close()
        try:
            self._perform()
            self._desk.close()
        finally:
            if self.journal is not None:
                self.journal.close()

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
        self._take_orders()
        answers: list[Answer] = []
        while self._orders:
            answer = self._desk.perform(self._orders[0])
            done = self._orders.pop(0)
            if self.journal is not None:
                self.journal.settled(done)
            self._sitting.answered(answer)
            answers.append(answer)
            self._take_orders()
            if until is not None and getattr(answer, "key", None) == until:
                break
        return answers

    def _take_orders(self) -> None:
        orders = self._sitting.take_orders()
        for order in orders:
            if self.journal is not None:
                self.journal.expect(order)
        self._orders += orders
