"""Disputed items, as somebody sees them who is to settle one: without anybody's label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from labeler.assessment.decisions import votes_on
from labeler.assessment.labels_in_force import items_of_pool
from labeler.assessment.reading import blocks_of
from labeler.assessment.rubric_flags import items_with_unclear_rubric
from labeler.assessment.settlement import Settlement, Vote, settle_votes
from labeler.queue.proposals import found_by_people
from labeler.records import table
from labeler.records.judgments import Basis, Judgment
from labeler.records.project import Revision
from labeler.records.projections import TaskState, TaskStatus
from labeler.records.queue import (
    Assignment,
    AssignmentState,
    EventKind,
    ReviewEvent,
    Task,
    TaskReason,
    VotePurpose,
)
from labeler.records.scales import Assessor, AssessorKind
from labeler.store.bulk import is_one_of
from labeler.store.projections import PEOPLE_DISAGREE, judgments_in_force, reasons_hold

__all__ = [
    "DisputeState",
    "DisputedItem",
    "Standing",
    "list_disputes",
    "settled_by",
    "standings",
]

_TASK, _STATE, _REASON = table(Task), table(TaskState), table(TaskReason)
_EVENT, _JUDGMENT, _SLOT = table(ReviewEvent), table(Judgment), table(Assignment)

_MOST = 500
_BEGINNING = 200
"""Characters of a passage that a list shows."""


class DisputeState(StrEnum):
    """Where a dispute stands."""

    OPEN = "open"
    """It waits for somebody who settles it."""
    HELD = "held"
    """Somebody else is about to vote on it."""
    ANOTHER_VOTE = "another vote wanted"
    """It was sent back, or more votes were wanted from the start."""
    RUBRIC_UNCLEAR = "rubric unclear"
    """Somebody marked the rubric as unclear there, and nobody voted since."""
    TO_COMPARE = "to compare"
    """This person's blind vote settled it, and wasn't compared with the others' yet."""


@dataclass(frozen=True, slots=True)
class DisputedItem:
    """A disputed item in a list.

    Attributes:
        item_id: The item.
        query: What was asked.
        passage: How the passage begins.
        domain: The query's domain, or None.
        votes: How many people's votes on it are in force.
        state: Where it stands.
        is_own: Whether the person who asks is one of those who contradict each other.
        since: Since when it is disputed; None once a blind vote settled it.
    """

    item_id: int
    query: str
    passage: str
    domain: str | None
    votes: int
    state: DisputeState
    is_own: bool
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Standing:
    """What one person has to do with a dispute.

    Attributes:
        is_party: The person voted on the item, other than to settle the dispute, found it for the
            query, or has seen others' labels without a blind vote to settle it.
        has_voted: A vote of the person is in force.
        has_seen: Others' labels were shown to the person.
    """

    is_party: bool = False
    has_voted: bool = False
    has_seen: bool = False

    @property
    def may_compare(self) -> bool:
        """Whether a blind vote was given, so that the others' labels may be shown."""
        return self.has_voted or self.has_seen


def standings(
    connection: Connection, person_id: int | None, items: Sequence[int]
) -> dict[int, Standing]:
    """Tell what one person has to do with each of some items."""
    purposes: dict[int, set[str | None]] = {}
    voted = (
        sa.select(_JUDGMENT.c.item_id, _EVENT.c.purpose)
        .outerjoin(_EVENT, _EVENT.c.judgment_id == _JUDGMENT.c.id)
        .where(
            _JUDGMENT.c.assessor_id == person_id,
            is_one_of(connection, _JUDGMENT.c.item_id, items),
            judgments_in_force(),
        )
    )
    for item, purpose in connection.execute(voted):
        purposes.setdefault(item, set()).add(purpose)
    did: dict[int, set[tuple[str, str | None]]] = {}
    done = (
        sa.select(_TASK.c.item_id, _EVENT.c.kind, _EVENT.c.purpose)
        .join(_EVENT, _EVENT.c.task_id == _TASK.c.id)
        .where(_EVENT.c.assessor_id == person_id, is_one_of(connection, _TASK.c.item_id, items))
    )
    for item, kind, purpose in connection.execute(done):
        did.setdefault(item, set()).add((kind, purpose))
    adjudication = VotePurpose.ADJUDICATION.value
    own_finds = found_by_people(connection, items, by=person_id) if person_id else set()
    found: dict[int, Standing] = {}
    for item in items:
        kinds = {kind for kind, _ in did.get(item, ())}
        seen = EventKind.REVEAL.value in kinds
        settled = (EventKind.VOTE.value, adjudication) in did.get(item, ())
        found[item] = Standing(
            is_party=bool(purposes.get(item, set()) - {adjudication})
            or (seen and not settled)
            or item in own_finds,
            has_voted=item in purposes,
            has_seen=seen,
        )
    return found


def settled_by(votes: Sequence[Vote]) -> int | None:
    """Tell whose adjudication settles an item, by the votes in force; None when nobody's does."""
    settled = settle_votes(votes)
    if not isinstance(settled, Settlement) or settled.basis is not Basis.ADJUDICATION:
        return None
    return next(vote.assessor_id for vote in votes if vote.judgment_id in settled.judgment_ids)


def list_disputes(
    connection: Connection, person_id: int | None, *, now: datetime, pool_id: int | None = None
) -> tuple[DisputedItem, ...]:
    """List what this person has still to compare, and what is disputed, oldest first.

    Args:
        connection: A transaction's connection.
        person_id: Who asks; None for somebody who never voted here.
        now: The time, in UTC.
        pool_id: List the items of this pool only.

    Returns:
        The first 500; an item whose text was erased is left out.
    """
    disputed = _disputed(connection, pool_id)
    since = {**dict.fromkeys(_to_compare(connection, person_id, pool_id)), **disputed}
    items = list(since)
    unclear = items_with_unclear_rubric(connection, items)
    slots = _slot_states(connection, items, person_id, now)
    votes = _votes(connection, items)
    own = standings(connection, person_id, items)

    def state_of(item: int) -> DisputeState:
        if item not in disputed:
            return DisputeState.TO_COMPARE
        return DisputeState.RUBRIC_UNCLEAR if item in unclear else slots[item]

    found = {
        item.item_id: DisputedItem(
            item_id=item.item_id,
            query=block.query.text,
            passage=item.passage[:_BEGINNING],
            domain=block.query.domain,
            votes=votes.get(item.item_id, 0),
            state=state_of(item.item_id),
            is_own=item.item_id in disputed and own[item.item_id].is_party,
            since=since[item.item_id],
        )
        for block in blocks_of(connection, items, seed="")
        for item in block.items
    }
    return tuple(found[item] for item in items if item in found)


def _pooled(pool_id: int | None) -> ColumnElement[bool]:
    return sa.true() if pool_id is None else _TASK.c.item_id.in_(items_of_pool(pool_id))


def _disputed(connection: Connection, pool_id: int | None) -> dict[int, datetime]:
    """Give the disputed items, and since when each is disputed."""
    revision = table(Revision)
    statement = (
        sa.select(_TASK.c.item_id, revision.c.at)
        .join(_STATE, _STATE.c.task_id == _TASK.c.id)
        .join(_REASON, _REASON.c.task_id == _TASK.c.id)
        .join(revision, revision.c.id == _REASON.c.revision_id)
        .where(
            _STATE.c.status == TaskStatus.DISPUTED.value,
            _REASON.c.reason == PEOPLE_DISAGREE,
            reasons_hold(),
            _pooled(pool_id),
        )
        .order_by(_REASON.c.id)
        .limit(_MOST)
    )
    return {int(item): at for item, at in connection.execute(statement)}


def _to_compare(connection: Connection, person_id: int | None, pool_id: int | None) -> list[int]:
    """List the items that this person's blind vote settles, with no look at the others' since."""
    look = _EVENT.alias("look")
    seen = sa.exists().where(
        look.c.task_id == _EVENT.c.task_id,
        look.c.assessor_id == _EVENT.c.assessor_id,
        look.c.kind == EventKind.REVEAL.value,
        look.c.id < _EVENT.c.id,
    )
    statement = (
        sa.select(_TASK.c.item_id)
        .join(_EVENT, _EVENT.c.task_id == _TASK.c.id)
        .join(_JUDGMENT, _JUDGMENT.c.id == _EVENT.c.judgment_id)
        .where(
            _EVENT.c.assessor_id == person_id,
            _EVENT.c.kind == EventKind.VOTE.value,
            _EVENT.c.purpose == VotePurpose.ADJUDICATION.value,
            judgments_in_force(),
            ~seen,
            _pooled(pool_id),
        )
        .order_by(_EVENT.c.id)
        .limit(_MOST)
    )
    items = [int(item) for (item,) in connection.execute(statement)]
    votes = votes_on(connection, items)
    return [item for item in items if settled_by(votes.get(item, [])) == person_id]


def _slot_states(
    connection: Connection, items: Sequence[int], person_id: int | None, now: datetime
) -> Mapping[int, DisputeState]:
    """Tell where items stand by the votes that are wanted of them."""
    statement = sa.select(
        _SLOT.c.item_id, _SLOT.c.purpose, _SLOT.c.state, _SLOT.c.assessor_id, _SLOT.c.leased_until
    ).where(
        is_one_of(connection, _SLOT.c.item_id, items),
        _SLOT.c.state != AssignmentState.DONE.value,
        _SLOT.c.purpose != VotePurpose.REPEAT.value,
    )
    found = dict.fromkeys(items, DisputeState.OPEN)
    for item, purpose, state, holder, until in connection.execute(statement):
        if state == AssignmentState.HELD.value and holder != person_id and until >= now:
            found[item] = DisputeState.HELD
        elif purpose != VotePurpose.ADJUDICATION.value and found[item] is DisputeState.OPEN:
            found[item] = DisputeState.ANOTHER_VOTE
    return found


def _votes(connection: Connection, items: Sequence[int]) -> dict[int, int]:
    assessor = table(Assessor)
    statement = (
        sa.select(_JUDGMENT.c.item_id, sa.func.count(sa.distinct(_JUDGMENT.c.assessor_id)))
        .join(assessor, assessor.c.id == _JUDGMENT.c.assessor_id)
        .where(
            is_one_of(connection, _JUDGMENT.c.item_id, items),
            assessor.c.kind == AssessorKind.PERSON.value,
            judgments_in_force(),
        )
        .group_by(_JUDGMENT.c.item_id)
    )
    return {int(item): int(count) for item, count in connection.execute(statement)}
