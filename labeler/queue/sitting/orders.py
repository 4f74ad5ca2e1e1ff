"""What a sitting asks of the database, and what it is answered: plain values.

Between the two may lie a call or a thread. Nothing here imports a database, so that the screen can
be painted before one is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labeler.assessment.blind import BlindItem, Block
from labeler.labels import Level

if TYPE_CHECKING:
    from labeler.queue.claims import Claim, QueueLeft

__all__ = [
    "Answer",
    "Count",
    "Counted",
    "Done",
    "Fetch",
    "Fetched",
    "Kept",
    "Note",
    "Order",
    "Renew",
    "Shown",
    "Skip",
    "TakenBack",
    "TurnedDown",
    "Undo",
    "Vote",
    "Widen",
]


@dataclass(frozen=True, slots=True)
class Shown:
    """An item that a reviewer holds, as it is shown: a block that holds just it.

    Attributes:
        claim: The item and the place in the queue that is held.
        block: Query, passage, context and rubric.
        snapshot: The name of the corpus snapshot that the passage is from.
    """

    claim: Claim
    block: Block
    snapshot: str = ""

    @property
    def item(self) -> BlindItem:
        """The item itself."""
        return self.block.items[0]


# Orders. Each event has a key that is made when a key is pressed: given twice, it counts once.


@dataclass(frozen=True, slots=True)
class Vote:
    """Store a vote; a level of None says that the item can't be judged."""

    key: str
    shown: Shown
    level: Level | None
    note: str
    dwell_ms: int


@dataclass(frozen=True, slots=True)
class Skip:
    """Store that an item was left to others, and give it back."""

    key: str
    shown: Shown
    dwell_ms: int


@dataclass(frozen=True, slots=True)
class Note:
    """Store a note, or a flag with its reason."""

    key: str
    shown: Shown
    text: str
    is_flag: bool = False


@dataclass(frozen=True, slots=True)
class Undo:
    """Take the latest vote back.

    ``of`` is the key of the vote that is meant, when it was given in this sitting: one that didn't
    count must not cost the vote before it.
    """

    key: str
    of: str | None


@dataclass(frozen=True, slots=True)
class Fetch:
    """Hold the next items, but none of the tasks that are passed over."""

    count: int
    passed_over: frozenset[int]


@dataclass(frozen=True, slots=True)
class Renew:
    """Hold items for longer, since the reviewer is at work."""

    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Count:
    """Count what the reviewer has done and what is open."""


@dataclass(frozen=True, slots=True)
class Widen:
    """Take skipped items again, or items of all pools."""

    all_pools: bool


Order = Vote | Skip | Note | Undo | Fetch | Renew | Count | Widen


# Answers.


@dataclass(frozen=True, slots=True)
class Kept:
    """An event is on disk. An extra vote doesn't count: somebody else had voted meanwhile."""

    key: str
    extra: bool = False


@dataclass(frozen=True, slots=True)
class TurnedDown:
    """A vote was not stored, since the item had changed; here it is as it is now."""

    key: str
    message: str
    again: Shown | None


@dataclass(frozen=True, slots=True)
class TakenBack:
    """An undo was done, and its item is held again; or, with a message alone, it was not."""

    key: str
    shown: Shown | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """Items that are held now. What is left is told when there are none.

    Attributes:
        items: The items, in their order.
        left: What is left for this reviewer, or None when items came.
        elsewhere: Items that wait outside the pool that was asked for.
    """

    items: tuple[Shown, ...]
    left: QueueLeft | None = None
    elsewhere: int = 0


@dataclass(frozen=True, slots=True)
class Counted:
    """Items with a vote of this reviewer, and items open to this reviewer, held ones included."""

    done: int
    open: int


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing to tell."""


Answer = Kept | TurnedDown | TakenBack | Fetched | Counted | Done
