"""How many unknown items would have to be relevant to reverse a comparison.

The leader has a higher mean than the other, with unknown taken as not relevant. Each query is a
table: the least difference (leader less other) that j flips of its unknown items to relevant can
bring. The least number of flips over all queries that makes the sum negative is then found by a
min-plus product of the tables, exact for precision, reciprocal rank and recall. For nDCG it is
exact as long as every flipped item gets the top gain; with other gains it lies between two bounds.

A greedy choice is exact for precision and reciprocal rank. For recall it is not: an item that both
or neither have in their first places shrinks the difference, too, by raising the denominator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.gain import GainRule, discounts, transformed
from labeler.evaluation.metrics import Kind, Metric
from labeler.evaluation.ranking import JudgedRanking, Numbers
from labeler.labels import StateCode

__all__ = ["FlipTables", "Reversal", "flip_tables", "least_flips", "reversal", "worst_difference"]

_TIE = 1e-12
"""What rounding may leave of a difference of 0."""


@dataclass(frozen=True, eq=False)
class FlipTables:
    """What flips can do, query by query.

    Attributes:
        tables: For each query: entry j is the least difference with exactly j flips; entry 0 is
            the difference as it is, 0 where the metric is undefined.
        floor: The same, but never above what any gains of the flipped items could bring; the same
            object as ``tables`` where gains play no part.
        useful: For each query, the keys of unknown evidence in the first places whose flip alone
            can lower the difference.
        available: For each query, how many unknown items the table reckons with.
    """

    tables: Sequence[Numbers]
    floor: Sequence[Numbers]
    useful: Sequence[NDArray[np.int64]]
    available: Sequence[int]


@dataclass(frozen=True, slots=True)
class Reversal:
    """How far a comparison is from being reversed.

    Attributes:
        least: The least number of flips that reverses it, or its lower bound; None when no number
            does.
        most: Its upper bound, equal to the least where it is exact; None when flips to the top gain
            don't reverse it.
        available: Unknown items that could be among them.
    """

    least: int | None
    most: int | None
    available: int

    @property
    def is_exact(self) -> bool:
        """Whether both bounds are one number, or there is none."""
        return self.least == self.most


def reversal(
    metric: Metric, leader: JudgedRanking, other: JudgedRanking, rule: GainRule = "linear"
) -> Reversal:
    """Find how many unknown items have to be relevant to reverse a comparison.

    Args:
        metric: What is compared, by its mean over queries.
        leader: The run with the higher mean; of two equal ones either, and then one flip or none
            is needed to put the other ahead.
        other: The other run, over the same queries and labels.
        rule: How gains count, for nDCG.
    """
    found = flip_tables(metric, leader, other, rule)
    return Reversal(
        least=least_flips(found.floor),
        most=least_flips(found.tables),
        available=sum(found.available),
    )


def least_flips(tables: Sequence[Numbers]) -> int | None:
    """Give the least number of flips that makes the sum of all tables negative, or None.

    ``dp[i + j] = min(dp[i] + table[j])`` over the queries, cut at a number of flips that is known
    to be enough.
    """
    candidates = [_improving(table) for table in tables]
    enough = _enough(candidates)
    if enough is None:
        return None
    best = np.zeros(enough + 1)
    for flips, values in candidates:
        after = np.full(enough + 1, np.inf)
        for count, value in zip(flips.tolist(), values.tolist(), strict=True):
            if count > enough:
                break
            after[count:] = np.minimum(after[count:], best[: enough + 1 - count] + value)
        best = np.minimum.accumulate(after)
    reached = np.flatnonzero(best < -_TIE)
    return int(reached[0]) if len(reached) else enough


def worst_difference(tables: Sequence[Numbers]) -> float:
    """Give the least sum of differences that any flips can bring."""
    return float(sum(table.min() for table in tables))


def _improving(table: Numbers) -> tuple[NDArray[np.int64], Numbers]:
    """Keep the numbers of flips that bring less than every smaller number does."""
    lowest = np.minimum.accumulate(table)
    keep = np.concatenate([[True], table[1:] < lowest[:-1] - _TIE])
    return np.flatnonzero(keep), table[keep]


def _enough(candidates: Sequence[tuple[NDArray[np.int64], Numbers]]) -> int | None:
    """Give a number of flips that reverses, found greedily; None when none does."""
    if sum(float(values[-1]) for _, values in candidates) >= -_TIE:
        return None
    total = sum(float(values[0]) for _, values in candidates)
    steps = [
        ((values[place] - values[place - 1]) / (flips[place] - flips[place - 1]), query, place)
        for query, (flips, values) in enumerate(candidates)
        for place in range(1, len(flips))
    ]
    at = [0] * len(candidates)
    spent = 0
    # A step of a query that skips earlier ones takes those, too.
    for _, query, place in sorted(steps):
        if total < -_TIE:
            break
        if place > at[query]:
            flips, values = candidates[query]
            total += float(values[place] - values[at[query]])
            spent += int(flips[place] - flips[at[query]])
            at[query] = place
    return spent


def flip_tables(
    metric: Metric,
    leader: JudgedRanking,
    other: JudgedRanking,
    rule: GainRule = "linear",
    queries: Sequence[int] | None = None,
) -> FlipTables:
    """Make the table of each query.

    Args:
        metric: What is compared.
        leader: The run with the higher mean.
        other: The other one.
        rule: How gains count, for nDCG.
        queries: The numbers of the queries that are meant; all of them by default.
    """
    chosen = range(leader.query_count) if queries is None else queries
    found = [_QueryPair(metric, leader, other, query, rule) for query in chosen]
    made = [pair.tables() for pair in found]
    alone = metric.kind is Kind.RECIPROCAL_RANK
    return FlipTables(
        tables=[table for table, _, _ in made],
        floor=[floor for _, floor, _ in made],
        useful=[useful for _, _, useful in made],
        # One flip of a query is enough for the reciprocal rank, but any of several does.
        available=[len(useful) if alone else len(table) - 1 for table, _, useful in made],
    )


class _QueryPair:
    """One query's first places in both runs."""

    def __init__(
        self,
        metric: Metric,
        leader: JudgedRanking,
        other: JudgedRanking,
        query: int,
        rule: GainRule,
    ) -> None:
        self._metric = metric
        self._known = leader.known
        self._query = query
        self._rule: GainRule = rule
        self._a = _top(leader, query, metric.cutoff)
        self._b = _top(other, query, metric.cutoff)
        self._at_a = {key: rank for rank, key in enumerate(self._a.evidence.tolist())}
        self._at_b = {key: rank for rank, key in enumerate(self._b.evidence.tolist())}

    def tables(self) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
        """Give the table, its floor, and the unknown evidence that can lower the difference."""
        kind = self._metric.kind
        if kind is Kind.PRECISION:
            return self._precision()
        if kind is Kind.RECIPROCAL_RANK:
            return self._reciprocal_rank()
        if kind is Kind.RECALL:
            return self._recall()
        return self._ndcg()

    def _precision(self) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
        useful = self._only_other()
        lead = self._hits(self._a) - self._hits(self._b)
        table = (lead - np.arange(len(useful) + 1.0)) / float(self._metric.cutoff or 1)
        return table, table, useful

    def _reciprocal_rank(self) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
        """One flip is the most that is of use: of several the highest decides for both runs."""
        of_a, of_b = self._first(self._a), self._first(self._b)
        useful, least = [], of_a - of_b
        for key in self._b.unknown.tolist():
            after_a = max(of_a, 1.0 / (self._at_a[key] + 1) if key in self._at_a else 0.0)
            after = after_a - max(of_b, 1.0 / (self._at_b[key] + 1))
            if after < of_a - of_b - _TIE:
                useful.append(key)
                least = min(least, after)
        table = np.array([of_a - of_b, least] if useful else [of_a - of_b])
        return table, table, np.array(useful, dtype=np.int64)

    def _recall(self) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
        """An item in both or neither raises the denominator alone: of use while the leader leads.

        Of the unknown items that neither has only the number is known, so they have no keys here.
        """
        only = self._only_other()
        relevant = int(self._known.relevant[self._query])
        lead = float(self._hits(self._a) - self._hits(self._b))
        flips = np.arange(len(only) + self._neutral() + 1.0)
        whole = relevant + flips
        table = np.divide(
            lead - np.minimum(flips, len(only)), whole, out=np.zeros(len(flips)), where=whole > 0
        )
        return table, table, only

    def _ndcg(self) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
        """With flips to the top gain the ideal depends on their number alone."""
        cutoff = self._metric.cutoff or 1
        weights = discounts(cutoff)
        top = float(transformed(np.array([self._known.top_gain]), self._rule)[0])
        start, end = self._known.ideal_starts[self._query : self._query + 2]
        best = transformed(self._known.ideal_gains[start:end][:cutoff], self._rule)
        lead = self._dcg(self._a, weights) - self._dcg(self._b, weights)
        places = dict.fromkeys([*self._b.unknown.tolist(), *self._a.unknown.tolist()])
        gains = {key: self._weight(key, weights) for key in places}
        elsewhere = self._neutral() - len(self._both())
        ordered = np.sort(np.array([*gains.values(), *[0.0] * elsewhere]))[::-1]
        flips = np.arange(len(ordered) + 1)
        numerator = lead - top * np.concatenate([[0.0], np.cumsum(ordered)])
        by_count = np.array([self._ideal(count, top, best, weights) for count in range(cutoff + 1)])
        ideal = by_count[np.minimum(flips, cutoff)]
        table = np.divide(numerator, ideal, out=np.zeros(len(flips)), where=ideal > 0)
        # With lower gains an item moves the sum by less, and the ideal lies between what it is
        # and what top gains make of it.
        least = lead - top * np.concatenate([[0.0], np.cumsum(np.maximum(ordered, 0.0))])
        smaller = np.divide(least, ideal[0], out=np.full(len(flips), -1.0), where=ideal[0] > 0)
        larger = np.divide(least, ideal, out=np.zeros(len(flips)), where=ideal > 0)
        floor = np.where(least < 0, np.maximum(smaller, -1.0), larger)
        floor[0] = table[0]
        useful = np.array([key for key, gain in gains.items() if gain > 0], dtype=np.int64)
        return table, floor, useful

    def _weight(self, key: int, weights: Numbers) -> float:
        """Give what a gain of 1 of an item takes from the difference."""
        of_b = float(weights[self._at_b[key]]) if key in self._at_b else 0.0
        return of_b - (float(weights[self._at_a[key]]) if key in self._at_a else 0.0)

    @staticmethod
    def _ideal(flips: int, top: float, best: Numbers, weights: Numbers) -> float:
        gains = np.concatenate([np.full(flips, top), best])[: len(weights)]
        return float(gains @ weights[: len(gains)])

    def _dcg(self, ranked: _Top, weights: Numbers) -> float:
        gains = transformed(np.nan_to_num(ranked.gains), self._rule)
        return float(gains @ weights[: len(gains)])

    def _only_other(self) -> NDArray[np.int64]:
        """Give the unknown evidence that the other run has in its first places, the leader not."""
        keys = [key for key in self._b.unknown.tolist() if key not in self._at_a]
        return np.array(keys, dtype=np.int64)

    def _neutral(self) -> int:
        """Count the unknown items that both or neither have in their first places."""
        seen = {*self._a.unknown_framed.tolist(), *self._b.unknown_framed.tolist()}
        return len(self._both()) + int(self._known.unknown[self._query]) - len(seen)

    def _both(self) -> list[int]:
        return [key for key in self._b.unknown.tolist() if key in self._at_a]

    @staticmethod
    def _hits(ranked: _Top) -> int:
        return int((ranked.states == StateCode.RELEVANT).sum())

    @staticmethod
    def _first(ranked: _Top) -> float:
        places = np.flatnonzero(ranked.states == StateCode.RELEVANT)
        return 1.0 / (int(places[0]) + 1) if len(places) else 0.0


@dataclass(frozen=True, eq=False)
class _Top:
    evidence: NDArray[np.int64]
    states: NDArray[np.int8]
    gains: Numbers
    framed: NDArray[np.bool_]

    @property
    def unknown(self) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self.evidence[self.states == StateCode.UNKNOWN]
        return found

    @property
    def unknown_framed(self) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self.evidence[(self.states == StateCode.UNKNOWN) & self.framed]
        return found


def _top(ranking: JudgedRanking, query: int, cutoff: int | None) -> _Top:
    start, end = ranking.starts[query], ranking.starts[query + 1]
    if cutoff is not None:
        end = min(end, start + cutoff)
    part = slice(start, end)
    return _Top(
        ranking.evidence[part], ranking.states[part], ranking.gains[part], ranking.framed[part]
    )
