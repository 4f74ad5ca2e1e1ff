"""What the readers have to say about a file: faults, which refuse it, and notices, which don't."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from labeler.errors import Fault

__all__ = ["Findings", "Notice", "shown"]

_FAULTS_PER_FILE = 100
_LINES_NAMED = 5


@dataclass(frozen=True, slots=True)
class Notice:
    """Something about one file that is told, although the file is taken.

    Attributes:
        path: The file as the user named it.
        line: The physical line, counted from 1; None when several or no lines are meant.
        text: What was found, and what was made of it.
    """

    path: str
    line: int | None
    text: str

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.text}"


class Findings:
    """Collects faults and notices in the order in which readers meet them.

    The first 100 faults of a file are kept one by one. The others are counted, and the count
    follows as one more fault, so that a wrong file of a million lines stays readable.
    """

    def __init__(self) -> None:
        self.notices: list[Notice] = []
        self._faults: list[Fault] = []
        self._faults_in: Counter[str] = Counter()
        self._whole: list[Fault] = []
        self._left_out = 0

    @property
    def faults(self) -> list[Fault]:
        """All faults in the order in which they were found."""
        told: list[Fault] = []
        kept: Counter[str] = Counter()
        for fault in self._faults:
            told.append(fault)
            kept[fault.path] += 1
            more = self._faults_in[fault.path] - _FAULTS_PER_FILE
            if more > 0 and kept[fault.path] == _FAULTS_PER_FILE:
                text = f"and {more:,} more fault{'' if more == 1 else 's'} in this file"
                told.append(Fault(fault.path, None, text, more))
        return told

    def fault(
        self, path: object, line: int | None, problem: str, *, rows: int | None = None
    ) -> None:
        """Note that a file can't be taken as it is.

        Args:
            path: The file as the user named it.
            line: The physical line, or None.
            problem: What was found there, and what was expected.
            rows: How many rows a lenient import leaves out for it: by default one when a line is
                named, else all; a file that is faulty as a whole is refused leniently as well.
        """
        name = str(path)
        fault = Fault(name, line, problem)
        self._faults_in[name] += 1
        if line is None and rows is None:
            self._whole.append(fault)
        self._left_out += 1 if rows is None else rows
        if self._faults_in[name] <= _FAULTS_PER_FILE:
            self._faults.append(fault)

    def notice(self, path: object, line: int | None, text: str) -> None:
        """Note something that the user should know, without refusing the file."""
        self.notices.append(Notice(str(path), line, text))

    def notice_many(self, path: object, text: str, lines: Sequence[int]) -> None:
        """Note one thing that holds for several lines: one notice with their count.

        Nothing is noted when there are no lines.
        """
        if not lines:
            return
        if len(lines) == 1:
            self.notice(path, lines[0], text)
            return
        named = ", ".join(str(line) for line in lines[:_LINES_NAMED])
        dots = ", ..." if len(lines) > _LINES_NAMED else ""
        self.notice(path, None, f"{text} ({len(lines):,} lines: {named}{dots})")

    def count_faults(self, path: object) -> int:
        """Count the faults of one file, those that are not kept one by one included."""
        return self._faults_in[str(path)]

    @property
    def left_out(self) -> int:
        """How many rows a lenient import leaves out."""
        return self._left_out

    @property
    def faults_of_whole_files(self) -> list[Fault]:
        """The faults that no leniency mends, since they are not about single rows."""
        return list(self._whole)

    def usable(self, path: object, *, lenient: bool) -> bool:
        """Whether a file's rows may be used: it has no faults or, leniently, only in some rows."""
        name = str(path)
        if not self._faults_in[name]:
            return True
        return lenient and all(fault.path != name for fault in self._whole)


def shown(value: object, limit: int = 60) -> str:
    """Quote a piece of a file inside a message: on one line, cut, controls made visible."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    cut = text if len(text) <= limit else text[: limit - 3] + "..."
    safe = "".join(letter if letter.isprintable() else _escaped(letter) for letter in cut)
    return f"'{safe}'"


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
