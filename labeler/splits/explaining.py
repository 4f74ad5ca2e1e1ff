"""Explaining: the chain of edges that puts two things into one group, or that there is none."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.corpus import Document
from labeler.records.queries import Query
from labeler.records.splits import EdgeAction, SplitEdge
from labeler.sealing.split_in_force import FrozenSplit, Place, read_membership, split_of_snapshot
from labeler.splits.content import find_snapshot
from labeler.splits.drafts import draft_edges
from labeler.splits.edges import Edge, ruled
from labeler.splits.rulings import find_node, rulings_of_edges
from labeler.splits.storing import edges_in

__all__ = ["Explanation", "chain", "explain", "frozen_edges", "read_edges"]

_EDGE = table(SplitEdge)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why two nodes are together, or are not.

    Attributes:
        left: One node.
        right: The other.
        chain: The fewest links from the one to the other; empty when there are none.
        between: Edges between just these two that don't link.
        places: The place of each in the frozen split; None when nothing is frozen, or it has none.
        split: The frozen split's name; None when the answer is of the latest plan.
    """

    left: str
    right: str
    chain: tuple[Edge, ...]
    between: tuple[Edge, ...]
    places: tuple[Place | None, Place | None]
    split: str | None


def explain(
    connection: Connection, one: str, other: str, *, snapshot: str | None = None
) -> Explanation:
    """Tell how two documents or queries hang together.

    Raises:
        NotFoundError: When one of them isn't there, or nothing was planned yet.
    """
    left, right = (find_node(connection, given) for given in (one, other))
    split, edges = read_edges(connection, snapshot)
    if split is not None:
        # What made the groups: what people have said since moves nothing.
        edges = frozen_edges(connection, split.id)
    between = [
        edge
        for edge in edges
        if {edge.left, edge.right} == {left, right} and edge.action is not EdgeAction.LINK
    ]
    places: tuple[Place | None, Place | None] = (None, None)
    if split is not None:
        places = _place(connection, split, left), _place(connection, split, right)
    return Explanation(
        left,
        right,
        tuple(chain(left, right, edges)),
        tuple(between),
        places,
        None if split is None else split.name,
    )


def read_edges(
    connection: Connection, snapshot: str | None = None
) -> tuple[FrozenSplit | None, list[Edge]]:
    """Read the edges of a snapshot's frozen split, else of its latest plan; rulings applied."""
    snapshot_id, _ = find_snapshot(connection, snapshot)
    split = split_of_snapshot(connection, snapshot_id)
    if split is None:
        edges = draft_edges(connection, snapshot_id)
    else:
        edges = frozen_edges(connection, split.id)
    return split, ruled(edges, rulings_of_edges(connection))


def frozen_edges(connection: Connection, split_id: int) -> list[Edge]:
    """Read the edges as they were frozen, or came later."""
    return edges_in(connection, _EDGE, _EDGE.c.split_id == split_id)


def chain(left: str, right: str, edges: Iterable[Edge]) -> Sequence[Edge]:
    """Give the fewest links that lead from one node to another; none where nothing does."""
    beside: dict[str, list[tuple[str, Edge]]] = {}
    for edge in edges:
        if edge.action is EdgeAction.LINK:
            beside.setdefault(edge.left, []).append((edge.right, edge))
            beside.setdefault(edge.right, []).append((edge.left, edge))
    came: dict[str, tuple[str, Edge] | None] = {left: None}
    waiting = deque([left])
    while waiting and right not in came:
        node = waiting.popleft()
        for near, edge in beside.get(node, ()):
            if near not in came:
                came[near] = (node, edge)
                waiting.append(near)
    found = []
    at = came.get(right)
    while at is not None:
        found.append(at[1])
        at = came[at[0]]
    return found[::-1]


def _place(connection: Connection, split: FrozenSplit, node: str) -> Place | None:
    kind, _, name = node.partition(":")
    where = table(Document) if kind == "document" else table(Query)
    key = connection.execute(sa.select(where.c.id).where(where.c.external_id == name)).scalar_one()
    membership = read_membership(connection, split)
    return (membership.documents if kind == "document" else membership.queries).get(int(key))
