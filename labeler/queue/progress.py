"""How fast the queue empties: votes by hour or day, pace by reviewer, time left. For the lead."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from labeler.assessment.labels_in_force import items_of_pool
from labeler.evaluation.pace import Pace, TimeLeft, VoteTime, pace_of, seconds_spent, time_left
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.queue import (
    Assignment,
    AssignmentState,
    EventKind,
    ReviewEvent,
    VotePurpose,
)
from labeler.records.scales import Assessor
from labeler.store.projections import judgments_in_force

__all__ = ["Burned", "Progress", "ReviewerPace", "pace_of_one_vote", "read_progress"]

_EVENT, _JUDGMENT, _ASSIGNMENT = table(ReviewEvent), table(Judgment), table(Assignment)

_LOOK_BACK = timedelta(days=14)
_BY_HOUR_UP_TO = timedelta(hours=24)
_AT_WORK = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Burned:
    """The votes of one hour or day, and what was left at its end.

    Attributes:
        start: When it began, in UTC.
        votes: Votes given in it that stand.
        left: What is left now, and the votes that came after it.
    """

    start: datetime
    votes: int
    left: int


@dataclass(frozen=True, slots=True)
class ReviewerPace:
    """How fast one reviewer votes, and when last."""

    reviewer: str
    pace: Pace
    last: datetime


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the queue is.

    Attributes:
        left: Votes that are wanted and not given yet.
        held: How many of them somebody holds.
        given: All votes of the queue that stand, older ones included.
        step: ``hour`` or ``day``: what `burned` counts by.
        burned: The votes of the last 14 days before the latest vote, by hour or day.
        paces: Each reviewer's pace in these days, by name.
        at_work: How many of them voted within the hour before now.
        time_left: How long the rest takes one person, or None while no pace is known.
    """

    left: int
    held: int
    given: int
    step: str
    burned: tuple[Burned, ...]
    paces: tuple[ReviewerPace, ...]
    at_work: int
    time_left: TimeLeft | None


class _Vote(NamedTuple):
    reviewer: str
    at: datetime
    dwell_ms: int | None


def read_progress(connection: Connection, *, now: datetime, pool_id: int | None = None) -> Progress:
    """Read how far the queue is, of one pool or of all.

    Args:
        connection: A transaction's connection.
        now: The time, in UTC.
        pool_id: Look at the items of this pool only.
    """
    by_state = _wanted(connection, pool_id)
    held = by_state.get(AssignmentState.HELD.value, 0)
    left = held + by_state.get(AssignmentState.WAITING.value, 0)
    given, latest = _given(connection, pool_id)
    votes = [] if latest is None else _votes(connection, pool_id, latest - _LOOK_BACK)
    by_reviewer: dict[str, list[VoteTime]] = defaultdict(list)
    for vote in votes:
        by_reviewer[vote.reviewer].append(VoteTime(vote.at, vote.dwell_ms))
    step, burned = burn_down([vote.at for vote in votes], left)
    return Progress(
        left=left,
        held=held,
        given=given,
        step=step,
        burned=burned,
        paces=tuple(
            ReviewerPace(name, pace_of(own), max(vote.at for vote in own))
            for name, own in sorted(by_reviewer.items())
        ),
        at_work=sum(any(now - vote.at <= _AT_WORK for vote in own) for own in by_reviewer.values()),
        time_left=time_left(left, [seconds_spent(own) for own in by_reviewer.values()]),
    )


def pace_of_one_vote(connection: Connection) -> TimeLeft | None:
    """Tell how long one vote takes, from the votes of all pools in the last 14 days of voting.

    Returns:
        Hours of one person's work; None while no pace is known.
    """
    _, latest = _given(connection, None)
    if latest is None:
        return None
    by_reviewer: dict[str, list[VoteTime]] = defaultdict(list)
    for vote in _votes(connection, None, latest - _LOOK_BACK):
        by_reviewer[vote.reviewer].append(VoteTime(vote.at, vote.dwell_ms))
    return time_left(1, [seconds_spent(own) for own in by_reviewer.values()])


def burn_down(times: Sequence[datetime], left: int) -> tuple[str, tuple[Burned, ...]]:
    """Count votes by hour, or by day when they span more than one, without gaps.

    Args:
        times: When votes were given, in UTC.
        left: What is left after the last of them.

    Returns:
        ``hour`` or ``day``, and the counts from the first to the last.
    """
    if not times:
        return "hour", ()
    by_hour = max(times) - min(times) <= _BY_HOUR_UP_TO
    step = timedelta(hours=1) if by_hour else timedelta(days=1)

    def start_of(at: datetime) -> datetime:
        return at.replace(hour=at.hour if by_hour else 0, minute=0, second=0, microsecond=0)

    counts = Counter(start_of(at) for at in times)
    burned: list[Burned] = []
    start = max(counts)
    while start >= min(counts):
        burned.append(Burned(start, counts[start], left))
        left += counts[start]
        start -= step
    return ("hour" if by_hour else "day"), tuple(reversed(burned))


def _wanted(connection: Connection, pool_id: int | None) -> dict[str, int]:
    statement = (
        sa.select(_ASSIGNMENT.c.state, sa.func.count())
        .where(
            _in_pool(_ASSIGNMENT.c.item_id, pool_id),
            _ASSIGNMENT.c.purpose != VotePurpose.REPEAT.value,
        )
        .group_by(_ASSIGNMENT.c.state)
    )
    return {str(state): int(count) for state, count in connection.execute(statement)}


def _standing(pool_id: int | None) -> list[ColumnElement[bool]]:
    return [
        _EVENT.c.kind == EventKind.VOTE.value,
        judgments_in_force(),
        _in_pool(_JUDGMENT.c.item_id, pool_id),
    ]


def _given(connection: Connection, pool_id: int | None) -> tuple[int, datetime | None]:
    statement = (
        sa.select(sa.func.count(), sa.func.max(_EVENT.c.at))
        .join(_JUDGMENT, _JUDGMENT.c.id == _EVENT.c.judgment_id)
        .where(*_standing(pool_id))
    )
    count, latest = connection.execute(statement).one()
    return int(count), latest


def _votes(connection: Connection, pool_id: int | None, since: datetime) -> list[_Vote]:
    assessor = table(Assessor)
    statement = (
        sa.select(assessor.c.name, _EVENT.c.at, _EVENT.c.dwell_ms)
        .join(_JUDGMENT, _JUDGMENT.c.id == _EVENT.c.judgment_id)
        .join(assessor, assessor.c.id == _EVENT.c.assessor_id)
        .where(*_standing(pool_id), _EVENT.c.at >= since)
        .order_by(_EVENT.c.id)
    )
    return [_Vote(str(name), at, dwell) for name, at, dwell in connection.execute(statement)]


def _in_pool(column: sa.Column[int], pool_id: int | None) -> ColumnElement[bool]:
    return sa.true() if pool_id is None else column.in_(items_of_pool(pool_id))
