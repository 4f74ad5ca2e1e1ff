"""A place at the queue together with a journal, for what the database doesn't take for now."""

from __future__ import annotations

from dataclasses import dataclass

from labeler.queue.dispute_desk import DisputeDesk
from labeler.queue.sitting.journal import Journal
from labeler.queue.sitting.orders import Answer, Order

__all__ = ["JournaledDispute"]


@dataclass
class JournaledDispute:
    """The blind vote on a disputed item, kept in a journal while the database is busy.

    Attributes:
        desk: The place at the item.
        journal: The journal.
        told: What was left of earlier sittings: nothing, since these were stored at the start.
    """

    desk: DisputeDesk
    journal: Journal
    told: str = ""

    def expect(self, order: Order) -> None:
        """Take note of what is to be done; an event that takes long is kept in the journal."""
        self.journal.expect(order)

    def kept(self) -> int:
        """Tell how many events are in the journal alone."""
        return self.journal.kept

    def give_up(self) -> int:
        """Put everything that isn't in the database into the journal; tell how much can't be."""
        return self.journal.flush()

    def perform(self, order: Order) -> Answer:
        """Do what a sitting asks for."""
        answer = self.desk.perform(order)
        self.journal.settled(order)
        return answer

    def close(self) -> None:
        """Give back what is held, and end the journal."""
        try:
            self.desk.close()
        finally:
            self.journal.close()
