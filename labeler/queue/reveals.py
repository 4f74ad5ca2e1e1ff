"""Showing a reviewer what judges said of an item: once the vote is stored, and so is the look."""

from __future__ import annotations

import sqlalchemy as sa

from labeler.queue.claims import Claim
from labeler.queue.comparison import LetteredJudgment, read_judges
from labeler.queue.votes import reviewer_name
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.queue import EventKind, ReviewEvent, VotePurpose
from labeler.store.database import Store
from labeler.store.projections import judgments_in_force

__all__ = ["reveal"]

_EVENT, _JUDGMENT = table(ReviewEvent), table(Judgment)


def reveal(
    store: Store, reviewer_id: int, claim: Claim, key: str, *, of: str
) -> tuple[LetteredJudgment, ...]:
    """Store that a reviewer is shown what judges said of an item, and give it.

    Whatever the reviewer says of the item afterwards isn't blind any more.

    Args:
        store: The project.
        reviewer_id: The reviewer.
        claim: The item.
        key: The id of the look; given twice, it is stored once.
        of: The id of the reviewer's vote on it.

    Returns:
        What each judge said, without its name. Nothing, and nothing is stored, where no judge was
        asked, where the vote isn't stored or doesn't stand, and where it is a hidden repeat: that
        was shown, if at all, after the first vote.
    """
    actor = reviewer_name(store, reviewer_id)
    with store.write("review reveal", actor=actor, durable=True) as tx:
        vote = (
            sa.select(_EVENT.c.task_id)
            .join(_JUDGMENT, _JUDGMENT.c.id == _EVENT.c.judgment_id)
            .where(
                _EVENT.c.event_key == of,
                _EVENT.c.assessor_id == reviewer_id,
                _EVENT.c.purpose != VotePurpose.REPEAT.value,
                judgments_in_force(),
            )
        )
        if tx.connection.execute(vote).scalar() != claim.task_id:
            return ()
        said = read_judges(tx.connection, claim.item_id, seed=of)
        known = sa.select(_EVENT.c.id).where(_EVENT.c.event_key == key)
        if said and tx.connection.execute(known).first() is None:
            tx.connection.execute(
                sa.insert(_EVENT).values(
                    event_key=key,
                    task_id=claim.task_id,
                    assessor_id=reviewer_id,
                    kind=EventKind.REVEAL.value,
                    at=tx.clock(),
                    revision_id=tx.revision_id,
                )
            )
        return said
