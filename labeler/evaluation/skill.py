"""How good probabilities and scores are, given labels: pure functions over arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labeler.errors import UsageError

__all__ = ["accuracy_at_coverage", "auc", "expected_calibration_error", "log_loss"]

_SMALLEST = 1e-15


def auc(
    scores: NDArray[np.float64],
    positive: NDArray[np.bool_],
    weights: NDArray[np.float64] | None = None,
) -> float | None:
    """Give the chance that a positive scores above a negative, ties counting half.

    The Mann-Whitney statistic over the number of pairs, equal to the area under the ROC curve
    (Hanley and McNeil 1982, Radiology 143, 29-36); with weights, of items drawn by them.

    Args:
        scores: Shape (n,), more for positives.
        positive: Shape (n,).
        weights: Shape (n,), 0 or more; 1 by default.

    Returns:
        In [0, 1]; None when all or none are positive.

    Raises:
        UsageError: When there is nothing to compare, or shapes differ.
    """
    _same_length(scores, positive)
    weight = np.ones(len(scores)) if weights is None else weights
    _, place = np.unique(scores, return_inverse=True)
    above = np.bincount(place, weights=weight * positive)
    below = np.bincount(place, weights=weight * ~positive)
    pairs = float(above.sum()) * float(below.sum())
    return float(above @ (np.cumsum(below) - below / 2.0)) / pairs if pairs > 0 else None


def log_loss(probabilities: NDArray[np.float64], classes: NDArray[np.int64]) -> float:
    """Give the mean of ``-ln`` of the probability that the true class was given (Good 1952).

    A probability under 1e-15 counts as that, so that one sure mistake doesn't make all infinite.

    Args:
        probabilities: Shape (n, classes), n above 0.
        classes: Shape (n,): the column of the true class.

    Raises:
        UsageError: When there is nothing to average.
    """
    _same_length(probabilities, classes)
    given = probabilities[np.arange(len(classes)), classes]
    return float(-np.log(np.maximum(given, _SMALLEST)).mean())


def expected_calibration_error(
    confidence: NDArray[np.float64],
    correct: NDArray[np.bool_],
    weights: NDArray[np.float64] | None = None,
    *,
    bins: int = 10,
) -> float:
    """Give the mean distance between confidence and accuracy, over bins of equal width.

    ``sum over bins of (size / n) * |accuracy - mean confidence|``: Guo, Pleiss, Sun and Weinberger
    2017, "On Calibration of Modern Neural Networks", equation 3. A bin holds its upper edge; the
    first holds 0 as well. The number depends on the bins and is above 0 by chance in small samples.

    Args:
        confidence: Shape (n,), in [0, 1], n above 0.
        correct: Shape (n,).
        weights: Shape (n,), 0 or more, not all 0; 1 by default.
        bins: How many bins.

    Raises:
        UsageError: When there is nothing to average, or no bin.
    """
    _same_length(confidence, correct)
    if bins < 1:
        raise UsageError("a calibration error needs at least one bin")
    edges = np.linspace(0.0, 1.0, bins + 1)
    place = np.clip(np.searchsorted(edges, confidence, side="left") - 1, 0, bins - 1)
    weight = np.ones(len(confidence)) if weights is None else weights
    gap = np.bincount(place, weights=weight * (correct - confidence), minlength=bins)
    return float(np.abs(gap).sum() / weight.sum())


def accuracy_at_coverage(
    confidence: NDArray[np.float64], correct: NDArray[np.bool_], shares: Sequence[float]
) -> tuple[float, ...]:
    """Give the accuracy over the most confident part, for each share of the items.

    One minus the risk at a coverage (El-Yaniv and Wiener 2010, JMLR 11, section 2). ``ceil(share *
    n)`` items are taken; where the last of them has equals outside, the accuracy is the mean over
    all ways to choose among the equals, so the order of the items changes nothing.

    Args:
        confidence: Shape (n,), n above 0.
        correct: Shape (n,).
        shares: Parts of the items, each in (0, 1].

    Raises:
        UsageError: When there is nothing to average, or a share is outside (0, 1].
    """
    _same_length(confidence, correct)
    if not all(0 < share <= 1 for share in shares):
        raise UsageError("a share of the items is above 0 and at most 1")
    # By distinct confidence, best first: within one, every item stands for their mean.
    _, place, counts = np.unique(-confidence, return_inverse=True, return_counts=True)
    rate = np.bincount(place, weights=correct) / counts
    gained = np.cumsum(np.repeat(rate, counts))
    taken = [int(np.ceil(share * len(confidence) - 1e-9)) for share in shares]
    return tuple(float(gained[count - 1] / count) for count in taken)


def _same_length(values: NDArray[np.float64], labels: NDArray[np.generic]) -> None:
    if not len(values) or len(values) != len(labels):
        raise UsageError(f"{len(values)} values and {len(labels)} labels can't be compared")
