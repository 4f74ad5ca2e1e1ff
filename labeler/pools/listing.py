"""Pools listed with their sizes."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.pools import Candidate, Pool

__all__ = ["list_pools"]

_POOL, _CANDIDATE = table(Pool), table(Candidate)


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
