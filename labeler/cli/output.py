"""What commands print: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby, takewhile
from pathlib import Path
from textwrap import wrap
from types import TracebackType
from typing import Self

from labeler.assessment.visible import visible_line
from labeler.errors import Fault, InputError, LabelerError

__all__ = [
    "Progress",
    "parted",
    "print_error",
    "print_facts",
    "print_json",
    "print_table",
    "program",
    "tell",
    "working",
]

_SHOWN_FAULTS = 30
_GAP = 2
_WORTH_FOLDING = 2


def program() -> str:
    """Name this program as it can be typed here: with its path where it isn't on the PATH."""
    started = sys.argv[0]
    # Started by another program, such as `python -c`, it has no path of its own.
    is_own = Path(started).name.startswith("labeler")
    return started if is_own and not shutil.which("labeler") else "labeler"


def tell(text: str) -> None:
    """Print a line for the person, on stderr."""
    print(visible_line(text), file=sys.stderr)


def print_json(value: object) -> None:
    """Print one JSON object on stdout; what isn't a JSON number never gets there."""
    print(json.dumps(value, ensure_ascii=False, allow_nan=False))


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print an aligned table on stdout; columns of numbers are set to the right."""
    body = [["" if cell is None else _shown(cell) for cell in row] for row in rows]
    right = [
        bool(body) and all(_is_number(row[place]) for row in body) for place in range(len(header))
    ]
    lines = [list(header), *body]
    widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
    for number, part in enumerate(parted(widths, right, _terminal_width())):
        if number:
            print()
        for line in lines:
            cells = (
                line[place].rjust(widths[place])
                if right[place]
                else line[place].ljust(widths[place])
                for place in part
            )
            print("  ".join(cells).rstrip())


def parted(widths: Sequence[int], right: Sequence[bool], most: int | None) -> list[list[int]]:
    """Part the columns of a table that is wider than the terminal, so that no line is wrapped.

    The parts are printed one below the other; each begins with the columns that name the row: those
    before the first number, as long as they take no more than two thirds of the width.

    Args:
        widths: The width of each column.
        right: Which columns hold numbers.
        most: The width of the terminal, or None where nothing is parted.

    Returns:
        The places of the columns of each part.
    """
    places = list(range(len(widths)))
    if most is None or sum(widths) + _GAP * (len(widths) - 1) <= most:
        return [places]
    names = [0]
    for place in takewhile(lambda place: not right[place], places[1:]):
        if sum(widths[one] + _GAP for one in (*names, place)) > most * 2 // 3:
            break
        names.append(place)
    parts = [[*names]]
    for place in places[len(names) :]:
        wide = sum(widths[one] + _GAP for one in parts[-1]) + widths[place]
        if wide > most and len(parts[-1]) > len(names):
            parts.append([*names])
        parts[-1].append(place)
    return parts


def _terminal_width() -> int | None:
    """Give how wide the terminal is that is printed on, or None where it is a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_facts(facts: Mapping[str, object]) -> None:
    """Print names and values, one a line, on stdout."""
    width = max((len(name) for name in facts), default=0)
    most = _terminal_width()
    for name, value in facts.items():
        shown = _shown(value)
        lines = [shown]
        if most is not None:
            # A long word sticks out, so that it can be copied whole.
            room = max(most - width - _GAP, 1)
            lines = wrap(shown, room, break_long_words=False, break_on_hyphens=False) or [""]
        print(f"{name.ljust(width)}  {lines[0]}".rstrip())
        for line in lines[1:]:
            print(" " * (width + _GAP) + line)


def _shown(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value + 0.0:,.3f}"  # without the sign of a negative zero
    if value is None:
        return "undefined"
    return visible_line(str(value))


def _is_number(cell: str) -> bool:
    return not cell or cell.replace(",", "").replace(".", "", 1).lstrip("-").isdigit()


def print_error(error: LabelerError) -> None:
    """Print an error: one line, what to do next, and every fault that it carries."""
    if isinstance(error, InputError):
        lines = _fault_lines(error.faults)
        for text, _ in lines[:_SHOWN_FAULTS]:
            tell(text)
        if more := sum(count for _, count in lines[_SHOWN_FAULTS:]):
            tell(f"... and {more:,} more")
    tell(f"labeler: {error.message}")
    if error.hint:
        tell(f"  hint: {error.hint}")


def _fault_lines(faults: Sequence[Fault]) -> list[tuple[str, int]]:
    """Write faults, one a line, with how many each line is; what goes on the same is written once.

    A file of the wrong kind has the same fault on each of its lines.
    """
    lines: list[tuple[str, int]] = []
    for (path, _), same in groupby(faults, lambda fault: (fault.path, fault.problem)):
        first, *others = same
        if len(others) < _WORTH_FOLDING or first.line is None:
            lines += [(str(one), one.count) for one in (first, *others)]
            continue
        text = f"{path}: the same on {len(others):,} more lines, up to line {others[-1].line}"
        lines += [(str(first), first.count), (text, sum(one.count for one in others))]
    return lines


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal for how long something has been going on, from the second second on.

    For what can't tell how much of it is done, such as one transaction that stores everything.
    """
    ended = threading.Event()

    def tell_time() -> None:
        started = time.monotonic()
        while not ended.wait(1.0):
            seconds = round(time.monotonic() - started)
            if seconds > 1:
                sys.stderr.write(f"\r\x1b[K{what}: {seconds // 60}:{seconds % 60:02d}")
                sys.stderr.flush()
        if time.monotonic() - started > 1:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    if not _progress_is_shown():
        yield
        return
    teller = threading.Thread(target=tell_time, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()


def _progress_is_shown() -> bool:
    return sys.stderr.isatty() and not os.environ.get("LABELER_NO_PROGRESS")


class Progress:
    """A progress line on stderr, drawn on a terminal only, ten times a second at most."""

    def __init__(self, what: str, total: int | None = None) -> None:
        self.what = what
        self.total = total
        self.done = 0
        self.note = ""
        self._started = time.monotonic()
        self._drawn = 0.0
        self._shown = _progress_is_shown()

    def begin(self, what: str) -> None:
        """Begin a step, with a count and a clock of its own."""
        self.what, self.total = what, None
        self._started, self._drawn = time.monotonic(), 0.0
        self.advance(0)

    def advance(self, done: int, total: int | None = None) -> None:
        """Tell how much is done by now."""
        self.done = done
        self.total = total if total is not None else self.total
        now = time.monotonic()
        if self._shown and now - self._drawn >= 0.1:  # noqa: PLR2004 - seconds between two frames
            self._drawn = now
            sys.stderr.write(f"\r\x1b[K{self._line(now - self._started)}")
            sys.stderr.flush()

    def _line(self, seconds: float) -> str:
        end = f"; {self.note}" if self.note else ""
        if not self.total:
            return f"{self.what}: {self.done:,}{end}" if self.done else f"{self.what}{end}"
        share = self.done / self.total
        line = f"{self.what}: {self.done:,} of {self.total:,} ({share:.0%})"
        if self.done and seconds > 1:
            left = round(seconds / self.done * (self.total - self.done))
            line += f", {left // 60}:{left % 60:02d} left"
        return line + end

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown and self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
