"""What one version of a judge answers on each item, its samples taken together."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Select

from labeler.assessment.samples import JudgeAnswer, combined
from labeler.assessment.verdict import CIRCULAR
from labeler.labels import Grade, Outcome
from labeler.records import table
from labeler.records.judgments import Judgment, Occasion
from labeler.records.scales import ScaleLevel
from labeler.reports.answers import NoLabel
from labeler.reports.judge_versions import JudgeVersion
from labeler.reports.number_rows import read_numbers
from labeler.store.bulk import is_one_of
from labeler.store.projections import judgments_in_force

__all__ = ["OUTCOMES", "VersionAnswers", "answers_on", "occasions_of", "read_version"]

OUTCOMES = tuple(Outcome)
"""The outcomes, by their numbers in `VersionAnswers`."""

_JUDGMENT, _LEVEL = table(Judgment), table(ScaleLevel)
_CLOSED = frozenset({Outcome.JUDGED, Outcome.ABSTAINED})
_PART = 10_000


@dataclass(frozen=True, slots=True)
class VersionAnswers:
    """The answers of one version of a judge, as arrays of shape (items,).

    Attributes:
        items: The items' keys, ascending.
        codes: A level's key, or a `NoLabel`.
        outcomes: How judging ended: a place in `OUTCOMES`.
        circular: 1 where the answer is flagged circular, else 0.
        sampled: How many items it gave several answers to, failures aside.
    """

    items: NDArray[np.int64]
    codes: NDArray[np.int64]
    outcomes: NDArray[np.int64]
    circular: NDArray[np.int64]
    sampled: int

    def codes_on(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the codes on some items, among which are all of its own; ascending."""
        codes = np.full(len(items), NoLabel.NOTHING, dtype=np.int64)
        codes[np.searchsorted(items, self.items)] = self.codes
        return codes


def read_version(
    connection: Connection, judge: JudgeVersion, items: Select[int] | None, occasion: int = 1
) -> VersionAnswers:
    """Read what one version of a judge answers.

    Args:
        connection: A transaction's connection.
        judge: The judge.
        items: Selects the items' keys; None means all.
        occasion: The first, or a later one, on which it judged a sentinel set again.
    """
    is_circular = _JUDGMENT.c.flags.contains(json.dumps(CIRCULAR))
    columns = (
        _JUDGMENT.c.item_id,
        sa.case(
            (_JUDGMENT.c.level_id.is_not(None), _JUDGMENT.c.level_id),
            (_JUDGMENT.c.outcome == Outcome.ABSTAINED.value, int(NoLabel.ABSTAINED)),
            else_=int(NoLabel.FAILED),
        ),
        sa.case(
            {outcome.value: place for place, outcome in enumerate(OUTCOMES)},
            value=_JUDGMENT.c.outcome,
        ),
        sa.case((is_circular, 1), else_=0),
    )
    statement = sa.select(*columns).where(*_of(judge, occasion)).order_by(_JUDGMENT.c.item_id)
    if items is not None:
        statement = statement.where(_JUDGMENT.c.item_id.in_(items))
    rows = read_numbers(connection, statement, np.int64)
    keys, first, times = np.unique(rows[:, 0], return_index=True, return_counts=True)
    codes, outcomes, circular = (rows[first, place].copy() for place in range(1, len(columns)))
    several = keys[times > 1].tolist()
    sampled = 0
    for start in range(0, len(several), _PART):
        given = _given(connection, judge, several[start : start + _PART], occasion)
        for item, samples in given.items():
            answer, place = combined(samples), int(np.searchsorted(keys, item))
            codes[place] = _code(answer)
            outcomes[place] = OUTCOMES.index(answer.outcome)
            circular[place] = CIRCULAR in answer.flags
            sampled += sum(one.outcome in _CLOSED for one in samples) > 1
    return VersionAnswers(keys, codes, outcomes, circular, sampled)


def answers_on(
    connection: Connection, judge: JudgeVersion, items: Sequence[int]
) -> dict[int, JudgeAnswer]:
    """Read the whole answers of one version of a judge on a few items."""
    given = _given(connection, judge, items)
    return {item: combined(samples) for item, samples in given.items()}


def occasions_of(connection: Connection, judge: JudgeVersion) -> dict[int, datetime | None]:
    """Give the occasions on which a judge judged, ascending, with when each began, where known."""
    number = sa.case((_JUDGMENT.c.occasion == Occasion.FIRST.value, 1), else_=_JUDGMENT.c.sample)
    statement = (
        sa.select(number.label("number"), sa.func.min(_JUDGMENT.c.judged_at))
        .where(_JUDGMENT.c.assessor_id == judge.assessor_id, judgments_in_force())
        .group_by("number")
        .order_by("number")
    )
    return {int(one): at for one, at in connection.execute(statement)}


def _of(judge: JudgeVersion, occasion: int = 1) -> list[ColumnElement[bool]]:
    conditions = [_JUDGMENT.c.assessor_id == judge.assessor_id, judgments_in_force()]
    if occasion == 1:
        return [*conditions, _JUDGMENT.c.occasion == Occasion.FIRST.value]
    # After the first occasion an answer's sample number is that of its occasion.
    again = _JUDGMENT.c.occasion == Occasion.SENTINEL.value
    return [*conditions, again, _JUDGMENT.c.sample == occasion]


def _given(
    connection: Connection, judge: JudgeVersion, items: Sequence[int], occasion: int = 1
) -> dict[int, list[JudgeAnswer]]:
    """Read a judge's answers on some items, of each to the request that it was asked last."""
    columns = ("item_id", "request_digest", "id", "outcome", "level_id", "confidence", "flags")
    statement = (
        sa.select(*(_JUDGMENT.c[name] for name in columns), _LEVEL.c.grade)
        .outerjoin(_LEVEL, _LEVEL.c.id == _JUDGMENT.c.level_id)
        .where(*_of(judge, occasion), is_one_of(connection, _JUDGMENT.c.item_id, items))
        .order_by(_JUDGMENT.c.id)
    )
    asked: dict[int, str] = {}
    samples: dict[int, list[JudgeAnswer]] = defaultdict(list)
    for row in connection.execute(statement):
        if asked.get(row.item_id, row.request_digest) != row.request_digest:
            samples[row.item_id].clear()
        asked[row.item_id] = row.request_digest
        samples[row.item_id].append(_answer(row, judge))
    return samples


def _answer(row: sa.Row[*tuple[Any, ...]], judge: JudgeVersion) -> JudgeAnswer:
    return JudgeAnswer(
        judgment_id=row.id,
        outcome=Outcome(row.outcome),
        grade=None if row.grade is None else Grade(row.grade),
        level_id=row.level_id,
        confidence=row.confidence,
        flags=tuple(json.loads(row.flags)),
        score_version=judge.digest,
    )


def _code(answer: JudgeAnswer) -> int:
    if answer.level_id is not None:
        return answer.level_id
    return NoLabel.ABSTAINED if answer.outcome is Outcome.ABSTAINED else NoLabel.FAILED
