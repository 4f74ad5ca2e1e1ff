"""Recording that a command shows sealed results, and saying so."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from labeler.cli.output import tell

if TYPE_CHECKING:
    from sqlalchemy import Select

    from labeler.sealing.openings import Seal
    from labeler.store.database import Store

__all__ = ["open_named", "open_shown", "open_texts", "tell_seals"]


def open_shown(
    store: Store,
    through: str,
    *,
    pool: str | None = None,
    snapshot: str | None = None,
    items: Select[int] | None = None,
    texts: bool = False,
    runs: Sequence[str] = (),
    as_of: int | None = None,
    actor: str | None = None,
) -> list[Seal]:
    """Record that labels or results of some items' queries are about to be shown.

    Args:
        store: The open database, outside of any transaction.
        through: What shows them, such as ``report recall``.
        pool: The pool whose items are shown.
        snapshot: The snapshot whose items are; of any by default.
        items: The items, in place of a pool.
        texts: Whether texts of passages are shown, too.
        runs: The runs whose results are shown.
        as_of: The revision of the labels; None is the present.
        actor: Who looks; the login name by default.

    Returns:
        What is to be said; nothing where no split is frozen or nothing shown is sealed.
    """
    import sqlalchemy as sa

    from labeler.assessment.labels_in_force import items_of_pool
    from labeler.records import table
    from labeler.records.pools import Item
    from labeler.sealing.openings import open_sealed
    from labeler.sealing.sealed import documents_of_items, queries_of_items, sealed_queries
    from labeler.store.registry import pool_named, snapshots_by_name

    with store.read() as connection:
        if not sealed_queries(connection):
            return []
        if pool is not None:
            items = items_of_pool(int(pool_named(connection, pool).id))
        key = None if snapshot is None else snapshots_by_name(connection).get(snapshot)
        queries = queries_of_items(connection, items, key)
        every = sa.select(table(Item).c.id)
        shown = every if items is None else items
        documents = documents_of_items(connection, shown) if texts else set()
    return open_sealed(
        store,
        through=through,
        queries=queries,
        documents=documents,
        runs=runs,
        as_of=as_of,
        actor=actor,
    )


def open_named(store: Store, through: str, queries: Collection[str]) -> list[Seal]:
    """Record that labels or texts of queries are about to be shown.

    Args:
        store: The open database, outside of any transaction.
        through: What shows them.
        queries: The queries' ids in files.

    Returns:
        What is to be said; nothing where no split is frozen or no query is sealed.
    """
    from labeler.records import table
    from labeler.records.queries import Query
    from labeler.sealing.openings import open_sealed
    from labeler.store.bulk import find_ids

    with store.read() as connection:
        keys = find_ids(connection, table(Query), sorted(set(queries)))
    return open_sealed(store, through=through, queries=list(keys.values()))


def open_texts(store: Store, through: str, snapshot: str) -> list[Seal]:
    """Record that the texts of a snapshot's documents are about to be shown, as above."""
    import sqlalchemy as sa

    from labeler.records import table
    from labeler.records.corpus import SnapshotDocument
    from labeler.sealing.openings import open_sealed
    from labeler.store.registry import snapshots_by_name

    there = table(SnapshotDocument)
    with store.read() as connection:
        key = snapshots_by_name(connection).get(snapshot)
        keys = sa.select(there.c.document_id).where(there.c.snapshot_id == key)
        documents = connection.execute(keys).scalars().all()
    return open_sealed(store, through=through, queries=(), documents=documents)


def tell_seals(seals: Sequence[Seal]) -> None:
    """Say on stderr what is to be said of sealed results."""
    for seal in seals:
        for line in seal.lines():
            tell(f"note: {line}")
