"""How far one assessor agrees with the own earlier labels: pure functions over arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.errors import UsageError
from labeler.evaluation.agreement import (
    Estimate,
    confusion_tables,
    estimate,
    exact_agreement,
    quadratic_kappa,
)

__all__ = ["CANNOT_JUDGE", "Steadiness", "steadiness"]

CANNOT_JUDGE = -1
"""Stands in the place of a level where an item couldn't be judged."""


@dataclass(frozen=True, slots=True)
class Steadiness:
    """How far an assessor agrees with themselves.

    Attributes:
        repeated: Items labelled twice.
        labelled: Those of them that got a level both times: what the coefficients are of.
        same: How many of these got the same level.
        gave_up_once: Items that couldn't be judged one time, and were judged the other.
        exact: The share with the same level.
        kappa: Kappa, disagreements weighed by the square of how many levels lie between.
    """

    repeated: int
    labelled: int
    same: int
    gave_up_once: int
    exact: Estimate
    kappa: Estimate


def steadiness(
    first: NDArray[np.int64], again: NDArray[np.int64], clusters: NDArray[np.int64], levels: int
) -> Steadiness:
    """Compare an assessor's first labels with those of hidden repeats.

    Args:
        first: Shape (items,): the level from 0 (worst), or -1 for can't judge.
        again: Shape (items,): the same at the second time.
        clusters: Shape (items,): any number that names the item's query.
        levels: How many levels the scale has, 2 or more.

    Raises:
        UsageError: When the arrays differ in length, or a level isn't one of the scale's.
    """
    if not len(first) == len(again) == len(clusters):
        raise UsageError(f"{len(first)} and {len(again)} labels can't be paired")
    both = (first != CANNOT_JUDGE) & (again != CANNOT_JUDGE)
    tables = confusion_tables(first[both], again[both], clusters[both], levels)
    return Steadiness(
        repeated=len(first),
        labelled=int(both.sum()),
        same=int((first[both] == again[both]).sum()),
        gave_up_once=int(((first == CANNOT_JUDGE) != (again == CANNOT_JUDGE)).sum()),
        exact=estimate(tables, exact_agreement, least=0.0),
        kappa=estimate(tables, quadratic_kappa),
    )
