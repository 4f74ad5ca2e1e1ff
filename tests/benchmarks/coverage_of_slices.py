"""How often the intervals of slices cover, which are estimated from the draws of a whole frame.

`tests.benchmarks.coverage` prints it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.estimators import Known
from labeler.evaluation.posterior import LabelledStratum
from labeler.evaluation.sample_estimates import DrawnStratum, Estimand, estimate, facts_of
from tests.benchmarks.coverage import Coverage, Tally, floor_of
from tests.benchmarks.track_frames import (
    K,
    Track,
    TrackFrame,
    TrackSetting,
    framed,
    inside_of,
    known_of,
    truth_of,
)

__all__ = ["cover_slices"]

_Slice = tuple[dict[Estimand, float], Known, int, list[NDArray[np.bool_]]]
"""Of a slice: the truth, what is known, k times its queries, and its items of each stratum."""


def _slice(
    track: Track,
    setting: TrackSetting,
    frame: TrackFrame,
    slice_of: Mapping[str, int],
    number: int,
) -> _Slice:
    inside = [pair for pair, good in frame.relevant.items() if good and slice_of[pair[0]] == number]
    queries = sum(one == number for one in slice_of.values())
    return (
        truth_of(track, setting, inside, queries),
        known_of(track, setting, [pair for pair in inside if pair in frame.known]),
        queries * K,
        [np.array([slice_of[pair[0]] == number for pair in of]) for of in frame.pairs],
    )


def cover_slices(
    track: Track, setting: TrackSetting, parts: int, draws: int, seed: int
) -> list[Coverage]:
    """Draw from a frame many times; tell how often the intervals of its slices cover.

    The queries are parted into so many slices; each is estimated from what was drawn of it.
    """
    inside = inside_of(track, setting)
    queries = sorted({query for query, _ in inside})
    slice_of = {query: number % parts for number, query in enumerate(queries)}
    relevant = {pair: track.grades[pair] >= setting.least_grade for pair in inside}
    frame = framed(track, setting, inside, relevant)
    slices = [_slice(track, setting, frame, slice_of, number) for number in range(parts)]
    rng = np.random.default_rng(seed)
    tallies = [Tally() for _ in slices]
    for number in range(draws):
        chosen = [
            rng.choice(len(pairs), count, replace=False)
            for pairs, count in zip(frame.pairs, frame.counts, strict=True)
        ]
        for (truth, held, places, belongs), tally in zip(slices, tallies, strict=True):
            drawn = [
                _part(of, picked, labels, (setting.first in who, setting.second in who))
                for of, picked, labels, who in zip(
                    belongs, chosen, frame.labels, frame.retrieved, strict=True
                )
                if of.any()
            ]
            facts = facts_of(drawn)
            for measure, value in truth.items():
                interval = estimate(
                    measure, drawn, held, seed=number, places=places, draws=1000
                ).interval
                tally.add(measure, value, interval.low, interval.high)
            tally.sample(facts.relevant, facts.strength)
    rows = [tally.told(f"{setting}, {parts} slices", draws) for tally in tallies]
    # Each slice has its own expected positives: the goal is that of the one with the fewest.
    return [
        Coverage(
            same[0].what,
            min(one.positives for one in same),
            float(np.mean([one.covered for one in same])),
            float(np.mean([one.width for one in same])),
            float(np.mean([one.weak for one in same])),
            draws,
            floor_of(min(one.positives for one in same), draws),
        )
        for same in zip(*rows, strict=True)
    ]


def _part(
    of: NDArray[np.bool_],
    picked: NDArray[np.int64],
    labels: NDArray[np.bool_],
    who: tuple[bool, bool],
) -> DrawnStratum:
    """Give the part of a stratum that belongs to a slice, its prior that of the whole stratum."""
    inside = picked[of[picked]]
    rate = (labels[picked].sum() + 1 / 3) / (len(picked) + 2 / 3)
    return DrawnStratum(
        LabelledStratum(
            int(of.sum()), len(inside), int(labels[inside].sum()), *who, rate=float(rate)
        )
    )
