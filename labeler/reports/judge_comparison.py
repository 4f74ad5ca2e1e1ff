"""Two judges compared on the items that both were asked about: what a change does to labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.labels_in_force import items_of_pool
from labeler.errors import UsageError
from labeler.records import table
from labeler.records.project import Revision
from labeler.reports.answers import levels_by_key
from labeler.reports.flip_examples import FlipExample, read_flips
from labeler.reports.judge_answers import OUTCOMES, VersionAnswers, answers_on, read_version
from labeler.reports.judge_transitions import (
    FIRST,
    SECOND,
    Transitions,
    by_level,
    by_relevance,
    chosen_flips,
    scale_of_both,
    side_by_side,
)
from labeler.reports.judge_versions import JudgeVersion, choose_two, judge_versions
from labeler.reports.judges_and_people import WithPeople, compare_with_people, read_people
from labeler.reports.labelled import LabelMatrix, LevelCount
from labeler.store.registry import pool_named

__all__ = ["JudgeComparison", "Side", "compare_judges"]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two judges.

    Attributes:
        name: Its name.
        digest: Its digest; empty when its labels were imported.
        kind: ``llm`` or ``embedded``.
        items: Items that it was asked about within the frame.
        outcomes: How these ended.
        levels: Its labels by level, from worst to best.
        sampled: Items that it answered more than once: the most frequent level counts.
        circular: Items whose answer is flagged circular, since the judge shares a model with a
            pooled run.
    """

    name: str
    digest: str
    kind: str
    items: int
    outcomes: Mapping[str, int]
    levels: tuple[LevelCount, ...]
    sampled: int
    circular: int


@dataclass(frozen=True, slots=True)
class JudgeComparison:
    """What a change from one judge to another does to labels.

    Attributes:
        frame: Which items are meant, in words.
        revision: The revision that is looked at.
        first: The judge before the change.
        second: The judge after it.
        both: Items that both were asked about.
        queries: Their queries.
        only_first: Items that only the first was asked about.
        only_second: Items that only the second was asked about.
        interval: How the intervals were made.
        scale: The scale of the levels, or None when they can't be compared.
        levels_not_compared: Why not, or None.
        levels: Transitions by level, or None when levels can't be compared.
        relevance: Transitions by relevant or not, by the grades that levels map to.
        people: How each agrees with what people decided blind; None where they decided nothing.
        examples: Some flips, those across the relevance boundary first.
        seed: The seed that chose them.
        notices: What a reader should know beside the numbers.
    """

    frame: str
    revision: int
    first: Side
    second: Side
    both: int
    queries: int
    only_first: int
    only_second: int
    interval: str
    scale: str | None
    levels_not_compared: str | None
    levels: Transitions | None
    relevance: Transitions
    people: WithPeople | None
    examples: tuple[FlipExample, ...]
    seed: int
    notices: tuple[str, ...]


def compare_judges(
    connection: Connection,
    first: str,
    second: str,
    *,
    pool: str | None = None,
    examples: int = 10,
    seed: int = 0,
) -> JudgeComparison:
    """Compare two judges, item by item.

    Args:
        connection: A transaction's connection.
        first: Names the judge before the change; see `choose_two`.
        second: Names the judge after it.
        pool: Look at the items of this pool only.
        examples: How many flips to show at most.
        seed: Chooses the flips.

    Raises:
        NotFoundError: When there is no such judge or pool.
        UsageError: When both names mean one judge, or `examples` is negative.
    """
    if examples < 0:
        raise UsageError(f"{examples} examples can't be shown")
    one, other, notices = choose_two(judge_versions(connection), first, second)
    items = None if pool is None else items_of_pool(pool_named(connection, pool).id)
    before, after = (read_version(connection, judge, items) for judge in (one, other))
    levels = levels_by_key(connection)
    compared = side_by_side(connection, (before, after), items, levels)
    scale, why_not = scale_of_both(compared)
    people = read_people(connection, items, levels)
    sides = (
        _side(one, before, compared.labels, FIRST),
        _side(other, after, compared.labels, SECOND),
    )
    chosen = chosen_flips(compared, scale, examples, seed)
    before_of, after_of = (answers_on(connection, judge, chosen) for judge in (one, other))
    return JudgeComparison(
        frame="all items of the project" if pool is None else f"the items of pool {pool}",
        revision=connection.execute(sa.select(sa.func.max(table(Revision).c.id))).scalar() or 0,
        first=sides[0],
        second=sides[1],
        both=int(compared.both.sum()),
        queries=len(np.unique(compared.labels.queries[compared.both])),
        only_first=int((compared.labels.row(FIRST)[~compared.both] != 0).sum()),
        only_second=int((compared.labels.row(SECOND)[~compared.both] != 0).sum()),
        interval="95%, jackknife over queries with Student's t",
        scale=None if scale is None else scale.name,
        levels_not_compared=why_not,
        levels=None if scale is None else by_level(compared, scale),
        relevance=by_relevance(compared),
        people=compare_with_people(compared.items, compared.labels, people, (FIRST, SECOND)),
        examples=tuple(
            read_flips(
                connection,
                [(item, before_of[item], after_of[item], people.get(item)) for item in chosen],
                levels,
            )
        ),
        seed=seed,
        notices=(*notices, *_notices(zip((one, other), sides, strict=True))),
    )


def _side(judge: JudgeVersion, answers: VersionAnswers, labels: LabelMatrix, row: str) -> Side:
    outcomes = np.bincount(answers.outcomes, minlength=len(OUTCOMES)).tolist()
    return Side(
        name=judge.name,
        digest=judge.digest,
        kind=judge.kind,
        items=len(answers.items),
        outcomes={outcome.value: count for outcome, count in zip(OUTCOMES, outcomes, strict=True)},
        levels=labels.by_level(labels.row(row)),
        sampled=answers.sampled,
        circular=int(answers.circular.sum()),
    )


def _notices(sides: Iterable[tuple[JudgeVersion, Side]]) -> list[str]:
    notices = []
    for judge, side in sides:
        if side.sampled:
            notices.append(
                f"items to which {judge.full_name} gave several answers: {side.sampled:,}; of "
                "each the most frequent one counts"
            )
        if side.circular:
            notices.append(
                f"{side.circular:,} of {side.items:,} answers of {judge.full_name} are marked "
                "circular: a pooled run names the judge's own model, and the judge favours what "
                "that run finds"
            )
    return notices
