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
from labeler.records.judgments import Judgment, Occasion, Withdrawal, WithdrawnKind
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
_SHORT = 12


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
    """Count how each judge ended on some items, by name, a row for each version of a judge.

    Two versions of a judge are one judge, as they are to routing: the version that answered an
    item last counts there.

    Args:
        connection: A transaction's connection.
        waiting: Selects the items' keys.
    """
    judges = connection.execute(
        sa.select(_ASSESSOR.c.id, _ASSESSOR.c.kind, _ASSESSOR.c.name, _ASSESSOR.c.digest)
        .where(_ASSESSOR.c.kind != AssessorKind.PERSON.value)
        .order_by(_ASSESSOR.c.name, _ASSESSOR.c.id)
    ).all()
    versions: dict[tuple[str, str], list[int]] = defaultdict(list)
    for key, kind, name, _ in judges:
        versions[kind, name].append(key)
    outcomes: dict[int, Counter[str]] = defaultdict(Counter)
    reasons: dict[int, Counter[int | None]] = defaultdict(Counter)
    # The reason stands in the key for failures alone, so that few groups are made of many rows.
    reason = sa.case((_JUDGMENT.c.outcome.in_(_LOST), _JUDGMENT.c.reason_id))
    columns = (_JUDGMENT.c.assessor_id, _JUDGMENT.c.outcome, reason)
    statement = (
        sa.select(*columns, sa.func.count())
        .where(
            _JUDGMENT.c.assessor_id.in_([row.id for row in judges]),
            _JUDGMENT.c.item_id.in_(waiting),
            _JUDGMENT.c.occasion == Occasion.FIRST.value,
            judgments_in_force(),
            _is_the_answer_of_its_version(),
            _is_of_the_latest_version([keys for keys in versions.values() if len(keys) > 1]),
        )
        .group_by(*columns)
    )
    for judge, outcome, why, count in connection.execute(statement):
        outcomes[judge][outcome] += count
        if outcome in _LOST:
            reasons[judge][why] += count
    names = _names(connection, sorted({key for one in reasons.values() for key in one if key}))
    return [
        _counted(name, digest, outcomes[key], reasons[key], names)
        for key, _, name, digest in judges
        if key in outcomes
    ]


def _others(other: sa.FromClause) -> list[ColumnElement[bool]]:
    """Make the conditions of another judgment in force on the same item."""
    withdrawal = table(Withdrawal)
    withdrawn = sa.exists().where(
        withdrawal.c.kind == WithdrawnKind.JUDGMENT.value, withdrawal.c.target_id == other.c.id
    )
    return [
        other.c.item_id == _JUDGMENT.c.item_id,
        # Nearly always there is no other; then nothing else of the row is looked at.
        other.c.id != _JUDGMENT.c.id,
        other.c.occasion == Occasion.FIRST.value,
        ~withdrawn.correlate(other),
    ]


def _is_the_answer_of_its_version() -> ColumnElement[bool]:
    """Make the condition that of its judge's judgments on the item this one stands first.

    Those with an answer stand before failures, and later ones before earlier ones.
    """
    other = _JUDGMENT.alias("other")
    closed, other_closed = (one.c.outcome.in_(_CLOSED) for one in (_JUDGMENT, other))
    stands_before = sa.or_(
        sa.and_(other_closed, ~closed),
        sa.and_(sa.or_(other_closed, ~closed), other.c.id > _JUDGMENT.c.id),
    )
    same_judge = other.c.assessor_id == _JUDGMENT.c.assessor_id
    return ~(sa.exists().where(same_judge, *_others(other), stands_before).correlate(_JUDGMENT))


def _is_of_the_latest_version(versions: Sequence[Sequence[int]]) -> ColumnElement[bool]:
    """Make the condition that no other version of the judge answered the item later.

    Args:
        versions: The keys of those assessors that are versions of one judge, judge by judge.
    """
    if not versions:
        return sa.true()
    own, other = _JUDGMENT.alias("own"), _JUDGMENT.alias("other")
    latest = (
        sa.select(sa.func.max(own.c.id))
        .where(
            own.c.assessor_id == _JUDGMENT.c.assessor_id,
            own.c.item_id == _JUDGMENT.c.item_id,
        )
        .correlate(_JUDGMENT)
        .scalar_subquery()
    )
    return sa.and_(
        *(
            sa.or_(
                _JUDGMENT.c.assessor_id.not_in(keys),
                ~sa.exists()
                .where(other.c.assessor_id.in_(keys), *_others(other), other.c.id > latest)
                .correlate(_JUDGMENT),
            )
            for keys in versions
        )
    )


def _names(connection: Connection, keys: Sequence[int]) -> dict[int, str]:
    """Read the names of failures by the keys of their reasons."""
    text = table(Text)
    found: dict[int, str] = {}
    for start in range(0, len(keys), _PART):
        part = keys[start : start + _PART]
        statement = sa.select(text.c.id, sa.func.substr(text.c.body, 1, _BEGINNING)).where(
            is_one_of(connection, text.c.id, part)
        )
        found.update((key, failure_name(said or "")) for key, said in connection.execute(statement))
    return found


def _counted(
    judge: str,
    digest: str,
    outcomes: Counter[str],
    reasons: Counter[int | None],
    names: Mapping[int, str],
) -> JudgedItems:
    failures: Counter[str] = Counter()
    for key, count in reasons.items():
        failures[names.get(key, "unknown") if key else "unknown"] += count
    ordered = sorted(failures.items(), key=lambda one: (-one[1], one[0]))
    return JudgedItems(
        judge=judge,
        digest=digest[:_SHORT],
        outcomes={outcome.value: outcomes[outcome.value] for outcome in Outcome},
        failures=dict(ordered[:_NAMED]),
        other_failures=sum(count for _, count in ordered[_NAMED:]),
    )
