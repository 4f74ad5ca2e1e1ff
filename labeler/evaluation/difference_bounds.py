"""What the difference of two runs can be on each query, whatever the unknown labels are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.gain import GainRule
from labeler.evaluation.metrics import Metric, measure
from labeler.evaluation.ranking import JudgedRanking, Numbers
from labeler.evaluation.reversal import FlipTables, flip_tables

__all__ = ["difference_bounds"]


def difference_bounds(
    metric: Metric, first: JudgedRanking, second: JudgedRanking, rule: GainRule = "linear"
) -> tuple[Numbers, Numbers]:
    """Bound the first run's value less the second's on each query.

    One unknown item is relevant for both runs or for neither, so that the bounds of the runs can't
    be taken one by one: what both hold moves both, and what raises a denominator raises it for
    both. The limits are those of every way to label the unknown items of the frame and of both
    rankings (`labeler.evaluation.reversal.flip_tables`), each of them attained: for precision,
    reciprocal rank and recall; for nDCG, where a relevant item has the top gain. Queries share no
    item, so that the mean of the limits bounds the mean just as closely.

    Args:
        metric: What is measured, in [0, 1].
        first: The run.
        second: The run whose values are taken off, over the same queries and labels.
        rule: How gains count, for nDCG.

    Returns:
        The least and the most, each of the shape (queries,) and in [-1, 1]; not a number where no
        labels define the metric.
    """
    values = measure(metric, first, rule).value
    gap = values - measure(metric, second, rule).value
    lowest, highest = gap.copy(), gap.copy()
    open_ones = np.flatnonzero(_is_open(metric, first) | _is_open(metric, second))
    queries, defined = open_ones.tolist(), ~np.isnan(values[open_ones])
    lowest[open_ones] = _least(flip_tables(metric, first, second, rule, queries), defined)
    highest[open_ones] = -_least(flip_tables(metric, second, first, rule, queries), defined)
    # A table leaves out what only raises its difference. Where nothing but such items can define
    # the metric, both limits are that of the other side.
    return (
        np.where(np.isnan(lowest), highest, lowest),
        np.where(np.isnan(highest), lowest, highest),
    )


def _is_open(metric: Metric, ranking: JudgedRanking) -> NDArray[np.bool_]:
    """Tell for which queries an unknown item could move the metric of some run."""
    within = ranking.ranks <= (np.inf if metric.cutoff is None else metric.cutoff)
    unknown = ranking.count_where(within & ~ranking.judged) + ranking.known.unknown
    return np.asarray(unknown > 0)


def _least(flips: FlipTables, defined: NDArray[np.bool_]) -> Numbers:
    """Give the least entry of each table; where the metric is undefined so far, after a flip."""
    tables = [
        table if there else table[1:]
        for table, there in zip(flips.tables, defined.tolist(), strict=True)
    ]
    return np.array([table.min() if len(table) else np.nan for table in tables])
