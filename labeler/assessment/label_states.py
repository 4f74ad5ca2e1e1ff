"""What is known of each item, as arrays: relevant, not relevant or unknown, with level and gain."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy import Connection, Select

from labeler.assessment.labels_in_force import LabelInForce, items_of_pool, labels_in_force
from labeler.labels import Grade, Level, Outcome, Scale, State, StateCode, state_of
from labeler.records import table
from labeler.records.judgments import Basis
from labeler.records.pools import Item
from labeler.records.scales import ScaleLevel
from labeler.store.registry import scale_of

__all__ = ["LabelSource", "LabelStates", "is_of_people", "read_label_states", "state_at"]

_KEY_BITS = 32


class LabelSource(StrEnum):
    """Whose labels a metric takes; it is a part of the metric's name."""

    HUMAN = "human"
    HUMAN_AUTO = "human+auto"


def is_of_people(label: LabelInForce | None) -> bool:
    """Tell whether a label in force is one that people gave."""
    return label is not None and label.basis is not Basis.ACCEPTED


def state_at(grade: Grade | None, least: Grade) -> State:
    """Tell the state of a grade when the least grade that counts as relevant is chosen.

    Args:
        grade: The grade; None is unknown.
        least: Fully or partially relevant.
    """
    if least is Grade.FULLY_RELEVANT and grade is Grade.PARTIALLY_RELEVANT:
        return State.NOT_RELEVANT
    return state_of(grade)


_CODES = {
    State.RELEVANT: StateCode.RELEVANT,
    State.NOT_RELEVANT: StateCode.NOT_RELEVANT,
    State.UNKNOWN: StateCode.UNKNOWN,
}


@dataclass(frozen=True, eq=False)
class LabelStates:
    """What is known of some items of one snapshot, under one rubric.

    Attributes:
        source: Whose labels count; what others said is left unknown.
        least: The least grade that counts as relevant.
        items: Shape (items,): their keys, in the order of query and evidence.
        queries: Shape (items,): the query of each.
        evidence: Shape (items,): the evidence of each.
        states: Shape (items,): codes of `StateCode`.
        gains: Shape (items,): the gain of the level in force; not a number where there is none.
        abstained: Places of items of which people said that they can't be judged.
        scales: The scales that the labels stand on, by name.
        gain_rule: What the gains are: of the labels' scale, or of grades when scales are mixed.
        top_gain: The highest gain that an unknown item could turn out to have.
    """

    source: LabelSource
    least: Grade
    items: NDArray[np.int64]
    queries: NDArray[np.int64]
    evidence: NDArray[np.int64]
    states: NDArray[np.int8]
    gains: NDArray[np.float64]
    abstained: NDArray[np.int64]
    scales: tuple[Scale, ...]
    gain_rule: str
    top_gain: float

    def places(self, queries: NDArray[np.int64], evidence: NDArray[np.int64]) -> NDArray[np.int64]:
        """Find pairs of query and evidence; -1 where there is no such item."""
        keys = (self.queries << _KEY_BITS) + self.evidence
        wanted = np.where(evidence > 0, (queries << _KEY_BITS) + evidence, -1)
        if not len(keys):
            return np.full(len(wanted), -1, dtype=np.int64)
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[found] == wanted, found, -1)

    def states_at(self, places: NDArray[np.int64]) -> NDArray[np.int8]:
        """Give the state codes at some places; -1 asks for nothing known, which is unknown."""
        return self._at(self.states, places, np.int8(StateCode.UNKNOWN))

    def gains_at(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Give the gains at some places; not a number where no level is known."""
        return self._at(self.gains, places, np.nan)

    def without_queries(self, queries: Collection[int]) -> LabelStates:
        """Leave the items of some queries out."""
        keep = ~np.isin(self.queries, np.array(sorted(queries), dtype=np.int64))
        if keep.all():
            return self
        moved = np.cumsum(keep) - 1
        return replace(
            self,
            items=self.items[keep],
            queries=self.queries[keep],
            evidence=self.evidence[keep],
            states=self.states[keep],
            gains=self.gains[keep],
            abstained=moved[self.abstained[keep[self.abstained]]],
        )

    @staticmethod
    def _at(values: NDArray, places: NDArray[np.int64], absent: np.int8 | float) -> NDArray:  # type: ignore[type-arg]  # of any type
        return np.append(values, absent)[places].astype(values.dtype)


def read_label_states(
    connection: Connection,
    *,
    snapshot_id: int,
    rubric_id: int,
    source: LabelSource,
    pool_id: int | None = None,
    least: Grade = Grade.PARTIALLY_RELEVANT,
    as_of: int | None = None,
) -> LabelStates:
    """Read what is known of a pool's items, or of all of a snapshot under a rubric.

    Args:
        connection: An open connection.
        snapshot_id: The snapshot.
        rubric_id: The rubric.
        source: Whose labels count.
        pool_id: Only the items of this pool, unknown ones too.
        least: The least grade that counts as relevant.
        as_of: A revision; None is the present.
    """
    item = table(Item)
    chosen: Select[int]
    if pool_id is not None:
        chosen = items_of_pool(pool_id)
    else:
        chosen = sa.select(item.c.id).where(
            item.c.snapshot_id == snapshot_id, item.c.rubric_id == rubric_id
        )
    rows = connection.execute(
        sa.select(item.c.id, item.c.query_id, item.c.evidence_id)
        .where(item.c.id.in_(chosen))
        .order_by(item.c.query_id, item.c.evidence_id)
    ).all()
    labels = labels_in_force(connection, chosen, as_of)
    if source is LabelSource.HUMAN:
        labels = {key: label for key, label in labels.items() if is_of_people(label)}
    levels = _levels(connection, {label.level_id for label in labels.values()} - {None})
    scales = tuple({scale.digest: scale for scale, _ in levels.values()}.values())
    gains, rule, top = _gains(scales, levels)
    states, gain_of, abstained = [], [], []
    for place, (key, *_) in enumerate(rows):
        label = labels.get(key)
        states.append(_CODES[state_at(None if label is None else label.grade, least)])
        gain_of.append(np.nan if label is None else gains.get(label.level_id, np.nan))
        if label is not None and label.outcome is Outcome.ABSTAINED:
            abstained.append(place)
    return LabelStates(
        source=source,
        least=least,
        items=_array([row[0] for row in rows]),
        queries=_array([row[1] for row in rows]),
        evidence=_array([row[2] for row in rows]),
        states=np.array(states, dtype=np.int8),
        gains=np.array(gain_of, dtype=np.float64),
        abstained=_array(abstained),
        scales=scales,
        gain_rule=rule,
        top_gain=top,
    )


def _array(values: list[int]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def _levels(connection: Connection, keys: set[int | None]) -> dict[int | None, tuple[Scale, Level]]:
    """Give some levels with their scales, by key."""
    level = table(ScaleLevel)
    rows = connection.execute(sa.select(level.c.id, level.c.scale_id, level.c.code))
    used = [row for row in rows if row.id in keys]
    scales = {key: scale_of(connection, key) for key in sorted({row.scale_id for row in used})}
    return {row.id: (scales[row.scale_id], scales[row.scale_id].level(row.code)) for row in used}


_GRADE_GAINS = {Grade.FULLY_RELEVANT: 2.0, Grade.PARTIALLY_RELEVANT: 1.0, Grade.NOT_RELEVANT: 0.0}


def _gains(
    scales: tuple[Scale, ...], levels: Mapping[int | None, tuple[Scale, Level]]
) -> tuple[dict[int | None, float], str, float]:
    """Give each level's gain, the rule in words, and the highest gain there is.

    Gains of several scales can't be added up, so those of grades take their place, and that is
    said.
    """
    if len(scales) > 1:
        names = " and ".join(sorted(scale.name for scale in scales))
        by_grade = {key: _GRADE_GAINS[level.grade] for key, (_, level) in levels.items()}
        return by_grade, f"of grades (2, 1, 0), since labels stand on {names}", 2.0
    by_level = {key: level.gain for key, (_, level) in levels.items()}
    if not scales:
        return by_level, "of no scale: there are no labels", _GRADE_GAINS[Grade.FULLY_RELEVANT]
    top = max(level.gain for level in scales[0].levels)
    return by_level, f"of the scale {scales[0].name}", top
