"""What a pool favours: judged shares by rank, the order without a system, the order by tau."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.ranking import JudgedRanking, Numbers
from labeler.labels import StateCode

__all__ = [
    "MOST_COVERAGE_GAP",
    "OrderChange",
    "coverage_at_ranks",
    "coverage_gap",
    "kendall_tau",
    "only_from",
    "order_change",
    "without",
]

MOST_COVERAGE_GAP = 0.05
"""By how much the judged shares of two runs may differ before a comparison is refused."""


def coverage_at_ranks(ranking: JudgedRanking, depth: int) -> Numbers:
    """Give the share of judged places at each exact rank, shape (depth,).

    Not a number at a rank that no query has a place at.

    Args:
        ranking: What was ranked.
        depth: How many ranks, 1 or more.
    """
    top = ranking.ranks <= depth
    places = np.bincount(ranking.ranks[top], minlength=depth + 1)[1:]
    judged = top & (ranking.states != StateCode.UNKNOWN)
    known = np.bincount(ranking.ranks[judged], minlength=depth + 1)[1:]
    found: Numbers = np.divide(
        known, places, out=np.full(depth, np.nan), where=places > 0, dtype=np.float64
    )
    return found


def coverage_gap(first: Numbers, second: Numbers) -> float | None:
    """Give by how much the mean judged shares of two runs differ; None where one has none.

    Args:
        first: Shape (queries,): judged shares of one run; not a number where nothing was returned.
        second: Those of the other.
    """
    if np.isnan(first).all() or np.isnan(second).all():
        return None
    return abs(float(np.nanmean(first)) - float(np.nanmean(second)))


def only_from(brought: Mapping[str, NDArray[np.int64]], system: str) -> NDArray[np.int64]:
    """Give what one system alone brought.

    Args:
        brought: Keys of what each system brought.
        system: The system in question.

    Returns:
        Ascending keys.
    """
    others = [items for name, items in brought.items() if name != system]
    known = np.concatenate(others) if others else np.zeros(0, dtype=np.int64)
    return np.setdiff1d(brought[system], known)


def without(
    states: NDArray[np.int8], items: NDArray[np.int64], left_out: NDArray[np.int64]
) -> NDArray[np.int8]:
    """Take the labels of some items away: they are unknown.

    Args:
        states: Shape (items,).
        items: Shape (items,): their keys.
        left_out: Keys of the items that lose their label.
    """
    found: NDArray[np.int8] = np.where(
        np.isin(items, left_out), np.int8(StateCode.UNKNOWN), states
    ).astype(np.int8)
    return found


@dataclass(frozen=True, slots=True)
class OrderChange:
    """How an order of systems changed.

    Attributes:
        tau: Kendall's tau-b between both orders; None with fewer than two systems or all tied.
        largest_drop: By how many places the system that fell farthest fell.
    """

    tau: float | None
    largest_drop: int


def order_change(before: Mapping[str, float], after: Mapping[str, float]) -> OrderChange:
    """Compare two orders of the same systems by their values, the highest first."""
    names = sorted(before)
    tau = kendall_tau([before[name] for name in names], [after[name] for name in names])
    at, then = _places(before), _places(after)
    return OrderChange(tau, max((then[name] - at[name] for name in names), default=0))


def _places(values: Mapping[str, float]) -> dict[str, int]:
    """Give each system's place: one more than the number of systems with a higher value."""
    return {
        name: 1 + sum(other > value + 1e-12 for other in values.values())
        for name, value in values.items()
    }


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Give Kendall's tau-b between two lists of values for the same systems.

    Concordant less discordant pairs over the root of the pairs not tied in either (Kendall 1945,
    Biometrika 33, 239-251).

    Returns:
        In [-1, 1]; None where one list has no two different values.
    """
    concordant = discordant = untied_first = untied_second = 0
    for one in range(len(first)):
        for other in range(one):
            a = _sign(first[one] - first[other])
            b = _sign(second[one] - second[other])
            concordant += a * b > 0
            discordant += a * b < 0
            untied_first += a != 0
            untied_second += b != 0
    if not untied_first or not untied_second:
        return None
    return float((concordant - discordant) / np.sqrt(untied_first * untied_second))


def _sign(value: float) -> int:
    # Means that differ by rounding alone are tied.
    return 0 if abs(value) < 1e-12 else (1 if value > 0 else -1)  # noqa: PLR2004 - rounding
