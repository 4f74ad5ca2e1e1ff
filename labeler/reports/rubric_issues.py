"""Where the rubric is what needs work: what was marked as unclear, on which levels and queries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.blind_judgments import read_blind_judgments
from labeler.assessment.labels_in_force import items_of_pool
from labeler.assessment.rubric_flags import RUBRIC_UNCLEAR, says_rubric_unclear
from labeler.labels import CANNOT_JUDGE
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.pools import Item
from labeler.records.project import Text
from labeler.records.projections import TaskState, TaskStatus
from labeler.records.queries import Query, QueryVersion
from labeler.records.queue import EventKind, ReviewEvent, Task
from labeler.records.scales import Assessor, AssessorKind, RubricRecord, ScaleLevel
from labeler.reports.item_notes import notes_on_items
from labeler.store.bulk import is_one_of
from labeler.store.registry import pool_named

__all__ = ["RubricIssue", "RubricSummary", "read_rubric_issues", "summarize_rubrics"]

_EVENT, _TEXT, _ITEM, _TASK = table(ReviewEvent), table(Text), table(Item), table(Task)
_SHORT = 12

_Row = sa.Row[*tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class RubricIssue:
    """An item on which somebody marked the rubric as unclear.

    Attributes:
        rubric: The rubric's name.
        digest: The start of its digest.
        query: The query's id in the project's files.
        query_text: What was asked, or empty when it was erased.
        evidence: The evidence's id in the project's files.
        levels: The levels that people gave blind, each with how many gave it.
        words: What was written with the marks.
        notes: What reviewers noted and flagged on the item beside that.
        marked_by: Who marked it, without repeats.
        last: When it was last marked, in UTC.
        is_disputed: Whether the item is disputed still.
    """

    rubric: str
    digest: str
    query: str
    query_text: str
    evidence: str
    levels: Mapping[str, int]
    words: tuple[str, ...]
    notes: tuple[str, ...]
    marked_by: tuple[str, ...]
    last: datetime
    is_disputed: bool


@dataclass(frozen=True, slots=True)
class RubricSummary:
    """What is unclear in one rubric.

    Attributes:
        rubric: The rubric's name.
        digest: The start of its digest.
        items: Items that were marked.
        queries: Their queries.
        levels_confused: How often people gave two levels to one of these items, by the two.
    """

    rubric: str
    digest: str
    items: int
    queries: int
    levels_confused: Mapping[str, int]


def read_rubric_issues(connection: Connection, pool: str | None = None) -> tuple[RubricIssue, ...]:
    """Read every item on which the rubric was marked as unclear, the latest mark first.

    Args:
        connection: A transaction's connection.
        pool: Look at the items of this pool only.

    Raises:
        NotFoundError: When there is no such pool.
    """
    assessor = table(Assessor)
    statement = (
        sa.select(_TASK.c.item_id, assessor.c.name, _TEXT.c.body, _EVENT.c.at)
        .join(_EVENT, _EVENT.c.task_id == _TASK.c.id)
        .join(assessor, assessor.c.id == _EVENT.c.assessor_id)
        .join(_TEXT, _TEXT.c.id == _EVENT.c.note_id)
        .where(_EVENT.c.kind == EventKind.FLAG.value, says_rubric_unclear(_TEXT.c.body))
        .order_by(_EVENT.c.id)
    )
    if pool is not None:
        of_pool = items_of_pool(pool_named(connection, pool).id)
        statement = statement.where(_TASK.c.item_id.in_(of_pool))
    marks: dict[int, list[_Row]] = defaultdict(list)
    for row in connection.execute(statement):
        marks[row.item_id].append(row)
    items = sorted(marks)
    levels = _levels(connection, items)
    notes = notes_on_items(connection, items, beside=says_rubric_unclear)
    found = [
        RubricIssue(
            rubric=row.rubric,
            digest=row.digest[:_SHORT],
            query=row.query,
            query_text=row.body or "",
            evidence=row.evidence,
            levels=levels.get(row.id, {}),
            words=tuple(said for mark in marks[row.id] if (said := _words(mark.body))),
            notes=tuple(notes.get(row.id, ())),
            marked_by=tuple(dict.fromkeys(mark.name for mark in marks[row.id])),
            last=marks[row.id][-1].at,
            is_disputed=row.status == TaskStatus.DISPUTED.value,
        )
        for row in _described(connection, items)
    ]
    return tuple(sorted(found, key=lambda one: one.last, reverse=True))


def summarize_rubrics(issues: Sequence[RubricIssue]) -> tuple[RubricSummary, ...]:
    """Count by rubric what is unclear, the rubric with most items first."""
    by_rubric: dict[tuple[str, str], list[RubricIssue]] = defaultdict(list)
    for issue in issues:
        by_rubric[issue.rubric, issue.digest].append(issue)
    summaries: list[RubricSummary] = []
    for (rubric, digest), own in by_rubric.items():
        confused: Counter[str] = Counter()
        for issue in own:
            names = list(issue.levels)
            confused.update(
                f"{one} / {other}"
                for place, one in enumerate(names)
                for other in names[place + 1 :]
            )
        summaries.append(
            RubricSummary(
                rubric=rubric,
                digest=digest,
                items=len(own),
                queries=len({issue.query for issue in own}),
                levels_confused=dict(sorted(confused.items(), key=lambda one: (-one[1], one[0]))),
            )
        )
    return tuple(sorted(summaries, key=lambda one: (-one.items, one.rubric)))


def _words(body: str) -> str:
    return body[len(RUBRIC_UNCLEAR) :].lstrip(":").strip()


def _described(
    connection: Connection, items: Sequence[int]
) -> Sequence[sa.Row[*tuple[object, ...]]]:
    rubric, query, evidence, state = (
        table(RubricRecord),
        table(Query),
        table(Evidence),
        table(TaskState),
    )
    version = table(QueryVersion)
    newer = version.alias("newer")
    overtaken = sa.exists().where(
        newer.c.query_id == version.c.query_id, newer.c.version > version.c.version
    )
    statement = (
        sa.select(
            _ITEM.c.id,
            rubric.c.name.label("rubric"),
            rubric.c.digest,
            query.c.external_id.label("query"),
            evidence.c.external_id.label("evidence"),
            state.c.status,
            _TEXT.c.body,
        )
        .join(rubric, rubric.c.id == _ITEM.c.rubric_id)
        .join(query, query.c.id == _ITEM.c.query_id)
        .join(evidence, evidence.c.id == _ITEM.c.evidence_id)
        .join(_TASK, _TASK.c.item_id == _ITEM.c.id)
        .join(state, state.c.task_id == _TASK.c.id)
        .outerjoin(version, sa.and_(version.c.query_id == query.c.id, ~overtaken))
        .outerjoin(_TEXT, _TEXT.c.id == version.c.text_id)
        .where(is_one_of(connection, _ITEM.c.id, items))
        .order_by(_ITEM.c.id)
    )
    return connection.execute(statement).all()


def _levels(connection: Connection, items: Sequence[int]) -> dict[int, dict[str, int]]:
    """Count the levels that people gave blind to each item, from the worst level to the best."""
    level, assessor = table(ScaleLevel), table(Assessor)
    of_levels = connection.execute(
        sa.select(level.c.id, level.c.name).order_by(level.c.position, level.c.id)
    )
    names = {int(key): str(name) for key, name in of_levels}
    people = sa.select(assessor.c.id).where(assessor.c.kind == AssessorKind.PERSON.value)
    persons = {int(key) for (key,) in connection.execute(people)}
    marked = sa.select(_ITEM.c.id).where(is_one_of(connection, _ITEM.c.id, items))
    last: dict[tuple[int, int], int | None] = {
        (one.item_id, one.assessor_id): one.level_id
        for one in read_blind_judgments(connection, marked, None).judgments
        if one.assessor_id in persons
    }
    given: dict[int, Counter[int | None]] = defaultdict(Counter)
    for (item, _), key in last.items():
        given[item][key] += 1
    return {
        item: {
            **{name: counts[key] for key, name in names.items() if counts[key]},
            **({CANNOT_JUDGE: counts[None]} if counts[None] else {}),
        }
        for item, counts in given.items()
    }
