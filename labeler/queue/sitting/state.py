"""Where a reviewer's sitting stands: what the screen and the line mode read of it.

It never says anything that would unblind before the vote: no reasons, no systems, nobody's labels.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from labeler.queue.sitting.answers import Phase
from labeler.queue.sitting.ending import Ending
from labeler.queue.sitting.gate import Gate
from labeler.queue.sitting.given import Given
from labeler.queue.sitting.held import HeldItems
from labeler.queue.sitting.orders import Fetched, Revealed, Shown, Skip, Vote
from labeler.queue.sitting.outbox import Outbox
from labeler.queue.sitting.reveals import Reveals
from labeler.queue.sitting.tally import Tally
from labeler.settings import Reveal

__all__ = ["SittingState"]


def _new_key() -> str:
    return str(uuid.uuid4())


@dataclass
class SittingState:
    """One reviewer's sitting.

    Attributes:
        limit: Ends after so many votes; None has no end.
        minutes: Ends with the item on which so many minutes are reached; None has no end.
        reveal: Whether judges' labels are shown after the vote.
        new_key: Makes the id of an event.
        tally: What was done so far.
        notice: What the reviewer should know of the last press, or empty.
        drafts: Notes begun and not kept yet, by task.
        changed: Items as they were before they changed on the screen, by task.
    """

    limit: int | None = None
    minutes: float | None = None
    reveal: Reveal = Reveal.NEVER
    new_key: Callable[[], str] = _new_key
    tally: Tally = field(default_factory=Tally, init=False)
    notice: str = field(default="", init=False)
    drafts: dict[int, str] = field(default_factory=dict, init=False)
    changed: dict[int, Shown] = field(default_factory=dict, init=False)
    _held: HeldItems = field(default_factory=HeldItems, init=False)
    _gate: Gate = field(default_factory=Gate, init=False)
    _given: Given = field(default_factory=Given, init=False)
    _ending: Ending = field(init=False)
    _reveals: Reveals = field(init=False)
    _outbox: Outbox = field(default_factory=Outbox, init=False)
    _asking: bool = field(default=False, init=False)
    _renewed_at: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._ending = Ending(self.limit, self.minutes)
        self._reveals = Reveals(self.reveal)

    @property
    def current(self) -> Shown | None:
        """The item to be judged now, or None."""
        if self.is_over or self.revealed is not None:
            return None
        return self._held.items[0] if self._held.items else None

    @property
    def ahead(self) -> tuple[Shown, ...]:
        """The items that are held; the first is the current one."""
        return tuple(self._held.items)

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached: of votes, or of minutes."""
        return self._ending.is_over(self.standing)

    @property
    def phase(self) -> Phase:
        """Where the sitting stands."""
        if self.is_paused:
            return Phase.PAUSED
        if self.revealed is not None:
            return Phase.REVEALED
        if self.is_over:
            return Phase.ENDED
        if self._held.items:
            return Phase.ASKING if self._asking else Phase.JUDGING
        return Phase.WAITING if self._held.left is None or self.undoing else Phase.EMPTY

    @property
    def is_paused(self) -> bool:
        """Whether the reviewer pauses."""
        return self._gate.paused_at is not None

    @property
    def is_in_sight(self) -> bool:
        """Whether what there is to judge is known to be on the screen."""
        return self._gate.painted_at is not None

    @property
    def undoing(self) -> bool:
        """Whether the database is taking a vote or a skip back."""
        return self._given.undoing

    @property
    def revealed(self) -> Revealed | None:
        """What judges said of the item that was just voted on, until the reviewer goes on."""
        return self._reveals.showing

    @property
    def all_revealed(self) -> tuple[Revealed, ...]:
        """What judges said of this sitting's items, as far as it was shown."""
        return tuple(self._reveals.shown)

    @property
    def may_reveal(self) -> bool:
        """Whether the sitting is at its end, and what judges said of its items may be asked for."""
        at_end = self.phase in {Phase.ENDED, Phase.EMPTY}
        return at_end and self._reveals.may_ask(self._given.votes)

    @property
    def left(self) -> Fetched | None:
        """What is left, once nothing can be taken; else None."""
        return self._held.left

    @property
    def unsaved(self) -> int:
        """How many events aren't on disk yet."""
        return self._outbox.unsaved

    @property
    def last(self) -> Vote | Skip | None:
        """What an undo takes back: the last vote of this sitting that stands, or skip, or None."""
        return self._given.last

    @property
    def standing(self) -> int:
        """How many votes of this sitting stand."""
        return len(self._given.votes)

    @property
    def draft(self) -> str:
        """The note that was begun for the current item, or empty."""
        return self.drafts.get(self.current.claim.task_id, "") if self.current else ""

    def is_saved(self, key: str) -> bool:
        """Tell whether an event is on disk."""
        return self._outbox.is_saved(key)
