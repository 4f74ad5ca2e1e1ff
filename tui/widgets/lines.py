"""The single lines of the review screen: progress, answers, status, keys."""

from __future__ import annotations

from textual.widgets import Static

from labeler.assessment.rubric import Rubric
from labeler.queue.sitting.answers import CANT_JUDGE_REASONS, answers_in_order
from labeler.queue.sitting.orders import Vote
from labeler.queue.sitting.tally import Tally
from tui.bindings import KEYS, answer_keys
from tui.text import Line, level_name, line
from tui.wording import bar, percent

__all__ = ["AnswersLine", "KeysLine", "ProgressLine", "StatusLine"]

_BAR = 16


class ProgressLine(Static):
    """Who reviews what, how far, how fast, and whether all of it is on disk."""

    def show(self, reviewer: str, snapshot: str, tally: Tally, unsaved: int) -> None:
        """Show where the sitting stands."""
        done, total = tally.done, tally.total
        pace = tally.seconds_per_item
        pieces: list[Line] = [reviewer]
        if snapshot:
            pieces.append(f" · {snapshot}")
        if total:
            share = f"{done}/{total} {percent(done, total)}%"
            pieces.append(f"  {bar(done, total, _BAR)}  {share}")
        if pace is not None:
            pieces.append(f"  {pace:.1f} s/item")
        # The word comes first: in a narrow terminal the end of the line is cut.
        state = "saved" if unsaved == 0 else f"{unsaved} NOT SAVED"
        self.set_class(unsaved > 0, "-unsaved")
        self.update(line((state, "" if unsaved == 0 else "bold"), " · ", *pieces))


class AnswersLine(Static):
    """The answers and their keys, or the reasons why an item can't be judged."""

    def show(self, rubric: Rubric | None, *, asking: bool) -> None:
        """Show the answers of a rubric's scale."""
        if rubric is None:
            self.update("")
        elif asking:
            pieces: list[Line] = [("Why? ", "bold")]
            for number, reason in enumerate(CANT_JUDGE_REASONS, 1):
                pieces += [(f" {number} ", "bold"), reason]
            self.update(line(*pieces, "   Esc back"))
        else:
            pieces = []
            for place, level in enumerate(answers_in_order(rubric), 1):
                letter, digit = answer_keys(place)
                key = f"{letter}/{digit} " if letter else f"{digit} "
                pieces += ["  " if pieces else "", (key, "bold"), level_name(level)]
            self.update(line(*pieces))


class StatusLine(Static):
    """What the last key did: a refusal, trouble with the database, or the last vote."""

    def show(self, notice: str, trouble: str, last: Vote | None, *, last_saved: bool) -> None:
        """Show the most pressing of what there is to say."""
        self.set_class(bool(notice or trouble), "-notice")
        if notice:
            self.update(line(("! ", "bold"), notice))
        elif trouble:
            self.update(line(("! ", "bold"), f"waiting: {trouble}"))
        elif last is None:
            self.update("")
        else:
            name = level_name(last.level) + (f" ({last.note})" if last.note else "")
            state = "saved" if last_saved else "not saved yet"
            self.update(line(f"last: {name} · {state} · ", ("u", "bold"), " takes it back"))


class KeysLine(Static):
    """The keys, from the one table."""

    def on_mount(self) -> None:
        """Write the line once."""
        pieces: list[Line] = []
        for row in KEYS:
            if row.short:
                pieces += ["  " if pieces else "", (row.shown, "bold"), f" {row.short}"]
        self.update(line(*pieces))
