"""Whether a judge drifted: two versions of it, or two judges, on the same items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.labels_in_force import items_of_pool
from labeler.errors import NotFoundError
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
from labeler.records import table
from labeler.records.project import Revision
from labeler.reports.answers import levels_by_key
from labeler.reports.common_scale import ranks_on
from labeler.reports.judge_answers import read_version
from labeler.reports.judge_transitions import FIRST, SECOND, scale_of_both, side_by_side
from labeler.reports.judge_versions import choose_two, judge_versions
from labeler.store.registry import pool_named

__all__ = ["LEAST_ITEMS", "DriftReport", "LevelDrift", "read_drift"]

LEAST_ITEMS = 200
"""A sentinel set smaller than this is told to be small."""


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
        revision: The revision that was read.
        first: The judge before, with the start of its digest.
        second: The judge after.
        labelled: Items that both labelled.
        queries: Queries that these belong to.
        levels: How levels moved, or None when they can't be compared.
        levels_not_compared: Why not, or None.
        relevance: How the share of relevant labels moved, and whether it stayed within the margin.
        kappa: Test-retest kappa of relevant or not.
        notices: What a reader should know besides.
    """

    frame: str
    revision: int
    first: str
    second: str
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
    second: str,
    *,
    pool: str | None = None,
    margin: float = 0.05,
    alpha: float = 0.05,
) -> DriftReport:
    """Compare the labels of a judge before and after a change.

    Args:
        connection: A transaction's connection.
        first: Names the judge before the change; see `choose_two`.
        second: Names the judge after it.
        pool: The sentinel set: a pool that both judged; all items that both labelled by default.
        margin: Within which the share of relevant labels counts as the same, above 0.
        alpha: Of each one-sided test.

    Raises:
        NotFoundError: When there is no such judge or pool, or no item that both labelled.
        UsageError: When both names mean one judge.
    """
    one, other, notices = choose_two(judge_versions(connection), first, second)
    items = None if pool is None else items_of_pool(pool_named(connection, pool).id)
    levels = levels_by_key(connection)
    answers = (read_version(connection, one, items), read_version(connection, other, items))
    compared = side_by_side(connection, answers, items, levels)
    states = [compared.labels.states(compared.of(row)) for row in (FIRST, SECOND)]
    both = (states[0] >= 0) & (states[1] >= 0)
    queries = compared.labels.queries[compared.both][both]
    if not len(queries):
        raise NotFoundError(
            f"{one.full_name} and {other.full_name} have labelled no item that is the same",
            hint="have both judge one pool: `labeler judge run POOL`",
        )
    before, after = states[0][both], states[1][both]
    scale, why_not = scale_of_both(compared)
    moved = None
    if scale is not None:
        places = ranks_on(scale)
        ranks = [compared.labels.ranks(compared.of(row), places)[both] for row in (FIRST, SECOND)]
        tables = confusion_tables(ranks[0], ranks[1], queries, len(places))
        whole = tables.sum(axis=0)
        moved = LevelDrift(
            scale=scale.name,
            levels=tuple(scale.level(code).name for code in places),
            before=tuple(int(n) for n in whole.sum(axis=1)),
            after=tuple(int(n) for n in whole.sum(axis=0)),
            stuart_maxwell=stuart_maxwell(whole),
            bhapkar=bhapkar(whole),
            kappa=estimate(tables, cohen_kappa),
            quadratic_kappa=estimate(tables, quadratic_kappa),
        )
    if len(queries) < LEAST_ITEMS:
        notices.append(f"{len(queries):,} items are few for a sentinel set; {LEAST_ITEMS} are not")
    return DriftReport(
        frame="all items that both labelled" if pool is None else f"the items of pool {pool}",
        revision=connection.execute(sa.select(sa.func.max(table(Revision).c.id))).scalar() or 0,
        first=one.full_name,
        second=other.full_name,
        labelled=len(queries),
        queries=len(np.unique(queries)),
        levels=moved,
        levels_not_compared=why_not,
        relevance=marginal_shift(before, after, queries, margin=margin, alpha=alpha),
        kappa=estimate(confusion_tables(before, after, queries, 2), cohen_kappa),
        notices=tuple(notices),
    )
