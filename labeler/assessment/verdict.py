"""What a judge answers, before it is stored, and the shape of every judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from labeler.assessment.blind import Block
from labeler.labels import Grade, Level, Outcome

__all__ = [
    "BAD_CONFIDENCE",
    "CIRCULAR",
    "CUT_PASSAGE",
    "NOT_SUSPICIOUS",
    "UNGROUNDED",
    "Judge",
    "Verdict",
]

CIRCULAR = "circular"
"""The flag of a judgment whose judge shares a model with a run of the pool."""
CUT_PASSAGE = "cut_passage"
"""The flag of a verdict on a part of a passage only."""
UNGROUNDED = "quote_not_in_passage"
"""The flag of a verdict whose quote isn't in the passage, or that should have one and has none."""
BAD_CONFIDENCE = "confidence_out_of_range"
"""The flag of a verdict whose stated confidence is no number from 0 to 1."""
NOT_SUSPICIOUS = frozenset({CIRCULAR, CUT_PASSAGE, BAD_CONFIDENCE})
"""Flags that say something of the judging; all others say something of the passage."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judge's answer on one item.

    Attributes:
        item_id: The item that was judged.
        outcome: How the attempt ended; only ``judged`` has a level.
        level: The level on the rubric's scale, or None.
        probabilities: A probability for each grade, adding to 1; empty when the judge gives none.
        confidence: The probability of the level's grade, in [0, 1], or None.
        calibrated: The name of the calibration behind the probabilities, or None when they are
            those of the shipped coefficients and nothing was calibrated on this project.
        quote: A verbatim quote from the passage that supports the level, or empty.
        reason: A short reason, or why the attempt failed.
        signals: Raw signals by name; a signal that is absent has no key.
        flags: Names of suspicious signs, such as ``cut_passage``.
    """

    item_id: int
    outcome: Outcome
    level: Level | None = None
    probabilities: Mapping[Grade, float] = field(default_factory=dict)
    confidence: float | None = None
    calibrated: str | None = None
    quote: str = ""
    reason: str = ""
    signals: Mapping[str, float] = field(default_factory=dict)
    flags: Sequence[str] = ()


class Judge(Protocol):
    """A judge takes a block and answers each of its items once."""

    @property
    def name(self) -> str:
        """The name that the assessor has in the project."""

    @property
    def digest(self) -> str:
        """The SHA-256 of all that decides its answers beside the block: model, prompt, settings."""

    @property
    def models(self) -> frozenset[str]:
        """Names of the models that it rests on; a run that names one makes its labels circular."""

    def judge(self, block: Block) -> list[Verdict]:
        """Answer every item of the block, in the block's order."""
