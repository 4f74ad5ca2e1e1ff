"""Exact limits of a mean that a drawn sample leaves open, for checks with few sampled positives."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.exact_sum import WeighedStratum, exact_sum
from labeler.evaluation.metrics import Kind, Metric
from labeler.evaluation.posterior import Interval
from labeler.labels import StateCode
from labeler.reports.completed_labels import CompletedLabels
from labeler.reports.evaluated import EvaluatedRuns

__all__ = ["exact_limits", "sampled_positives"]


def sampled_positives(
    evaluated: EvaluatedRuns, completed: CompletedLabels, inside: NDArray[np.bool_]
) -> int:
    """Count the relevant items of a sample that belong to some of the queries."""
    queries = evaluated.labels.queries[completed.relevant]
    return int(np.isin(queries, evaluated.queries[inside]).sum())


def exact_limits(
    evaluated: EvaluatedRuns,
    completed: CompletedLabels,
    metric: Metric,
    runs: tuple[str, str | None],
    inside: NDArray[np.bool_],
    *,
    confidence: float,
) -> Interval | None:
    """Give exact limits of the mean P@k of some queries, or of the difference of two runs.

    P@k is a sum over items, each of which counts in the one run, in the other, in both or in
    neither, so that the limits of each stratum's number of relevant items bound it. What is
    unknown outside of the strata is at its worst and at its best.

    Args:
        evaluated: The runs with what is known.
        completed: The sample.
        metric: What is measured.
        runs: The run, and the one whose values are taken off, or None.
        inside: Shape (queries,): the queries that count.
        confidence: Of both limits together.

    Returns:
        None for a metric that is no such sum.
    """
    if metric.kind is not Kind.PRECISION or metric.cutoff is None:
        return None
    worth, beyond = _worths(evaluated, metric.cutoff, runs, inside)
    relevant = completed.states == StateCode.RELEVANT
    known = float(worth[relevant].sum())
    strata = [
        WeighedStratum(one.labelled, one.relevant, worth[one.items]) for one in completed.strata
    ]
    is_open = completed.states == StateCode.UNKNOWN
    for one in completed.strata:
        is_open[one.items] = False
    left = np.concatenate([worth[is_open], beyond])
    limits = exact_sum(strata, confidence=confidence)
    return Interval(
        known + limits.low + float(left[left < 0].sum()),
        known + limits.high + float(left[left > 0].sum()),
    )


def _worths(
    evaluated: EvaluatedRuns, cutoff: int, runs: tuple[str, str | None], inside: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give what each item of the labels adds to the mean if it is relevant, and each other one."""
    whole = cutoff * int(inside.sum())
    counted: dict[tuple[int, int], int] = defaultdict(int)
    for run, sign in zip(runs, (1, -1), strict=True):
        if run is None:
            continue
        ranking = evaluated.rankings[run]
        top = (ranking.ranks <= cutoff) & np.isin(
            ranking.query_of_places, evaluated.queries[inside]
        )
        places = ranking.query_of_places[top].tolist(), ranking.evidence[top].tolist()
        for key in zip(*places, strict=True):
            counted[key] += sign
    queries, evidence = (
        np.array([key[part] for key in counted], dtype=np.int64) for part in (0, 1)
    )
    values = np.array(list(counted.values()), dtype=np.float64) / whole
    found = evaluated.labels.places(queries, evidence)
    worth = np.zeros(len(evaluated.labels.items))
    worth[found[found >= 0]] = values[found >= 0]
    return worth, values[found < 0]
