"""Tasks and their reasons, in the log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.calibration.policies import AnyPolicy
from labeler.queue.reasons import SECOND_LOOK
from labeler.queue.wanted import bring_votes_in_line, task_keys
from labeler.records import table
from labeler.records.queue import ReasonAction, Task, TaskReason
from labeler.store.bulk import as_parameter, insert_rows, is_one_of, is_one_of_given
from labeler.store.database import WriteTransaction
from labeler.store.projections import reasons_hold
from labeler.store.registry import policy_key

__all__ = ["bring_tasks_in_line", "reasons_in_force", "set_reasons", "waiting_since"]

_TASK, _REASON = table(Task), table(TaskReason)


def reasons_in_force(connection: Connection, item_ids: Sequence[int]) -> dict[int, set[str]]:
    """Give the reasons for which items wait for people, by item; settled items aside."""
    dialect = connection.dialect.name
    given = {"given": as_parameter(dialect, item_ids)}
    found: dict[int, set[str]] = defaultdict(set)
    for item, reason in connection.execute(_reasons_given(dialect), given):
        found[int(item)].add(str(reason))
    return found


@cache  # asked with each vote: making the statement takes longer than running it
def _reasons_given(dialect: str) -> sa.Select[int, str]:
    return (
        sa.select(_TASK.c.item_id, _REASON.c.reason)
        .join(_REASON, _REASON.c.task_id == _TASK.c.id)
        .where(is_one_of_given(dialect, _TASK.c.item_id), reasons_hold())
    )


def waiting_since(connection: Connection, item_ids: Sequence[int]) -> dict[int, int]:
    """Give the revision since which each item has been waiting for people; others are left out."""
    statement = (
        sa.select(_TASK.c.item_id, sa.func.min(_REASON.c.revision_id))
        .join(_REASON, _REASON.c.task_id == _TASK.c.id)
        .where(is_one_of(connection, _TASK.c.item_id, item_ids), reasons_hold())
        .group_by(_TASK.c.item_id)
    )
    return {int(item): int(revision) for item, revision in connection.execute(statement)}


def bring_tasks_in_line(
    tx: WriteTransaction,
    *,
    pool_items: Sequence[int],
    wanted: Mapping[int, tuple[str, ...]],
    order: Mapping[int, int],
    policy: AnyPolicy,
    overlap: Mapping[str, int],
    at_least: Mapping[int, int] | None = None,
) -> tuple[int, int]:
    """Raise the reasons that are new, lift those that no longer hold, and order what waits.

    Args:
        tx: The write transaction.
        pool_items: All items that were looked at.
        wanted: The items that people should judge, with the reasons.
        order: The place of each of them in the queue.
        policy: What decided it.
        overlap: How many people vote on an item, by reason, where the policy doesn't ask for more.
        at_least: How many people vote at least, by item.

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
    votes = {
        item: max(
            [
                policy.overlap,
                (at_least or {}).get(item, 1),
                *(overlap.get(reason, 1) for reason in reasons),
            ]
        )
        for item, reasons in wanted.items()
    }
    unlooked = {item for item, reasons in lifted.items() if SECOND_LOOK in reasons}
    bring_votes_in_line(tx, pool_items, wanted, order, votes, unlooked)
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
