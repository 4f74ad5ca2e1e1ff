"""The votes that are wanted of people: which items, for what, in which place of the queue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.queue.audit import AUDIT
from labeler.records import table
from labeler.records.queue import Assignment, AssignmentState, Task, VotePurpose
from labeler.store.bulk import insert_rows, intern_keys, is_one_of
from labeler.store.database import WriteTransaction
from labeler.store.projections import PEOPLE_DISAGREE

__all__ = ["bring_votes_in_line", "purpose_of", "task_keys", "want_votes"]

_TASK, _ASSIGNMENT = table(Task), table(Assignment)


def purpose_of(reasons: Sequence[str]) -> VotePurpose:
    """Say what the first vote on an item is for, by the reasons for which it goes to people."""
    if PEOPLE_DISAGREE in reasons:
        return VotePurpose.ADJUDICATION
    return VotePurpose.AUDIT if AUDIT in reasons else VotePurpose.PRIMARY


def bring_votes_in_line(
    tx: WriteTransaction,
    pool_items: Sequence[int],
    wanted: Mapping[int, tuple[str, ...]],
    order: Mapping[int, int],
    *,
    overlap: int,
) -> None:
    """Want votes for every item that goes to people, at its place.

    What somebody holds is let alone. An item that no longer goes to people is no longer waited
    for, but a second vote stays wanted of one which a first person has settled.

    Args:
        tx: The write transaction.
        pool_items: All items that were looked at.
        wanted: The items that go to people, with the reasons.
        order: The place of each of them in the queue.
        overlap: How many people vote on an item; a dispute is settled by one.
    """
    slots = _open_slots(tx.connection, pool_items)
    settled = _voted(tx.connection, pool_items)
    _forget(
        tx.connection,
        [
            row.id
            for item, rows in slots.items()
            for row in rows
            if item not in wanted
            and row.state == AssignmentState.WAITING.value
            and not (row.purpose == VotePurpose.OVERLAP.value and item in settled)
        ],
    )
    _move(tx.connection, slots, order)
    new = [
        item
        for item in wanted
        if all(row.purpose == VotePurpose.OVERLAP.value for row in slots.get(item, ()))
    ]
    purposes = {item: purpose_of(wanted[item]) for item in new}
    want_votes(tx, {item: order[item] for item in new}, purposes)
    for _ in range(overlap - 1):
        again = [
            item
            for item in new
            if purposes[item] is not VotePurpose.ADJUDICATION
            and len(slots.get(item, ())) < overlap - 1
        ]
        want_votes(
            tx, {item: order[item] for item in again}, dict.fromkeys(again, VotePurpose.OVERLAP)
        )


def _open_slots(
    connection: Connection, items: Sequence[int]
) -> dict[int, list[sa.Row[*tuple[Any, ...]]]]:
    """Read the votes that are wanted and not given yet, by item."""
    statement = sa.select(_ASSIGNMENT).where(
        is_one_of(connection, _ASSIGNMENT.c.item_id, items),
        _ASSIGNMENT.c.state.in_([AssignmentState.WAITING.value, AssignmentState.HELD.value]),
    )
    found: dict[int, list[sa.Row[*tuple[Any, ...]]]] = defaultdict(list)
    for row in connection.execute(statement):
        found[row.item_id].append(row)
    return found


def _voted(connection: Connection, items: Sequence[int]) -> set[int]:
    statement = sa.select(_ASSIGNMENT.c.item_id).where(
        is_one_of(connection, _ASSIGNMENT.c.item_id, items),
        _ASSIGNMENT.c.state == AssignmentState.DONE.value,
    )
    return {int(row[0]) for row in connection.execute(statement)}


def _forget(connection: Connection, keys: Sequence[int]) -> None:
    if keys:
        connection.execute(
            sa.delete(_ASSIGNMENT).where(is_one_of(connection, _ASSIGNMENT.c.id, keys))
        )


def _move(
    connection: Connection,
    slots: Mapping[int, Sequence[sa.Row[*tuple[Any, ...]]]],
    order: Mapping[int, int],
) -> None:
    moved = [
        {"assignment": row.id, "place": order[item]}
        for item, rows in slots.items()
        if item in order
        for row in rows
        if row.state == AssignmentState.WAITING.value and row.priority != order[item]
    ]
    if moved:
        connection.execute(
            sa.update(_ASSIGNMENT)
            .where(_ASSIGNMENT.c.id == sa.bindparam("assignment"))
            .values(priority=sa.bindparam("place")),
            moved,
        )


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
