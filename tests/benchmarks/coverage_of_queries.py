"""How often intervals cover that speak of queries to come, whose labels are partly unknown.

Queries are drawn with replacement from the 43 of TREC DL 2019, each a cluster of its own, and then
unknown items of theirs. The truth is that of all 43. `tests.benchmarks.coverage` prints it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.allocation import next_units
from labeler.evaluation.clustered import clustered_mean
from labeler.evaluation.completion import UnlabelledStratum, combine_values, complete
from labeler.sampling.strata import FrameUnit, make_strata
from tests.benchmarks.coverage import ENOUGH, Coverage, floor_of
from tests.benchmarks.track_frames import (
    KNOWN_DEPTH,
    POOLED,
    SYSTEMS,
    K,
    Pair,
    Track,
    TrackSetting,
    has,
)

__all__ = ["cover_queries", "cover_recall"]

Worth = Callable[[tuple[str, ...]], float]
"""What a relevant item adds to the numerator, by who has it."""


def cover_queries(track: Track, clusters: int, votes: int, draws: int, seed: int) -> list[Coverage]:
    """Draw queries, then items of theirs; tell how often the interval of the mean P@20 covers.

    The truth is the mean difference of P@20 over all 43 queries. Each drawn query is a cluster of
    its own. Beside the interval of both, what labels or queries alone would have given.
    """
    setting = TrackSetting("REP_LLAMA", "BM25", votes)
    by_query = _by_query(track, setting)
    truth = float(np.mean([value for *_, value in by_query]))
    rng = np.random.default_rng(seed)
    hits = dict.fromkeys(("queries and labels", "queries alone", "labels alone"), 0)
    width = dict.fromkeys(hits, 0.0)
    for number in range(draws):
        chosen = rng.integers(len(by_query), size=clusters)
        found = _combined([by_query[one] for one in chosen], votes, rng, number)
        for name, (low, high) in found.items():
            hits[name] += low <= truth <= high
            width[name] += high - low
    return [
        Coverage(
            f"P@20 over {clusters} clusters, {votes} votes: {name}",
            math.nan,
            count / draws,
            width[name] / draws,
            0.0,
            draws,
            floor_of(ENOUGH, draws) if name == "queries and labels" else None,
        )
        for name, count in hits.items()
    ]


_Query = tuple[
    NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], NDArray[np.float64], float
]
"""For a query's items: what each adds to the difference, relevant, known, judge; the truth."""


def _by_query(track: Track, setting: TrackSetting) -> list[_Query]:
    parts: dict[str, list[Pair]] = defaultdict(list)
    for pair in sorted(track.ranks):
        if has(track, pair, (setting.first, setting.second), K):
            parts[pair[0]].append(pair)
    found = []
    for pairs in parts.values():
        worth = np.array(
            [
                (has(track, pair, [setting.first], K) - has(track, pair, [setting.second], K)) / K
                for pair in pairs
            ]
        )
        relevant = np.array([track.grades[pair] >= setting.least_grade for pair in pairs])
        known = np.array([has(track, pair, POOLED, KNOWN_DEPTH) for pair in pairs])
        judge = np.array([(track.judged.get(pair, 0.0) + 0.5) / 4 for pair in pairs])
        found.append((worth, relevant, known, judge, float((worth * relevant).sum())))
    return found


def _combined(
    queries: Sequence[_Query], votes: int, rng: np.random.Generator, seed: int
) -> dict[str, tuple[float, float]]:
    worth = np.concatenate([one[0] for one in queries])
    relevant = np.concatenate([one[1] for one in queries])
    known = np.concatenate([one[2] for one in queries])
    judge = np.concatenate([one[3] for one in queries])
    place = np.repeat(np.arange(len(queries)), [len(one[0]) for one in queries])
    parts = [np.flatnonzero(~known & (np.sign(worth) == sign)) for sign in (-1, 0, 1)]
    counts = next_units([len(part) for part in parts], [0.3] * len(parts), votes)
    fixed = known & relevant
    strata = []
    for part, count in zip(parts, counts, strict=True):
        drawn = rng.choice(part, count, replace=False)
        fixed[drawn] = relevant[drawn]
        left = np.setdiff1d(part, drawn)
        strata.append(UnlabelledStratum(left, count, int(relevant[drawn].sum()), judge[left]))
    labels = complete(strata, len(worth), seed=seed, count=100) | fixed

    def per_query(one: NDArray[np.bool_]) -> NDArray[np.float64]:
        sums = np.bincount(place, weights=worth * one, minlength=len(queries))
        return np.asarray(sums, dtype=np.float64)

    found = combine_values([per_query(one) for one in labels], np.arange(len(queries)))
    both = found.interval()
    if both is None:
        raise ValueError("fewer than 8 clusters have no interval")
    scale = both.width / 2 / found.error if found.error else 0.0
    reach = {
        "queries and labels": both.width / 2,
        "queries alone": scale * math.sqrt(found.query_variance),
        "labels alone": scale * math.sqrt(found.label_variance),
    }
    return {name: (found.value - one, found.value + one) for name, one in reach.items()}


@dataclass(frozen=True, eq=False)
class _Judged:
    """The items of one query: relevant, known, and who has them at K."""

    relevant: NDArray[np.bool_]
    known: NDArray[np.bool_]
    retrieved: tuple[tuple[str, ...], ...]


MEAN = "mean of recall over completed label sets"


def cover_recall(track: Track, clusters: int, votes: int, draws: int, seed: int) -> list[Coverage]:
    """Draw queries, then items of theirs; tell how often intervals of recall@20 cover.

    Pooled recall and its difference by weighted totals of clusters, as gates decide them; and
    beside it the mean of queries' recall over completed label sets, which no gate takes.
    """
    setting = TrackSetting("REP_LLAMA", "BM25", votes)
    runs = (setting.first, setting.second)
    queries = _judged(track, setting)
    worths: dict[str, Worth] = {
        "pooled recall": lambda who: float(runs[0] in who),
        "difference of pooled recall": lambda who: float(runs[0] in who) - float(runs[1] in who),
    }
    truth = {name: _pooled_truth(queries, worth) for name, worth in worths.items()}
    alone = [_pooled_truth([one], worths["pooled recall"]) for one in queries]
    truth[MEAN] = float(np.mean(alone))
    rng = np.random.default_rng(seed)
    told: dict[str, list[tuple[float, float]]] = defaultdict(list)
    positives = 0
    for number in range(draws):
        drawn = _Drawn.of([queries[one] for one in rng.integers(len(queries), size=clusters)])
        drawn.draw(runs, votes, rng)
        positives += drawn.positives
        for name, worth in worths.items():
            told[name].append(drawn.pooled_interval(worth))
        told[MEAN].append(drawn.mean_interval(runs[0], number))
    return [
        Coverage(
            f"recall@20 over {clusters} clusters, {votes} votes: {name}",
            positives / draws,
            float(np.mean([low <= truth[name] <= high for low, high in limits])),
            float(np.mean([high - low for low, high in limits])),
            0.0,
            draws,
            None if name == MEAN else floor_of(positives / draws, draws),
        )
        for name, limits in told.items()
    ]


@dataclass(eq=False)
class _Drawn:
    """Queries that were drawn, with their items, and what was drawn of these."""

    place: NDArray[np.int64]
    relevant: NDArray[np.bool_]
    known: NDArray[np.bool_]
    who: list[tuple[str, ...]]
    parts: list[NDArray[np.int64]]
    drawn: list[NDArray[np.int64]]

    @classmethod
    def of(cls, queries: Sequence[_Judged]) -> _Drawn:
        return cls(
            np.repeat(np.arange(len(queries)), [len(one.relevant) for one in queries]),
            np.concatenate([one.relevant for one in queries]),
            np.concatenate([one.known for one in queries]),
            [who for one in queries for who in one.retrieved],
            [],
            [],
        )

    @property
    def positives(self) -> int:
        return sum(int(self.relevant[one].sum()) for one in self.drawn)

    def draw(self, runs: tuple[str, str], votes: int, rng: np.random.Generator) -> None:
        """Part what isn't known by who has it, and draw."""
        held = Counter(self.who[one] for one in np.flatnonzero(self.known & self.relevant).tolist())
        count = Counter(self.who[one] for one in np.flatnonzero(self.known).tolist())
        units = [FrameUnit(one, self.who[one]) for one in np.flatnonzero(~self.known).tolist()]
        rates = {one: (held[one] + 0.5) / (many + 1) for one, many in count.items()}
        strata = make_strata(units, votes, rates, runs, held)
        counts = next_units(
            [len(one.items) for one in strata],
            [one.rate for one in strata],
            votes,
            worth=[one.worth for one in strata],
        )
        self.parts = [np.array(one.items, dtype=np.int64) for one in strata]
        self.drawn = [
            rng.choice(part, many, replace=False)
            for part, many in zip(self.parts, counts, strict=True)
        ]

    def pooled_interval(self, worth: Worth) -> tuple[float, float]:
        """Give the interval of a ratio of totals in which drawn items stand for their strata."""
        weights = (self.known & self.relevant).astype(np.float64)
        for part, picked in zip(self.parts, self.drawn, strict=True):
            weights[picked] = self.relevant[picked] * len(part) / len(picked)
        whole = np.bincount(self.place, weights).astype(np.float64)
        top = np.bincount(self.place, weights * np.array([worth(one) for one in self.who]))
        there = np.flatnonzero(whole > 0)
        found = clustered_mean(top[there] / whole[there], there, whole[there]).interval()
        return (-1.0, 1.0) if found is None else found

    def mean_interval(self, run: str, seed: int) -> tuple[float, float]:
        """Give the interval of the mean of queries' recall over completed label sets."""
        fixed = self.known & self.relevant
        for picked in self.drawn:
            fixed[picked] = self.relevant[picked]
        strata = [
            UnlabelledStratum(
                np.setdiff1d(part, picked), len(picked), int(self.relevant[picked].sum())
            )
            for part, picked in zip(self.parts, self.drawn, strict=True)
        ]
        held = np.array([run in one for one in self.who])
        values = []
        for labels in complete(strata, len(fixed), seed=seed, count=100) | fixed:
            whole = np.bincount(self.place, labels)
            values.append(np.bincount(self.place, labels & held) / np.maximum(whole, 1))
        interval = combine_values(values, np.unique(self.place)).interval()
        return (0.0, 1.0) if interval is None else (interval.low, interval.high)


def _judged(track: Track, setting: TrackSetting) -> list[_Judged]:
    by_query: dict[str, list[Pair]] = defaultdict(list)
    for pair in sorted(track.ranks):
        if has(track, pair, SYSTEMS, setting.depth):
            by_query[pair[0]].append(pair)
    runs = (setting.first, setting.second)
    return [
        _Judged(
            np.array([track.grades[pair] >= setting.least_grade for pair in pairs]),
            np.array([has(track, pair, POOLED, KNOWN_DEPTH) for pair in pairs]),
            tuple(tuple(one for one in runs if has(track, pair, [one], K)) for pair in pairs),
        )
        for pairs in by_query.values()
    ]


def _pooled_truth(queries: Sequence[_Judged], worth: Worth) -> float:
    top = sum(
        worth(who)
        for one in queries
        for who, good in zip(one.retrieved, one.relevant.tolist(), strict=True)
        if good
    )
    return top / sum(int(one.relevant.sum()) for one in queries)
