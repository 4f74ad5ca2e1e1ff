"""The judges of a project, and what each of them has answered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.pools import Candidate, Pool
from labeler.records.scales import Assessor, AssessorKind
from labeler.reports.costs import Cost, costs_by_judge
from labeler.reports.judge_versions import JudgeVersion, judge_versions
from labeler.store.projections import judgments_in_force

__all__ = ["ListedJudge", "PoolShare", "list_judges"]

_JUDGMENT, _ASSESSOR = table(Judgment), table(Assessor)


@dataclass(frozen=True, slots=True)
class PoolShare:
    """How many items of a pool a judge has answered."""

    pool: str
    answered: int
    items: int


@dataclass(frozen=True, slots=True)
class ListedJudge:
    """What a judge has answered by now.

    Attributes:
        judge: The judge.
        items: Items with an answer in force.
        answers: Answers in force by outcome, failures too; an item may have several.
        pools: The pools that hold such items, oldest first.
        last: When the latest answer was given, where that is known.
        cost: What its requests cost; None when it made none.
    """

    judge: JudgeVersion
    items: int
    answers: Mapping[str, int]
    pools: tuple[PoolShare, ...]
    last: datetime | None
    cost: Cost | None


def list_judges(connection: Connection) -> list[ListedJudge]:
    """Tell what each judge has answered, by name, the latest version of a name last."""
    answers, last = _answers(connection)
    items, pools, costs = _items(connection), _pools(connection), costs_by_judge(connection)
    return [
        ListedJudge(
            judge=one,
            items=items.get(one.assessor_id, 0),
            answers=answers.get(one.assessor_id, {}),
            pools=tuple(pools.get(one.assessor_id, ())),
            last=last.get(one.assessor_id),
            cost=costs.get(one.assessor_id),
        )
        for one in judge_versions(connection)
    ]


def _of_judges() -> sa.ColumnElement[bool]:
    judges = sa.select(_ASSESSOR.c.id).where(_ASSESSOR.c.kind != AssessorKind.PERSON.value)
    return sa.and_(_JUDGMENT.c.assessor_id.in_(judges), judgments_in_force())


def _answers(connection: Connection) -> tuple[dict[int, dict[str, int]], dict[int, datetime]]:
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    last: dict[int, datetime] = {}
    statement = (
        sa.select(
            _JUDGMENT.c.assessor_id,
            _JUDGMENT.c.outcome,
            sa.func.count(),
            sa.func.max(_JUDGMENT.c.judged_at),
        )
        .where(_of_judges())
        .group_by(_JUDGMENT.c.assessor_id, _JUDGMENT.c.outcome)
    )
    for key, outcome, count, at in connection.execute(statement):
        counts[key][outcome] = count
        if at is not None:
            last[key] = max(at, last.get(key, at))
    return counts, last


def _items(connection: Connection) -> dict[int, int]:
    statement = (
        sa.select(_JUDGMENT.c.assessor_id, sa.func.count(_JUDGMENT.c.item_id.distinct()))
        .where(_of_judges())
        .group_by(_JUDGMENT.c.assessor_id)
    )
    return {int(key): int(count) for key, count in connection.execute(statement)}


def _pools(connection: Connection) -> dict[int, list[PoolShare]]:
    candidate, pool = table(Candidate), table(Pool)
    answered = (
        sa.select(
            _JUDGMENT.c.assessor_id,
            candidate.c.pool_id,
            sa.func.count(_JUDGMENT.c.item_id.distinct()).label("answered"),
        )
        .join(candidate, candidate.c.item_id == _JUDGMENT.c.item_id)
        .where(_of_judges())
        .group_by(_JUDGMENT.c.assessor_id, candidate.c.pool_id)
        .subquery()
    )
    size = sa.select(sa.func.count()).where(candidate.c.pool_id == pool.c.id).scalar_subquery()
    statement = (
        sa.select(answered.c.assessor_id, pool.c.name, answered.c.answered, size)
        .join(pool, pool.c.id == answered.c.pool_id)
        .order_by(pool.c.id)
    )
    found: dict[int, list[PoolShare]] = defaultdict(list)
    for key, name, items, total in connection.execute(statement):
        found[key].append(PoolShare(name, items, total))
    return found
