"""Items that were drawn for an estimate: people are asked for them as for any others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.draws.frames import SAMPLE, drawn_for_samples
from labeler.queue.order import DEFAULT_ORDER, ItemWorth, order_named, place_items
from labeler.queue.tasks import reasons_in_force, set_reasons
from labeler.queue.wanted import place_votes
from labeler.records import table
from labeler.records.pools import Item
from labeler.store.bulk import is_one_of
from labeler.store.database import WriteTransaction
from labeler.store.projections import refresh

__all__ = ["ask_for_sample", "with_samples"]


def ask_for_sample(tx: WriteTransaction, items: Sequence[int]) -> None:
    """Ask people for drawn items.

    They are placed as routing places items of which nothing is known, and stand among what waits
    already; routing again places them among all others. What waits for another reason keeps its
    place.

    Args:
        tx: The write transaction in which they were drawn.
        items: The items; nobody has settled any of them.
    """
    reasons = reasons_in_force(tx.connection, items)
    raised = {item: {SAMPLE} for item in items if SAMPLE not in reasons.get(item, set())}
    if raised:
        set_reasons(tx, raised, {}, policy_id=None)
    item = table(Item)
    statement = sa.select(item.c.id, item.c.query_id).where(
        is_one_of(tx.connection, item.c.id, items)
    )
    queries = {int(key): int(query) for key, query in tx.connection.execute(statement)}
    unknown = dict.fromkeys(items, ItemWorth(doubt=1.0))
    by = order_named(DEFAULT_ORDER)
    place_votes(tx, place_items(by, queries, unknown, seed=str(tx.revision_id)))
    refresh(tx.connection, list(items))


def with_samples(
    connection: Connection, wanted: Mapping[int, tuple[str, ...]], unsettled: Sequence[int]
) -> dict[int, tuple[str, ...]]:
    """Add to what people should judge those unsettled items that were drawn for an estimate."""
    drawn = drawn_for_samples(connection, unsettled)
    return {**wanted, **{item: (*wanted.get(item, ()), SAMPLE) for item in sorted(drawn)}}
