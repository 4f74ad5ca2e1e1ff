"""The figures of confidences against what was right, each with its interval over queries."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.agreement import Estimate
from labeler.evaluation.calibration import (
    area_under_risk,
    brier,
    clustered,
    equal_mass_error,
    risk_at_coverage,
)
from labeler.evaluation.skill import auc, expected_calibration_error

__all__ = ["COVERAGES", "figures_of"]

COVERAGES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""The surest parts of the items at which the risk is given."""

_Statistic = Callable[[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]], float | None]
"""Takes confidences, which labels are right, and weights."""


def figures_of(
    confidence: NDArray[np.float64],
    right: NDArray[np.bool_],
    queries: NDArray[np.int64],
    *,
    weights: NDArray[np.float64] | None = None,
) -> dict[str, Estimate]:
    """Give the figures of labels with their confidences, each with an interval over queries.

    Args:
        confidence: Shape (labels,), in [0, 1].
        right: Shape (labels,): whether people gave the same label.
        queries: Shape (labels,): the query of each.
        weights: Shape (labels,): what each stands for; None where all count the same.
    """
    weight = np.ones(len(right)) if weights is None else weights

    def over(statistic: _Statistic) -> Estimate:
        return clustered(
            lambda rows: statistic(confidence[rows], right[rows], weight[rows]),
            queries,
            least=0.0,
            most=1.0,
        )

    found = {
        "error_equal_width": over(expected_calibration_error),
        "error_equal_mass": over(equal_mass_error),
        "brier": over(brier),
        "auc_wrong": over(auc),
        "area_under_risk": over(lambda sure, true, mass: area_under_risk(sure, ~true, mass)),
    }
    for share in COVERAGES:
        found[f"risk_{share}"] = over(partial(_risk, share))
    return found


def _risk(
    share: float,
    confidence: NDArray[np.float64],
    right: NDArray[np.bool_],
    weights: NDArray[np.float64],
) -> float:
    return risk_at_coverage(confidence, ~right, [share], weights)[0]
