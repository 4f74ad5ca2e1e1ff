"""The database's side of a sitting: it does what a sitting orders, one thing after the other."""

from __future__ import annotations

from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.reading import blocks_of
from labeler.errors import ConflictError
from labeler.queue.claims import LEASE, Claim, QueueLeft, claim, queue_left, release, renew
from labeler.queue.sitting.orders import (
    Answer,
    Count,
    Counted,
    Done,
    Fetch,
    Fetched,
    Kept,
    Note,
    Order,
    Renew,
    Shown,
    Skip,
    TakenBack,
    TurnedDown,
    Undo,
    Vote,
    Widen,
)
from labeler.queue.votes import Event, Saved, record_event, undo_last
from labeler.records import table
from labeler.records.corpus import Snapshot
from labeler.records.judgments import Judgment
from labeler.records.pools import Candidate, Item
from labeler.records.queue import Assignment, AssignmentState, EventKind
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from labeler.store.projections import judgments_in_force
from labeler.store.registry import assessor_key

__all__ = ["Desk"]

_ASSIGNMENT, _JUDGMENT, _CANDIDATE = table(Assignment), table(Judgment), table(Candidate)


@dataclass
class Desk:
    """One reviewer's place at the queue; used by one thread.

    Attributes:
        store: The project.
        reviewer: The reviewer's name.
        pool_id: Take items of this pool only; None takes all.
        with_skipped: Take items again that the reviewer skipped before.
    """

    store: Store
    reviewer: str
    pool_id: int | None = None
    with_skipped: bool = False
    _reviewer_id: int = field(init=False)
    _not_counting: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        with self.store.write("review start", actor=self.reviewer) as tx:
            self._reviewer_id = assessor_key(tx, AssessorKind.PERSON, self.reviewer)
        # What a sitting that broke off had held comes first again.
        release(self.store, self._reviewer_id)

    def perform(self, order: Order) -> Answer:
        """Do what a sitting asks for; events are on disk when this returns.

        Raises:
            DatabaseBusyError: When another process holds the database for longer than 10 seconds;
                the same order can then be given again.
        """
        match order:
            case Vote():
                return self._vote(order)
            case Skip(key, shown, dwell_ms):
                return self._keep(shown, Event(key, EventKind.SKIP, shown.block, dwell_ms=dwell_ms))
            case Note(key, shown, text, is_flag):
                kind = EventKind.FLAG if is_flag else EventKind.NOTE
                return self._keep(shown, Event(key, kind, shown.block, note=text))
            case Undo(key, of):
                return self._undo(key, of)
            case Fetch():
                return self._fetch(order)
            case Renew(claims):
                with self.store.work() as connection:
                    until = self.store.clock() + LEASE
                    renew(connection, list(claims), self._reviewer_id, until)
            case Count():
                with self.store.read() as connection:
                    return self._count(connection)
            case Widen(all_pools):
                self.pool_id = None if all_pools else self.pool_id
                self.with_skipped = True
        return Done()

    def left(self) -> QueueLeft:
        """Count what can be claimed, what was skipped, and what others hold."""
        return queue_left(self.store, self._reviewer_id, self.pool_id)

    def close(self) -> None:
        """Give back what is held."""
        release(self.store, self._reviewer_id)

    def _keep(self, shown: Shown, event: Event) -> Kept:
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
                return TurnedDown(vote.key, error.message, _shown(connection, shown.claim))
        if saved is Saved.EXTRA:
            self._not_counting.add(vote.key)
        return Kept(vote.key, extra=saved is Saved.EXTRA)

    def _undo(self, key: str, of: str | None) -> TakenBack:
        if of in self._not_counting:
            return TakenBack(key, None, "the last vote doesn't count, so it stays as it is")
        try:
            held = undo_last(self.store, self._reviewer_id, key)
        except ConflictError as error:
            return TakenBack(key, None, error.message)
        if held is None:
            return TakenBack(key, None, "there is no vote to take back")
        with self.store.read() as connection:
            return TakenBack(key, _shown(connection, held))

    def _fetch(self, order: Fetch) -> Fetched:
        fresh: list[Shown] = []
        put_back: list[Claim] = []
        while len(fresh) < order.count:
            claims = claim(
                self.store,
                self._reviewer_id,
                order.count - len(fresh),
                pool_id=self.pool_id,
                with_skipped=self.with_skipped,
            )
            if not claims:
                break
            with self.store.read() as connection:
                for one in claims:
                    shown = _shown(connection, one)
                    if shown is None or one.task_id in order.passed_over:
                        put_back.append(one)
                    else:
                        fresh.append(shown)
        if put_back:
            self._give_back(put_back)
        if fresh:
            return Fetched(tuple(fresh))
        left = self.left()
        everywhere = left if self.pool_id is None else queue_left(self.store, self._reviewer_id)
        return Fetched((), left, everywhere.waiting - left.waiting)

    def _give_back(self, claims: list[Claim]) -> None:
        with self.store.work() as connection:
            connection.execute(
                sa.update(_ASSIGNMENT)
                .where(
                    _ASSIGNMENT.c.id.in_([one.assignment_id for one in claims]),
                    _ASSIGNMENT.c.assessor_id == self._reviewer_id,
                    _ASSIGNMENT.c.state == AssignmentState.HELD.value,
                )
                .values(state=AssignmentState.WAITING.value, assessor_id=None, leased_until=None)
            )

    def _count(self, connection: Connection) -> Counted:
        voted = sa.select(sa.func.count(sa.distinct(_JUDGMENT.c.item_id))).where(
            _JUDGMENT.c.assessor_id == self._reviewer_id, judgments_in_force()
        )
        held = sa.select(sa.func.count()).where(
            _ASSIGNMENT.c.assessor_id == self._reviewer_id,
            _ASSIGNMENT.c.state == AssignmentState.HELD.value,
        )
        if self.pool_id is not None:
            items = sa.select(_CANDIDATE.c.item_id).where(_CANDIDATE.c.pool_id == self.pool_id)
            voted = voted.where(_JUDGMENT.c.item_id.in_(items))
        left = self.left()
        done = int(connection.execute(voted).scalar_one())
        return Counted(done, left.waiting + int(connection.execute(held).scalar_one()))


def _shown(connection: Connection, held: Claim) -> Shown | None:
    """Read an item as a reviewer sees it, or None when its text was erased."""
    blocks = blocks_of(connection, [held.item_id], seed="")
    item, snapshot = table(Item), table(Snapshot)
    name = sa.select(snapshot.c.name).join(item, item.c.snapshot_id == snapshot.c.id)
    if not blocks:
        return None
    found = connection.execute(name.where(item.c.id == held.item_id)).scalar_one()
    return Shown(held, blocks[0], str(found))
