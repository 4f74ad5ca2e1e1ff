"""What a reviewer may answer, and where a sitting stands."""

from __future__ import annotations

from enum import Enum, auto

from labeler.assessment.rubric import Rubric
from labeler.labels import Level

__all__ = ["CANT_JUDGE_REASONS", "Phase", "answers_in_order"]

CANT_JUDGE_REASONS = ("garbled", "language", "needs context", "query unclear", "other")
"""Why an item can't be judged, by the digits from 1 on."""


class Phase(Enum):
    """Where a sitting stands."""

    WAITING = auto()
    """The database hasn't answered yet which item comes next."""
    JUDGING = auto()
    """An item is there."""
    ASKING = auto()
    """An item is there, can't be judged, and one more key says why."""
    PAUSED = auto()
    """The reviewer pauses; what there is to judge is hidden."""
    REVEALED = auto()
    """What judges said of the item that was voted on is shown, until the reviewer goes on."""
    EMPTY = auto()
    """Nothing can be taken now; what is left says why."""
    ENDED = auto()
    """The sitting's limit is reached: of votes, or of minutes."""


def answers_in_order(rubric: Rubric) -> tuple[Level | None, ...]:
    """Give the answers from the worst level to the best; None, can't judge, comes last."""
    levels = rubric.scale.levels
    return (*sorted(levels, key=lambda level: level.order), None)
