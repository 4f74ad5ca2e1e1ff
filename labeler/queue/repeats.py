"""How steady reviewers are: what they said of the items that came back to them untold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, FromClause

from labeler.assessment.labels_in_force import items_of_pool
from labeler.evaluation.steadiness import Steadiness, steadiness
from labeler.labels import Scale
from labeler.records import table
from labeler.records.judgments import Judgment, Occasion, Withdrawal, WithdrawnKind
from labeler.records.pools import Item
from labeler.records.queue import ReviewEvent, VotePurpose
from labeler.records.scales import Assessor, ScaleLevel
from labeler.store.registry import scale_of

__all__ = ["RepeatedLabel", "ReviewerSteadiness", "read_repeats", "read_steadiness"]

_EVENT, _JUDGMENT = table(ReviewEvent), table(Judgment)


@dataclass(frozen=True, slots=True)
class RepeatedLabel:
    """One item that a reviewer labelled twice, the second time without being told.

    Attributes:
        reviewer: The reviewer's name.
        item_id: The item.
        query_id: Its query.
        first: The key of the first level, or None for can't judge.
        again: The key of the second.
        apart: The time between the two.
    """

    reviewer: str
    item_id: int
    query_id: int
    first: int | None
    again: int | None
    apart: timedelta


@dataclass(frozen=True, slots=True)
class ReviewerSteadiness:
    """How far a reviewer agrees with themselves, on one scale.

    Attributes:
        reviewer: The reviewer's name.
        scale: The name of the scale.
        steadiness: The agreement.
        apart: The median time between the two labels.
    """

    reviewer: str
    scale: str
    steadiness: Steadiness
    apart: timedelta


def read_repeats(connection: Connection, pool_id: int | None = None) -> tuple[RepeatedLabel, ...]:
    """Read what reviewers said twice, in the order of the second votes.

    The first is the vote that stood when the second was given, whatever became of it since. A
    second one that was taken back is left out.

    Args:
        connection: A transaction's connection.
        pool_id: Read the items of this pool only.
    """
    assessor, item = table(Assessor), table(Item)
    again, repeated = _JUDGMENT.alias("again"), _EVENT.alias("repeated")
    statement = (
        sa.select(
            assessor.c.name,
            item.c.id,
            item.c.query_id,
            _JUDGMENT.c.level_id,
            again.c.level_id.label("again"),
            _EVENT.c.at,
            repeated.c.at.label("again_at"),
            again.c.id.label("key"),
        )
        .select_from(again)
        .join(repeated, repeated.c.judgment_id == again.c.id)
        .join(
            _JUDGMENT,
            sa.and_(
                _JUDGMENT.c.item_id == again.c.item_id,
                _JUDGMENT.c.assessor_id == again.c.assessor_id,
                _JUDGMENT.c.occasion == Occasion.FIRST.value,
                _JUDGMENT.c.id < again.c.id,
                ~_withdrawn(_JUDGMENT, by=again.c.revision_id),
            ),
        )
        .join(_EVENT, _EVENT.c.judgment_id == _JUDGMENT.c.id)
        .join(assessor, assessor.c.id == again.c.assessor_id)
        .join(item, item.c.id == again.c.item_id)
        .where(
            again.c.occasion == Occasion.REPEAT.value,
            repeated.c.purpose == VotePurpose.REPEAT.value,
            ~_withdrawn(again),
        )
        .order_by(again.c.id, _JUDGMENT.c.id)
    )
    if pool_id is not None:
        statement = statement.where(item.c.id.in_(items_of_pool(pool_id)))
    found = {
        row.key: RepeatedLabel(
            str(row.name), row.id, row.query_id, row.level_id, row.again, row.again_at - row.at
        )
        for row in connection.execute(statement)
    }
    return tuple(found.values())


def read_steadiness(
    connection: Connection, pool_id: int | None = None
) -> tuple[ReviewerSteadiness, ...]:
    """Read how far each reviewer agrees with themselves, by name and scale.

    Args:
        connection: A transaction's connection.
        pool_id: Look at the items of this pool only.
    """
    places = _places(connection)
    parts: dict[tuple[str, str], list[RepeatedLabel]] = defaultdict(list)
    levels: dict[str, int] = {}
    for one in read_repeats(connection, pool_id):
        known = one.first if one.first is not None else one.again
        if known is not None:
            scale = places[known][0]
            parts[one.reviewer, scale.name].append(one)
            levels[scale.name] = len(scale.levels)
        # Where both times nothing could be judged, there is no scale to tell.
        else:
            parts[one.reviewer, ""].append(one)
            levels[""] = 2
    return tuple(
        ReviewerSteadiness(
            name, scale, _steadiness(labels, places, levels[scale]), _median_apart(labels)
        )
        for (name, scale), labels in sorted(parts.items())
    )


def _places(connection: Connection) -> dict[int, tuple[Scale, int]]:
    """Give each level's scale, and how many of its levels are worse, by the level's key."""
    level = table(ScaleLevel)
    rows = connection.execute(sa.select(level.c.id, level.c.scale_id, level.c.code)).all()
    scales = {key: scale_of(connection, key) for key in {row.scale_id for row in rows}}
    places = {
        (key, one.code): place
        for key, scale in scales.items()
        for place, one in enumerate(sorted(scale.levels, key=lambda level: level.order))
    }
    return {row.id: (scales[row.scale_id], places[row.scale_id, row.code]) for row in rows}


def _steadiness(
    labels: Sequence[RepeatedLabel], places: dict[int, tuple[Scale, int]], levels: int
) -> Steadiness:
    def place(key: int | None) -> int:
        return -1 if key is None else places[key][1]

    return steadiness(
        np.array([place(one.first) for one in labels], dtype=np.int64),
        np.array([place(one.again) for one in labels], dtype=np.int64),
        np.array([one.query_id for one in labels], dtype=np.int64),
        levels,
    )


def _median_apart(labels: Sequence[RepeatedLabel]) -> timedelta:
    times = sorted(one.apart for one in labels)
    return times[len(times) // 2]


def _withdrawn(judgment: FromClause, by: sa.Column[int] | None = None) -> ColumnElement[bool]:
    """Make the condition that a judgment was withdrawn, up to a revision or at all."""
    withdrawal = table(Withdrawal).alias()
    conditions = [
        withdrawal.c.kind == WithdrawnKind.JUDGMENT.value,
        withdrawal.c.target_id == judgment.c.id,
    ]
    if by is not None:
        conditions.append(withdrawal.c.revision_id <= by)
    return sa.exists().where(*conditions)
