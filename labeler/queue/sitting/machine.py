"""A reviewer's sitting as a state machine, without a screen, a clock or a database.

The line mode and the full-screen app both drive it. What happened goes in: keys, paints, answers
of the database. What is to be written comes out as orders, in the order in which they must be
done. It never says anything that would unblind: no reasons, no systems, nobody's labels.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from labeler.labels import Level
from labeler.queue.sitting.answers import CANT_JUDGE_REASONS, Phase, answers_in_order
from labeler.queue.sitting.gate import Gate, Press
from labeler.queue.sitting.held import HeldItems
from labeler.queue.sitting.orders import (
    Answer,
    Count,
    Counted,
    Done,
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
from labeler.queue.sitting.outbox import Outbox
from labeler.queue.sitting.tally import Tally

__all__ = ["Sitting"]

RENEW_EVERY = 60.0
"""Leases are renewed at the first key after so many seconds, and by nothing else."""

_HELD_KEY = "the key is held down: the vote that it gave by itself is taken back"


def _new_key() -> str:
    return str(uuid.uuid4())


@dataclass
class Sitting:
    """One reviewer's sitting.

    Attributes:
        limit: Ends after so many votes; None has no end.
        new_key: Makes the id of an event.
        tally: What was done so far.
        notice: What the reviewer should know of the last press, or empty.
        drafts: Notes begun and not kept yet, by task.
        undoing: Whether the database is taking a vote back.
    """

    limit: int | None = None
    new_key: Callable[[], str] = _new_key
    tally: Tally = field(default_factory=Tally, init=False)
    notice: str = field(default="", init=False)
    drafts: dict[int, str] = field(default_factory=dict, init=False)
    undoing: bool = field(default=False, init=False)
    _held: HeldItems = field(default_factory=HeldItems, init=False)
    _gate: Gate = field(default_factory=Gate, init=False)
    _given: list[Vote] = field(default_factory=list, init=False)
    _outbox: Outbox = field(default_factory=Outbox, init=False)
    _asking: bool = field(default=False, init=False)
    _perhaps_repeated: Vote | None = field(default=None, init=False)
    _renewed_at: float | None = field(default=None, init=False)

    # What it tells

    @property
    def current(self) -> Shown | None:
        """The item to be judged now, or None."""
        return self._held.items[0] if self._held.items and not self.is_over else None

    @property
    def ahead(self) -> tuple[Shown, ...]:
        """The items that are held; the first is the current one."""
        return tuple(self._held.items)

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached."""
        return self.limit is not None and self.standing >= self.limit

    @property
    def phase(self) -> Phase:
        """Where the sitting stands."""
        if self.is_over:
            return Phase.ENDED
        if self._held.items:
            return Phase.ASKING if self._asking else Phase.JUDGING
        return Phase.WAITING if self._held.left is None or self.undoing else Phase.EMPTY

    @property
    def left(self) -> Fetched | None:
        """What is left, once nothing can be taken; else None."""
        return self._held.left

    @property
    def unsaved(self) -> int:
        """How many events aren't on disk yet."""
        return self._outbox.unsaved

    @property
    def last_vote(self) -> Vote | None:
        """The last vote of this sitting that stands, or None."""
        return self._given[-1] if self._given else None

    @property
    def standing(self) -> int:
        """How many votes of this sitting stand."""
        return len(self._given)

    @property
    def draft(self) -> str:
        """The note that was begun for the current item, or empty."""
        return self.drafts.get(self.current.claim.task_id, "") if self.current else ""

    def is_saved(self, key: str) -> bool:
        """Tell whether an event is on disk."""
        return self._outbox.is_saved(key)

    def take_orders(self) -> list[Order]:
        """Give what is to be done by the database, once, in order."""
        fetch = None if self.is_over else self._held.next_fetch()
        if fetch is not None:
            self._outbox.add(fetch)
        return self._outbox.take()

    # What happened on the screen

    def begin(self) -> None:
        """Start: count, and hold the first items."""
        self._outbox.add(Count())

    def pressed(self, press: Press) -> None:
        """Take note of any key press, before what it means is done.

        It renews the leases. A vote that turns out to come from a key held down is taken back.
        """
        self._gate.pressed(press)
        if self._renewed_at is None:
            self._renewed_at = press.at
        elif press.at - self._renewed_at >= RENEW_EVERY and self._held.items:
            self._renewed_at = press.at
            claims = tuple(shown.claim for shown in self._held.items)
            self._outbox.add(Renew(claims), Count())
        vote, self._perhaps_repeated = self._perhaps_repeated, None
        if vote is not None and self._gate.is_repeat and self.last_vote is vote:
            self._take_back()
            self.notice = _HELD_KEY

    def painted(self, shown: Shown, at: float) -> None:
        """Take note that an item has been on the screen since a time, in seconds."""
        if shown is self.current:
            self._gate.painted(at)

    def hidden(self) -> None:
        """Take note that the current item isn't on the screen any more."""
        self._gate.hidden()

    def choose(self, place: int) -> bool:
        """Give the answer of a place, counted from 1, by the last key press; False when refused.

        The last place says that the item can't be judged, and asks for one more key.
        """
        shown = self.current
        if shown is None or not self._passes_gate():
            return False
        if self._asking:
            return self._choose_reason(place)
        answers = answers_in_order(shown.block.rubric)
        if place > len(answers):
            self.notice = f"this scale has {len(answers)} answers"
            return False
        if answers[place - 1] is None:
            self._asking = True
            return True
        self._vote_by_key(answers[place - 1], "")
        return True

    def stop_asking(self) -> None:
        """Go back from the question why an item can't be judged."""
        self._asking = False

    def skip_by_key(self) -> bool:
        """Skip the current item by the last key press; False when refused."""
        if self.current is None or not self._passes_gate():
            return False
        self.skip()
        return True

    def skip(self) -> None:
        """Leave the current item to others, without the gate, and go on.

        Raises:
            LookupError: When there is no current item.
        """
        shown = self._need_current()
        self._flush_draft(shown)
        self._held.passed_over.add(shown.claim.task_id)
        self.tally.skipped += 1
        self._outbox.add(Skip(self.new_key(), shown, self._gate.dwell_ms))
        self.notice = "skipped: it stays in the queue"
        self._leave()

    def vote(self, level: Level | None, note: str = "") -> Vote:
        """Vote on the current item without the gate, and go on; None says it can't be judged.

        Raises:
            LookupError: When there is no current item.
        """
        shown = self._need_current()
        self._flush_draft(shown)
        vote = Vote(self.new_key(), shown, level, note, self._gate.dwell_ms)
        self._given.append(vote)
        self.tally.changed(+1)
        self.notice = ""
        self._outbox.add(vote)
        self._leave()
        return vote

    def note(self, text: str, *, is_flag: bool = False) -> None:
        """Keep a note, or a flag with its reason, with the current item.

        Raises:
            LookupError: When there is no current item.
        """
        shown = self._need_current()
        if not is_flag:
            self.drafts.pop(shown.claim.task_id, None)
        if text.strip():
            self._outbox.add(Note(self.new_key(), shown, text.strip(), is_flag))
            self.notice = "flag kept with this item" if is_flag else "note kept with this item"

    def keep_draft(self, text: str) -> None:
        """Remember a note that isn't finished; it is kept with what is done to the item next."""
        if self.current is not None:
            self.drafts[self.current.claim.task_id] = text

    def undo(self) -> bool:
        """Ask for the last vote to be taken back; False when that is refused."""
        if self._gate.is_repeat:
            self.notice = "not taken: the key is held down"
            return False
        if self.undoing:
            return False
        self._take_back()
        return True

    def retry(self) -> None:
        """Look once more whether something can be taken."""
        self._held.ask_again()

    def widen(self) -> None:
        """When nothing is left: take skipped items again, or else items of all pools."""
        if self.left is None or self.left.left is None:
            return
        self._held.passed_over.clear()
        self._outbox.add(Widen(all_pools=not self.left.left.skipped), Count())
        self._held.ask_again()

    def close(self) -> None:
        """End: keep what was begun. What is held is given back by whoever holds the database."""
        for shown in self._held.items:
            self._flush_draft(shown)
        self._held.close()

    # What the database answered

    def answered(self, answer: Answer) -> None:
        """Take note of an answer."""
        match answer:
            case Kept(key, extra):
                self._kept(key, extra=extra)
            case TurnedDown(key, message, again):
                self._outbox.answered(key)
                self._forget_vote(key)
                self.notice = f"not saved: {message}"
                self._put_first(again)
            case TakenBack(key, shown, message):
                self._taken_back(key, shown, message)
            case Fetched():
                before = self.current
                self._held.add(answer)
                if before is None:
                    self._next_item()
            case Counted(done, still_open):
                self.tally.counted(done, still_open, since=self._outbox.unsaved_votes)
            case Done():
                pass

    def _kept(self, key: str, *, extra: bool) -> None:
        order = self._outbox.answered(key)
        if not isinstance(order, Vote):
            return
        if extra:
            self._forget_vote(key)
            self.tally.extra += 1
            self.notice = "kept as extra, it doesn't count: somebody else had voted meanwhile"
        else:
            self.tally.saved(order.dwell_ms)

    def _taken_back(self, key: str, shown: Shown | None, message: str) -> None:
        self._outbox.answered(key)
        self.undoing = False
        if message:
            self.notice = message
            return
        self.tally.undone += 1
        self.tally.changed(-1)
        if self._given:
            self._given.pop()
        if self.notice != _HELD_KEY:
            self.notice = "the last vote is taken back"
        self._put_first(shown)

    # How it does it

    def _need_current(self) -> Shown:
        shown = self.current
        if shown is None:
            raise LookupError("there is no current item")
        return shown

    def _passes_gate(self) -> bool:
        if self.notice == _HELD_KEY and (self.undoing or self._gate.is_repeat):
            return False
        reason = self._gate.refusal(self.unsaved)
        if self.undoing:
            reason = "not counted: the last vote is being taken back"
        self.notice = reason or ""
        return reason is None

    def _choose_reason(self, place: int) -> bool:
        # Letters give labels alone, so that an f held down says nothing.
        if not self._gate.is_digit or place > len(CANT_JUDGE_REASONS):
            self.notice = f"1 to {len(CANT_JUDGE_REASONS)} says why; Esc goes back"
            return False
        self._vote_by_key(None, CANT_JUDGE_REASONS[place - 1])
        return True

    def _vote_by_key(self, level: Level | None, note: str) -> None:
        vote = self.vote(level, note)
        if self._gate.may_be_first_repeat:
            self._perhaps_repeated = vote

    def _take_back(self) -> None:
        self._asking = False
        self.undoing = True
        self.notice = ""
        self._outbox.add(Undo(self.new_key(), self.last_vote.key if self.last_vote else None))

    def _flush_draft(self, shown: Shown) -> None:
        text = self.drafts.pop(shown.claim.task_id, "")
        if text.strip():
            self._outbox.add(Note(self.new_key(), shown, text.strip()))

    def _forget_vote(self, key: str) -> None:
        self._given = [vote for vote in self._given if vote.key != key]
        self.tally.changed(-1)

    def _leave(self) -> None:
        self._held.drop_first()
        self._next_item()

    def _put_first(self, shown: Shown | None) -> None:
        if shown is not None:
            self._held.put_first(shown)
            self._next_item()

    def _next_item(self) -> None:
        self._asking = False
        self._gate.next_item()
