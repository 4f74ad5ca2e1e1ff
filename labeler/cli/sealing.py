"""Recording that a command shows sealed results, and saying so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from labeler.cli.output import tell

if TYPE_CHECKING:
    from sqlalchemy import Select

    from labeler.sealing.openings import Seal
    from labeler.store.database import Store

__all__ = ["open_shown", "tell_seals"]


def open_shown(
    store: Store,
    through: str,
    *,
    pool: str | None = None,
    snapshot: str | None = None,
    items: Select[int] | None = None,
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
        runs: The runs whose results are shown.
        as_of: The revision of the labels; None is the present.
        actor: Who looks; the login name by default.

    Returns:
        What is to be said; nothing where no split is frozen or no query is sealed.
    """
    from labeler.assessment.labels_in_force import items_of_pool
    from labeler.sealing.openings import open_sealed, queries_of_items, sealed_queries
    from labeler.store.registry import pool_named, snapshots_by_name

    with store.read() as connection:
        if not sealed_queries(connection):
            return []
        if pool is not None:
            items = items_of_pool(int(pool_named(connection, pool).id))
        key = None if snapshot is None else snapshots_by_name(connection).get(snapshot)
        queries = queries_of_items(connection, items, key)
    return open_sealed(store, through=through, queries=queries, runs=runs, as_of=as_of, actor=actor)


def tell_seals(seals: Sequence[Seal]) -> None:
    """Say on stderr what is to be said of sealed results."""
    for seal in seals:
        for line in seal.lines():
            tell(f"note: {line}")
