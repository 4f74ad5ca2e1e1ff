"""A small project with disputes: two reviewers voted on everything and contradict each other."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import sqlalchemy as sa

from labeler.assessment.blind import Block
from labeler.assessment.labels_in_force import LabelInForce, items_of_pool, labels_in_force
from labeler.assessment.reading import blocks_of
from labeler.assessment.verdict import Verdict
from labeler.calibration.policies import UNCALIBRATED
from labeler.labels import NATIVE, Grade, Level
from labeler.queue.dispute_access import hold_dispute
from labeler.queue.route import route_pool
from labeler.queue.sitting.session import ReviewSession
from labeler.queue.votes import Event, Saved, record_event
from labeler.records import table
from labeler.records.queue import EventKind, ReviewEvent
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from labeler.store.registry import assessor_key
from tests.small import HandJudge, judge, pooled

__all__ = [
    "FULLY",
    "JUDGE",
    "NOT",
    "NOTE",
    "PARTIALLY",
    "QUOTE",
    "REASON",
    "Quoting",
    "blind_vote",
    "disputed_project",
    "events_of",
    "key",
    "label_of",
    "person",
]

FULLY, PARTIALLY, NOT = NATIVE.levels

JUDGE = "oracle-9"
QUOTE = "about fact"
REASON = "because it is stated word by word"
NOTE = "the second sentence decides"


@dataclass
class Quoting(HandJudge):
    """A judge that says partially relevant of everything, doubtfully, with quote and reason."""

    name: str = JUDGE

    def judge(self, block: Block) -> list[Verdict]:
        return [
            replace(one, quote=QUOTE, reason=REASON)
            for one in HandJudge(
                {item.passage.split()[1]: (Grade.PARTIALLY_RELEVANT, 0.6) for item in block.items}
            ).judge(block)
        ]


def disputed_project(
    store: Store,
    folder: Path,
    *,
    voters: Sequence[tuple[str, Level]] = (("ana", FULLY), ("bo", NOT)),
    votes: int = 1,
) -> list[int]:
    """Make a project in which reviewers contradict each other on some items; give the items.

    The second voter writes a note on each item.
    """
    pooled(store, folder)
    judge(store, Quoting())
    route_pool(store, "p", replace(UNCALIBRATED, overlap=2))
    items: list[int] = []
    for name, level in voters:
        session = ReviewSession(store, name)
        for _ in range(votes):
            shown = session.current
            assert shown is not None
            if name == voters[-1][0]:
                session.note(NOTE)
            session.vote(level)
            items.append(shown.claim.item_id)
        session.close()
    assert len(set(items)) == votes, "both must have voted on the same items"
    return items[:votes]


def person(store: Store, name: str) -> int:
    """Give the key of a person, who is made where there is none."""
    with store.write("review start", actor=name) as tx:
        return assessor_key(tx, AssessorKind.PERSON, name)


def blind_vote(store: Store, name: str, item_id: int, level: Level | None) -> int:
    """Vote on a disputed item as `labeler review --lead` does; give the person's key."""
    who = person(store, name)
    claim = hold_dispute(store, who, item_id)
    assert claim is not None
    with store.read() as connection:
        (block,) = blocks_of(connection, [item_id], seed="")
    saved = record_event(store, who, claim, Event(key(), EventKind.VOTE, block, level))
    assert saved is Saved.COUNTED
    return who


def key() -> str:
    """Make the id of an event."""
    return str(uuid.uuid4())


def label_of(store: Store, item_id: int) -> LabelInForce | None:
    """Give the label in force of an item."""
    with store.read() as connection:
        return labels_in_force(connection, items_of_pool(1)).get(item_id)


def events_of(store: Store, person_id: int) -> list[tuple[str, str | None]]:
    """Give what a person did, first to last: kinds and purposes."""
    event = table(ReviewEvent)
    statement = (
        sa.select(event.c.kind, event.c.purpose)
        .where(event.c.assessor_id == person_id)
        .order_by(event.c.id)
    )
    with store.read() as connection:
        return [(str(kind), purpose) for kind, purpose in connection.execute(statement)]
