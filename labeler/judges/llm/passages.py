"""What of a passage a judge is shown: all of it, a stated cut, or windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["CUT_MARK", "PassageLimit"]

CUT_MARK = "\n[The passage goes on; it was cut here.]"
"""What a judge reads where a passage was cut."""

_OVERLAP = 0.15
_BREAK_WITHIN = 0.1


@dataclass(frozen=True, slots=True)
class PassageLimit:
    """How long a passage may be, in characters, and what happens to a longer one.

    Attributes:
        characters: The most that one request shows.
        longer: ``cut`` shows the beginning and says so; ``windows`` shows overlapping parts, each
            in a request of its own, and keeps the best.
    """

    characters: int = 12_000
    longer: Literal["cut", "windows"] = "cut"

    def is_cut(self, passage: str) -> bool:
        """Tell whether a judge sees less than the whole passage."""
        return self.longer == "cut" and len(passage) > self.characters

    def shown(self, passage: str) -> tuple[str, ...]:
        """Give the texts that requests show; most often one, the passage itself."""
        if len(passage) <= self.characters:
            return (passage,)
        if self.longer == "cut":
            return (passage[: self._end(passage, 0)] + CUT_MARK,)
        windows = []
        start = 0
        while True:
            end = self._end(passage, start)
            windows.append(passage[start:end])
            if end >= len(passage):
                return tuple(windows)
            start = max(end - int(self.characters * _OVERLAP), start + 1)

    def _end(self, passage: str, start: int) -> int:
        """Break at white space where there is some near the limit."""
        end = start + self.characters
        if end >= len(passage):
            return len(passage)
        least = end - int(self.characters * _BREAK_WITHIN)
        for place in range(end, least, -1):
            if passage[place].isspace():
                return place
        return end
