"""Where a sitting over generated questions stands, and what it came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

__all__ = ["QuestionPhase", "QuestionTally"]

_PACE_OVER = 20
"""The pace is that of the last so many decisions."""


class QuestionPhase(Enum):
    """Where a sitting stands."""

    WAITING = auto()
    """The database hasn't answered yet which question comes next."""
    JUDGING = auto()
    """A question is there."""
    ASKING = auto()
    """A question is to be rejected, and one more key says why."""
    PAUSED = auto()
    """The question is hidden, and no time counts."""
    EMPTY = auto()
    """No question waits for this reviewer."""
    ENDED = auto()
    """The sitting's limit is reached: of decisions, or of minutes."""


@dataclass
class QuestionTally:
    """Counts of a sitting; nothing of which decisions they were.

    Attributes:
        decided: Decisions that count and are on disk.
        late: Decisions that came after somebody else's.
        skipped: Questions left to others.
        undone: Events taken back.
        total: Decisions so far, and questions that waited when that was last asked.
    """

    decided: int = 0
    late: int = 0
    skipped: int = 0
    undone: int = 0
    total: int = 0
    dwell_ms: list[int] = field(default_factory=list)

    @property
    def seconds_each(self) -> float | None:
        """The mean time on the screen of the last decisions, in seconds; None before the first."""
        last = self.dwell_ms[-_PACE_OVER:]
        return sum(last) / len(last) / 1000 if last else None

    def describe(self) -> str:
        """Say on one line what the sitting came to."""
        noun = "question" if self.decided == 1 else "questions"
        told = f"{self.decided} {noun} decided, {self.skipped} skipped, {self.undone} taken back"
        told += f", {self.late} decided by somebody else before" if self.late else ""
        pace = self.seconds_each
        return told + (f"; {pace:.1f} s a question" if pace is not None else "")
