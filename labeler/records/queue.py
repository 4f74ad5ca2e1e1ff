"""Tasks, their reasons, assignments and review events."""

from datetime import datetime
from enum import StrEnum

from sqlmodel import Field

from labeler.records.base import Kind, Record, UtcDateTime, enumerated, keyed

__all__ = [
    "Assignment",
    "AssignmentState",
    "EventKind",
    "ReasonAction",
    "ReviewEvent",
    "Task",
    "TaskReason",
    "VotePurpose",
]


class VotePurpose(StrEnum):
    """What a vote is for. Only audit votes feed estimates; an adjudication settles a dispute."""

    PRIMARY = "primary"
    OVERLAP = "overlap"
    AUDIT = "audit"
    REPEAT = "repeat"
    ADJUDICATION = "adjudication"


class AssignmentState(StrEnum):
    """Where one wanted vote stands."""

    WAITING = "waiting"
    HELD = "held"
    DONE = "done"


class EventKind(StrEnum):
    """What a reviewer did."""

    VOTE = "vote"
    UNDO = "undo"
    SKIP = "skip"
    FLAG = "flag"
    REVEAL = "reveal"
    NOTE = "note"


class ReasonAction(StrEnum):
    """Whether a reason came into force or was lifted."""

    RAISED = "raised"
    LIFTED = "lifted"


class Task(Record, table=True):
    """An item waiting for people."""

    __tablename__ = "task"
    __table_args__ = keyed("item_id")

    id: int | None = Field(default=None, primary_key=True)
    item_id: int = Field(foreign_key="item.id")
    revision_id: int = Field(foreign_key="revision.id")


class TaskReason(Record, table=True):
    """Why an item waits for people; the latest action per reason is in force.

    Its index finds the few tasks of a rare reason, such as second looks, which each sitting asks
    for again and again: going through all reasons takes 260 ms at a million tasks.
    """

    __tablename__ = "task_reason"
    __table_args__ = keyed("task_id", "reason", "revision_id", index=(("reason", "task_id"),))

    id: int | None = Field(default=None, primary_key=True)
    task_id: int = Field(foreign_key="task.id")
    reason: str
    action: ReasonAction = Field(sa_column=enumerated("action", ReasonAction))
    policy_id: int | None = Field(default=None, foreign_key="policy.id")
    revision_id: int = Field(foreign_key="revision.id")


class Assignment(Record, table=True):
    """One wanted vote on a task: waiting, held by somebody until a time, or done.

    ``priority`` orders the queue, lowest first; plain columns, since an index on an expression or
    on the state alone costs 290 ms a claim at a million rows. Each index holds the state, so that
    a database without statistics finds few rows where few are meant. ``domain`` and ``language``
    are those of the query's version in force, empty where it has none: what a sitting takes is
    found by them, in the order of the queue.
    """

    __tablename__ = "assignment"
    __table_args__ = keyed(
        "task_id",
        "slot",
        kind=Kind.WORK,
        index=(
            ("state", "priority", "id"),
            ("state", "domain", "language", "priority", "id"),
            ("item_id", "state"),
            ("assessor_id", "state"),
        ),
    )

    id: int | None = Field(default=None, primary_key=True)
    task_id: int = Field(foreign_key="task.id")
    item_id: int = Field(foreign_key="item.id")
    slot: int = 0
    purpose: VotePurpose = Field(sa_column=enumerated("purpose", VotePurpose))
    state: AssignmentState = Field(sa_column=enumerated("state", AssignmentState))
    priority: int = 0
    domain: str = Field(default="", sa_column_kwargs={"server_default": ""})
    language: str = Field(default="", sa_column_kwargs={"server_default": ""})
    assessor_id: int | None = Field(default=None, foreign_key="assessor.id")
    leased_until: datetime | None = Field(default=None, sa_type=UtcDateTime)


class ReviewEvent(Record, table=True):
    """What a reviewer did, with an id made at the key press, so that a replay counts once.

    ``shown_digest`` tells which text and rubric the reviewer saw; dwell is in milliseconds.
    """

    __tablename__ = "review_event"
    __table_args__ = keyed(
        "event_key",
        index=(("task_id",), ("assessor_id", "id"), ("purpose", "judgment_id")),
    )

    id: int | None = Field(default=None, primary_key=True)
    event_key: str
    task_id: int = Field(foreign_key="task.id")
    assessor_id: int = Field(foreign_key="assessor.id")
    kind: EventKind = Field(sa_column=enumerated("kind", EventKind))
    purpose: VotePurpose | None = Field(
        default=None, sa_column=enumerated("purpose", VotePurpose, nullable=True)
    )
    judgment_id: int | None = Field(default=None, foreign_key="judgment.id")
    undoes_id: int | None = Field(default=None, foreign_key="review_event.id")
    note_id: int | None = Field(default=None, foreign_key="text.id")
    shown_digest: str | None = None
    dwell_ms: int | None = None
    at: datetime = Field(sa_type=UtcDateTime)
    revision_id: int = Field(foreign_key="revision.id")
