"""A reviewer's sitting: a state machine over the queue, without any screen.

The line mode and the full-screen app both drive this. It holds one item at a time and two ahead,
and never says anything that would unblind: no reasons, no systems, nobody's labels.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from labeler.assessment.blind import BlindItem, Block
from labeler.assessment.reading import blocks_of
from labeler.errors import ConflictError
from labeler.labels import Level
from labeler.queue.claims import Claim, QueueLeft, claim, queue_left, release
from labeler.queue.votes import Event, Saved, record_event, undo_last
from labeler.records.queue import EventKind
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from labeler.store.registry import assessor_key

__all__ = ["ReviewSession", "Shown", "Tally"]

_AHEAD = 3


@dataclass(frozen=True, slots=True)
class Shown:
    """The item on the screen: a block that holds just it."""

    claim: Claim
    block: Block
    since: datetime

    @property
    def item(self) -> BlindItem:
        """The item itself."""
        return self.block.items[0]


@dataclass(slots=True)
class Tally:
    """What a sitting came to; it tells nothing of the labels that were given."""

    votes: int = 0
    extra: int = 0
    skipped: int = 0
    undone: int = 0


def _new_key() -> str:
    return str(uuid.uuid4())


@dataclass
class ReviewSession:
    """One reviewer's sitting.

    Attributes:
        store: The project.
        reviewer: The reviewer's name.
        pool_id: Take items of this pool only; None takes all.
        with_skipped: Take items again that the reviewer skipped before.
        new_key: Makes the id of an event.
        tally: What was done so far.
    """

    store: Store
    reviewer: str
    pool_id: int | None = None
    with_skipped: bool = False
    new_key: Callable[[], str] = _new_key
    tally: Tally = field(default_factory=Tally)
    _reviewer_id: int = field(init=False)
    _ahead: list[Shown] = field(default_factory=list, init=False)
    _skipped_now: set[int] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        with self.store.write("review start", actor=self.reviewer) as tx:
            self._reviewer_id = assessor_key(tx, AssessorKind.PERSON, self.reviewer)
        # What a sitting that broke off had held comes first again.
        release(self.store, self._reviewer_id)

    @property
    def current(self) -> Shown | None:
        """The item to be judged now, or None when nothing is left for this reviewer."""
        if not self._ahead:
            self._fetch()
        return self._ahead[0] if self._ahead else None

    def vote(self, level: Level | None) -> Saved:
        """Store a vote on the current item and go on; None says that it can't be judged.

        Raises:
            LookupError: When there is no current item.
            ConflictError: When the item changed meanwhile; it is then shown anew.
        """
        try:
            saved = self._record(EventKind.VOTE, level=level)
        except ConflictError:
            self._show_again()
            raise
        self.tally.votes += saved is Saved.COUNTED
        self.tally.extra += saved is Saved.EXTRA
        self._ahead.pop(0)
        return saved

    def skip(self) -> None:
        """Leave the current item to others and go on."""
        self._record(EventKind.SKIP)
        self._skipped_now.add(self._ahead.pop(0).claim.task_id)
        self.tally.skipped += 1

    def note(self, text: str, kind: EventKind = EventKind.NOTE) -> None:
        """Keep a note, or a flag with its reason, with the current item."""
        self._record(kind, note=text)

    def undo(self) -> bool:
        """Take the last vote back and show its item again; False when there is none."""
        held = undo_last(self.store, self._reviewer_id, self.new_key())
        if held is None:
            return False
        self.tally.undone += 1
        self._ahead.insert(0, self._shown(held))
        return True

    def left(self) -> QueueLeft:
        """Count what is left for this reviewer, those held ahead included."""
        left = queue_left(self.store, self._reviewer_id, self.pool_id)
        return QueueLeft(left.waiting + len(self._ahead), left.skipped, left.held, left.next_free)

    def close(self) -> None:
        """Give back what is held ahead."""
        self._ahead.clear()
        release(self.store, self._reviewer_id)

    def _record(self, kind: EventKind, *, level: Level | None = None, note: str = "") -> Saved:
        shown = self.current
        if shown is None:
            raise LookupError("there is no current item")
        dwell = self.store.clock() - shown.since
        event = Event(
            key=self.new_key(),
            kind=kind,
            block=shown.block,
            level=level,
            note=note,
            dwell_ms=max(0, round(dwell.total_seconds() * 1000)),
        )
        return record_event(self.store, self._reviewer_id, shown.claim, event)

    def _fetch(self) -> None:
        claims = claim(
            self.store,
            self._reviewer_id,
            _AHEAD,
            pool_id=self.pool_id,
            with_skipped=self.with_skipped,
        )
        fresh = [one for one in claims if one.task_id not in self._skipped_now]
        self._ahead = [self._shown(one) for one in fresh]

    def _shown(self, held: Claim) -> Shown:
        with self.store.read() as connection:
            block = blocks_of(connection, [held.item_id], seed="")[0]
        return Shown(held, block, self.store.clock())

    def _show_again(self) -> None:
        self._ahead[0] = self._shown(self._ahead[0].claim)
