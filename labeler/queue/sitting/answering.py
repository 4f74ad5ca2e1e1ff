"""What a sitting makes of the database's answers, and how items come and go in it."""

from __future__ import annotations

from labeler.labels import Level
from labeler.queue.sitting.changes import what_changed
from labeler.queue.sitting.orders import (
    Answer,
    Counted,
    Done,
    Fetched,
    GiveBack,
    HoldAgain,
    Kept,
    Note,
    Renewed,
    Revealed,
    Shown,
    Skip,
    TakenBack,
    TurnedDown,
    Undo,
    Vote,
)
from labeler.queue.sitting.state import SittingState

__all__ = ["HELD_KEY", "Answering"]

HELD_KEY = "the key is held down: the vote that it gave by itself is taken back"
_LOST = "somebody else has this item by now: a vote is kept, and counts if there is still room"
_LOST_LAST = "somebody else had that item by then: your vote is kept, and counts if there is room"
_EXTRA = "kept as extra, it doesn't count: others, or you elsewhere, voted meanwhile"


class Answering(SittingState):
    """A sitting as the database sees it: votes go out, answers come in."""

    def answered(self, answer: Answer) -> None:
        """Take note of an answer."""
        match answer:
            case Kept(key, extra):
                self._kept(key, extra=extra)
            case TurnedDown(key, message, again):
                self._turned_down(key, message, again)
            case TakenBack():
                self._taken_back(answer)
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
        last = self.last
        if self._held.lose(lost):
            self.notice = _LOST
        elif isinstance(last, Vote) and last.shown.claim.assignment_id in lost:
            self.notice = _LOST_LAST

    def _kept(self, key: str, *, extra: bool) -> None:
        order = self._outbox.answered(key)
        if not isinstance(order, Vote):
            return
        if extra:
            self._forget_vote(key)
            self.tally.extra += 1
            self.notice = _EXTRA
            return
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
            parts = ", ".join(name for name, _, _ in changes)
            self.notice = f"not saved, the item changed, see its context: {parts}"
        self._put_first(again)

    def _taken_back(self, answer: TakenBack) -> None:
        undo = self._outbox.answered(answer.key)
        self._given.undoing = False
        last, shown = self.last, answer.shown
        if isinstance(last, Skip) and last.key == answer.key:
            self._skip_taken_back(last, answer)
            return
        if answer.message:
            self.notice = answer.message
            self._reveals.changing = None
            return
        self.tally.undone += 1
        self.tally.changed(-1)
        if isinstance(undo, Undo) and undo.of is not None:
            self._given.forget(undo.of)
        self._ending.reopened()
        if self.notice != HELD_KEY:
            self.notice = "the last vote is taken back"
        self._put_first(shown)
        changing, self._reveals.changing = self._reveals.changing, None
        if changing is not None and shown is not None:
            self.vote(changing)
            self.notice = "your new label is given; the blind one stays on record"

    def _skip_taken_back(self, skip: Skip, answer: TakenBack) -> None:
        self._given.forget(skip.key)
        self.notice = answer.message or "the item that you skipped is back"
        if answer.shown is not None:
            self.tally.skipped -= 1
            self._held.passed_over.discard(skip.shown.claim.task_id)
            self._ending.reopened()
            self._put_first(answer.shown)

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

    # How it does it

    def _need_current(self) -> Shown:
        shown = self.current
        if shown is None:
            raise LookupError("there is no current item")
        return shown

    def _take_back(self) -> None:
        self._asking = False
        self._given.undoing = True
        self._reveals.showing = None
        self.notice = ""
        last = self.last
        if isinstance(last, Skip):
            self._outbox.add(HoldAgain(last))
        else:
            self._outbox.add(Undo(self.new_key(), last.key if last else None))

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
