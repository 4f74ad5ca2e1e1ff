"""Corrections of queries that reviewers propose: gathered for the lead, and applied by nobody else.

A domain that is put right changes where an item is found; a condition that is put right changes
what was asked, and with it what every label of the query says. So a sitting never changes a query:
`labeler report query-issues` shows what was proposed, `labeler correct query` applies it.
"""

from __future__ import annotations

import json
from datetime import datetime

import sqlalchemy as sa

from labeler.assessment.blind import BlindQuery
from labeler.assessment.query_changes import QueryChange
from labeler.assessment.reading import blocks_of
from labeler.errors import ConflictError
from labeler.queue.votes import reviewer_name
from labeler.records import table
from labeler.records.pools import Item
from labeler.records.proposals import QueryProposal
from labeler.records.queries import QueryVersion
from labeler.store.database import Store
from labeler.store.registry import store_texts

__all__ = ["propose_query_change"]

_ITEM, _VERSION, _PROPOSAL = table(Item), table(QueryVersion), table(QueryProposal)


def propose_query_change(
    store: Store,
    reviewer_id: int,
    key: str,
    *,
    item_id: int,
    shown: BlindQuery,
    change: QueryChange,
    words: str = "",
    at: datetime | None = None,
) -> bool:
    """Store what a reviewer proposes for the query of an item.

    Args:
        store: The project.
        reviewer_id: Who proposes it.
        key: The id of the event; given twice, it counts once.
        item_id: An item of the query.
        shown: The query as the reviewer saw it.
        change: Domain and conditions as they should be.
        words: What the reviewer says of it.
        at: When it was done, if it is stored later than that.

    Returns:
        False when the event had been stored before.

    Raises:
        ConflictError: When the query isn't what was shown, or nothing would change.
        DatabaseBusyError: When another process holds the database for longer than 10 seconds.
    """
    actor = reviewer_name(store, reviewer_id)
    with store.write("review propose", actor=actor, durable=True) as tx:
        stored = sa.select(_PROPOSAL.c.id).where(_PROPOSAL.c.event_key == key)
        if tx.connection.execute(stored).first() is not None:
            return False
        now = blocks_of(tx.connection, [item_id], seed="")
        if not now or now[0].query != shown:
            raise ConflictError("the query changed while it was on the screen")
        if not change.differences(shown):
            raise ConflictError("the query is like that already")
        version = (
            sa.select(_VERSION.c.id)
            .join(_ITEM, _ITEM.c.query_id == _VERSION.c.query_id)
            .where(_ITEM.c.id == item_id)
            .order_by(_VERSION.c.version.desc())
            .limit(1)
        )
        note = store_texts(tx.connection, [words])[words] if words.strip() else None
        tx.connection.execute(
            sa.insert(_PROPOSAL).values(
                event_key=key,
                version_id=tx.connection.execute(version).scalar_one(),
                assessor_id=reviewer_id,
                domain=change.domain,
                conditions=json.dumps(dict(change.conditions), ensure_ascii=False, sort_keys=True),
                note_id=note,
                at=at or tx.clock(),
                revision_id=tx.revision_id,
            )
        )
    return True
