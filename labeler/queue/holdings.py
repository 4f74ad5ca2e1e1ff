"""Who holds what until when: for the lead, never for a reviewer's sitting."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.labels_in_force import items_of_pool
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.pools import Item
from labeler.records.queries import Query
from labeler.records.queue import Assignment, AssignmentState, VotePurpose
from labeler.records.scales import Assessor

__all__ = ["Holding", "read_holdings"]

_MOST = 500


@dataclass(frozen=True, slots=True)
class Holding:
    """An item that somebody holds.

    Attributes:
        reviewer: Who holds it.
        query: The query's id in the project's files.
        evidence: The evidence's id in them.
        until: When the lease ends, unless a key is pressed before; a time that has passed means
            that whoever asks next gets the item.
    """

    reviewer: str
    query: str
    evidence: str
    until: datetime


def read_holdings(connection: Connection, pool_id: int | None = None) -> tuple[Holding, ...]:
    """Read what is held, by reviewer and time: the first 500, of one pool or of all."""
    slot, item, query, evidence, assessor = (
        table(Assignment),
        table(Item),
        table(Query),
        table(Evidence),
        table(Assessor),
    )
    statement = (
        sa.select(assessor.c.name, query.c.external_id, evidence.c.external_id, slot.c.leased_until)
        .join(assessor, assessor.c.id == slot.c.assessor_id)
        .join(item, item.c.id == slot.c.item_id)
        .join(query, query.c.id == item.c.query_id)
        .join(evidence, evidence.c.id == item.c.evidence_id)
        .where(
            slot.c.state == AssignmentState.HELD.value,
            # Nobody is told of a hidden repeat, not even a lead who reviews.
            slot.c.purpose != VotePurpose.REPEAT.value,
        )
        .order_by(assessor.c.name, slot.c.leased_until, slot.c.id)
        .limit(_MOST)
    )
    if pool_id is not None:
        statement = statement.where(slot.c.item_id.in_(items_of_pool(pool_id)))
    return tuple(
        Holding(str(name), str(asked), str(found), until)
        for name, asked, found, until in connection.execute(statement)
    )
