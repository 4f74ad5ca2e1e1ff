"""Estimates from a sample that lean on a judge's calibrated probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.estimators import (
    Auxiliary,
    Known,
    PointEstimate,
    StratifiedSample,
    difference_ratio,
    difference_total,
)
from labeler.evaluation.sample_estimates import Estimand

__all__ = ["AssistedStratum", "assisted_estimate"]


@dataclass(frozen=True, eq=False)
class AssistedStratum:
    """A stratum whose items all have a probability, from a model that never saw its labels.

    Attributes:
        size: Its items.
        relevant: Shape (labelled,): 1 for a labelled item that is relevant, else 0.
        probabilities: Shape (labelled,): the probability that each of these is relevant.
        total: The sum of the probabilities of all of its items.
        first: Whether the first system retrieved its items in its top k.
        second: Whether the second system did.
    """

    size: int
    relevant: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    total: float
    first: bool = False
    second: bool = False


def assisted_estimate(
    estimand: Estimand, strata: Sequence[AssistedStratum], known: Known, *, places: int
) -> PointEstimate | None:
    """Estimate something with the difference estimator; see `labeler.evaluation.estimators`.

    Args:
        estimand: What is estimated.
        strata: The strata.
        known: Relevant items that were labelled before the draw.
        places: k times the number of queries; for precision.

    Returns:
        None where a stratum has no labelled item.
    """
    strata = [one for one in strata if one.size]
    if not strata or not all(len(one.relevant) for one in strata):
        return None
    place = np.repeat(np.arange(len(strata)), [len(one.relevant) for one in strata])
    sizes = np.array([one.size for one in strata], dtype=np.int64)
    sample = StratifiedSample(sizes, place, np.concatenate([one.relevant for one in strata]))
    probabilities = np.concatenate([one.probabilities for one in strata])
    auxiliary = Auxiliary(probabilities, np.array([one.total for one in strata]))
    paired = estimand in {Estimand.RECALL_DIFFERENCE, Estimand.PRECISION_DIFFERENCE}
    worth = np.array([float(one.first) - (float(one.second) if paired else 0.0) for one in strata])
    lead = known.first - (known.second if paired else 0)
    if estimand in {Estimand.RECALL, Estimand.RECALL_DIFFERENCE}:
        return difference_ratio(
            sample, worth, known_numerator=lead, known_total=known.total, auxiliary=auxiliary
        )
    if estimand is Estimand.RELEVANT:
        return difference_total(sample, auxiliary, known=known.total)
    scaled = Auxiliary(probabilities * worth[place] / places, auxiliary.totals * worth / places)
    return difference_total(
        sample.with_values(sample.values * worth[place] / places), scaled, known=lead / places
    )
