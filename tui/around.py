"""What stands around the passages: asked for once an item, and remembered for a while."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from labeler.queue.sitting.orders import Order, Surround, Surrounded

if TYPE_CHECKING:
    from labeler.assessment.context import Surroundings

__all__ = ["Around"]

_REMEMBERED = 20


@dataclass
class Around:
    """What is known of what stands around passages.

    Attributes:
        give: Hands an order to the writer.
    """

    give: Callable[[Order], None]
    _known: dict[int, Surroundings | None] = field(default_factory=dict, init=False)
    _asked: set[int] = field(default_factory=set, init=False)

    def want(self, item_id: int) -> None:
        """Ask for what stands around an item's passage, unless that was done."""
        if item_id not in self._known and item_id not in self._asked:
            self._asked.add(item_id)
            self.give(Surround(item_id))

    def take(self, answer: Surrounded) -> None:
        """Take what was read."""
        self._asked.discard(answer.item_id)
        self._known[answer.item_id] = answer.around
        while len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]

    def of(self, item_id: int) -> Surroundings | None:
        """Give what stands around an item's passage, as far as it is known."""
        return self._known.get(item_id)

    def is_known(self, item_id: int) -> bool:
        """Tell whether it was read, even where there is nothing."""
        return item_id in self._known
