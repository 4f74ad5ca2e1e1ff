"""Long texts as lines of a screen: wrapped piece by piece, so that the first lines come at once."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice

from rich.cells import cell_len, get_character_cell_size

__all__ = ["WrappedText", "wrapped"]

# Around a character of these (Han, Kana, wide forms) a line may end, but not before a sign that
# closes or prolongs, nor after one that opens. Korean is written with blanks and is left to them.
_WIDE = (
    "\u2e80-\u2fff\u3003-\u3007\u3012-\u3098\u309b-\u9fff\uf900-\ufaff\uff10-\uff5a"
    "\U00020000-\U0003ffff"
)
_OPENING = "「『（［｛〈《【〔〖〘"
_CLOSING = "、。，．：；！？」』）］｝〉》】〕〗〙ーぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ…"
_CHUNK = re.compile(
    rf"[{_OPENING}]*[{_WIDE}](?:[{_CLOSING}]|[^\w\s{_WIDE}{_OPENING}])*\s*"
    rf"|[^\s{_WIDE}{_OPENING}]+\s*|[{_OPENING}]+\s*|\s+"
)
_SIMPLE = re.compile(r"[ -~\xa1-\xac\xae-\u02ff\u0370-\u0482]*")
"""Texts of which each character takes one cell."""


def wrapped(text: str, width: int) -> Iterator[tuple[int, int]]:
    """Give the lines of a text: for each the place of its first character, and after its last.

    A line ends where a blank is, or beside a wide character; a word that is longer than a line is
    cut. Blanks at the end of a line are left out. An empty text has one empty line.

    Args:
        text: Text without tabs and joiners; its own lines end with a newline.
        width: Cells that a line may take, 2 or more.
    """
    start = 0
    while True:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        simple = _SIMPLE.fullmatch(text, start, end)
        yield from (_simple_lines if simple else _lines)(text, start, end, width)
        if end == len(text):
            return
        start = end + 1


def _simple_lines(text: str, start: int, end: int, width: int) -> Iterator[tuple[int, int]]:
    end = start + len(text[start:end].rstrip(" "))
    while end - start > width:
        cut = start + width if text[start + width] == " " else text.rfind(" ", start, start + width)
        line = text[start:cut].rstrip(" ") if cut > start else ""
        if line.strip(" "):
            yield start, start + len(line)
        else:
            # A word that no line can hold.
            cut = start + width
            yield start, cut
        start = cut
        while text[start] == " ":
            start += 1
    yield start, end


def _lines(text: str, start: int, end: int, width: int) -> Iterator[tuple[int, int]]:
    line_end, cells = start, 0
    for chunk in _CHUNK.finditer(text, start, end):
        body = chunk.group().rstrip()
        taken = cell_len(body)
        if cells and cells + taken > width:
            if line_end > start:
                yield start, line_end
            start, cells = chunk.start(), 0
        if taken > width:
            for cut in _cuts(body, width):
                yield start, chunk.start() + cut
                start, cells = chunk.start() + cut, 0
            taken = cell_len(text[start : chunk.start() + len(body)])
        if body:
            line_end = chunk.start() + len(body)
        cells += taken + cell_len(chunk.group()[len(body) :])
    yield start, max(start, line_end)


def _cuts(word: str, width: int) -> Iterator[int]:
    """Tell where a word that is longer than a line is cut."""
    cells = 0
    for place, character in enumerate(word):
        taken = get_character_cell_size(character)
        if cells + taken > width:
            yield place
            cells = 0
        cells += taken


class WrappedText:
    """A text and its lines; those that nobody has asked for yet are wrapped later.

    Args:
        text: The text, ready to be shown.
        width: Cells that a line may take, 2 or more.
    """

    def __init__(self, text: str, width: int) -> None:
        self.text = text
        self.width = width
        self._coming = wrapped(text, width)
        self._starts: list[int] = []
        self._ends: list[int] = []
        self.is_complete = False

    def __len__(self) -> int:
        """Count the lines that are known so far."""
        return len(self._starts)

    def grow(self, lines: int) -> None:
        """Wrap so many lines more, if there are so many."""
        before = len(self._starts)
        for start, end in islice(self._coming, lines):
            self._starts.append(start)
            self._ends.append(end)
        self.is_complete = len(self._starts) - before < lines

    def span(self, line: int) -> tuple[int, int]:
        """Give the places of a line's first character, and after its last."""
        return self._starts[line], self._ends[line]

    def line_at(self, place: int) -> int:
        """Tell which line a character of the text is on; lines up to it are wrapped."""
        while not self.is_complete and (not self._starts or self._starts[-1] <= place):
            self.grow(1000)
        return max(0, bisect_right(self._starts, place) - 1)
