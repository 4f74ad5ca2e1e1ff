"""Votes of a person on whatever waits, given through the queue as the app gives them."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from labeler.assessment.blind import BlindItem
from labeler.assessment.reading import blocks_of
from labeler.labels import Grade
from labeler.queue.claims import claim
from labeler.queue.votes import Event, record_event
from labeler.records.queue import EventKind
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from labeler.store.registry import assessor_key

Decide = Callable[[BlindItem], Grade | None]


def vote_on_all(
    store: Store, decide: Decide, *, name: str = "ada", most: int = 10_000
) -> list[int]:
    """Vote on what waits, until nothing is left or enough is done; give the items.

    ``decide`` gives the grade of an item, or None where it can't be judged.
    """
    with store.write("review start", actor=name) as tx:
        reviewer = assessor_key(tx, AssessorKind.PERSON, name)
    done: list[int] = []
    while len(done) < most and (held := claim(store, reviewer, 1)):
        with store.read() as connection:
            block = blocks_of(connection, [held[0].item_id], seed="")[0]
        grade = decide(block.items[0])
        level = None if grade is None else block.rubric.scale.level_for(grade)
        event = Event(str(uuid.uuid4()), EventKind.VOTE, block, level=level)
        record_event(store, reviewer, held[0], event)
        done.append(held[0].item_id)
    return done
