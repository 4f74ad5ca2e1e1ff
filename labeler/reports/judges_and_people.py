"""Two judges beside what people decided blind, on the items that all have labelled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy import Connection, Select

from labeler.assessment.blind_judgments import read_blind_judgments
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.scales import Assessor, AssessorKind
from labeler.reports.answers import PEOPLE, LevelsByKey, NoLabel, answers_of_people
from labeler.reports.common_scale import common_scale, ranks_on
from labeler.reports.labelled import LabelMatrix
from labeler.reports.pairs import LevelAgreement, PairAgreement, RelevanceAgreement, compare_pair

__all__ = ["JudgeWithPeople", "Sided", "WithPeople", "compare_with_people", "read_people"]


@dataclass(frozen=True, slots=True)
class JudgeWithPeople:
    """How one judge agrees with people; in the tables people are the rows.

    Attributes:
        levels: On levels, or None when they can't be compared.
        levels_not_compared: Why not, or None.
        relevance: On relevant or not.
    """

    levels: LevelAgreement | None
    levels_not_compared: str | None
    relevance: RelevanceAgreement


@dataclass(frozen=True, slots=True)
class Sided:
    """With whom people side where the two judges differ: counts of items."""

    differing: int
    with_first: int
    with_second: int
    with_neither: int


@dataclass(frozen=True, slots=True)
class WithPeople:
    """Both judges beside what the blind votes of people come to.

    Attributes:
        items: Items to which both judges and people gave a label.
        queries: Their queries.
        disputed: Items left out, since people contradict each other there.
        first: How the first judge agrees with people.
        second: How the second does.
        on_levels: With whom people side where levels differ; None when they can't be compared.
        on_relevance: With whom people side across the relevance boundary.
    """

    items: int
    queries: int
    disputed: int
    first: JudgeWithPeople
    second: JudgeWithPeople
    on_levels: Sided | None
    on_relevance: Sided


def read_people(
    connection: Connection, items: Select[int] | None, levels: LevelsByKey
) -> Mapping[int, int]:
    """Read what the blind votes of people come to: by item a level's key, or a `NoLabel`.

    Args:
        connection: A transaction's connection.
        items: Selects the items' keys; None means all.
        levels: Every level.
    """
    judgment, assessor = table(Judgment), table(Assessor)
    voted = (
        sa.select(judgment.c.item_id)
        .join(assessor, assessor.c.id == judgment.c.assessor_id)
        .where(assessor.c.kind == AssessorKind.PERSON.value)
    )
    if items is not None:
        voted = voted.where(judgment.c.item_id.in_(items))
    people, _ = answers_of_people(connection, read_blind_judgments(connection, voted, None), levels)
    return people.of


def compare_with_people(
    items: NDArray[np.int64],
    judges: LabelMatrix,
    people: Mapping[int, int],
    rows: tuple[str, str],
) -> WithPeople | None:
    """Compare two judges with people, on the items that all three have labelled.

    Args:
        items: Shape (items,): the items of `judges`, ascending.
        judges: The answers of the two judges.
        people: What people decided; see `read_people`.
        rows: The names of the two judges in `judges`.

    Returns:
        The comparison, or None when there is no such item.
    """
    decided = _on(items, people)
    labelled = (judges.row(rows[0]) > 0) & (judges.row(rows[1]) > 0)
    common = labelled & (decided > 0)
    if not common.any():
        return None
    labels = LabelMatrix(
        rows={PEOPLE: 0, rows[0]: 1, rows[1]: 2},
        answers=np.stack([decided, *(judges.row(row) for row in rows)])[:, common],
        queries=judges.queries[common],
        levels=judges.levels,
    )
    scale = common_scale(labels.scales_in(labels.answers).values())
    first, second = (_with_people(compare_pair(labels, PEOPLE, row)) for row in rows)
    ranks = None if scale is None else labels.ranks(labels.answers, ranks_on(scale))
    return WithPeople(
        items=int(common.sum()),
        queries=len(np.unique(labels.queries)),
        disputed=int((labelled & (decided == NoLabel.UNDECIDED)).sum()),
        first=first,
        second=second,
        on_levels=None if ranks is None else _sided(ranks),
        on_relevance=_sided(labels.states(labels.answers)),
    )


def _on(items: NDArray[np.int64], people: Mapping[int, int]) -> NDArray[np.int64]:
    keys = np.array(list(people), dtype=np.int64)
    said = np.array(list(people.values()), dtype=np.int64)
    there = np.isin(keys, items)
    decided = np.full(len(items), NoLabel.NOTHING, dtype=np.int64)
    decided[np.searchsorted(items, keys[there])] = said[there]
    return decided


def _with_people(pair: PairAgreement) -> JudgeWithPeople:
    return JudgeWithPeople(pair.levels, pair.levels_not_compared, pair.relevance)


def _sided(labels: NDArray[np.int64]) -> Sided:
    """Count with whom people side.

    Args:
        labels: Shape (3, items): people's, the first judge's and the second's.
    """
    people, first, second = labels[:, labels[1] != labels[2]]
    with_first, with_second = int((people == first).sum()), int((people == second).sum())
    return Sided(len(people), with_first, with_second, len(people) - with_first - with_second)
