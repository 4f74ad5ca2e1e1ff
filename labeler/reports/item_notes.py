"""What reviewers wrote on items: the notes and the reasons of flags, in the order of writing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from labeler.records import table
from labeler.records.project import Text
from labeler.records.queue import EventKind, ReviewEvent, Task
from labeler.store.bulk import is_one_of

__all__ = ["notes_on_items"]

_EVENT, _TEXT, _TASK = table(ReviewEvent), table(Text), table(Task)


def notes_on_items(
    connection: Connection,
    items: Sequence[int],
    *,
    beside: Callable[[ColumnElement[str | None]], ColumnElement[bool]],
) -> dict[int, list[str]]:
    """Give what was noted on items.

    Args:
        connection: A transaction's connection.
        items: The items' keys.
        beside: The condition of the marks that a report shows apart; they are left out here.

    Returns:
        For each item with notes the notes, oldest first; an erased one is left out.
    """
    statement = (
        sa.select(_TASK.c.item_id, _TEXT.c.body)
        .join(_EVENT, _EVENT.c.task_id == _TASK.c.id)
        .join(_TEXT, _TEXT.c.id == _EVENT.c.note_id)
        .where(
            is_one_of(connection, _TASK.c.item_id, items),
            _TEXT.c.body.is_not(None),
            _EVENT.c.kind.in_([EventKind.NOTE.value, EventKind.FLAG.value]),
            ~beside(_TEXT.c.body),
        )
        .order_by(_EVENT.c.id)
    )
    found: dict[int, list[str]] = defaultdict(list)
    for item, body in connection.execute(statement):
        found[int(item)].append(str(body))
    return found
