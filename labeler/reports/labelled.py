"""The labels of several assessors as arrays over the same items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.labels import Level, Scale, State, state_of
from labeler.reports.answers import Answers, LevelsByKey

__all__ = ["RELEVANCE", "LabelMatrix", "LevelCount"]

RELEVANCE = (State.NOT_RELEVANT, State.RELEVANT)
"""The two states that a label can have, from worst."""


@dataclass(frozen=True, slots=True)
class LevelCount:
    """How often somebody gave one level."""

    scale: str
    code: int
    level: str
    grade: str
    labels: int


@dataclass(frozen=True, slots=True)
class LabelMatrix:
    """Who answered what, item by item.

    Attributes:
        rows: Each assessor's row, by name.
        answers: Shape (assessors, items): a level's key, or a `NoLabel`.
        queries: Shape (items,): the key of each item's query.
        levels: Each level with its scale, by its key.
    """

    rows: Mapping[str, int]
    answers: NDArray[np.int64]
    queries: NDArray[np.int64]
    levels: LevelsByKey

    @classmethod
    def of(
        cls, assessors: Sequence[Answers], levels: LevelsByKey, query_of: Mapping[int, int]
    ) -> LabelMatrix:
        """Put the answers of some assessors, whose names are distinct, side by side."""
        items = sorted({item for one in assessors for item in one.of})
        place = {item: number for number, item in enumerate(items)}
        answers = np.zeros((len(assessors), len(items)), dtype=np.int64)
        for row, one in enumerate(assessors):
            answers[row, [place[item] for item in one.of]] = list(one.of.values())
        return cls(
            rows={one.name: row for row, one in enumerate(assessors)},
            answers=answers,
            queries=np.array([query_of[item] for item in items], dtype=np.int64),
            levels=levels,
        )

    def row(self, name: str) -> NDArray[np.int64]:
        """Give an assessor's answers, shape (items,)."""
        answers: NDArray[np.int64] = self.answers[self.rows[name]]
        return answers

    def scales_in(self, answers: NDArray[np.int64]) -> dict[str, Scale]:
        """Give the scales of the labels among some answers, by digest."""
        keys = np.unique(answers[answers > 0]).tolist()
        return {self.levels[key][0].digest: self.levels[key][0] for key in keys}

    def by_level(self, answers: NDArray[np.int64]) -> tuple[LevelCount, ...]:
        """Count labels by level: all levels of each scale in use, from worst to best."""
        keys, counts = np.unique(answers[answers > 0], return_counts=True)
        given = dict(zip(keys.tolist(), counts.tolist(), strict=True))
        scales = self.scales_in(answers)
        return tuple(
            LevelCount(scale.name, level.code, level.name, level.grade.value, given.get(key, 0))
            for key, (scale, level) in sorted(
                self.levels.items(), key=lambda one: (one[1][0].name, one[1][1].order)
            )
            if scale.digest in scales
        )

    def ranks(self, answers: NDArray[np.int64], places: Mapping[int, int]) -> NDArray[np.int64]:
        """Give each label's place on a scale, and -1 where there is no label.

        Args:
            answers: Any shape.
            places: The place of each code on the scale, from worst (0).
        """
        return self._translated(answers, {key: places.get(one.code, -1) for key, one in self._all})

    def states(self, answers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give each label's place in `RELEVANCE`, and -1 where there is no label."""
        return self._translated(
            answers, {key: RELEVANCE.index(state_of(one.grade)) for key, one in self._all}
        )

    @property
    def _all(self) -> list[tuple[int, Level]]:
        return [(key, level) for key, (_, level) in self.levels.items()]

    @staticmethod
    def _translated(answers: NDArray[np.int64], meant: Mapping[int, int]) -> NDArray[np.int64]:
        by_key = np.full(max(meant, default=0) + 1, -1, dtype=np.int64)
        by_key[list(meant)] = list(meant.values())
        return by_key[np.maximum(answers, 0)]
