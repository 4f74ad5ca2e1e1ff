"""What a sitting came to, and its pace; it tells nothing of the labels that were given."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Tally"]

_PACE_OVER = 20
"""The pace is that of the last so many votes."""


@dataclass
class Tally:
    """Counts of a sitting.

    Attributes:
        votes: Votes that count and are on disk.
        extra: Votes that came too late to count.
        skipped: Items left to others.
        undone: Votes taken back.
    """

    votes: int = 0
    extra: int = 0
    skipped: int = 0
    undone: int = 0
    _counted: int = field(default=0, init=False)
    _since: int = field(default=0, init=False)
    _total: int = field(default=0, init=False)
    _dwell_ms: list[int] = field(default_factory=list, init=False)

    @property
    def done(self) -> int:
        """Items with a vote of this reviewer; earlier sittings and unsaved votes included."""
        return max(0, self._counted + self._since)

    @property
    def total(self) -> int:
        """Items with a vote of this reviewer, and items open to this reviewer."""
        return max(self._total, self.done)

    @property
    def seconds_per_item(self) -> float | None:
        """The mean time on the screen of the last votes, in seconds; None before the first."""
        last = self._dwell_ms[-_PACE_OVER:]
        return sum(last) / len(last) / 1000 if last else None

    def counted(self, done: int, still_open: int, *, since: int) -> None:
        """Take a count of the database, which doesn't know the votes since."""
        self._counted, self._since, self._total = done, since, done + still_open

    def changed(self, votes: int) -> None:
        """Take note that there are more, or fewer, votes than counted."""
        self._since += votes

    def saved(self, dwell_ms: int) -> None:
        """Take note that a vote counts."""
        self.votes += 1
        self._dwell_ms.append(dwell_ms)

    def describe(self) -> str:
        """Say on one line what the sitting came to: counts and pace."""
        noun = "vote" if self.votes == 1 else "votes"
        told = f"{self.votes} {noun} saved, {self.skipped} skipped, {self.undone} taken back"
        told += f", {self.extra} extra that don't count" if self.extra else ""
        pace = self.seconds_per_item
        return told + (f"; {pace:.1f} s an item" if pace is not None else "")
