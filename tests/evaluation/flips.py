"""Small queries with unknown items, ranked by two runs; and the same with some of them labelled."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from labeler.evaluation.ranking import JudgedRanking, Known

TOP = 2.0
GAINS = (TOP, 1.0)


@dataclass(frozen=True)
class OneQuery:
    """Items of one query: their states and gains, and what both runs ranked of them."""

    states: tuple[int, ...]
    gains: tuple[float, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]


@st.composite
def queries(draw: st.DrawFn, most: int = 5) -> OneQuery:
    count = draw(st.integers(1, most))
    states = draw(st.lists(st.sampled_from([1, 0, -1, -1]), min_size=count, max_size=count))
    gains = [draw(st.sampled_from(GAINS)) if code == 1 else 0.0 for code in states]
    orders = st.permutations(range(count))
    first = draw(orders)[: draw(st.integers(0, count))]
    second = draw(orders)[: draw(st.integers(0, count))]
    return OneQuery(tuple(states), tuple(gains), tuple(first), tuple(second))


def build(rows: list[OneQuery], which: str) -> JudgedRanking:
    places = [getattr(row, which) for row in rows]
    ideal = [
        sorted((gain for gain, code in zip(row.gains, row.states, strict=True) if code != -1))[::-1]
        for row in rows
    ]
    states = [row.states[item] for row, of in zip(rows, places, strict=True) for item in of]
    gains = [
        row.gains[item] if row.states[item] != -1 else np.nan
        for row, of in zip(rows, places, strict=True)
        for item in of
    ]
    return JudgedRanking(
        starts=np.cumsum([0, *map(len, places)]),
        evidence=np.array([item for of in places for item in of], dtype=np.int64),
        states=np.array(states, dtype=np.int8),
        gains=np.array(gains, dtype=np.float64),
        framed=np.ones(len(states), dtype=np.bool_),
        known=Known(
            relevant=np.array([row.states.count(1) for row in rows]),
            unknown=np.array([row.states.count(-1) for row in rows]),
            ideal_starts=np.cumsum([0, *map(len, ideal)]),
            ideal_gains=np.array([gain for of in ideal for gain in of], dtype=np.float64),
            top_gain=TOP,
        ),
    )


def flipped(
    rows: list[OneQuery], chosen: tuple[tuple[int, int], ...], gains: tuple[float, ...]
) -> list[OneQuery]:
    found = list(rows)
    for (query, item), gain in zip(chosen, gains, strict=True):
        row = found[query]
        states, levels = list(row.states), list(row.gains)
        states[item], levels[item] = 1, gain
        found[query] = replace(row, states=tuple(states), gains=tuple(levels))
    return found
