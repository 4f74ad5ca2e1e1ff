"""How far the checks of a gate are from being reversed by labels that nobody gave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.boundary_flips import flips_to_cross
from labeler.evaluation.gate_checks import Direction, Requirement
from labeler.evaluation.metrics import Metric
from labeler.evaluation.reversal import Reversal
from labeler.reports.evaluated import EvaluatedRuns
from labeler.reports.flip_chances import chance_of_flips
from labeler.reports.scenarios import Chances

__all__ = ["CheckFlips", "check_flips", "flips_in_words"]


@dataclass(frozen=True, slots=True)
class CheckFlips:
    """What it takes to reverse a check.

    Attributes:
        reversal: How many unknown items would have to be relevant, and how many there are.
        chance: The probability that so many are; None where it isn't known.
        no_chance: Why it isn't, or None.
    """

    reversal: Reversal
    chance: float | None
    no_chance: str | None


def check_flips(
    evaluated: EvaluatedRuns,
    asked: Requirement,
    metric: Metric,
    runs: tuple[str, str | None],
    inside: NDArray[np.bool_],
    chances: Chances,
) -> CheckFlips | None:
    """Find what it takes to carry a check's metric across its boundary.

    Args:
        evaluated: The runs with what is known.
        asked: What the check asks for.
        metric: The metric.
        runs: The run, and the one whose values are taken off, or None.
        inside: Shape (queries,): the queries that count.
        chances: Calibrated probabilities, or why there are none.

    Returns:
        None where the metric is undefined.
    """
    first, second = runs
    found = flips_to_cross(
        metric,
        evaluated.judged(first),
        None if second is None else evaluated.judged(second),
        boundary=asked.boundary,
        upwards=asked.direction is Direction.ABOVE,
        inside=inside,
    )
    if found is None:
        return None
    if found.reversal.least is None:
        return CheckFlips(found.reversal, 0.0, None)
    if chances.of_items is None:
        return CheckFlips(found.reversal, None, chances.missing)
    chance, missing = chance_of_flips(
        evaluated,
        metric.kind,
        found.reversal.least,
        evaluated.queries[found.queries],
        found.useful,
        chances.of_items,
    )
    return CheckFlips(found.reversal, chance, missing)


def flips_in_words(reversal: Reversal, chance: float | None, no_chance: str | None) -> str | None:
    """Say what it takes to reverse a check; None where no unknown label does."""
    if reversal.least is None:
        return None
    least = f"{reversal.least:,}" if reversal.is_exact else f"at least {reversal.least:,}"
    words = f"{least} of {reversal.available:,} unknown items being relevant would reverse it"
    if chance is not None:
        return f"{words}, with a probability of {chance:.3g} at most"
    return f"{words}; how probable that is isn't known: {no_chance}"
