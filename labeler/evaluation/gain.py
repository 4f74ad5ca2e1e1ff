"""Discounted cumulative gain against the ideal that is known."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.ranking import (
    JudgedRanking,
    Measured,
    Numbers,
    checked,
    shares,
)
from labeler.labels import StateCode

__all__ = ["GainRule", "discounts", "ndcg_at", "transformed"]

GainRule = Literal["linear", "exponential"]
"""``linear``: the level's gain, as trec_eval; ``exponential``: 2^gain - 1."""


def ndcg_at(ranking: JudgedRanking, cutoff: int, rule: GainRule = "linear") -> Measured:
    """Give the discounted gain of the first ``cutoff`` places over that of the known ideal.

    ``sum_i g_i / log2(i + 1)`` (Jarvelin and Kekalainen 2002, ACM TOIS 20, 422-446, with the
    discount of trec_eval, m_ndcg_cut.c), over the same sum for the known labels in their best
    order. The value takes unknown places as without gain; it equals ``ndcg_cut_k``. It is no lower
    bound of the true nDCG: relevant evidence that nobody ranked would raise the ideal. So it is
    called ``nDCG@k[known-ideal]``. Undefined where no label has a gain.

    The bounds are over all ways to give each unknown place among the first ``cutoff`` the top gain
    or none, with the ideal counted anew. Judged only leaves unknown places out before the cut (the
    condensed list of Sakai 2007, SIGIR, 71-78); that rewards runs with many unknown places, so it
    is a diagnostic only.

    Args:
        ranking: What was ranked.
        cutoff: How many places count, 1 or more.
        rule: How gains of levels count.

    Raises:
        UsageError: When the cutoff is below 1.
    """
    weights = discounts(checked(cutoff))
    gains = transformed(np.nan_to_num(ranking.gains), rule)
    dcg = _dcg(ranking, gains, ranking.ranks, cutoff)
    ideal = transformed(ranking.known.ideal_to(cutoff), rule)
    whole = ideal @ weights
    judged_gains = np.where(ranking.judged, gains, 0.0)
    lower, upper = _bounds(ranking, cutoff, rule, dcg, ideal)
    return Measured(
        value=shares(dcg, whole),
        lower=lower,
        upper=upper,
        judged_only=np.where(
            ranking.count_where(ranking.judged) > 0,
            shares(
                _dcg(ranking, judged_gains, ranking.judged_ranks, cutoff),
                whole,
            ),
            np.nan,
        ),
        part=dcg,
        whole=whole,
    )


def discounts(depth: int) -> Numbers:
    """Give what a gain counts at each rank from 1, shape (depth,): 1 / log2(rank + 1)."""
    found: Numbers = 1.0 / np.log2(np.arange(2.0, depth + 2.0))
    return found


def transformed(gains: Numbers, rule: GainRule) -> Numbers:
    """Apply the rule to levels' gains."""
    found: Numbers = gains if rule == "linear" else np.exp2(gains) - 1.0
    return found


def _dcg(ranking: JudgedRanking, gains: Numbers, ranks: NDArray[np.int64], cutoff: int) -> Numbers:
    within = (ranks <= cutoff) & (gains > 0)
    weighted = gains[within] / np.log2(ranks[within] + 1.0)
    found = np.bincount(ranking.query_of[within], weights=weighted, minlength=ranking.query_count)
    return found.astype(np.float64)


def _bounds(
    ranking: JudgedRanking, cutoff: int, rule: GainRule, dcg: Numbers, ideal: Numbers
) -> tuple[Numbers, Numbers]:
    """Try every number of flips; for one number the best are on top, and the worst at the end."""
    top = float(transformed(np.array([ranking.known.top_gain]), rule)[0])
    weights = discounts(cutoff)
    at_top = np.zeros((ranking.query_count, cutoff), dtype=np.int64)
    unknown = (ranking.states == StateCode.UNKNOWN) & (ranking.ranks <= cutoff)
    at_top[ranking.query_of[unknown], ranking.ranks[unknown] - 1] = 1
    held = at_top * weights
    best_first = -np.sort(-held, axis=1)
    worst_first = np.sort(np.where(at_top > 0, held, np.inf), axis=1)
    counts = at_top.sum(axis=1)
    # A flip brings the top gain, so the new ideal is some top gains and then the old one.
    lower = upper = shares(dcg, ideal @ weights)
    up, down = dcg.copy(), dcg.copy()
    for flips in range(1, int(counts.max(initial=0)) + 1):
        possible = counts >= flips
        up += best_first[:, flips - 1] * top
        down += np.where(possible, worst_first[:, flips - 1], 0.0) * top
        whole = top * weights[:flips].sum() + ideal[:, : cutoff - flips] @ weights[flips:]
        upper = np.where(possible, np.fmax(upper, shares(up, whole)), upper)
        lower = np.where(possible, np.fmin(lower, shares(down, whole)), lower)
    return lower, upper
