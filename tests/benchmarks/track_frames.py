"""Frames of a TREC track: what is known, and the rest in strata as samples make them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.allocation import next_units
from labeler.evaluation.estimators import Known
from labeler.evaluation.sample_estimates import Estimand
from labeler.sampling.strata import FrameUnit, make_strata

__all__ = [
    "KNOWN_DEPTH",
    "POOLED",
    "SYSTEMS",
    "K",
    "Pair",
    "Track",
    "TrackFrame",
    "TrackSetting",
    "framed",
    "has",
    "inside_of",
    "known_of",
    "truth_of",
]

DEPTH = 100
K = 20
KNOWN_DEPTH = 10
SYSTEMS = ("BM25", "BM25_RM3", "D_BERT_KD_TASB", "OPEN_AI_ADA2", "REP_LLAMA",
           "SPLADE_P_P_ENSEMBLE_DISTIL")  # fmt: skip
POOLED = ("BM25", "D_BERT_KD_TASB")
JUDGE = "gpt-4o.umbrela"
_FOLDS = 4
Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Track:
    """A collection with people's labels: ranks of systems, labels, and a judge's labels."""

    ranks: Mapping[Pair, Mapping[str, int]]
    grades: Mapping[Pair, int]
    judged: Mapping[Pair, float]

    @classmethod
    def read(cls, folder: Path) -> Track:
        """Read the judged part of the six systems' rankings."""
        grades = {pair: int(label) for pair, label in _labels(folder / "qrels.txt")}
        judged = dict(_labels(folder / "judges" / f"{JUDGE}.txt"))
        ranks: dict[Pair, dict[str, int]] = defaultdict(dict)
        for system in SYSTEMS:
            for row in (folder / "posthoc" / f"{system}.run").read_text().splitlines():
                query, _, document, rank, *_ = row.split()
                if (query, document) in grades:
                    ranks[query, document][system] = int(rank)
        return cls(dict(ranks), grades, judged)

    def calibrated(self, least_grade: int) -> dict[Pair, float]:
        """Give the relevant share of what the judge gave the same level on other queries."""
        queries = sorted({query for query, _ in self.ranks})
        fold = {query: number % _FOLDS for number, query in enumerate(queries)}
        seen: Counter[tuple[int, float]] = Counter()
        good: Counter[tuple[int, float]] = Counter()
        for pair in self.ranks:
            for part in set(range(_FOLDS)) - {fold[pair[0]]}:
                level = part, self.judged.get(pair, 0.0)
                seen[level] += 1
                good[level] += self.grades[pair] >= least_grade
        levels = {pair: (fold[pair[0]], self.judged.get(pair, 0.0)) for pair in self.ranks}
        return {pair: (good[one] + 0.5) / (seen[one] + 1) for pair, one in levels.items()}


def _labels(path: Path) -> Iterator[tuple[Pair, float]]:
    for row in path.read_text().splitlines():
        query, _, document, label = row.split()
        yield (query, document), float(label)


@dataclass(frozen=True, slots=True)
class TrackSetting:
    """One frame of a track, and how much of it is drawn."""

    first: str
    second: str
    votes: int
    least_grade: int = 2
    queries: int = 43
    depth: int = DEPTH
    calibrated: bool = False

    def __str__(self) -> str:
        said = ", calibrated" if self.calibrated else ""
        return (
            f"{self.first[:9]} - {self.second[:9]}, {self.votes} votes, grade "
            f">= {self.least_grade}, {self.queries} queries, depth {self.depth}{said}"
        )


@dataclass(frozen=True, eq=False)
class TrackFrame:
    """What is drawn from: for each stratum its pairs, how many to draw, labels, who has them."""

    known: frozenset[Pair]
    relevant: Mapping[Pair, bool]
    pairs: Sequence[Sequence[Pair]]
    counts: Sequence[int]
    labels: Sequence[NDArray[np.bool_]]
    retrieved: Sequence[tuple[str, ...]]
    rates: Sequence[float | None]


def framed(
    track: Track, setting: TrackSetting, inside: Sequence[Pair], relevant: Mapping[Pair, bool]
) -> TrackFrame:
    """Part what isn't known into strata, and share the votes among them."""
    known = frozenset(pair for pair in inside if has(track, pair, POOLED, KNOWN_DEPTH))
    unknown = [pair for pair in inside if pair not in known]
    held_by = Counter(
        tuple(one for one in (setting.first, setting.second) if has(track, pair, [one], K))
        for pair in known
        if relevant[pair]
    )
    units = _units(track, setting, unknown)
    strata = make_strata(units, setting.votes, {}, (setting.first, setting.second), held_by)
    counts = next_units(
        [len(s.items) for s in strata],
        [s.rate for s in strata],
        setting.votes,
        worth=[s.worth for s in strata],
    )
    pairs = [[unknown[item] for item in s.items] for s in strata]
    labels = [np.array([relevant[pair] for pair in of]) for of in pairs]
    return TrackFrame(
        known=known,
        relevant=relevant,
        pairs=pairs,
        counts=counts,
        labels=labels,
        retrieved=[s.retrieved for s in strata],
        rates=[s.rate if setting.calibrated else None for s in strata],
    )


def inside_of(track: Track, setting: TrackSetting) -> list[Pair]:
    queries = sorted({query for query, _ in track.ranks})[: setting.queries]
    return [
        pair
        for pair in sorted(track.ranks)
        if pair[0] in queries and has(track, pair, SYSTEMS, setting.depth)
    ]


def has(track: Track, pair: Pair, systems: Sequence[str], depth: int) -> bool:
    return any(track.ranks[pair].get(system, 10**6) <= depth for system in systems)


def _units(track: Track, setting: TrackSetting, unknown: Sequence[Pair]) -> list[FrameUnit]:
    compared = (setting.first, setting.second)
    chances = {pair: track.judged.get(pair, 0.0) / 3 for pair in unknown}
    if setting.calibrated:
        chances = track.calibrated(setting.least_grade)
    return [
        FrameUnit(
            number,
            tuple(one for one in compared if has(track, pair, [one], K)),
            is_deeper=has(track, pair, compared, setting.depth),
            probability=chances[pair],
        )
        for number, pair in enumerate(unknown)
    ]


def known_of(track: Track, setting: TrackSetting, pairs: Sequence[Pair]) -> Known:
    return Known(
        len(pairs),
        sum(has(track, pair, [setting.first], K) for pair in pairs),
        sum(has(track, pair, [setting.second], K) for pair in pairs),
    )


def truth_of(
    track: Track, setting: TrackSetting, relevant: Sequence[Pair], queries: int
) -> dict[Estimand, float]:
    whole = known_of(track, setting, relevant)
    return {
        Estimand.RECALL: whole.first / whole.total,
        Estimand.RECALL_DIFFERENCE: (whole.first - whole.second) / whole.total,
        Estimand.PRECISION_DIFFERENCE: (whole.first - whole.second) / (queries * K),
    }
