"""What routing writes of itself into its revision, and what is read back: the order in force."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.queue.order import Order
from labeler.records import table
from labeler.records.project import Revision

__all__ = ["command_of", "order_in_force"]

_ORDER = " --order "


def command_of(pool: str, policy: str, order: Order) -> str:
    """Write what a revision of routing records: pool, policy, the order and its digest."""
    return f"route {pool} --policy {policy}{_ORDER}{order.name} {order.digest[:12]}"


def order_in_force(connection: Connection, pool: str) -> str | None:
    """Give the name of the order in which people are asked for the items of a pool.

    Returns:
        The order that it was routed by last, or None where no routing recorded one.
    """
    revision = table(Revision)
    statement = (
        sa.select(revision.c.command)
        .where(revision.c.command.startswith(f"route {pool} --policy ", autoescape=True))
        .order_by(revision.c.id.desc())
        .limit(1)
    )
    command = str(connection.execute(statement).scalar() or "")
    _, found, told = command.rpartition(_ORDER)
    return told.split()[0] if found else None
