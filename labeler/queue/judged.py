"""How judges ended on the items that wait for people, and why they gave no label."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Select

from labeler.labels import Outcome
from labeler.providers.failures import failure_name
from labeler.records import table
from labeler.records.judgments import Judgment, Occasion
from labeler.records.project import Text
from labeler.records.scales import Assessor, AssessorKind
from labeler.store.bulk import is_one_of
from labeler.store.projections import judgments_in_force

__all__ = ["JudgedItems", "count_judged"]

_JUDGMENT, _ASSESSOR = table(Judgment), table(Assessor)
_CLOSED = (Outcome.JUDGED.value, Outcome.ABSTAINED.value)
_LOST = (Outcome.REFUSED.value, Outcome.TRUNCATED.value, Outcome.FAILED.value)
_NAMED = 5
_BEGINNING = 120
"""Characters of a reason that are read: its name stands first."""
_PART = 10_000


@dataclass(frozen=True, slots=True)
class JudgedItems:
    """How one judge ended on items that wait for people.

    Attributes:
        judge: The judge's name.
        digest: The first characters of its digest; empty when it has none.
        outcomes: Items by how its answer ended: a failure only where it never answered.
        failures: Items without an answer by the name of what happened, the five most frequent.
        other_failures: Items without an answer for other reasons.
    """

    judge: str
    digest: str
    outcomes: Mapping[str, int]
    failures: Mapping[str, int]
    other_failures: int


def count_judged(connection: Connection, waiting: Select[int]) -> list[JudgedItems]:
    """Count how each judge ended on some items, by name, one row for each version of a judge.

    Args:
        connection: A transaction's connection.
        waiting: Selects the items' keys.
    """
    outcomes: dict[int, Counter[str]] = defaultdict(Counter)
    reasons: dict[int, Counter[int | None]] = defaultdict(Counter)
    # The reason stands in the key for failures alone, so that few groups are made of many rows.
    reason = sa.case((_JUDGMENT.c.outcome.in_(_LOST), _JUDGMENT.c.reason_id))
    columns = (_JUDGMENT.c.assessor_id, _JUDGMENT.c.outcome, reason)
    judges = sa.select(_ASSESSOR.c.id).where(_ASSESSOR.c.kind != AssessorKind.PERSON.value)
    statement = (
        sa.select(*columns, sa.func.count())
        .where(
            _JUDGMENT.c.assessor_id.in_(judges),
            _JUDGMENT.c.item_id.in_(waiting),
            _JUDGMENT.c.occasion == Occasion.FIRST.value,
            judgments_in_force(),
            _is_the_answer(),
        )
        .group_by(*columns)
    )
    for judge, outcome, why, count in connection.execute(statement):
        outcomes[judge][outcome] += count
        if outcome in _LOST:
            reasons[judge][why] += count
    names = _names(connection, sorted({key for one in reasons.values() for key in one if key}))
    rows = connection.execute(
        sa.select(_ASSESSOR.c.id, _ASSESSOR.c.name, _ASSESSOR.c.digest)
        .where(is_one_of(connection, _ASSESSOR.c.id, list(outcomes)))
        .order_by(_ASSESSOR.c.name, _ASSESSOR.c.id)
    )
    return [
        _counted(name, digest, outcomes[key], reasons[key], names) for key, name, digest in rows
    ]


def _is_the_answer() -> ColumnElement[bool]:
    """Make the condition that no other judgment in force stands before this one.

    Of a judge's several on an item, those with an answer stand before failures, and later ones
    before earlier ones.
    """
    other = _JUDGMENT.alias("other")
    closed, other_closed = (one.c.outcome.in_(_CLOSED) for one in (_JUDGMENT, other))
    stands_before = sa.or_(
        sa.and_(other_closed, ~closed),
        sa.and_(other_closed == closed, other.c.id > _JUDGMENT.c.id),
    )
    return ~sa.exists().where(
        other.c.assessor_id == _JUDGMENT.c.assessor_id,
        other.c.item_id == _JUDGMENT.c.item_id,
        other.c.id != _JUDGMENT.c.id,
        other.c.occasion == Occasion.FIRST.value,
        stands_before,
        judgments_in_force(),
    ).correlate(_JUDGMENT)
