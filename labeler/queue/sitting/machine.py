"""A reviewer's sitting as a state machine, without a screen, a clock or a database.

The line mode and the full-screen app both drive it. What happened goes in: keys, paints, answers
of the database. What is to be written comes out as orders, in the order in which they must be
done. It never says anything that would unblind: no reasons, no systems, nobody's labels.
"""

from __future__ import annotations

from labeler.labels import Level
from labeler.queue.sitting.answers import CANT_JUDGE_REASONS
from labeler.queue.sitting.changes import what_changed
from labeler.queue.sitting.gate import Press
from labeler.queue.sitting.orders import (
    Answer,
    Count,
    Counted,
    Done,
    Fetched,
    GiveBack,
    Kept,
    Note,
    Order,
    Renew,
    Renewed,
    Revealed,
    Shown,
    Skip,
    TakenBack,
    TurnedDown,
    Undo,
    Vote,
    Widen,
)
from labeler.queue.sitting.proposing import Proposing

__all__ = ["Sitting"]

RENEW_EVERY = 60.0
"""Leases are renewed at the first key after so many seconds, and by nothing else."""

_HELD_KEY = "the key is held down: the vote that it gave by itself is taken back"
_LOST = "somebody else has this item by now: a vote is kept, and counts if there is still room"
_LOST_LAST = "somebody else had that item by then: your vote is kept, and counts if there is room"
_EXTRA = "kept as extra, it doesn't count: somebody else had voted meanwhile"


class Sitting(Proposing):
    """One reviewer's sitting, and what happens in it."""

    # What is to be done

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
        elif press.at - self._renewed_at >= RENEW_EVERY and not self.is_paused:
            self._renew(press.at)
        if self._given.settle_suspicion(is_repeat=self._gate.is_repeat):
            self._take_back()
            self.notice = _HELD_KEY

    def painted(self, shown: Shown, at: float) -> None:
        """Take note that an item has been on the screen since a time, in seconds."""
        if shown is self.current:
            self._gate.painted(at)
            self._ending.painted(at)

    def hidden(self) -> None:
        """Take note that the current item isn't on the screen any more."""
        self._gate.hidden()

    def pause_or_resume(self) -> None:
        """Hide the item by the last key press, or show it again: it is then painted afresh.

        Meanwhile no time counts, and no key renews the leases.
        """
        if self._gate.is_repeat or self._gate.press is None:
            return
        if self.is_paused:
            self._ending.stood_still(self._gate.resume())
            self._renew(self._gate.press.at)
        elif self.current is not None:
            self._gate.pause()
        self.notice = ""

    def choose(self, place: int) -> bool:
        """Give the answer of a place, counted from 1, by the last key press; False when refused.

        The last place says that the item can't be judged, and asks for one more key.
        """
        shown = self.current
        if shown is None or not self._passes_gate():
            return False
        if self._asking:
            return self._choose_reason(place)
        answers = shown.answers
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
        self._given.add(vote)
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
        """When nothing is left: take skipped items again, or else what the filter leaves out."""
        if self.left is None or self.left.left is None:
            return
        self._held.passed_over.clear()
        self._outbox.add(Widen(no_filter=not self.left.left.skipped), Count())
        self._held.ask_again()

    def reveal_painted(self, at: float) -> None:
        """Take note that what judges said is on the screen since a time, in seconds."""
        if self.revealed is not None:
            self._gate.painted(at)

    def go_on(self) -> None:
        """Go on from what judges said to the next item."""
        if self.revealed is not None:
            self._reveals.showing = None
            self._gate.next_item()

    def change_mind(self, place: int) -> bool:
        """Vote anew on what judges said something of, by the last key press; False when refused.

        The vote before it is taken back by an event of its own, and stays on record as the blind
        one.
        """
        revealed = self.revealed
        if revealed is None or not self._passes_gate():
            return False
        answers = revealed.shown.answers
        level = answers[place - 1] if place <= len(answers) else None
        if level is None:
            self.notice = "u takes the vote back first"
            return False
        if level != revealed.level:
            self._take_back()
            self._reveals.changing = level
        else:
            self.go_on()
        return True

    def ask_what_judges_said(self) -> None:
        """At the end of the sitting: show what judges said of its items, where that is allowed."""
        if self.may_reveal:
            self._outbox.add(*self._reveals.at_the_end(self._given.all, self.new_key))

    def finish(self) -> None:
        """End before the limit: others may have what was held ahead."""
        self._ending.finish()
        self._hand_back()

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
                self._turned_down(key, message, again)
            case TakenBack(key, shown, message):
                self._taken_back(key, shown, message)
            case Fetched():
                before = self.current
                self._held.add(answer)
                if self.is_over:
                    self._hand_back()
                elif before is None:
                    self._next_item()
            case Counted(done, still_open):
                self.tally.counted(done, still_open, since=self._outbox.unsaved_votes)
            case Renewed(lost):
                self._renewed(lost)
            case Revealed():
                if self._reveals.arrived(answer, self._gate.press):
                    self._gate.hidden()
            case Done():
                pass

    def _renewed(self, lost: frozenset[int]) -> None:
        last = self.last_vote
        if self._held.lose(lost):
            self.notice = _LOST
        elif last is not None and last.shown.claim.assignment_id in lost:
            self.notice = _LOST_LAST

    def _kept(self, key: str, *, extra: bool) -> None:
        order = self._outbox.answered(key)
        if not isinstance(order, Vote):
            return
        if extra:
            self._forget_vote(key)
            self.tally.extra += 1
            self.notice = _EXTRA
        else:
            self.tally.saved(order.dwell_ms)
        # A vote that a held key may have given by itself shows nothing of what it was given on.
        if self._given.suspect is not order:
            looks = self._reveals.after_vote(order, self.new_key, self._gate.press)
            self._outbox.add(*looks)

    def _turned_down(self, key: str, message: str, again: Shown | None) -> None:
        order = self._outbox.answered(key)
        self.notice = f"not saved: {message}"
        if not isinstance(order, Vote):
            return
        self._forget_vote(key)
        if again is not None:
            changes = what_changed(order.shown.block, again.block)
            self.changed[again.claim.task_id] = order.shown
            self.notice += f": {', '.join(name for name, _, _ in changes)}"
        self._put_first(again)

    def _taken_back(self, key: str, shown: Shown | None, message: str) -> None:
        self._outbox.answered(key)
        self._given.undoing = False
        if message:
            self.notice = message
            self._reveals.changing = None
            return
        self.tally.undone += 1
        self.tally.changed(-1)
        self._given.take_back()
        self._ending.reopened()
        if self.notice != _HELD_KEY:
            self.notice = "the last vote is taken back"
        self._put_first(shown)
        changing, self._reveals.changing = self._reveals.changing, None
        if changing is not None and shown is not None:
            self.vote(changing)
            self.notice = "your new label is given; the blind one stays on record"

    # How it does it

    def _renew(self, at: float) -> None:
        """Hold what is held for longer."""
        if self._held.items:
            self._renewed_at = at
            claims = tuple(shown.claim for shown in self._held.items)
            self._outbox.add(Renew(claims), Count())

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
            self._given.suspect = vote

    def _take_back(self) -> None:
        self._asking = False
        self._given.undoing = True
        self._reveals.showing = None
        self.notice = ""
        self._outbox.add(Undo(self.new_key(), self.last_vote.key if self.last_vote else None))

    def _flush_draft(self, shown: Shown) -> None:
        text = self.drafts.pop(shown.claim.task_id, "")
        if text.strip():
            self._outbox.add(Note(self.new_key(), shown, text.strip()))

    def _forget_vote(self, key: str) -> None:
        self._given.forget(key)
        self._ending.reopened()
        self.tally.changed(-1)

    def _leave(self) -> None:
        self._held.drop_first()
        if self._gate.press is not None:
            self._ending.item_done(self._gate.press.at)
        if self.is_over:
            self._hand_back()
        self._next_item()

    def _hand_back(self) -> None:
        held = self._held.hand_back()
        for shown in held:
            self._flush_draft(shown)
        if held:
            self._outbox.add(GiveBack(tuple(shown.claim for shown in held)))

    def _put_first(self, shown: Shown | None) -> None:
        if shown is not None:
            self._held.put_first(shown)
            self._next_item()

    def _next_item(self) -> None:
        self._asking = False
        self._gate.next_item()
