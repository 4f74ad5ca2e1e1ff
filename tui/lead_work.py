"""What the lead's app does with the database, each call in a thread; what comes of it is a message.

The database is loaded here, after the first paint.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual.message import Message

from labeler.errors import LabelerError
from labeler.labels import Level
from tui.lead_messages import Compared, Decision, Held, Kept, Read, Refused, Settled, Unread
from tui.lead_views import Tab, read_view
from tui.text import level_name

if TYPE_CHECKING:
    from labeler.queue.comparison import Comparison
    from labeler.queue.sitting.orders import Answer, Order
    from labeler.store.database import Store
    from tui.writer import Desk

__all__ = ["LeadSeat", "LeadWork"]


@dataclass(frozen=True, slots=True)
class LeadSeat:
    """Who leads.

    Attributes:
        lead: The lead's name.
        pool: The pool that is looked at, or None for all.
        force: Let the lead settle disputes that are the lead's own.
        keys: Other keys than the usual ones, by what they do.
    """

    lead: str
    pool: str | None = None
    force: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)


@dataclass
class LeadWork:
    """The lead's place at the database; used by several threads.

    Attributes:
        seat: Who leads.
        open_store: Opens the database; called once.
    """

    seat: LeadSeat
    open_store: Callable[[], Store]
    _store: Store | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def read(self, tab: Tab) -> Message:
        """Read a tab, over a connection that writes nothing."""
        try:
            store = self._opened()
            began = time.monotonic()
            view = read_view(store, tab, lead=self.seat.lead, pool=self.seat.pool)
        except LabelerError as error:
            return Unread(error, is_open=self._store is not None)
        return Read(tab, view, time.monotonic() - began)

    def enter(self, item_id: int, key: str) -> Message:
        """Hold a dispute for a blind vote; after one, store the look and give what was said."""

        def do(store: Store, who: int) -> Message:
            from labeler.queue.dispute_access import hold_dispute, look

            if hold_dispute(store, who, item_id, force=self.seat.force) is not None:
                return Held(item_id)
            return Compared(look(store, who, item_id, key, force=self.seat.force))

        return self._done(do)

    def open_desk(self, item_id: int) -> Desk[Order, Answer]:
        """Open a place at the queue for the blind vote on one item."""
        from labeler.queue.dispute_desk import DisputeDesk
        from labeler.queue.journaled_dispute import JournaledDispute
        from labeler.queue.sitting.journal import Journal
        from labeler.store.journals import journal_places

        store = self._opened()
        desk = DisputeDesk(store, self.seat.lead, item_id, force=self.seat.force)
        journal = Journal(journal_places(store.location), self.seat.lead, store.clock)
        return JournaledDispute(desk, journal)

    def decide(self, comparison: Comparison, level: Level, dwell_ms: int, key: str) -> Message:
        """Put a level in force."""

        def do(store: Store, who: int) -> Message:
            from labeler.queue.adjudication import decide

            decide(store, who, comparison, level, key, dwell_ms=dwell_ms)
            told = f"decided: {level_name(level)} · saved · u takes it back"
            return Settled(told, Decision(comparison, key))

        return self._done(do)

    def send_back(self, comparison: Comparison, key: str) -> Message:
        """Ask for another vote."""

        def do(store: Store, who: int) -> Message:
            from labeler.queue.adjudication import send_back

            send_back(store, who, comparison, key)
            return Settled("sent back: another vote is wanted · saved")

        return self._done(do)

    def mark_unclear(self, comparison: Comparison, words: str, key: str) -> Message:
        """Mark the rubric as unclear."""

        def do(store: Store, who: int) -> Message:
            from labeler.queue.adjudication import mark_rubric_unclear

            mark_rubric_unclear(store, who, comparison, words, key)
            return Settled("rubric marked as unclear · saved; `labeler report rubric-issues`")

        return self._done(do)

    def note(self, comparison: Comparison, text: str, key: str) -> Message:
        """Keep a note."""

        def do(store: Store, who: int) -> Message:
            from labeler.queue.adjudication import note

            note(store, who, comparison, text, key)
            return Kept()

        return self._done(do)

    def take_back(self, decision: Decision, key: str) -> Message:
        """Take a decision back."""

        def do(store: Store, who: int) -> Message:
            from labeler.queue.adjudication import take_back_decision

            take_back_decision(store, who, decision.comparison, decision.key, key)
            return Settled("the decision is taken back; the item is disputed again")

        return self._done(do)

    def close(self) -> None:
        """Close the database."""
        if self._store is not None:
            self._store.close()

    def _opened(self) -> Store:
        with self._lock:
            if self._store is None:
                self._store = self.open_store()
            return self._store

    def _done(self, do: Callable[[Store, int], Message]) -> Message:
        from labeler.queue.dispute_desk import person_key

        try:
            store = self._opened()
            return do(store, person_key(store, self.seat.lead))
        except LabelerError as error:
            return Refused(error)
