"""Projections: derived from the log, so that reading the present is quick."""

from enum import StrEnum

from sqlmodel import Field

from labeler.labels import Grade, Outcome
from labeler.records.base import Kind, Record, enumerated, keyed
from labeler.records.judgments import Basis

__all__ = ["ItemLabel", "TaskState", "TaskStatus"]


class TaskStatus(StrEnum):
    """Where a task stands."""

    OPEN = "open"
    DISPUTED = "disputed"
    SETTLED = "settled"
    LIFTED = "lifted"


class ItemLabel(Record, table=True):
    """The label in force for an item; an item without a row is unknown and undecided."""

    __tablename__ = "item_label"
    __table_args__ = keyed(kind=Kind.PROJECTION)

    item_id: int = Field(primary_key=True, foreign_key="item.id")
    decision_id: int = Field(foreign_key="decision.id")
    outcome: Outcome = Field(sa_column=enumerated("outcome", Outcome))
    level_id: int | None = Field(default=None, foreign_key="scale_level.id")
    grade: Grade | None = Field(default=None, sa_column=enumerated("grade", Grade, nullable=True))
    basis: Basis = Field(sa_column=enumerated("basis", Basis))


class TaskState(Record, table=True):
    """Where a task stands now."""

    __tablename__ = "task_state"
    __table_args__ = keyed(kind=Kind.PROJECTION, index=(("status",),))

    task_id: int = Field(primary_key=True, foreign_key="task.id")
    status: TaskStatus = Field(sa_column=enumerated("status", TaskStatus))
