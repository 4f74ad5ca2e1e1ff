"""The answers of two judges side by side, and what the second made of each of the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy import Connection, Select

from labeler.evaluation.agreement import confusion_tables
from labeler.evaluation.transitions import Flips, choose_flips, flips_of
from labeler.labels import Scale
from labeler.records import table
from labeler.records.pools import Item
from labeler.reports.answers import LevelsByKey, NoLabel
from labeler.reports.common_scale import common_scale, ranks_on
from labeler.reports.judge_answers import VersionAnswers
from labeler.reports.labelled import RELEVANCE, LabelMatrix
from labeler.reports.number_rows import read_numbers

__all__ = [
    "FIRST",
    "SECOND",
    "SideBySide",
    "Transitions",
    "by_level",
    "by_relevance",
    "chosen_flips",
    "scale_of_both",
    "side_by_side",
]

FIRST, SECOND = "first", "second"
_WITHOUT_LEVEL = ("abstained", "failed")
"""The rows and columns of a transition table that stand after the levels."""


@dataclass(frozen=True, slots=True)
class Transitions:
    """What the second judge made of each answer of the first, over items that both were asked.

    Attributes:
        names: The rows and the columns: labels from best to worst, then ``abstained`` and
            ``failed`` (refused and truncated too).
        counts: Items; rows are the first judge's answers, columns the second's.
        flips: The items that both gave a label, counted.
    """

    names: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    flips: Flips


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The answers of both judges, item by item.

    Attributes:
        items: The keys of all items that one of them was asked about.
        labels: Their answers on these, in the same order.
        both: Shape (items,): where both were asked.
    """

    items: NDArray[np.int64]
    labels: LabelMatrix
    both: NDArray[np.bool_]

    def of(self, row: str) -> NDArray[np.int64]:
        """Give a judge's answers on the items that both were asked about."""
        answers: NDArray[np.int64] = self.labels.row(row)[self.both]
        return answers


def side_by_side(
    connection: Connection,
    answers: tuple[VersionAnswers, VersionAnswers],
    frame: Select[int] | None,
    levels: LevelsByKey,
) -> SideBySide:
    """Put the answers of two judges side by side, item by item.

    Args:
        connection: A transaction's connection.
        answers: Their answers.
        frame: Selects the items that are looked at; None means all.
        levels: Every level.
    """
    items = np.union1d(answers[0].items, answers[1].items)
    codes = np.stack([one.codes_on(items) for one in answers])
    return SideBySide(
        items=items,
        labels=LabelMatrix(
            rows={FIRST: 0, SECOND: 1},
            answers=codes,
            queries=_queries_of(connection, items, frame),
            levels=levels,
        ),
        both=(codes != NoLabel.NOTHING).all(axis=0),
    )


def _queries_of(
    connection: Connection, items: NDArray[np.int64], frame: Select[int] | None
) -> NDArray[np.int64]:
    """Give the key of each item's query."""
    item = table(Item)
    statement = sa.select(item.c.id, item.c.query_id)
    if frame is not None:
        statement = statement.where(item.c.id.in_(frame))
    rows = read_numbers(connection, statement, np.int64)
    rows = rows[np.isin(rows[:, 0], items)]
    queries = np.empty(len(items), dtype=np.int64)
    queries[np.searchsorted(items, rows[:, 0])] = rows[:, 1]
    return queries


def scale_of_both(compared: SideBySide) -> tuple[Scale | None, str | None]:
    """Give the scale on which levels are compared, or why there is none."""
    scales = compared.labels.scales_in(np.stack([compared.of(FIRST), compared.of(SECOND)]))
    if not scales:
        return None, "no level was given"
    scale = common_scale(scales.values())
    names = ", ".join(sorted(one.name for one in scales.values()))
    return scale, None if scale is not None else f"different scales ({names})"


def by_level(compared: SideBySide, scale: Scale) -> Transitions:
    """Count transitions between the levels of a scale that holds the labels of both."""
    places = ranks_on(scale)
    ranks = [compared.labels.ranks(compared.of(row), places) for row in (FIRST, SECOND)]
    return _transitions(compared, ranks, [f"{code} {scale.level(code).name}" for code in places])


def by_relevance(compared: SideBySide) -> Transitions:
    """Count transitions between relevant and not, by the grades that levels map to."""
    states = [compared.labels.states(compared.of(row)) for row in (FIRST, SECOND)]
    return _transitions(compared, states, [state.value for state in RELEVANCE])


def _transitions(
    compared: SideBySide, places: Sequence[NDArray[np.int64]], names: Sequence[str]
) -> Transitions:
    """Count transitions.

    Args:
        compared: The answers.
        places: Each judge's labels as places in `names`, -1 where it gave none.
        names: The labels from worst to best.
    """
    labels = len(names)
    with_outcomes = [
        np.where(place >= 0, place, labels + (compared.of(row) == NoLabel.FAILED))
        for row, place in zip((FIRST, SECOND), places, strict=True)
    ]
    queries = compared.labels.queries[compared.both]
    tables = confusion_tables(
        with_outcomes[0], with_outcomes[1], queries, labels + len(_WITHOUT_LEVEL)
    )
    shown = [*reversed(range(labels)), *range(labels, labels + len(_WITHOUT_LEVEL))]
    counts = tables.sum(axis=0)[np.ix_(shown, shown)]
    return Transitions(
        names=(*reversed(names), *_WITHOUT_LEVEL),
        counts=tuple(tuple(int(count) for count in row) for row in counts),
        flips=flips_of(tables[:, :labels, :labels]),
    )


def chosen_flips(compared: SideBySide, scale: Scale | None, count: int, seed: int) -> list[int]:
    """Choose items with a flip: of levels where these can be compared, else of relevance."""
    ours, theirs = compared.of(FIRST), compared.of(SECOND)
    before, after = compared.labels.states(ours), compared.labels.states(theirs)
    flipped = before != after
    if scale is not None:
        places = ranks_on(scale)
        flipped = compared.labels.ranks(ours, places) != compared.labels.ranks(theirs, places)
    flipped &= (ours > 0) & (theirs > 0)
    items = compared.items[compared.both][flipped].tolist()
    return choose_flips(items, before[flipped], after[flipped], count=count, seed=seed)
