"""A reviewer's sitting as a state machine, without a screen, a clock or a database.

The line mode and the full-screen app both drive it. What happened goes in: keys, paints, answers
of the database. What is to be written comes out as orders, in the order in which they must be
done. It never says anything that would unblind: no reasons, no systems, nobody's labels.
"""

from __future__ import annotations

from labeler.labels import Level
from labeler.queue.sitting.answering import HELD_KEY, Answering
from labeler.queue.sitting.answers import CANT_JUDGE_REASONS
from labeler.queue.sitting.gate import Press
from labeler.queue.sitting.orders import (
    Count,
    Note,
    Order,
    Renew,
    Shown,
    Skip,
    Widen,
)
from labeler.queue.sitting.proposing import Proposing

__all__ = ["Sitting"]

RENEW_EVERY = 60.0
"""Leases are renewed at the first key after so many seconds, and by nothing else."""


class Sitting(Proposing, Answering):
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
        """Start: hold the first items, then count, which takes longer in a long queue."""
        fetch = self._held.next_fetch()
        if fetch is not None:
            self._outbox.add(fetch)
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
            self.notice = HELD_KEY

    def painted(self, shown: Shown, at: float) -> None:
        """Take note that an item has been on the screen since a time, in seconds."""
        if shown is self.current:
            self._gate.painted(at)
            self._ending.painted(at)
            if self._renewed_at is None:
                self._renewed_at = at

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
        skip = Skip(self.new_key(), shown, self._gate.dwell_ms)
        self._given.add(skip)
        self.notice = ""
        self._outbox.add(skip)
        self._leave()

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
        """Ask for the last vote or skip to be taken back; False when that is refused."""
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
        self._given.forget_skips()
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
            self._outbox.add(*self._reveals.at_the_end(self._given.votes, self.new_key))

    def finish(self) -> None:
        """End before the limit: others may have what was held ahead."""
        self._ending.finish()
        self._hand_back()

    def close(self) -> None:
        """End: keep what was begun. What is held is given back by whoever holds the database."""
        for shown in self._held.items:
            self._flush_draft(shown)
        self._held.close()

    # How it does it

    def _renew(self, at: float) -> None:
        """Hold what is held for longer."""
        if self._held.items:
            self._renewed_at = at
            claims = tuple(shown.claim for shown in self._held.items)
            self._outbox.add(Renew(claims), Count())

    def _passes_gate(self) -> bool:
        if self.notice == HELD_KEY and (self.undoing or self._gate.is_repeat):
            return False
        reason = self._gate.refusal(self.unsaved)
        if self.undoing:
            reason = "not counted: the last one is being taken back"
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
