"""Whether a confidence keeps its word: how often what was said with it turned out right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.errors import UsageError
from labeler.evaluation.proportions import clopper_pearson

__all__ = ["ReliabilityBin", "reliability_bins"]


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The answers whose confidence lies in one bin.

    Attributes:
        low: The lower edge; answers at it belong to the bin below, but for the first bin.
        high: The upper edge, which belongs to the bin.
        count: Answers in it, 1 or more.
        mean_confidence: In [0, 1].
        agreed: Answers that agreed.
        share: ``agreed / count``.
        share_low: Lower limit of the exact 95% interval of that share.
        share_high: Upper limit.
    """

    low: float
    high: float
    count: int
    mean_confidence: float
    agreed: int
    share: float
    share_low: float
    share_high: float


def reliability_bins(
    confidence: NDArray[np.float64], agreed: NDArray[np.bool_], *, bins: int = 10
) -> tuple[ReliabilityBin, ...]:
    """Give the bins of a reliability diagram (DeGroot and Fienberg 1983, The Statistician 32, 12).

    The bins are those of `labeler.evaluation.skill.expected_calibration_error`: of equal width,
    each holding its upper edge.

    Args:
        confidence: Shape (n,), in [0, 1].
        agreed: Shape (n,): whether each answer agreed with the reference.
        bins: How many bins the range from 0 to 1 is cut into.

    Returns:
        The bins that hold answers, from low confidence to high.

    Raises:
        UsageError: When the shapes differ, a confidence is outside [0, 1], or there is no bin.
    """
    if len(confidence) != len(agreed):
        raise UsageError(f"{len(confidence)} confidences and {len(agreed)} outcomes don't match")
    if bins < 1:
        raise UsageError("a reliability diagram needs at least one bin")
    if not np.all((confidence >= 0) & (confidence <= 1)):
        raise UsageError("a confidence lies between 0 and 1")
    edges = np.linspace(0.0, 1.0, bins + 1)
    place = np.clip(np.searchsorted(edges, confidence, side="left") - 1, 0, bins - 1)
    found: list[ReliabilityBin] = []
    for number in np.unique(place).tolist():
        inside = place == number
        count, right = int(inside.sum()), int(agreed[inside].sum())
        low, high = clopper_pearson(right, count)
        found.append(
            ReliabilityBin(
                low=float(edges[number]),
                high=float(edges[number + 1]),
                count=count,
                mean_confidence=float(confidence[inside].mean()),
                agreed=right,
                share=right / count,
                share_low=low,
                share_high=high,
            )
        )
    return tuple(found)
