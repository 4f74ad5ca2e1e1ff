"""The label in force for items, now or at a revision, carried between snapshots by the text."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection, Select

from labeler.labels import Grade, Outcome, State, state_of
from labeler.records import table
from labeler.records.judgments import Basis, Decision
from labeler.records.pools import Candidate, Item
from labeler.records.projections import ItemLabel
from labeler.store.projections import decisions_in_force

__all__ = ["LabelInForce", "items_of_pool", "labels_in_force"]

_DECISION, _ITEM, _LABEL = table(Decision), table(Item), table(ItemLabel)


@dataclass(frozen=True, slots=True)
class LabelInForce:
    """What is in force for one item.

    Attributes:
        decision_id: The decision.
        outcome: ``judged``, or ``abstained`` when people couldn't judge it.
        grade: The grade, or None for an abstention.
        level_id: The level, or None for an abstention.
        basis: On what ground.
        policy_id: The policy under which it was accepted, or None.
        carried_from: The item in another snapshot that was judged, when it wasn't this one.
    """

    decision_id: int
    outcome: Outcome
    grade: Grade | None
    level_id: int | None
    basis: Basis
    policy_id: int | None
    carried_from: int | None = None

    @property
    def state(self) -> State:
        """The state that follows from it."""
        return state_of(self.grade)


def items_of_pool(pool_id: int) -> Select[int]:
    """Select the items of a pool."""
    candidate = table(Candidate)
    return sa.select(candidate.c.item_id).where(candidate.c.pool_id == pool_id)


def labels_in_force(
    connection: Connection, items: Select[int], as_of: int | None = None
) -> dict[int, LabelInForce]:
    """Give the label in force for some items; an item without one is left out.

    An item without a decision of its own takes that of the same question in another snapshot,
    when the evidence has just the same text there.

    Args:
        connection: A transaction's connection.
        items: Selects the items' keys, such as `items_of_pool` does.
        as_of: A revision; None is the present.
    """
    pooled = sa.select(_ITEM).where(_ITEM.c.id.in_(items)).subquery()
    other = _ITEM.alias("other")
    same_question = sa.and_(
        other.c.query_id == pooled.c.query_id,
        other.c.evidence_id == pooled.c.evidence_id,
        other.c.rubric_id == pooled.c.rubric_id,
        other.c.text_id == pooled.c.text_id,
        other.c.snapshot_id != pooled.c.snapshot_id,
    )
    current = _current(as_of).subquery()
    carried = sa.select(pooled.c.id, other.c.id, _DECISION).select_from(
        pooled.join(other, same_question)
        .join(current, current.c.item_id == other.c.id)
        .join(_DECISION, _DECISION.c.id == current.c.decision_id)
    )
    own = sa.select(pooled.c.id, sa.null(), _DECISION).select_from(
        pooled.join(current, current.c.item_id == pooled.c.id).join(
            _DECISION, _DECISION.c.id == current.c.decision_id
        )
    )
    found: dict[int, LabelInForce] = {}
    # Own decisions are read last, and so win; among carried ones the latest does.
    for statement in (carried, own):
        for row in connection.execute(statement.order_by(_DECISION.c.id)):
            found[int(row[0])] = LabelInForce(
                decision_id=row[2],
                outcome=Outcome(row.outcome),
                grade=None if row.grade is None else Grade(row.grade),
                level_id=row.level_id,
                basis=Basis(row.basis),
                policy_id=row.policy_id,
                carried_from=row[1],
            )
    return found


def _current(as_of: int | None) -> Select[int, int]:
    if as_of is None:
        return sa.select(_LABEL.c.item_id, _LABEL.c.decision_id)
    return decisions_in_force(as_of)
