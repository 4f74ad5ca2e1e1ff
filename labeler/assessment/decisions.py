"""The log of decisions: what people settle is appended, what no longer holds is withdrawn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Delete, Select

from labeler.assessment.settlement import Dispute, Settlement, Vote, settle_votes
from labeler.labels import Grade, Outcome
from labeler.records import table
from labeler.records.judgments import (
    Basis,
    Correction,
    CorrectionTarget,
    Decision,
    DecisionSupport,
    Judgment,
    Occasion,
    Withdrawal,
    WithdrawnKind,
)
from labeler.records.queue import (
    Assignment,
    AssignmentState,
    EventKind,
    ReviewEvent,
    VotePurpose,
)
from labeler.records.scales import Assessor, AssessorKind, ScaleLevel
from labeler.store.bulk import as_parameter, insert_rows, is_one_of, is_one_of_given
from labeler.store.database import WriteTransaction
from labeler.store.projections import decisions_in_force, judgments_in_force, refresh

__all__ = [
    "Decided",
    "NewDecision",
    "append_decisions",
    "is_vote",
    "record_withdrawals",
    "settle_items",
    "standing_decisions",
    "votes_on",
]

_JUDGMENT, _LEVEL, _ASSESSOR = table(Judgment), table(ScaleLevel), table(Assessor)
_DECISION, _EVENT = table(Decision), table(ReviewEvent)
_HUMAN = frozenset({Basis.ONE_REVIEWER, Basis.CONSENSUS, Basis.ADJUDICATION})


@dataclass(frozen=True, slots=True)
class Decided:
    """What came of settling some items, by item.

    Attributes:
        settled: Items that newly have a grade of people.
        abstained: Items of which people newly say that they can't be judged.
        disputed: Items on which people contradict each other.
    """

    settled: frozenset[int]
    abstained: frozenset[int]
    disputed: frozenset[int]


@dataclass(frozen=True, slots=True)
class NewDecision:
    """A decision that is to be appended."""

    item_id: int
    settlement: Settlement
    policy_id: int | None = None


def votes_on(connection: Connection, item_ids: Sequence[int]) -> dict[int, list[Vote]]:
    """Read the votes of people in force, by item."""
    dialect = connection.dialect.name
    given = {"given": as_parameter(dialect, item_ids)}
    votes: dict[int, list[Vote]] = defaultdict(list)
    for (
        item,
        key,
        person,
        outcome,
        grade,
        level,
        place,
        at,
        occasion,
        adjudicates,
    ) in connection.execute(_votes_given(dialect), given):
        votes[item].append(
            Vote(
                judgment_id=key,
                assessor_id=person,
                outcome=Outcome(outcome),
                grade=None if grade is None else Grade(grade),
                level_id=level,
                order=-1 if place is None else place,
                at=at,
                adjudicates=adjudicates == 1,
                looks_again=occasion == Occasion.REPEAT.value,
            )
        )
    return votes


def is_vote() -> ColumnElement[bool]:
    """Make the condition that a person's judgment is a vote, which a label may rest on.

    A hidden repeat only tells how steady its reviewer is. A second look at one's own vote comes in
    the same way, in the place of a further vote, and counts.
    """
    looks_again = sa.exists().where(
        _EVENT.c.judgment_id == _JUDGMENT.c.id, _EVENT.c.purpose == VotePurpose.OVERLAP.value
    )
    return sa.or_(
        _JUDGMENT.c.occasion == Occasion.FIRST.value,
        sa.and_(_JUDGMENT.c.occasion == Occasion.REPEAT.value, looks_again),
    )


# Statements are made once: for the one item of a vote, making them takes longer than running them.


@cache
def _votes_given(dialect: str) -> Select[*tuple[Any, ...]]:
    adjudicating = (
        sa.select(_EVENT.c.judgment_id)
        .where(
            _EVENT.c.kind == EventKind.VOTE.value,
            _EVENT.c.purpose == VotePurpose.ADJUDICATION.value,
        )
        .scalar_subquery()
    )
    return (
        sa.select(
            _JUDGMENT.c.item_id,
            _JUDGMENT.c.id,
            _JUDGMENT.c.assessor_id,
            _JUDGMENT.c.outcome,
            _LEVEL.c.grade,
            _JUDGMENT.c.level_id,
            _LEVEL.c.position,
            _JUDGMENT.c.judged_at,
            _JUDGMENT.c.occasion,
            _JUDGMENT.c.id.in_(adjudicating),
        )
        .join(_ASSESSOR, _ASSESSOR.c.id == _JUDGMENT.c.assessor_id)
        .outerjoin(_LEVEL, _LEVEL.c.id == _JUDGMENT.c.level_id)
        .where(
            is_one_of_given(dialect, _JUDGMENT.c.item_id),
            _ASSESSOR.c.kind == AssessorKind.PERSON.value,
            is_vote(),
            _JUDGMENT.c.outcome.in_([Outcome.JUDGED.value, Outcome.ABSTAINED.value]),
            judgments_in_force(),
        )
        .order_by(_JUDGMENT.c.id)
    )


def settle_items(tx: WriteTransaction, item_ids: Iterable[int]) -> Decided:
    """Bring the decisions of some items in line with the votes of people on them.

    Only differences are appended. A decision of people that their votes no longer support is
    withdrawn, and what a policy had accepted before is in force again. In a dispute nothing is in
    force: the item is unknown until somebody has settled it.
    """
    ids = sorted(set(item_ids))
    votes = votes_on(tx.connection, ids)
    in_force = _decisions_of_people(tx.connection, ids)
    new: list[NewDecision] = []
    outdated: list[int] = []
    disputed: set[int] = set()
    for item in ids:
        result = settle_votes(votes.get(item, []))
        current = in_force.get(item)
        if isinstance(result, Dispute):
            disputed.add(item)
        elif isinstance(result, Settlement):
            if current is None or current[1:] != (
                result.outcome,
                result.grade,
                result.level_id,
                result.basis,
            ):
                new.append(NewDecision(item, result))
        elif current is not None:
            outdated.append(current[0])
    outdated += standing_decisions(tx.connection, sorted(disputed))
    if outdated:
        record_withdrawals(
            tx,
            CorrectionTarget.VOTE,
            "votes",
            "the votes no longer support it",
            decisions=outdated,
        )
    append_decisions(tx, new)
    _want_no_first_vote(tx.connection, [decision.item_id for decision in new])
    if ids:
        refresh(tx.connection, ids)
    graded = [decision for decision in new if decision.settlement.grade is not None]
    return Decided(
        settled=frozenset(decision.item_id for decision in graded),
        abstained=frozenset(one.item_id for one in new if one.settlement.grade is None),
        disputed=frozenset(disputed),
    )


def _want_no_first_vote(connection: Connection, items: Sequence[int]) -> None:
    """Take items that people have settled out of the queue; a second vote may still be wanted.

    Where the second vote came first, the one that was meant to be the first is still wanted.
    """
    if items:
        dialect = connection.dialect.name
        given = {"given": as_parameter(dialect, items)}
        connection.execute(_first_votes_given(dialect), given)


@cache
def _first_votes_given(dialect: str) -> Delete:
    slot = table(Assignment)
    first = [VotePurpose.PRIMARY.value, VotePurpose.AUDIT.value]
    other = slot.alias("other")
    second_came_first = sa.exists().where(
        other.c.task_id == slot.c.task_id,
        other.c.purpose == VotePurpose.OVERLAP.value,
        other.c.state == AssignmentState.DONE.value,
    )
    return sa.delete(slot).where(
        is_one_of_given(dialect, slot.c.item_id),
        slot.c.state == AssignmentState.WAITING.value,
        slot.c.purpose.in_(first),
        ~second_came_first,
    )


def standing_decisions(connection: Connection, item_ids: Sequence[int]) -> list[int]:
    """List every decision on some items that isn't withdrawn, whatever its basis."""
    if not item_ids:
        return []
    withdrawal = table(Withdrawal)
    withdrawn = sa.select(withdrawal.c.target_id).where(
        withdrawal.c.kind == WithdrawnKind.DECISION.value
    )
    statement = sa.select(_DECISION.c.id).where(
        is_one_of(connection, _DECISION.c.item_id, item_ids), _DECISION.c.id.not_in(withdrawn)
    )
    return [int(key) for (key,) in connection.execute(statement)]


_InForce = tuple[int, Outcome, Grade | None, int | None, Basis]


def _decisions_of_people(connection: Connection, item_ids: Sequence[int]) -> dict[int, _InForce]:
    dialect = connection.dialect.name
    given = {"given": as_parameter(dialect, item_ids)}
    return {
        row.item_id: (
            row.id,
            Outcome(row.outcome),
            None if row.grade is None else Grade(row.grade),
            row.level_id,
            Basis(row.basis),
        )
        for row in connection.execute(_decisions_given(dialect), given)
        if Basis(row.basis) in _HUMAN
    }


@cache
def _decisions_given(dialect: str) -> Select[*tuple[Any, ...]]:
    chosen = is_one_of_given(dialect, _DECISION.c.item_id)
    current = decisions_in_force().where(chosen).subquery()
    return sa.select(_DECISION).join(current, current.c.decision_id == _DECISION.c.id)


def append_decisions(tx: WriteTransaction, decisions: Sequence[NewDecision]) -> None:
    """Append decisions with the judgments that they rest on; projections are left to the caller."""
    if not decisions:
        return
    columns = ["item_id", "outcome", "level_id", "grade", "basis", "policy_id", "revision_id"]
    insert_rows(
        tx.connection,
        _DECISION,
        columns,
        [
            (
                decision.item_id,
                decision.settlement.outcome.value,
                decision.settlement.level_id,
                None if decision.settlement.grade is None else decision.settlement.grade.value,
                decision.settlement.basis.value,
                decision.policy_id,
                tx.revision_id,
            )
            for decision in decisions
        ],
    )
    made = tx.connection.execute(
        sa.select(_DECISION.c.item_id, sa.func.max(_DECISION.c.id))
        .where(
            is_one_of(tx.connection, _DECISION.c.item_id, [one.item_id for one in decisions]),
            _DECISION.c.revision_id == tx.revision_id,
        )
        .group_by(_DECISION.c.item_id)
    )
    keys = {int(item): int(key) for item, key in made}
    insert_rows(
        tx.connection,
        table(DecisionSupport),
        ["decision_id", "judgment_id"],
        [
            (keys[decision.item_id], judgment)
            for decision in decisions
            for judgment in decision.settlement.judgment_ids
        ],
    )


def record_withdrawals(
    tx: WriteTransaction,
    target: CorrectionTarget,
    subject: str,
    reason: str,
    *,
    judgments: Sequence[int] = (),
    decisions: Sequence[int] = (),
) -> int:
    """Append a correction that takes judgments and decisions out of force; give its key."""
    correction = table(Correction)
    statement = sa.insert(correction).values(
        target=target.value, subject=subject, reason=reason, revision_id=tx.revision_id
    )
    key = int(tx.connection.execute(statement.returning(correction.c.id)).scalar_one())
    rows = [(key, WithdrawnKind.JUDGMENT.value, one, tx.revision_id) for one in judgments]
    rows += [(key, WithdrawnKind.DECISION.value, one, tx.revision_id) for one in decisions]
    columns = ["correction_id", "kind", "target_id", "revision_id"]
    insert_rows(tx.connection, table(Withdrawal), columns, rows)
    return key
