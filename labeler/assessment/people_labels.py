"""What people's blind votes say of a pool's items, and which of them were not picked for doubt."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection, Select

from labeler.assessment.blind_judgments import read_blind_judgments
from labeler.assessment.decisions import is_vote
from labeler.assessment.label_states import is_of_people
from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.assessment.settlement import Dispute, Vote, settle_votes
from labeler.labels import Grade, Outcome
from labeler.records import table
from labeler.records.judgments import Judgment, Occasion
from labeler.records.pools import Item
from labeler.records.queue import Task
from labeler.records.sampling import Draw
from labeler.records.scales import Assessor, AssessorKind, ScaleLevel
from labeler.store.projections import judgments_in_force

__all__ = [
    "WARM_START",
    "PeopleLabels",
    "drawn_probabilities",
    "items_in_dispute",
    "read_people_labels",
]

_ANSWERED = (Outcome.JUDGED, Outcome.ABSTAINED)
WARM_START = 4
"""So many votes of each query come before everything else, where an order goes by doubt: drawn at
random, so that none of the first so many labels of a query was picked for its doubt."""


@dataclass(frozen=True, slots=True)
class PeopleLabels:
    """The grades that people's blind votes come to.

    Attributes:
        grades: By item; disputes and abstentions are left out.
        unpicked: Those items that no doubt of a score brought before a person: drawn at random,
            labelled without a task, or among the first of their query.
        disputed: Items in dispute, and those on which people's blind votes contradict each other,
            whatever they came to later.
    """

    grades: Mapping[int, Grade]
    unpicked: frozenset[int]
    disputed: int

    @property
    def digest(self) -> str:
        """The SHA-256 of the labels."""
        lines = "\n".join(f"{item} {grade.value}" for item, grade in sorted(self.grades.items()))
        return hashlib.sha256(lines.encode()).hexdigest()


def read_people_labels(
    connection: Connection, pool_id: int, as_of: int | None = None
) -> PeopleLabels:
    """Read what people's blind votes on a pool's items come to.

    A second look at one's own vote, which the person didn't know to be one, is a vote too.

    Args:
        connection: A transaction's connection.
        pool_id: The pool.
        as_of: A revision; votes after it are left out. None is the present.
    """
    read = read_blind_judgments(connection, items_of_pool(pool_id), as_of, votes=True)
    level = table(ScaleLevel)
    rows = connection.execute(sa.select(level.c.id, level.c.grade, level.c.position))
    levels = {key: (Grade(grade), position) for key, grade, position in rows}
    votes: dict[int, list[Vote]] = defaultdict(list)
    for one in read.judgments:
        if one.outcome not in _ANSWERED:
            continue
        grade, order = (None, -1) if one.level_id is None else levels[one.level_id]
        votes[one.item_id].append(
            Vote(
                judgment_id=one.judgment_id,
                assessor_id=one.assessor_id,
                outcome=one.outcome,
                grade=grade,
                level_id=one.level_id,
                order=order,
                at=one.at,
                adjudicates=one.judgment_id in read.adjudications,
                looks_again=one.occasion is Occasion.REPEAT,
            )
        )
    grades: dict[int, Grade] = {}
    disputed = set(items_in_dispute(connection, items_of_pool(pool_id), as_of))
    for item, cast in votes.items():
        settled = settle_votes(cast)
        if isinstance(settled, Dispute):
            disputed.add(item)
        elif item not in disputed and settled is not None and settled.grade is not None:
            grades[item] = settled.grade
    return PeopleLabels(grades, _unpicked(connection, pool_id, list(grades)), len(disputed))


def items_in_dispute(
    connection: Connection, items: Select[int] | None, as_of: int | None = None
) -> frozenset[int]:
    """Give the items on which people contradict each other, or somebody themself.

    Votes on them are in force, and no label of people is. Until somebody settles it, an item in
    dispute is evidence of nothing.

    Args:
        connection: A transaction's connection.
        items: Selects the items' keys; None means all.
        as_of: A revision; what came after it is left out. None is the present.
    """
    judgment, assessor = table(Judgment), table(Assessor)
    people = sa.select(assessor.c.id).where(assessor.c.kind == AssessorKind.PERSON.value)
    voted = (
        sa.select(judgment.c.item_id)
        .where(
            sa.true() if items is None else judgment.c.item_id.in_(items),
            judgment.c.assessor_id.in_(people),
            judgment.c.outcome.in_([outcome.value for outcome in _ANSWERED]),
            is_vote(),
            judgments_in_force(as_of),
        )
        .distinct()
    )
    labels = labels_in_force(connection, voted, as_of)
    settled = {
        item for item, label in labels.items() if is_of_people(label) and label.carried_from is None
    }
    return frozenset(int(item) for (item,) in connection.execute(voted)) - settled


def drawn_probabilities(connection: Connection, pool_id: int) -> dict[int, float]:
    """Give the inclusion probability of each item of a pool that a random draw picked.

    Of an item that was drawn in several frames, the greatest.
    """
    draw = table(Draw)
    statement = (
        sa.select(draw.c.item_id, sa.func.max(draw.c.probability))
        .where(draw.c.item_id.in_(items_of_pool(pool_id)))
        .group_by(draw.c.item_id)
    )
    return {int(item): float(share) for item, share in connection.execute(statement)}


def _unpicked(connection: Connection, pool_id: int, in_order: list[int]) -> frozenset[int]:
    """Choose the labelled items that weren't picked for doubt; they come in the order of votes."""
    item, task = table(Item), table(Task)
    pooled = items_of_pool(pool_id)
    tasks = sa.select(task.c.item_id).where(task.c.item_id.in_(pooled))
    with_task = {int(key) for (key,) in connection.execute(tasks)}
    statement = sa.select(item.c.id, item.c.query_id).where(item.c.id.in_(pooled))
    queries = {int(key): int(query) for key, query in connection.execute(statement)}
    drawn = drawn_probabilities(connection, pool_id)
    count: dict[int, int] = defaultdict(int)
    found: set[int] = set()
    for key in in_order:
        count[queries[key]] += 1
        if key in drawn or key not in with_task or count[queries[key]] <= WARM_START:
            found.add(key)
    return frozenset(found)
