"""What is in force, derived from the log.

Each projection is derived by one statement. A write that touches some items derives those again
with the same statement, and `rebuild` derives all of them; so the two can't disagree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache

import sqlalchemy as sa
from sqlalchemy import Connection, Executable, Select, Table
from sqlalchemy.sql import ColumnElement

from labeler.records import Kind, Record, table
from labeler.records.judgments import Basis, Decision, Judgment, Withdrawal, WithdrawnKind
from labeler.records.projections import ItemLabel, TaskState, TaskStatus
from labeler.records.queue import ReasonAction, Task, TaskReason
from labeler.store.bulk import as_parameter, is_one_of_given
from labeler.store.database import Store

__all__ = [
    "PEOPLE_DISAGREE",
    "decisions_in_force",
    "judgments_in_force",
    "projection_digest",
    "reasons_hold",
    "rebuild",
    "refresh",
]

PEOPLE_DISAGREE = "people_disagree"
"""The reason of a task whose reviewers contradict each other."""

_DECISION, _WITHDRAWAL, _JUDGMENT = table(Decision), table(Withdrawal), table(Judgment)
_TASK, _REASON = table(Task), table(TaskReason)
_ITEM_LABEL, _TASK_STATE = table(ItemLabel), table(TaskState)
_HUMAN = (Basis.ONE_REVIEWER.value, Basis.CONSENSUS.value, Basis.ADJUDICATION.value)


def _stands(target: Table, kind: WithdrawnKind, as_of: int | None) -> ColumnElement[bool]:
    # Every condition here looks up the one row that is asked about. A subquery that stands for
    # itself, such as NOT IN, reads its whole table again for each vote.
    conditions = [_WITHDRAWAL.c.kind == kind.value, _WITHDRAWAL.c.target_id == target.c.id]
    if as_of is not None:
        conditions.append(_WITHDRAWAL.c.revision_id <= as_of)
    return ~sa.exists().where(*conditions).correlate(target)


def decisions_in_force(as_of: int | None = None) -> Select[int, int]:
    """Select ``(item_id, decision_id)``: each item's latest decision that isn't withdrawn.

    Args:
        as_of: A revision; what came after it is left out. None is the present.
    """
    conditions = [_stands(_DECISION, WithdrawnKind.DECISION, as_of)]
    if as_of is not None:
        conditions.append(_DECISION.c.revision_id <= as_of)
    return (
        sa.select(_DECISION.c.item_id, sa.func.max(_DECISION.c.id).label("decision_id"))
        .where(*conditions)
        .group_by(_DECISION.c.item_id)
    )


def judgments_in_force(as_of: int | None = None) -> ColumnElement[bool]:
    """Make the condition that a judgment is not withdrawn, at a revision or now."""
    condition = _stands(_JUDGMENT, WithdrawnKind.JUDGMENT, as_of)
    if as_of is not None:
        condition = sa.and_(condition, _JUDGMENT.c.revision_id <= as_of)
    return condition


def _item_labels(chosen: ColumnElement[bool]) -> Select[*tuple[object, ...]]:
    current = decisions_in_force().where(chosen).subquery()
    return sa.select(
        _DECISION.c.item_id,
        _DECISION.c.id,
        _DECISION.c.outcome,
        _DECISION.c.level_id,
        _DECISION.c.grade,
        _DECISION.c.basis,
    ).join(current, current.c.decision_id == _DECISION.c.id)


def reasons_hold() -> ColumnElement[bool]:
    """Make the condition that a row of task reasons raised one that was not lifted since."""
    later = _REASON.alias("later")
    overtaken = sa.exists().where(
        later.c.task_id == _REASON.c.task_id,
        later.c.reason == _REASON.c.reason,
        later.c.id > _REASON.c.id,
    )
    return sa.and_(_REASON.c.action == ReasonAction.RAISED.value, ~overtaken.correlate(_REASON))


def _task_states(chosen: ColumnElement[bool]) -> Select[*tuple[object, ...]]:
    raised = sa.exists().where(_REASON.c.task_id == _TASK.c.id, reasons_hold())
    settled = sa.exists().where(
        _ITEM_LABEL.c.item_id == _TASK.c.item_id, _ITEM_LABEL.c.basis.in_(_HUMAN)
    )
    status = sa.case(
        (raised.where(_REASON.c.reason == PEOPLE_DISAGREE), TaskStatus.DISPUTED.value),
        (settled, TaskStatus.SETTLED.value),
        (raised, TaskStatus.OPEN.value),
        else_=TaskStatus.LIFTED.value,
    )
    return sa.select(_TASK.c.id, status).where(chosen)


def refresh(connection: Connection, item_ids: Sequence[int] | None) -> None:
    """Derive the projections of some items again; None means all of them."""
    dialect = connection.dialect.name
    given = None if item_ids is None else {"given": as_parameter(dialect, item_ids)}
    for statement in _refreshing(dialect, everything=item_ids is None):
        connection.execute(statement, given)


@cache  # each vote refreshes an item: making the statements takes longer than running them
def _refreshing(dialect: str, *, everything: bool) -> tuple[Executable, ...]:
    def chosen(column: sa.Column[int]) -> ColumnElement[bool]:
        return sa.true() if everything else is_one_of_given(dialect, column)

    tasks = sa.select(_TASK.c.id).where(chosen(_TASK.c.item_id))
    return (
        sa.delete(_ITEM_LABEL).where(chosen(_ITEM_LABEL.c.item_id)),
        sa.insert(_ITEM_LABEL).from_select(
            [column.name for column in _ITEM_LABEL.columns],
            _item_labels(chosen(_DECISION.c.item_id)),
        ),
        sa.delete(_TASK_STATE).where(_TASK_STATE.c.task_id.in_(tasks)),
        sa.insert(_TASK_STATE).from_select(
            [column.name for column in _TASK_STATE.columns], _task_states(chosen(_TASK.c.item_id))
        ),
    )


def _projections() -> list[Table]:
    return [
        found for found in Record.metadata.sorted_tables if found.info["kind"] is Kind.PROJECTION
    ]


def projection_digest(connection: Connection) -> str:
    """Digest every row of every projection, in the order of their keys."""
    digest = hashlib.sha256()
    for projection in _projections():
        digest.update(projection.name.encode())
        for row in connection.execute(sa.select(projection).order_by(*projection.primary_key)):
            digest.update(repr(tuple(row)).encode())
    return digest.hexdigest()


def rebuild(store: Store) -> tuple[str, str]:
    """Derive all projections anew; give their digests before and after."""
    with store.work() as connection:
        before = projection_digest(connection)
        for projection in _projections():
            connection.execute(sa.delete(projection))
        refresh(connection, None)
        return before, projection_digest(connection)
