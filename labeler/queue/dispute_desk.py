"""The database's side of a blind vote on one disputed item: a sitting of one item."""

from __future__ import annotations

from dataclasses import dataclass, field

import sqlalchemy as sa

from labeler.errors import ConflictError
from labeler.queue.claims import Claim, QueueLeft
from labeler.queue.dispute_access import hold_dispute
from labeler.queue.sitting.desk import Desk
from labeler.queue.sitting.orders import (
    Answer,
    Count,
    Counted,
    Done,
    Fetch,
    Fetched,
    Order,
    Shown,
    Skip,
    Vote,
    Widen,
)
from labeler.queue.sitting.taking import shown_item
from labeler.records import table
from labeler.records.scales import Assessor, AssessorKind
from labeler.store.database import Store
from labeler.store.registry import assessor_key

__all__ = ["DisputeDesk", "person_key"]


def person_key(store: Store, name: str) -> int:
    """Give the key of a person, who is stored when not known yet."""
    assessor = table(Assessor)
    with store.read() as connection:
        found = connection.execute(
            sa.select(assessor.c.id).where(
                assessor.c.kind == AssessorKind.PERSON.value, assessor.c.name == name
            )
        ).scalar()
    if found is not None:
        return int(found)
    with store.write("review start", actor=name) as tx:
        return assessor_key(tx, AssessorKind.PERSON, name)


@dataclass
class DisputeDesk:
    """One person's place at one disputed item; used by one thread.

    It takes votes as any sitting's desk does, but holds this item alone.

    Attributes:
        store: The project.
        person: Who votes.
        item_id: The item.
        force: Let somebody vote who is one of those that contradict each other.

    Raises:
        ConflictError: When it is the person's own dispute, somebody else holds it or has settled
            it, it is no longer disputed, or the person has voted on it.
    """

    store: Store
    person: str
    item_id: int
    force: bool = False
    _desk: Desk = field(init=False)
    _claim: Claim = field(init=False)
    _is_open: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        self._desk = Desk(self.store, self.person)
        claim = hold_dispute(
            self.store, person_key(self.store, self.person), self.item_id, force=self.force
        )
        if claim is None:
            raise ConflictError("you have voted on this item", hint="compare it with the others'")
        self._claim = claim

    def perform(self, order: Order) -> Answer:
        """Do what a sitting asks for; events are on disk when this returns.

        Raises:
            DatabaseBusyError: When another process holds the database for longer than 10 seconds;
                the same order can then be given again.
        """
        match order:
            case Fetch():
                shown = self._shown() if self._is_open else None
                if shown is not None:
                    return Fetched((shown,))
                return Fetched((), QueueLeft(waiting=0, skipped=0, held=0, next_free=None))
            case Count():
                return Counted(0, 1)
            case Widen():
                return Done()
            case Vote() | Skip():
                answer = self._desk.perform(order)
                self._is_open = False
                return answer
            case _:
                return self._desk.perform(order)

    def close(self) -> None:
        """Give back what is held."""
        self._desk.close()

    def _shown(self) -> Shown | None:
        with self.store.read() as connection:
            return shown_item(connection, self._claim)
