"""The votes that are wanted of people: which items, for what, in which place of the queue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.rubric_flags import items_with_unclear_rubric
from labeler.draws.frames import SAMPLE
from labeler.queue.audit import AUDIT
from labeler.queue.reasons import SECOND_LOOK
from labeler.records import table
from labeler.records.queue import Assignment, AssignmentState, Task, VotePurpose
from labeler.store.bulk import insert_rows, intern_keys, is_one_of
from labeler.store.database import WriteTransaction
from labeler.store.projections import PEOPLE_DISAGREE
from labeler.store.slices import slices_of_items

__all__ = [
    "bring_votes_in_line",
    "items_with_open_votes",
    "open_votes",
    "place_first",
    "purpose_of",
    "task_keys",
    "want_votes",
]

_TASK, _ASSIGNMENT = table(Task), table(Assignment)


def purpose_of(reasons: Sequence[str]) -> VotePurpose:
    """Say what the first vote on an item is for, by the reasons for which it goes to people."""
    if PEOPLE_DISAGREE in reasons:
        return VotePurpose.ADJUDICATION
    return VotePurpose.AUDIT if {AUDIT, SAMPLE} & set(reasons) else VotePurpose.PRIMARY


def bring_votes_in_line(
    tx: WriteTransaction,
    pool_items: Sequence[int],
    wanted: Mapping[int, tuple[str, ...]],
    order: Mapping[int, int],
    votes: Mapping[int, int],
    unlooked: Collection[int] = (),
) -> None:
    """Want votes for every item that goes to people, at its place.

    What somebody holds is let alone. An item that no longer goes to people is no longer waited
    for, but a further vote stays wanted of one which a first person has settled. Places count on
    from the votes that were given so far, in all pools: so what comes into the queue later can't
    overtake for ever what has been waiting.

    Args:
        tx: The write transaction.
        pool_items: All items that were looked at.
        wanted: The items that go to people, with the reasons.
        order: The place of each of them in the queue, from 0.
        votes: How many people vote on each of them; a dispute is settled by one.
        unlooked: Settled items that no longer ask for a second look.
    """
    given = _votes_given(tx.connection)
    places = {item: given + place for item, place in order.items()}
    slots = _open_slots(tx.connection, pool_items)
    done = _purposes_done(tx.connection, pool_items)
    _forget(
        tx.connection,
        [
            row.id
            for item, rows in slots.items()
            for row in rows
            if item not in wanted
            and row.state == AssignmentState.WAITING.value
            and (item in unlooked or not _stays_wanted(row.purpose, done.get(item, set())))
        ],
    )
    _move(tx.connection, slots, places)
    _make_drawn(tx.connection, slots, wanted)
    # A second look is a further vote on what a first person has settled.
    again = {item for item, reasons in wanted.items() if set(reasons) == {SECOND_LOOK}}
    # Where the rubric is what needs work, one more vote under it is of no use.
    disputed = [item for item, reasons in wanted.items() if PEOPLE_DISAGREE in reasons]
    unclear = items_with_unclear_rubric(tx.connection, disputed) if disputed else set()
    new = [
        item
        for item in wanted
        if item not in unclear
        and item not in again
        and all(row.purpose == VotePurpose.OVERLAP.value for row in slots.get(item, ()))
    ]
    purposes = {item: purpose_of(wanted[item]) for item in new}
    want_votes(tx, {item: places[item] for item in new}, purposes)
    further = {item: votes[item] - 1 for item in wanted.keys() - set(disputed) - again}
    further |= dict.fromkeys(again, 1)
    _bring_further_votes_in_line(tx, slots, further, places)


def place_first(tx: WriteTransaction, order: Mapping[int, int], drawn: Collection[int]) -> None:
    """Want a vote for an estimate on each drawn item, and put them before all that waits.

    Args:
        tx: The write transaction.
        order: The place of each of them, and of others that wait and come with them, from 0.
        drawn: Those of which a vote is wanted; one that waits already is wanted once.
    """
    slots = _open_slots(tx.connection, list(order))
    waiting = _ASSIGNMENT.c.state == AssignmentState.WAITING.value
    first = tx.connection.execute(
        sa.select(sa.func.min(_ASSIGNMENT.c.priority)).where(waiting)
    ).scalar()
    start = (_votes_given(tx.connection) if first is None else int(first)) - len(order)
    places = {item: start + place for item, place in order.items()}
    new = {item: places[item] for item in drawn if item not in slots}
    want_votes(tx, new, dict.fromkeys(new, VotePurpose.AUDIT))
    _move(tx.connection, slots, places)


def _make_drawn(
    connection: Connection,
    slots: Mapping[int, Sequence[sa.Row[*tuple[Any, ...]]]],
    wanted: Mapping[int, tuple[str, ...]],
) -> None:
    """Let the waiting first vote on an item that was drawn since be one of the draw."""
    drawn = [
        row.id
        for item, rows in slots.items()
        if item in wanted and purpose_of(wanted[item]) is VotePurpose.AUDIT
        for row in rows
        if row.state == AssignmentState.WAITING.value and row.purpose == VotePurpose.PRIMARY.value
    ]
    if drawn:
        connection.execute(
            sa.update(_ASSIGNMENT)
            .where(is_one_of(connection, _ASSIGNMENT.c.id, drawn))
            .values(purpose=VotePurpose.AUDIT.value)
        )


def open_votes(connection: Connection, items: Sequence[int]) -> dict[int, int]:
    """Count for each of some items the votes that are wanted and not given; others are left out."""
    return {item: len(slots) for item, slots in _open_slots(connection, items).items()}


def items_with_open_votes(connection: Connection, items: Sequence[int]) -> frozenset[int]:
    """Give those of some items on which a vote is wanted, or somebody is at work."""
    return frozenset(open_votes(connection, items)) if items else frozenset()


def _stays_wanted(purpose: str, done: set[str]) -> bool:
    """Tell whether a vote stays wanted of an item that people have settled: a further one does.

    Where a further one came first, the one that was meant to be the first is the further one.
    """
    return bool(done) if purpose == VotePurpose.OVERLAP.value else VotePurpose.OVERLAP.value in done


def _bring_further_votes_in_line(
    tx: WriteTransaction,
    slots: Mapping[int, Sequence[sa.Row[*tuple[Any, ...]]]],
    further: Mapping[int, int],
    places: Mapping[int, int],
) -> None:
    """Want as many votes beside the first as are asked for; those too many are forgotten."""
    missing: dict[int, int] = {}
    surplus: list[int] = []
    for item, count in further.items():
        rows = [row for row in slots.get(item, ()) if row.purpose == VotePurpose.OVERLAP.value]
        waiting = [row.id for row in rows if row.state == AssignmentState.WAITING.value]
        missing[item] = count - len(rows)
        surplus += sorted(waiting, reverse=True)[: max(0, len(rows) - count)]
    _forget(tx.connection, surplus)
    while short := [item for item, count in missing.items() if count > 0]:
        want_votes(
            tx, {item: places[item] for item in short}, dict.fromkeys(short, VotePurpose.OVERLAP)
        )
        missing = {item: missing[item] - 1 for item in short}


def _votes_given(connection: Connection) -> int:
    done = _ASSIGNMENT.c.state == AssignmentState.DONE.value
    return int(connection.execute(sa.select(sa.func.count()).where(done)).scalar_one())


def _open_slots(
    connection: Connection, items: Sequence[int]
) -> dict[int, list[sa.Row[*tuple[Any, ...]]]]:
    """Read the votes that are wanted and not given yet, by item."""
    statement = sa.select(_ASSIGNMENT).where(
        is_one_of(connection, _ASSIGNMENT.c.item_id, items),
        _ASSIGNMENT.c.state.in_([AssignmentState.WAITING.value, AssignmentState.HELD.value]),
        _ASSIGNMENT.c.purpose != VotePurpose.REPEAT.value,
    )
    found: dict[int, list[sa.Row[*tuple[Any, ...]]]] = defaultdict(list)
    for row in connection.execute(statement):
        found[row.item_id].append(row)
    return found


def _purposes_done(connection: Connection, items: Sequence[int]) -> dict[int, set[str]]:
    """Tell what the votes were for that were given, by item."""
    statement = sa.select(_ASSIGNMENT.c.item_id, _ASSIGNMENT.c.purpose).where(
        is_one_of(connection, _ASSIGNMENT.c.item_id, items),
        _ASSIGNMENT.c.state == AssignmentState.DONE.value,
    )
    found: dict[int, set[str]] = defaultdict(set)
    for item, purpose in connection.execute(statement):
        found[int(item)].add(str(purpose))
    return found


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
    slices = slices_of_items(tx.connection, items)
    insert_rows(
        tx.connection,
        _ASSIGNMENT,
        ["task_id", "item_id", "slot", "purpose", "state", "priority", "domain", "language"],
        [
            (
                tasks[item],
                item,
                slots.get(tasks[item], 0),
                purposes[item].value,
                AssignmentState.WAITING.value,
                places[item],
                *slices[item],
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
