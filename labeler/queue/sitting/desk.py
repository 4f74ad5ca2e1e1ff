"""The database's side of a sitting: it does what a sitting orders, one thing after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from labeler.assessment.context import surroundings_of
from labeler.errors import ConflictError
from labeler.queue.claims import LEASE, QueueLeft, release, renew
from labeler.queue.filters import EVERYTHING, QueueFilter
from labeler.queue.proposals import propose_evidence
from labeler.queue.query_proposals import propose_query_change
from labeler.queue.repeating import hold_repeat
from labeler.queue.reveals import reveal
from labeler.queue.sitting.orders import (
    Answer,
    Count,
    Done,
    Fetch,
    GiveBack,
    HoldAgain,
    Kept,
    Look,
    Note,
    Order,
    ProposeEvidence,
    ProposeQuery,
    Renew,
    Renewed,
    Revealed,
    Skip,
    Surround,
    Surrounded,
    TakenBack,
    TurnedDown,
    Undo,
    Vote,
    Widen,
)
from labeler.queue.sitting.taking import Taking, shown_item
from labeler.queue.undo import undo_last
from labeler.queue.votes import Event, Saved, record_event
from labeler.records.queue import EventKind, VotePurpose
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from labeler.store.registry import assessor_key

__all__ = ["Desk"]


@dataclass
class Desk:
    """One reviewer's place at the queue; used by one thread.

    Attributes:
        store: The project.
        reviewer: The reviewer's name.
        only: What is taken.
        with_skipped: Take items again that the reviewer skipped before.
        repeats: The share of items that are the reviewer's own ones again, untold.
        chance: Gives numbers from 0 up to, but not including, 1; None has them from the system.
    """

    store: Store
    reviewer: str
    only: QueueFilter = EVERYTHING
    with_skipped: bool = False
    repeats: float = 0.0
    chance: Callable[[], float] | None = None
    _reviewer_id: int = field(init=False)
    _taking: Taking = field(init=False)
    _not_counting: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        with self.store.write("review start", actor=self.reviewer) as tx:
            self._reviewer_id = assessor_key(tx, AssessorKind.PERSON, self.reviewer)
        # What a sitting that broke off had held comes first again.
        release(self.store, self._reviewer_id)
        self._taking = Taking(
            self.store, self._reviewer_id, self.only, self.with_skipped, self.repeats
        )
        if self.chance is not None:
            self._taking.chance = self.chance

    def perform(self, order: Order) -> Answer:
        """Do what a sitting asks for; events are on disk when this returns.

        Raises:
            DatabaseBusyError: When another process holds the database for longer than 10 seconds;
                the same order can then be given again.
        """
        match order:
            case Vote():
                return self._vote(order)
            case Skip() | Note():
                return self._keep(order)
            case ProposeEvidence() | ProposeQuery():
                return self._propose(order)
            case Undo() | HoldAgain():
                return self._take_back(order)
            case Fetch():
                return self._taking.fetch(order)
            case Renew(claims):
                with self.store.work() as connection:
                    until = self.store.clock() + LEASE
                    return Renewed(renew(connection, claims, self._reviewer_id, until))
            case GiveBack(claims):
                self._taking.give_back(list(claims))
            case Look():
                return self._look(order)
            case Count():
                return self._taking.count()
            case Surround(item_id):
                with self.store.read() as connection:
                    return Surrounded(item_id, surroundings_of(connection, item_id))
            case Widen(no_filter):
                self._taking.only = EVERYTHING if no_filter else self._taking.only
                self._taking.with_skipped = True
        return Done()

    def left(self) -> QueueLeft:
        """Count what can be claimed, what was skipped, and what others hold."""
        return self._taking.left()

    def close(self) -> None:
        """Give back what is held."""
        release(self.store, self._reviewer_id)

    def _keep(self, order: Skip | Note) -> Kept:
        shown = order.shown
        match order:
            case Skip(key, _, dwell_ms):
                event = Event(key, EventKind.SKIP, shown.block, dwell_ms=dwell_ms)
            case Note(key, _, text, is_flag):
                kind = EventKind.FLAG if is_flag else EventKind.NOTE
                event = Event(key, kind, shown.block, note=text)
        record_event(self.store, self._reviewer_id, shown.claim, event)
        return Kept(event.key)

    def _vote(self, vote: Vote) -> Kept | TurnedDown:
        shown = vote.shown
        event = Event(vote.key, EventKind.VOTE, shown.block, vote.level, vote.note, vote.dwell_ms)
        try:
            saved = record_event(self.store, self._reviewer_id, shown.claim, event)
        except ConflictError as error:
            self._not_counting.add(vote.key)
            with self.store.read() as connection:
                return TurnedDown(vote.key, error.message, shown_item(connection, shown.claim))
        if saved is Saved.EXTRA:
            self._not_counting.add(vote.key)
        return Kept(vote.key, extra=saved is Saved.EXTRA)

    def _propose(self, order: ProposeEvidence | ProposeQuery) -> Kept | TurnedDown:
        item_id = order.shown.claim.item_id
        try:
            match order:
                case ProposeEvidence(key, _, evidence_id):
                    propose_evidence(
                        self.store, self._reviewer_id, key, item_id=item_id, evidence_id=evidence_id
                    )
                case ProposeQuery(key, shown, change, words):
                    propose_query_change(
                        self.store,
                        self._reviewer_id,
                        key,
                        item_id=item_id,
                        shown=shown.block.query,
                        change=change,
                        words=words,
                    )
        except ConflictError as error:
            return TurnedDown(order.key, error.message, None)
        return Kept(order.key)

    def _take_back(self, order: Undo | HoldAgain) -> TakenBack:
        if isinstance(order, HoldAgain):
            return self._hold_again(order.skip)
        key, of = order.key, order.of
        if of in self._not_counting:
            return TakenBack(key, None, "the last vote doesn't count, so it stays as it is")
        try:
            held = undo_last(self.store, self._reviewer_id, key, of=of)
        except ConflictError as error:
            return TakenBack(key, None, error.message)
        if held is None:
            return TakenBack(key, None, "there is no vote to take back")
        with self.store.read() as connection:
            return TakenBack(key, shown_item(connection, held))

    def _hold_again(self, skip: Skip) -> TakenBack:
        claim, own = skip.shown.claim, self._reviewer_id
        with self.store.work() as connection:
            now = self.store.clock()
            if claim.purpose is VotePurpose.REPEAT:
                # Its place was nobody else's, and has ended with the skip.
                claim = hold_repeat(connection, own, claim.task_id, claim.item_id, now)
            elif renew(connection, [claim], own, now + LEASE):
                gone = "the item that you skipped is with somebody else by now, or waits no more"
                return TakenBack(skip.key, None, gone)
        with self.store.read() as connection:
            shown = shown_item(connection, claim)
        return TakenBack(skip.key, shown, "" if shown else "the item that you skipped is gone")

    def _look(self, look: Look) -> Revealed | Done:
        judges = reveal(self.store, self._reviewer_id, look.shown.claim, look.key, of=look.of)
        return Revealed(look.of, look.shown, look.level, judges) if judges else Done()
