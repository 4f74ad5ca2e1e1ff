"""The domain and the language of wanted votes: copied from their queries, and kept in line.

A sitting may ask for one domain or language. A million wanted votes can only be searched for it in
the order of the queue when each has both of its own, in one index.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.pools import Item
from labeler.records.queries import QueryVersion
from labeler.records.queue import Assignment, AssignmentState
from labeler.store.bulk import is_one_of

__all__ = ["Slice", "follow_queries", "known_slices", "slices_of_items"]

Slice = tuple[str, str]
"""Domain and language, each empty where a query has none."""

_ASSIGNMENT, _ITEM, _VERSION = table(Assignment), table(Item), table(QueryVersion)


def slices_of_items(connection: Connection, items: Sequence[int]) -> dict[int, Slice]:
    """Give the domain and language of each item's query, by its version in force."""
    statement = (
        sa.select(_ITEM.c.id, _VERSION.c.domain, _VERSION.c.language)
        .join(_VERSION, _VERSION.c.query_id == _ITEM.c.query_id)
        .where(is_one_of(connection, _ITEM.c.id, items))
        .order_by(_VERSION.c.version)
    )
    found: dict[int, Slice] = dict.fromkeys(items, ("", ""))
    for item, domain, language in connection.execute(statement):
        found[item] = (domain or "", language or "")
    return found


def known_slices(connection: Connection) -> set[Slice]:
    """Give every pair of domain and language that a query's version in force has."""
    later = _VERSION.alias("later")
    newer = sa.exists().where(
        later.c.query_id == _VERSION.c.query_id, later.c.version > _VERSION.c.version
    )
    statement = sa.select(_VERSION.c.domain, _VERSION.c.language).where(~newer).distinct()
    return {(domain or "", language or "") for domain, language in connection.execute(statement)}


def follow_queries(connection: Connection, queries: Sequence[int]) -> None:
    """Bring the votes that are wanted on some queries' items in line with their versions in force.

    To be called by whatever appends a version of a query.
    """
    open_to = [AssignmentState.WAITING.value, AssignmentState.HELD.value]
    of_queries = sa.select(_ITEM.c.id).where(is_one_of(connection, _ITEM.c.query_id, queries))
    waiting = (
        sa.select(_ASSIGNMENT.c.item_id)
        .where(_ASSIGNMENT.c.item_id.in_(of_queries), _ASSIGNMENT.c.state.in_(open_to))
        .distinct()
    )
    items = [int(item) for (item,) in connection.execute(waiting)]
    if not items:
        return
    connection.execute(
        sa.update(_ASSIGNMENT)
        .where(_ASSIGNMENT.c.item_id == sa.bindparam("of_item"))
        .values(domain=sa.bindparam("its_domain"), language=sa.bindparam("its_language")),
        [
            {"of_item": item, "its_domain": domain, "its_language": language}
            for item, (domain, language) in slices_of_items(connection, items).items()
        ],
    )
