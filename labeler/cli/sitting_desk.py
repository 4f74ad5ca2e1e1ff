"""A place at the database together with its journal, for the writer of an app or for lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from labeler.errors import StoreError

if TYPE_CHECKING:
    from labeler.queue.questions.orders import QuestionOrder
    from labeler.queue.sitting.journal import Journal
    from labeler.queue.sitting.orders import Order
    from labeler.store.database import Store

__all__ = ["SittingDesk", "check_saved", "journal_of"]

OrderT = TypeVar("OrderT", bound="Order | QuestionOrder")
AnswerT = TypeVar("AnswerT")
GivenT_contra = TypeVar("GivenT_contra", contravariant=True)
ToldT_co = TypeVar("ToldT_co", covariant=True)


class _Performs(Protocol[GivenT_contra, ToldT_co]):
    def perform(self, order: GivenT_contra, /) -> ToldT_co:
        """Do what a sitting asks for."""

    def close(self) -> None:
        """Give back what is held."""


class SittingDesk(Generic[OrderT, AnswerT]):
    """Does what a sitting asks for, and keeps in a journal what the database doesn't take.

    Args:
        store: The open database; closed with this.
        desk: Does the work.
        journal: Keeps events that take long.
        told: What was left of earlier sittings, or empty.
    """

    def __init__(
        self, store: Store, desk: _Performs[OrderT, AnswerT], journal: Journal, told: str
    ) -> None:
        self.told = told
        self._store = store
        self._desk = desk
        self._journal = journal

    def expect(self, order: OrderT) -> None:
        """Take note of what is to be done; an event that takes long is kept in the journal."""
        self._journal.expect(order)

    def kept(self) -> int:
        """Tell how many events are in the journal alone."""
        return self._journal.kept

    def give_up(self) -> int:
        """Put everything that isn't in the database into the journal; tell how much can't be."""
        return self._journal.flush()

    def perform(self, order: OrderT) -> AnswerT:
        """Do what a sitting asks for."""
        answer = self._desk.perform(order)
        self._journal.settled(order)
        return answer

    def close(self) -> None:
        """Give back what is held, and close the database."""
        try:
            self._desk.close()
        finally:
            self._journal.close()
            self._store.close()


def journal_of(store: Store, reviewer: str) -> Journal:
    """Open the journal of a reviewer's sitting."""
    from labeler.queue.sitting.journal import Journal
    from labeler.store.journals import journal_places

    return Journal(journal_places(store.location), reviewer, store.clock)


def check_saved(kept: int, lost: int) -> None:
    """Say so when a sitting ended before all of it was in the database.

    Args:
        kept: Events that are in the journal alone.
        lost: Events that are nowhere.

    Raises:
        StoreError: When either is above 0.
    """
    if lost:
        raise StoreError(f"{lost} events were not saved: neither the database nor a file took them")
    if kept:
        raise StoreError(
            f"{kept} events are not in the database yet, which was busy; they are kept in a file",
            hint="the next `labeler review` stores them; `labeler db check` tells where they are",
        )
