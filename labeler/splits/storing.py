"""Groups and edges of a split as rows: what freezing writes at first, and extending later."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Table

from labeler.records import table
from labeler.records.splits import EdgeAction, SplitEdge, SplitGroup
from labeler.splits.edges import Cause, Edge
from labeler.store.bulk import insert_rows
from labeler.store.database import WriteTransaction

__all__ = ["EDGE_COLUMNS", "add_edges", "add_groups", "edge_row", "edges_in", "group_keys"]

EDGE_COLUMNS = ("left", "right", "cause", "score", "evidence", "action")

_GROUP, _EDGE = table(SplitGroup), table(SplitEdge)


def add_groups(tx: WriteTransaction, split: int, groups: Iterable[tuple[int, str, str]]) -> None:
    """Append groups, each with its number, its part and its digest."""
    columns = ["split_id", "number", "part", "digest"]
    insert_rows(tx.connection, _GROUP, columns, ((split, *group) for group in groups))


def group_keys(connection: Connection, split: int) -> dict[int, int]:
    """Give the keys of a split's groups, by their numbers."""
    rows = connection.execute(
        sa.select(_GROUP.c.number, _GROUP.c.id).where(_GROUP.c.split_id == split)
    )
    return {int(number): int(key) for number, key in rows}


def add_edges(tx: WriteTransaction, split: int, edges: Iterable[Edge]) -> None:
    """Append edges."""
    columns = ["split_id", *EDGE_COLUMNS, "revision_id"]
    rows = ((split, *edge_row(one), tx.revision_id) for one in edges)
    insert_rows(tx.connection, _EDGE, columns, rows)


def edge_row(edge: Edge) -> tuple[object, ...]:
    """Give an edge as a row of `EDGE_COLUMNS`."""
    return edge.left, edge.right, str(edge.cause), edge.score, edge.evidence, str(edge.action)


def edges_in(connection: Connection, of: Table, where: ColumnElement[bool]) -> list[Edge]:
    """Read edges from a table that has `EDGE_COLUMNS`, in the order in which they were stored."""
    rows = connection.execute(
        sa.select(*(of.c[name] for name in EDGE_COLUMNS)).where(where).order_by(of.c.id)
    )
    return [
        Edge(left, right, Cause(cause), score, evidence or "", EdgeAction(action))
        for left, right, cause, score, evidence, action in rows
    ]
