"""Pools found by their names, and listed."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import NotFoundError
from labeler.records import table
from labeler.records.pools import Candidate, Pool

__all__ = ["list_pools", "pool_named"]

_POOL, _CANDIDATE = table(Pool), table(Candidate)


def pool_named(connection: Connection, name: str) -> Any:
    """Find a pool's row by its name.

    Raises:
        NotFoundError: When there is none.
    """
    row = connection.execute(sa.select(_POOL).where(_POOL.c.name == name)).first()
    if row is None:
        names = [str(one) for (one,) in connection.execute(sa.select(_POOL.c.name))]
        raise NotFoundError(
            f"there is no pool '{name}'",
            hint=f"there is {', '.join(names)}" if names else "`labeler pool create` makes one",
        )
    return row


def list_pools(connection: Connection) -> list[dict[str, object]]:
    """List the pools with their sizes, oldest first."""
    size = sa.select(sa.func.count()).where(_CANDIDATE.c.pool_id == _POOL.c.id).scalar_subquery()
    rows = connection.execute(
        sa.select(_POOL.c.name, _POOL.c.depth, size, _POOL.c.digest).order_by(_POOL.c.id)
    )
    return [
        {"pool": name, "depth": depth, "candidates": count, "digest": digest}
        for name, depth, count, digest in rows
    ]
