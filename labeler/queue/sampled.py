"""Items that were drawn for an estimate: people are asked for them first, as for any others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.draws.frames import SAMPLE, drawn_for_samples
from labeler.queue.interleaving import MOST, Early, company_of
from labeler.queue.order import ItemWorth, order_named, place_items
from labeler.queue.tasks import reasons_in_force, set_reasons
from labeler.queue.wanted import place_first
from labeler.records import table
from labeler.records.pools import Item
from labeler.records.queue import Assignment, AssignmentState, VotePurpose
from labeler.store.bulk import is_one_of
from labeler.store.database import WriteTransaction
from labeler.store.projections import refresh

__all__ = ["ask_for_sample", "with_sampled", "with_samples"]


def ask_for_sample(tx: WriteTransaction, items: Sequence[int]) -> None:
    """Ask people for drawn items, before what else waits.

    Somebody waits for their estimate, so that they come first, each among others of its query that
    wait: nobody can tell a drawn item by its place. What waits for another reason too is asked for
    once.

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
    queries |= _company(tx.connection, queries)
    places = place_items(
        order_named("random"),
        queries,
        dict.fromkeys(queries, ItemWorth(doubt=1.0)),
        seed=str(tx.revision_id),
        early=Early(frozenset(items)),
    )
    place_first(tx, places, items)
    refresh(tx.connection, list(items))


def _company(connection: Connection, drawn: Mapping[int, int]) -> dict[int, int]:
    """Choose what waits first of the same queries, as many as drawn items come among.

    Args:
        connection: A transaction's connection.
        drawn: The query of each drawn item.

    Returns:
        The query of each chosen item.
    """
    item, wanted = table(Item), table(Assignment)
    statement = (
        sa.select(item.c.id, item.c.query_id)
        .join(wanted, wanted.c.item_id == item.c.id)
        .where(
            is_one_of(connection, item.c.query_id, sorted(set(drawn.values()))),
            wanted.c.state == AssignmentState.WAITING.value,
            wanted.c.purpose == VotePurpose.PRIMARY.value,
        )
        .order_by(wanted.c.priority, wanted.c.id)
    )
    room = {query: company_of(count, MOST) for query, count in Counter(drawn.values()).items()}
    found: dict[int, int] = {}
    for key, query in connection.execute(statement):
        if room[query] > 0 and key not in drawn and key not in found:
            found[int(key)] = int(query)
            room[query] -= 1
    return found


def with_samples(
    connection: Connection, wanted: Mapping[int, tuple[str, ...]], unsettled: Sequence[int]
) -> dict[int, tuple[str, ...]]:
    """Add to what people should judge those unsettled items that were drawn for an estimate."""
    drawn = drawn_for_samples(connection, unsettled)
    return {**wanted, **{item: (*wanted.get(item, ()), SAMPLE) for item in sorted(drawn)}}


def with_sampled(early: Early, wanted: Mapping[int, tuple[str, ...]]) -> Early:
    """Let what was drawn for an estimate come early, too, as dense as it may."""
    sampled = frozenset(item for item, reasons in wanted.items() if SAMPLE in reasons)
    return Early(early.items | sampled, MOST) if sampled else early
