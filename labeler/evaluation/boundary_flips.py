"""How many unknown items would have to be relevant to carry a metric across a boundary.

What `labeler.evaluation.reversal` finds for two runs and a difference of 0 holds for any boundary,
and for one run, too: each query's table is taken less the boundary, and one run stands against one
that returned nothing. A query on which the metric is undefined counts for nothing until a flip
defines it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.gain import GainRule
from labeler.evaluation.metrics import Metric, measure
from labeler.evaluation.ranking import JudgedRanking, Numbers
from labeler.evaluation.reversal import Reversal, flip_tables, least_flips

__all__ = ["BoundaryFlips", "flips_to_cross"]


@dataclass(frozen=True, eq=False)
class BoundaryFlips:
    """What it takes to carry a metric across a boundary.

    Attributes:
        reversal: The least number of flips, or its bounds, and how many items could be among them.
        queries: Shape (queries,): the numbers of the queries that were looked at.
        useful: For each of them, the keys of unknown evidence in the first places whose flip alone
            moves the metric that way.
    """

    reversal: Reversal
    queries: NDArray[np.int64]
    useful: Sequence[NDArray[np.int64]]


def flips_to_cross(
    metric: Metric,
    first: JudgedRanking,
    second: JudgedRanking | None,
    *,
    boundary: float,
    upwards: bool,
    inside: NDArray[np.bool_],
    rule: GainRule = "linear",
) -> BoundaryFlips | None:
    """Find how many unknown items have to be relevant for the answer to change.

    Where the mean is on the wanted side of the boundary now, unknown taken as not relevant, they
    carry it strictly to the other; where it isn't, strictly to the wanted one. Exact for precision,
    reciprocal rank and recall; bounds for nDCG.

    Args:
        metric: What is measured, by its mean over queries.
        first: The run.
        second: The run whose values are taken off, over the same queries and labels, or None.
        boundary: The boundary.
        upwards: Whether the wanted side is above it.
        inside: Shape (queries,): the queries that count.
        rule: How gains count, for nDCG.

    Returns:
        None when the metric is undefined on all of them.
    """
    other = _nothing(first) if second is None else second
    difference = measure(metric, first, rule).value
    if second is not None:
        difference = difference - measure(metric, second, rule).value
    defined = ~np.isnan(difference)
    if not (inside & defined).any():
        return None
    mean = float(difference[inside & defined].mean())
    is_met = mean > boundary if upwards else mean < boundary
    falls = is_met == upwards
    leader, behind = (first, other) if falls else (other, first)
    shift = boundary if falls else -boundary
    found = flip_tables(metric, leader, behind, rule)
    queries = np.flatnonzero(inside)
    tables, floor = (
        [_less(of[query], shift, is_defined=bool(defined[query])) for query in queries.tolist()]
        for of in (found.tables, found.floor)
    )
    return BoundaryFlips(
        reversal=Reversal(
            least=least_flips(floor),
            most=least_flips(tables),
            available=sum(found.available[query] for query in queries.tolist()),
        ),
        queries=queries,
        useful=[found.useful[query] for query in queries.tolist()],
    )


def _less(table: Numbers, shift: float, *, is_defined: bool) -> Numbers:
    shifted = table - shift
    if not is_defined:
        shifted[0] = 0.0
    return shifted


def _nothing(like: JudgedRanking) -> JudgedRanking:
    """Give a run that returned nothing for the same queries."""
    return JudgedRanking(
        starts=np.zeros_like(like.starts),
        evidence=like.evidence[:0],
        states=like.states[:0],
        gains=like.gains[:0],
        framed=like.framed[:0],
        known=like.known,
    )
