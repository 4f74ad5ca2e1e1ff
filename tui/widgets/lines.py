"""The single lines of the review screen: progress, answers, status, keys."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.widgets import Static

from labeler.assessment.rubric import Rubric
from labeler.queue.sitting.answers import CANT_JUDGE_REASONS, answers_in_order
from labeler.queue.sitting.orders import Skip, Vote
from labeler.queue.sitting.tally import Tally
from tui.bindings import KeyTable
from tui.text import Line, displayed_line, level_name, line
from tui.wording import bar, percent

__all__ = [
    "AnswersLine",
    "FarLine",
    "KeysLine",
    "OneLine",
    "PartsLine",
    "ProgressLine",
    "StatusLine",
]

_BAR = 16
_NAME = 24
"""Cells that a name may take on the line of progress."""


class OneLine(Static):
    """One line, drawn again only when it says something else, and never laid out again for it.

    Laying the whole screen out takes longer than everything else that a key does.
    """

    _pieces: tuple[Line, ...] | None = None

    def put(self, *pieces: Line) -> None:
        """Show pieces of text."""
        if pieces != self._pieces:
            self._pieces = pieces
            self.update(line(*pieces), layout=False)


class FarLine(OneLine):
    """Whether all is on disk, who works at what, a bar where it has room, how far and how fast."""

    _parts: tuple[list[Line], list[Line], list[Line]] = ([], [], [])

    def show_far(self, who: Sequence[str], done: int, total: int, far: str, unsaved: int) -> None:
        """Show who works at what, and how far that is."""
        # The word comes first: in a narrow terminal the end of the line is cut.
        state: Line = "saved" if unsaved == 0 else (f"{unsaved} NOT SAVED", "bold")
        words: list[Line] = [state, *(f" · {_short(word)}" for word in who)]
        self._parts = words, [f"  {bar(done, total, _BAR)}"] if total else [], [far]
        self.set_class(unsaved > 0, "-unsaved")
        self._draw()

    def on_resize(self) -> None:
        """Leave the bar out where it has no room."""
        self._draw()

    def _draw(self) -> None:
        who, bar_piece, far = self._parts
        fits = line(*who, *bar_piece, *far).cell_length <= self.size.width
        self.put(*who, *(bar_piece if fits or not self.size.width else ()), *far)


class ProgressLine(FarLine):
    """Who reviews what, how far, how fast, and whether all of it is on disk."""

    def show(self, reviewer: str, snapshot: str, tally: Tally, unsaved: int) -> None:
        """Show where the sitting stands."""
        done, total = tally.done, tally.total
        pace = tally.seconds_per_item
        far = f"  {done}/{total} {percent(done, total)}%" if total else ""
        far += f"  {pace:.1f} s/item" if pace is not None else ""
        self.show_far([reviewer, *([snapshot] if snapshot else [])], done, total, far, unsaved)


class PartsLine(Static):
    """Short pieces in a row, on as many lines as they need."""

    _parts: Sequence[Sequence[Line]] = ()
    _rows = 0

    def show_parts(self, parts: Sequence[Sequence[Line]]) -> None:
        """Show pieces, each with its own styles."""
        if parts != self._parts:
            self._parts = parts
            self._draw()

    def on_resize(self) -> None:
        """Break lines between pieces, not within."""
        self._draw()

    def _draw(self) -> None:
        width = self.size.width or self.app.size.width - 2
        rows: list[Content] = []
        for part in (line(*pieces) for pieces in self._parts):
            if rows and rows[-1].cell_length + 2 + part.cell_length <= width:
                rows[-1] = Content.assemble(rows[-1], "  ", part)
            else:
                rows.append(part)
        self.update(Content("\n").join(rows), layout=len(rows) != self._rows)
        self._rows = len(rows)


class AnswersLine(PartsLine):
    """The answers and their keys, or the reasons why an item can't be judged."""

    def show(
        self,
        rubric: Rubric | None,
        *,
        asking: bool,
        finding: bool = False,
        table: KeyTable | None = None,
    ) -> None:
        """Show the answers of a rubric's scale, or that keys don't give any just now."""
        parts: list[list[Line]] = []
        if rubric is None:
            pass
        elif finding:
            parts = [[("Keys are typed into the search; none is a label.", "dim")]]
        elif asking:
            reasons = enumerate(CANT_JUDGE_REASONS, 1)
            parts = [[("Why? ", "bold")]]
            parts += [[(f"{key} ", "bold"), why] for key, why in reasons]
            parts.append(["Esc back"])
        else:
            keys = table or KeyTable()
            answers = answers_in_order(rubric)[: len(keys.answers)]
            parts = [
                [(f"{keys.answer(place)} ", "bold"), level_name(level)]
                for place, level in enumerate(answers, 1)
            ]
        self.show_parts(parts)


class StatusLine(OneLine):
    """What the last key did: a refusal, trouble with the database, or the last vote or skip."""

    def show(
        self,
        notice: str,
        trouble: str,
        last: Vote | Skip | None,
        *,
        last_saved: bool,
        undo_key: str = "u",
    ) -> None:
        """Show the most pressing of what there is to say."""
        self.set_class(bool(notice or trouble), "-notice")
        if notice:
            self.put(("! ", "bold"), notice)
        elif trouble:
            self.put(("! ", "bold"), f"waiting: {trouble}")
        elif last is None:
            self.put()
        else:
            state = "saved" if last_saved else "not saved yet"
            self.put(f"last: {_named(last)} · {state} · ", (undo_key, "bold"), " takes it back")


class KeysLine(OneLine):
    """The keys that do something now, as many as there is room for."""

    _keys: Sequence[tuple[str, str, int]] = ()

    def show(self, keys: Sequence[tuple[str, str, int]]) -> None:
        """Show keys, what each does, and its rank: the highest ranks are left out first."""
        if keys != self._keys:
            self._keys = keys
            self._draw()

    def on_resize(self) -> None:
        """Show as many as there is room for."""
        self._draw()

    def _draw(self) -> None:
        kept = list(self._keys)
        while len(kept) > 1 and self._width(kept) > self.size.width > 0:
            kept.remove(max(kept, key=lambda row: row[2]))
        pieces: list[Line] = []
        for key, word, _ in kept:
            pieces += ["  " if pieces else "", (key, "bold"), f" {word}"]
        self.put(*pieces)

    @staticmethod
    def _width(keys: Sequence[tuple[str, str, int]]) -> int:
        return sum(cell_len(key) + 1 + cell_len(word) + 2 for key, word, _ in keys) - 2


def _named(last: Vote | Skip) -> str:
    if isinstance(last, Skip):
        return "skipped, it stays in the queue"
    return level_name(last.level) + (f" ({last.note})" if last.note else "")


def _short(name: str) -> str:
    shown = displayed_line(name)
    if cell_len(shown) <= _NAME:
        return shown
    kept = line(shown).truncate(_NAME - 1).plain
    return f"{kept}…"
