"""Marks that a rubric is unclear: flags whose reason begins with two words that all agree on."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.project import Text
from labeler.records.queue import EventKind, ReviewEvent, Task
from labeler.store.bulk import is_one_of
from labeler.store.projections import judgments_in_force

__all__ = ["RUBRIC_UNCLEAR", "items_with_unclear_rubric", "rubric_flag", "says_rubric_unclear"]

RUBRIC_UNCLEAR = "rubric unclear"
"""The reason of a flag that says so; what was written with it follows after a colon."""

_EVENT, _TEXT = table(ReviewEvent), table(Text)


def rubric_flag(words: str) -> str:
    """Write the reason of a flag, with what the reviewer says of it, or nothing."""
    return f"{RUBRIC_UNCLEAR}: {words.strip()}" if words.strip() else RUBRIC_UNCLEAR


def says_rubric_unclear(note: ColumnElement[str | None]) -> ColumnElement[bool]:
    """Make the condition that a flag's reason says so."""
    return sa.or_(note == RUBRIC_UNCLEAR, note.startswith(f"{RUBRIC_UNCLEAR}:"))


def items_with_unclear_rubric(connection: Connection, item_ids: Sequence[int]) -> set[int]:
    """Give those of some items that are marked, and on which nobody voted since."""
    task, judgment = table(Task), table(Judgment)
    later = _EVENT.alias("later")
    voted_since = sa.exists().where(
        later.c.task_id == _EVENT.c.task_id,
        later.c.kind == EventKind.VOTE.value,
        later.c.id > _EVENT.c.id,
        judgment.c.id == later.c.judgment_id,
        judgments_in_force(),
    )
    statement = (
        sa.select(task.c.item_id)
        .join(_EVENT, _EVENT.c.task_id == task.c.id)
        .join(_TEXT, _TEXT.c.id == _EVENT.c.note_id)
        .where(
            is_one_of(connection, task.c.item_id, item_ids),
            _EVENT.c.kind == EventKind.FLAG.value,
            says_rubric_unclear(_TEXT.c.body),
            ~voted_since,
        )
    )
    return {int(item) for (item,) in connection.execute(statement)}
