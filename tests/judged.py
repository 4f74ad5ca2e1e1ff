"""Judged rankings written down as lists, for tests of measures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labeler.evaluation.ranking import JudgedRanking, Known
from labeler.labels import StateCode

TOP_GAIN = 3.0


def judged(
    states: Sequence[Sequence[int]],
    *,
    missed: Sequence[int] | None = None,
    unknown_elsewhere: Sequence[int] | None = None,
    gains: Sequence[Sequence[float]] | None = None,
    missed_gains: Sequence[Sequence[float]] | None = None,
    evidence: Sequence[Sequence[int]] | None = None,
) -> JudgedRanking:
    """Give a ranking of some queries, each with the states of its places, best first.

    Args:
        states: State codes; a relevant place has the gain 1 where none are given.
        missed: How many more relevant evidences are known for each query.
        unknown_elsewhere: How many more items of the frame are unknown.
        gains: The gains of the places; only those of judged places count.
        missed_gains: The gains of judged items that weren't ranked.
        evidence: Keys of the places; numbered through by default.
    """
    count = len(states)
    missed = missed or [0] * count
    elsewhere = unknown_elsewhere or [0] * count
    places = gains or [[float(code == 1) for code in one] for one in states]
    rest = missed_gains or [[1.0] * number for number in missed]
    ideal = [
        sorted(
            [gain for gain, code in zip(of, one, strict=True) if code != -1] + list(more),
            reverse=True,
        )
        for of, one, more in zip(places, states, rest, strict=True)
    ]
    flat = [code for one in states for code in one]
    keys = evidence or [
        [1000 * row + place for place in range(len(one))] for row, one in enumerate(states, 1)
    ]
    return JudgedRanking(
        starts=np.cumsum([0, *map(len, states)]),
        evidence=np.array([key for one in keys for key in one], dtype=np.int64),
        states=np.array(flat) if flat else np.zeros(0, dtype=np.int8),
        gains=np.array(
            [
                gain if code != StateCode.UNKNOWN else np.nan
                for of, one in zip(places, states, strict=True)
                for gain, code in zip(of, one, strict=True)
            ]
        ),
        framed=np.ones(len(flat), dtype=np.bool_),
        known=Known(
            relevant=np.array(
                [list(one).count(1) + more for one, more in zip(states, missed, strict=True)]
            ),
            unknown=np.array(
                [list(one).count(-1) + more for one, more in zip(states, elsewhere, strict=True)]
            ),
            ideal_starts=np.cumsum([0, *map(len, ideal)]),
            ideal_gains=np.array([gain for one in ideal for gain in one], dtype=np.float64),
            top_gain=TOP_GAIN,
        ),
    )
