"""Whether a judge drifted: two versions or two occasions of it, on the same items."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy import Connection, Select

from labeler.assessment.labels_in_force import items_of_pool
from labeler.errors import NotFoundError, UsageError
from labeler.evaluation.agreement import (
    Estimate,
    cohen_kappa,
    confusion_tables,
    estimate,
    quadratic_kappa,
)
from labeler.evaluation.drift import (
    MarginalTest,
    Shift,
    bhapkar,
    marginal_shift,
    stuart_maxwell,
)
from labeler.labels import Scale
from labeler.records import table
from labeler.records.project import Revision
from labeler.reports.answers import levels_by_key
from labeler.reports.common_scale import ranks_on
from labeler.reports.judge_answers import VersionAnswers, occasions_of, read_version
from labeler.reports.judge_transitions import (
    FIRST,
    SECOND,
    SideBySide,
    scale_of_both,
    side_by_side,
)
from labeler.reports.judge_versions import JudgeVersion, choose_one, choose_two, judge_versions
from labeler.store.registry import pool_named

__all__ = ["LEAST_ITEMS", "DriftReport", "LevelDrift", "read_drift"]

LEAST_ITEMS = 200
"""A sentinel set smaller than this is told to be small."""

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class LevelDrift:
    """How the levels moved.

    Attributes:
        scale: The scale.
        levels: Names of its levels, worst first.
        before: Items on each level by the first judge.
        after: Items on each level by the second.
        stuart_maxwell: The test that both gave each level equally often.
        bhapkar: The same with the variance that holds when they didn't.
        kappa: Test-retest kappa of the levels.
        quadratic_kappa: The same with quadratic weights.
    """

    scale: str
    levels: tuple[str, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    stuart_maxwell: MarginalTest
    bhapkar: MarginalTest
    kappa: Estimate
    quadratic_kappa: Estimate


@dataclass(frozen=True, slots=True)
class DriftReport:
    """Whether a judge drifted.

    Attributes:
        frame: Which items are meant, in words.
        pool: The pool's name and digest, or None.
        revision: The revision that was read.
        first: The judge before, with the start of its digest, and the occasion where it is one.
        second: The judge after.
        judges: The judges, without occasions.
        labelled: Items that both labelled.
        queries: Queries that these belong to.
        levels: How levels moved, or None when they can't be compared.
        levels_not_compared: Why not, or None.
        relevance: How the share of relevant labels moved, and whether it stayed within the margin.
        kappa: Test-retest kappa of relevant or not.
        notices: What a reader should know besides.
    """

    frame: str
    pool: str | None
    revision: int
    first: str
    second: str
    judges: tuple[str, ...]
    labelled: int
    queries: int
    levels: LevelDrift | None
    levels_not_compared: str | None
    relevance: Shift
    kappa: Estimate
    notices: tuple[str, ...]


def read_drift(
    connection: Connection,
    first: str,
    second: str | None = None,
    *,
    occasions: tuple[int, int] | None = None,
    pool: str | None = None,
    margin: float = 0.05,
    alpha: float = 0.05,
) -> DriftReport:
    """Compare the labels of a judge before and after a change, or on two occasions.

    Args:
        connection: A transaction's connection.
        first: Names the judge before the change; see `choose_two`.
        second: Names the judge after it; None compares occasions of the one.
        occasions: Which ones, without a second judge; by default its first and its latest.
        pool: The sentinel set: a pool that was judged both times; all items that were by default.
        margin: Within which the share of relevant labels counts as the same, above 0.
        alpha: Of each one-sided test.

    Raises:
        NotFoundError: When there is no such judge, occasion or pool, or no item that was labelled
            both times.
        UsageError: When both names mean one judge, or occasions of two judges are asked for.
    """
    one, other, notices = _sides(connection, first, second, occasions)
    row = None if pool is None else pool_named(connection, pool)
    items = None if row is None else items_of_pool(row.id)
    levels = levels_by_key(connection)
    answers = (one.read(connection, items), other.read(connection, items))
    compared = side_by_side(connection, answers, items, levels)
    states = [compared.labels.states(compared.of(row)) for row in (FIRST, SECOND)]
    both = (states[0] >= 0) & (states[1] >= 0)
    queries = compared.labels.queries[compared.both][both]
    if not len(queries):
        raise NotFoundError(
            f"{one.name} and {other.name} have labelled no item that is the same",
            hint="have one pool judged both times: `labeler judge run POOL`",
        )
    before, after = states[0][both], states[1][both]
    scale, why_not = scale_of_both(compared)
    moved = None if scale is None else _levels_moved(compared, both, scale)
    if len(queries) < LEAST_ITEMS:
        notices.append(f"{len(queries):,} items are few for a sentinel set; {LEAST_ITEMS} are not")
    return DriftReport(
        frame="all items of the project" if pool is None else f"the items of pool {pool}",
        pool=None if row is None else f"{row.name} {row.digest[:_SHOWN]}",
        revision=connection.execute(sa.select(sa.func.max(table(Revision).c.id))).scalar() or 0,
        first=one.name,
        second=other.name,
        judges=tuple(dict.fromkeys((one.judge.full_name, other.judge.full_name))),
        labelled=len(queries),
        queries=len(np.unique(queries)),
        levels=moved,
        levels_not_compared=why_not,
        relevance=marginal_shift(before, after, queries, margin=margin, alpha=alpha),
        kappa=estimate(confusion_tables(before, after, queries, 2), cohen_kappa),
        notices=tuple(notices),
    )


def _levels_moved(compared: SideBySide, both: NDArray[np.bool_], scale: Scale) -> LevelDrift:
    """Tell how levels moved on the items that have a label of both times."""
    queries = compared.labels.queries[compared.both][both]
    places = ranks_on(scale)
    ranks = [compared.labels.ranks(compared.of(row), places)[both] for row in (FIRST, SECOND)]
    tables = confusion_tables(ranks[0], ranks[1], queries, len(places))
    whole = tables.sum(axis=0)
    return LevelDrift(
        scale=scale.name,
        levels=tuple(scale.level(code).name for code in places),
        before=tuple(int(n) for n in whole.sum(axis=1)),
        after=tuple(int(n) for n in whole.sum(axis=0)),
        stuart_maxwell=stuart_maxwell(whole),
        bhapkar=bhapkar(whole),
        kappa=estimate(tables, cohen_kappa),
        quadratic_kappa=estimate(tables, quadratic_kappa),
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """A judge on an occasion."""

    judge: JudgeVersion
    occasion: int
    name: str

    def read(self, connection: Connection, items: Select[int] | None) -> VersionAnswers:
        return read_version(connection, self.judge, items, self.occasion)


def _sides(
    connection: Connection, first: str, second: str | None, occasions: tuple[int, int] | None
) -> tuple[_Side, _Side, list[str]]:
    judges = judge_versions(connection)
    if second is not None:
        if occasions is not None:
            raise UsageError("occasions are those of one judge: name one")
        one, other, notices = choose_two(judges, first, second)
        return _Side(one, 1, one.full_name), _Side(other, 1, other.full_name), notices
    judge, notices = choose_one(judges, first)
    there = occasions_of(connection, judge)
    if len(there) < 2:  # noqa: PLR2004 - a before and an after
        raise NotFoundError(
            f"{judge.full_name} has judged on one occasion only",
            hint="have the sentinel set judged again, `labeler judge run POOL --judge MODEL "
            "--occasion 2`, or name a second version",
        )
    before, after = occasions or (min(there), max(there))
    if before == after or not {before, after} <= set(there):
        raise NotFoundError(
            f"{judge.full_name} has no two occasions {before} and {after}",
            hint=f"there is {', '.join(map(str, there))}",
        )
    sides = [_Side(judge, one, _occasion(judge, one, there[one])) for one in (before, after)]
    return sides[0], sides[1], notices


def _occasion(judge: JudgeVersion, number: int, at: datetime | None) -> str:
    when = "" if at is None else f" of {at:%Y-%m-%d %H:%M} UTC"
    return f"{judge.full_name}, occasion {number}{when}"
