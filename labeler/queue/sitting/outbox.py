"""What a sitting has ordered: what is still to be handed over, and which events aren't on disk."""

from __future__ import annotations

from dataclasses import dataclass, field

from labeler.queue.sitting.orders import (
    Note,
    Order,
    ProposeEvidence,
    ProposeQuery,
    Skip,
    Undo,
    Vote,
)

__all__ = ["Event", "Outbox"]

Event = Vote | Skip | Note | ProposeEvidence | ProposeQuery | Undo


@dataclass
class Outbox:
    """Orders in the order in which they must be done."""

    _orders: list[Order] = field(default_factory=list, init=False)
    _unsaved: dict[str, Event] = field(default_factory=dict, init=False)

    @property
    def unsaved(self) -> int:
        """How many events aren't on disk yet."""
        return len(self._unsaved)

    @property
    def unsaved_votes(self) -> int:
        """How many of them are votes."""
        return sum(isinstance(event, Vote) for event in self._unsaved.values())

    def is_saved(self, key: str) -> bool:
        """Tell whether an event is on disk."""
        return key not in self._unsaved

    def add(self, *orders: Order) -> None:
        """Put orders at the end; events among them count as unsaved until they are answered."""
        self._orders += orders
        self._unsaved |= {order.key: order for order in orders if isinstance(order, Event)}

    def take(self) -> list[Order]:
        """Give what is to be done, once."""
        orders, self._orders = self._orders, []
        return orders

    def answered(self, key: str) -> Event | None:
        """Take note that an event was answered; give it."""
        return self._unsaved.pop(key, None)
