"""What an export speaks of: the items of a pool or of a snapshot, at a revision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Select, Table

from labeler.assessment.labels_in_force import items_of_pool
from labeler.errors import NotFoundError, UsageError
from labeler.records import table
from labeler.records.corpus import Snapshot
from labeler.records.pools import Item
from labeler.records.project import Revision
from labeler.records.scales import RubricRecord
from labeler.store.registry import pool_named, snapshots_by_name

__all__ = ["Scope", "find_scope"]


@dataclass(frozen=True, slots=True)
class Scope:
    """A set of items of one snapshot and one rubric, and the revision that is looked at.

    Attributes:
        items: Selects the keys of the items.
        snapshot_id: The snapshot's key.
        snapshot: The snapshot's name.
        rubric: The rubric's name and the beginning of its digest.
        pool_id: The pool, or None when the scope is all that is known of a snapshot.
        pool: The pool's name.
        revision: The revision that is looked at.
        as_of: The same, or None when it is the present.
    """

    items: Select[int]
    snapshot_id: int
    snapshot: str
    rubric: str
    pool_id: int | None
    pool: str | None
    revision: int
    as_of: int | None


def find_scope(
    connection: Connection,
    *,
    pool: str | None = None,
    snapshot: str | None = None,
    rubric: str | None = None,
    as_of: int | None = None,
) -> Scope:
    """Find what is meant: a pool, or everything that is known of one snapshot under one rubric.

    Raises:
        NotFoundError: When a name or the revision isn't there.
        UsageError: When several snapshots or rubrics could be meant.
    """
    newest = connection.execute(sa.select(sa.func.max(table(Revision).c.id))).scalar() or 0
    if as_of is not None and not 0 <= as_of <= newest:
        raise NotFoundError(f"there is no revision {as_of}; the newest is {newest}")
    revision = newest if as_of is None else as_of
    if pool is not None:
        row = pool_named(connection, pool)
        if row.revision_id > revision:
            raise NotFoundError(
                f"there is no pool '{pool}' at revision {revision}",
                hint=f"it was made at revision {row.revision_id}",
            )
        stand = _one(connection, table(Snapshot), row.snapshot_id)
        guide = _one(connection, table(RubricRecord), row.rubric_id)
        return Scope(
            items_of_pool(row.id),
            row.snapshot_id,
            stand.name,
            f"{guide.name} {guide.digest[:12]}",
            row.id,
            pool,
            revision,
            as_of,
        )
    if snapshot is None and len(named := snapshots_by_name(connection)) == 1:
        snapshot = next(iter(named))
    stand = _meant(connection, table(Snapshot), "snapshot", snapshot)
    item = table(Item)
    used = sa.select(item.c.rubric_id).where(item.c.snapshot_id == stand.id).distinct()
    guide = _meant(connection, table(RubricRecord), "rubric", rubric, used)
    return Scope(
        sa.select(item.c.id).where(item.c.snapshot_id == stand.id, item.c.rubric_id == guide.id),
        stand.id,
        stand.name,
        f"{guide.name} {guide.digest[:12]}",
        None,
        None,
        revision,
        as_of,
    )


def _one(connection: Connection, named: Table, key: int) -> sa.Row[*tuple[Any, ...]]:
    return connection.execute(sa.select(named).where(named.c.id == key)).one()


def _meant(
    connection: Connection,
    named: Table,
    what: str,
    name: str | None,
    among: Select[int] | None = None,
) -> sa.Row[*tuple[Any, ...]]:
    statement = sa.select(named).order_by(named.c.id)
    if among is not None:
        statement = statement.where(named.c.id.in_(among))
    rows = connection.execute(statement).all()
    listed = ", ".join(dict.fromkeys(f"{row.name}" for row in rows))
    found = [row for row in rows if name in {None, row.name, row.digest[:12]}]
    if not found:
        hint = f"there is {listed}" if rows else "import labels or make a pool first"
        raise NotFoundError(
            f"there is no {what} '{name}'" if name else f"there is no {what} with items yet",
            hint=hint,
        )
    if len(found) > 1:
        raise UsageError(
            f"several could be meant as the {what}: "
            + ", ".join(f"{row.name} ({row.digest[:12]})" for row in found),
            hint=f"name one with --{what}, by name or by the digest in parentheses, or a --pool",
        )
    return found[0]
