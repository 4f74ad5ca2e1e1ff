"""Tasks and their reasons in the log, and the votes that are wanted of people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.calibration.policies import Policy
from labeler.records import table
from labeler.records.queue import (
    Assignment,
    AssignmentState,
    ReasonAction,
    Task,
    TaskReason,
    VotePurpose,
)
from labeler.store.bulk import insert_rows, intern_keys, is_one_of
from labeler.store.database import WriteTransaction
from labeler.store.projections import PEOPLE_DISAGREE
from labeler.store.registry import policy_key

__all__ = ["bring_tasks_in_line", "reasons_in_force", "set_reasons"]

_TASK, _REASON, _ASSIGNMENT = table(Task), table(TaskReason), table(Assignment)


def reasons_in_force(connection: Connection, item_ids: Sequence[int]) -> dict[int, set[str]]:
    """Give the reasons for which items wait for people, by item; settled items aside."""
    latest = (
        sa.select(sa.func.max(_REASON.c.id))
        .group_by(_REASON.c.task_id, _REASON.c.reason)
        .scalar_subquery()
    )
    statement = (
        sa.select(_TASK.c.item_id, _REASON.c.reason)
        .join(_REASON, _REASON.c.task_id == _TASK.c.id)
        .where(
            _REASON.c.id.in_(latest),
            _REASON.c.action == ReasonAction.RAISED.value,
            is_one_of(connection, _TASK.c.item_id, item_ids),
        )
    )
    found: dict[int, set[str]] = defaultdict(set)
    for item, reason in connection.execute(statement):
        found[int(item)].add(str(reason))
    return found


def bring_tasks_in_line(
    tx: WriteTransaction,
    *,
    pool_items: Sequence[int],
    wanted: Mapping[int, tuple[str, ...]],
    order: Mapping[int, int],
    policy: Policy,
) -> tuple[int, int]:
    """Raise the reasons that are new, lift those that no longer hold, and order what waits.

    Args:
        tx: The write transaction.
        pool_items: All items that were looked at.
        wanted: The items that people should judge, with the reasons.
        order: The place of each of them in the queue.
        policy: What decided it.

    Returns:
        How many tasks were raised, and how many were lifted.
    """
    current = reasons_in_force(tx.connection, pool_items)
    raised = {item: set(reasons) - current.get(item, set()) for item, reasons in wanted.items()}
    raised = {item: reasons for item, reasons in raised.items() if reasons}
    lifted = {item: reasons - set(wanted.get(item, ())) for item, reasons in current.items()}
    lifted = {item: reasons for item, reasons in lifted.items() if reasons}
    if raised or lifted:
        policy_id = policy_key(tx, name=policy.name, digest=policy.digest, body=policy.to_json())
        set_reasons(tx, raised, lifted, policy_id=policy_id)
    new = sum(item not in current for item in raised)
    gone = sum(item not in wanted for item in current)
    _bring_assignments_in_line(tx, pool_items, wanted, order)
    return new, gone


def set_reasons(
    tx: WriteTransaction,
    raised: Mapping[int, set[str]],
    lifted: Mapping[int, set[str]],
    *,
    policy_id: int | None,
) -> None:
    """Append that reasons came into force or no longer hold, making tasks as they are needed."""
    items = sorted({*raised, *lifted})
    tasks = task_keys(tx, items)
    rows = [
        (tasks[item], reason, action.value, policy_id, tx.revision_id)
        for action, by_item in ((ReasonAction.RAISED, raised), (ReasonAction.LIFTED, lifted))
        for item, reasons in sorted(by_item.items())
        for reason in sorted(reasons)
    ]
    columns = ["task_id", "reason", "action", "policy_id", "revision_id"]
    insert_rows(tx.connection, _REASON, columns, rows)


def task_keys(tx: WriteTransaction, items: Sequence[int]) -> dict[int, int]:
    """Give the task of each item, making those that aren't there."""
    keys = intern_keys(
        tx.connection,
        _TASK,
        ["item_id"],
        [(item,) for item in items],
        known=is_one_of(tx.connection, _TASK.c.item_id, items),
        extra=(["revision_id"], lambda _: [tx.revision_id]),
    )
    return {item: task for (item,), task in keys.items()}


def _bring_assignments_in_line(
    tx: WriteTransaction,
    pool_items: Sequence[int],
    wanted: Mapping[int, tuple[str, ...]],
    order: Mapping[int, int],
) -> None:
    """Want one vote for every waiting item, at its place; what somebody holds is let alone."""
    connection = tx.connection
    waiting = sa.and_(
        is_one_of(connection, _ASSIGNMENT.c.item_id, pool_items),
        _ASSIGNMENT.c.state == AssignmentState.WAITING.value,
    )
    there = {
        int(item): (int(key), int(place))
        for key, item, place in connection.execute(
            sa.select(_ASSIGNMENT.c.id, _ASSIGNMENT.c.item_id, _ASSIGNMENT.c.priority).where(
                waiting
            )
        )
    }
    gone = [key for item, (key, _) in there.items() if item not in wanted]
    connection.execute(sa.delete(_ASSIGNMENT).where(is_one_of(connection, _ASSIGNMENT.c.id, gone)))
    moved = [
        {"assignment": there[item][0], "place": order[item]}
        for item in wanted
        if item in there and there[item][1] != order[item]
    ]
    if moved:
        connection.execute(
            sa.update(_ASSIGNMENT)
            .where(_ASSIGNMENT.c.id == sa.bindparam("assignment"))
            .values(priority=sa.bindparam("place")),
            moved,
        )
    held = {
        int(item)
        for (item,) in connection.execute(
            sa.select(_ASSIGNMENT.c.item_id).where(
                is_one_of(connection, _ASSIGNMENT.c.item_id, pool_items),
                _ASSIGNMENT.c.state == AssignmentState.HELD.value,
            )
        )
    }
    want_votes(
        tx,
        {item: order[item] for item in wanted if item not in there and item not in held},
        {item: purpose_of(reasons) for item, reasons in wanted.items()},
    )


def purpose_of(reasons: Sequence[str]) -> VotePurpose:
    """Say what a vote is for: in a dispute it settles it, else it is the first."""
    return VotePurpose.ADJUDICATION if PEOPLE_DISAGREE in reasons else VotePurpose.PRIMARY


def want_votes(
    tx: WriteTransaction, places: Mapping[int, int], purposes: Mapping[int, VotePurpose]
) -> None:
    """Want one more vote on each item."""
    if not places:
        return
    items = sorted(places)
    tasks = task_keys(tx, items)
    slots = {
        int(task): int(count)
        for task, count in tx.connection.execute(
            sa.select(_ASSIGNMENT.c.task_id, sa.func.max(_ASSIGNMENT.c.slot) + 1)
            .where(is_one_of(tx.connection, _ASSIGNMENT.c.task_id, list(tasks.values())))
            .group_by(_ASSIGNMENT.c.task_id)
        )
    }
    insert_rows(
        tx.connection,
        _ASSIGNMENT,
        ["task_id", "item_id", "slot", "purpose", "state", "priority"],
        [
            (
                tasks[item],
                item,
                slots.get(tasks[item], 0),
                purposes[item].value,
                AssignmentState.WAITING.value,
                places[item],
            )
            for item in items
        ],
    )
