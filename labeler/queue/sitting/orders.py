"""What a sitting asks of the database, and what it is answered: plain values.

Between the two may lie a call or a thread. Nothing here imports a database, so that the screen can
be painted before one is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labeler.assessment.blind import BlindItem, Block
from labeler.assessment.query_changes import QueryChange
from labeler.labels import Level
from labeler.queue.sitting.answers import answers_in_order

if TYPE_CHECKING:
    from labeler.assessment.context import Surroundings
    from labeler.queue.claims import Claim, QueueLeft
    from labeler.queue.comparison import LetteredJudgment

__all__ = [
    "Answer",
    "Count",
    "Counted",
    "Done",
    "Fetch",
    "Fetched",
    "GiveBack",
    "HoldAgain",
    "Kept",
    "Look",
    "Note",
    "Order",
    "ProposeEvidence",
    "ProposeQuery",
    "Renew",
    "Renewed",
    "Revealed",
    "Shown",
    "Skip",
    "Surround",
    "Surrounded",
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

    @property
    def answers(self) -> tuple[Level | None, ...]:
        """What may be answered, in the order of the keys; None says that it can't be judged."""
        return answers_in_order(self.block.rubric)


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
class ProposeEvidence:
    """Store that the reviewer found an evidence for an item's query, for somebody else to judge."""

    key: str
    shown: Shown
    evidence_id: int


@dataclass(frozen=True, slots=True)
class ProposeQuery:
    """Store what the reviewer proposes for an item's query."""

    key: str
    shown: Shown
    change: QueryChange
    words: str


@dataclass(frozen=True, slots=True)
class Undo:
    """Take the latest vote back.

    ``of`` is the key of the vote that is meant, when it was given in this sitting: one that didn't
    count must not cost the vote before it.
    """

    key: str
    of: str | None


@dataclass(frozen=True, slots=True)
class HoldAgain:
    """Hold the item of a skip of this sitting again; that it was skipped stays on record."""

    skip: Skip


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
class GiveBack:
    """Let others have items that were held ahead."""

    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Look:
    """Store that judges' labels are shown of an item, and give them: only once its vote is stored.

    Attributes:
        key: The id of the look.
        of: The key of the vote.
        shown: The item.
        level: The vote's level.
    """

    key: str
    of: str
    shown: Shown
    level: Level | None


@dataclass(frozen=True, slots=True)
class Count:
    """Count what the reviewer has done and what is open."""


@dataclass(frozen=True, slots=True)
class Surround:
    """Read what stands around an item's passage in its document."""

    item_id: int


@dataclass(frozen=True, slots=True)
class Widen:
    """Take skipped items again, or also what the sitting's filter leaves out."""

    no_filter: bool


Order = (
    Vote
    | Skip
    | Note
    | ProposeEvidence
    | ProposeQuery
    | Undo
    | HoldAgain
    | Fetch
    | Renew
    | GiveBack
    | Look
    | Count
    | Surround
    | Widen
)


# Answers.


@dataclass(frozen=True, slots=True)
class Kept:
    """An event is on disk. An extra vote doesn't count: those that were wanted had been given."""

    key: str
    extra: bool = False


@dataclass(frozen=True, slots=True)
class TurnedDown:
    """An event was not stored; for a vote the item had changed, and here it is as it is now."""

    key: str
    message: str
    again: Shown | None


@dataclass(frozen=True, slots=True)
class TakenBack:
    """An undo was done, and its item is held again; or, with a message alone, it was not.

    ``key`` is that of the undo, or that of the skip whose item is held again.
    """

    key: str
    shown: Shown | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """Items that are held now. What is left is told when there are none.

    Attributes:
        items: The items, in their order.
        left: What is left for this reviewer, or None when items came.
        elsewhere: Items that wait outside what was asked for.
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
class Renewed:
    """Items are held for longer, but for those that somebody else took meanwhile.

    Attributes:
        lost: The places in the queue that somebody else has, by their keys.
    """

    lost: frozenset[int]


@dataclass(frozen=True, slots=True)
class Revealed:
    """What judges said of an item that was voted on; that it is shown is on disk.

    Attributes:
        of: The key of the vote.
        shown: The item.
        level: The vote's level; None for can't judge.
        judges: What each judge said, without its name, in a shuffled order; none when no judge
            was asked, and then nothing is shown.
    """

    of: str
    shown: Shown
    level: Level | None
    judges: tuple[LetteredJudgment, ...]


@dataclass(frozen=True, slots=True)
class Surrounded:
    """What stands around an item's passage; None when the corpus doesn't hold it."""

    item_id: int
    around: Surroundings | None


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing to tell."""


Answer = Kept | TurnedDown | TakenBack | Fetched | Counted | Renewed | Revealed | Surrounded | Done
