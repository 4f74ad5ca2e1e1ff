"""Evidence that a reviewer misses: proposed by one person, judged blind by another."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Select

from labeler.errors import ConflictError
from labeler.queue.reasons import PERSON_FOUND
from labeler.queue.tasks import set_reasons
from labeler.queue.wanted import want_votes
from labeler.records import table
from labeler.records.corpus import SnapshotEvidence
from labeler.records.pools import Item
from labeler.records.project import Text
from labeler.records.proposals import EvidenceProposal
from labeler.records.queue import Assignment, VotePurpose
from labeler.records.scales import Assessor
from labeler.store.bulk import is_one_of
from labeler.store.database import Store, WriteTransaction
from labeler.store.projections import refresh

__all__ = ["found_by_people", "has_proposed", "propose_evidence", "proposed_items"]

_ITEM, _PROPOSAL, _ASSIGNMENT = table(Item), table(EvidenceProposal), table(Assignment)

_OWN, _FOUND = _ITEM.alias("own"), _ITEM.alias("found")
_SAME = sa.and_(_OWN.c.query_id == _FOUND.c.query_id, _OWN.c.evidence_id == _FOUND.c.evidence_id)
_PROPOSED = _PROPOSAL.c.item_id == _OWN.c.id


def propose_evidence(
    store: Store,
    reviewer_id: int,
    key: str,
    *,
    item_id: int,
    evidence_id: int,
    at: datetime | None = None,
) -> bool:
    """Store that a reviewer found an evidence for an item's query, and have somebody else judge it.

    It waits beside the item, for the same rubric and snapshot, and is nobody's label: who proposed
    it is never given it. No pool changes; one that extends another takes it up.

    Args:
        store: The project.
        reviewer_id: Who found it.
        key: The id of the event; given twice, it counts once.
        item_id: The item that the reviewer was judging.
        evidence_id: The evidence.
        at: When it was done, if it is stored later than that.

    Returns:
        False when the event had been stored before.

    Raises:
        ConflictError: When it is in the queue already or was judged, or has no text.
        DatabaseBusyError: When another process holds the database for longer than 10 seconds.
    """
    with store.write("review propose", actor=_name(store, reviewer_id), durable=True) as tx:
        stored = sa.select(_PROPOSAL.c.id).where(_PROPOSAL.c.event_key == key)
        if tx.connection.execute(stored).first() is not None:
            return False
        found = _new_item(tx, item_id, evidence_id)
        tx.connection.execute(
            sa.insert(_PROPOSAL).values(
                event_key=key,
                item_id=found,
                assessor_id=reviewer_id,
                at=at or tx.clock(),
                revision_id=tx.revision_id,
            )
        )
        set_reasons(tx, {found: {PERSON_FOUND}}, {}, policy_id=None)
        place = sa.select(sa.func.max(_ASSIGNMENT.c.priority)).where(
            _ASSIGNMENT.c.item_id == item_id
        )
        beside = int(tx.connection.execute(place).scalar() or 0)
        want_votes(tx, {found: beside}, {found: VotePurpose.PRIMARY})
        refresh(tx.connection, [found])
    return True


def _name(store: Store, reviewer_id: int) -> str:
    assessor = table(Assessor)
    with store.read() as connection:
        named = sa.select(assessor.c.name).where(assessor.c.id == reviewer_id)
        return str(connection.execute(named).scalar_one())


def _new_item(tx: WriteTransaction, item_id: int, evidence_id: int) -> int:
    judged = tx.connection.execute(sa.select(_ITEM).where(_ITEM.c.id == item_id)).one()
    names = {
        "query_id": judged.query_id,
        "evidence_id": evidence_id,
        "rubric_id": judged.rubric_id,
        "snapshot_id": judged.snapshot_id,
    }
    same = [_ITEM.c[name] == value for name, value in names.items()]
    if tx.connection.execute(sa.select(_ITEM.c.id).where(*same)).first() is not None:
        raise ConflictError("this passage is in the queue already, or was judged")
    shown, text = table(SnapshotEvidence), table(Text)
    body = (
        sa.select(text.c.id)
        .join(shown, shown.c.text_id == text.c.id)
        .where(
            shown.c.snapshot_id == judged.snapshot_id,
            shown.c.evidence_id == evidence_id,
            text.c.body.is_not(None),
        )
    )
    text_id = tx.connection.execute(body).scalar()
    if text_id is None:
        raise ConflictError("this passage has no text in the snapshot any more")
    made = sa.insert(_ITEM).values(**names, text_id=text_id).returning(_ITEM.c.id)
    return int(tx.connection.execute(made).scalar_one())


def proposed_items(reviewer_id: int | ColumnElement[int] | None) -> Select[int]:
    """Select the items of what people, or one person, found: the same fact for the same query.

    Another rubric or another snapshot makes another item of it, and no other finder.
    """
    statement = sa.select(_FOUND.c.id).join(_OWN, _SAME).join(_PROPOSAL, _PROPOSED)
    if reviewer_id is not None:
        statement = statement.where(_PROPOSAL.c.assessor_id == reviewer_id)
    return statement


def has_proposed(
    reviewer_id: ColumnElement[int], item_id: ColumnElement[int]
) -> ColumnElement[bool]:
    """Make the condition that a reviewer found what an item is about."""
    return proposed_items(reviewer_id).where(_FOUND.c.id == item_id).exists()


def found_by_people(
    connection: Connection, items: Sequence[int], *, by: int | None = None
) -> set[int]:
    """Give those of some items that a person found; with ``by``, that this person found."""
    statement = proposed_items(by).where(is_one_of(connection, _FOUND.c.id, items))
    return {int(item) for (item,) in connection.execute(statement)}
