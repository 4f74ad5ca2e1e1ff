"""Groups: what links tie together; which are too large, and which edges hold those together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from labeler.records.splits import EdgeAction
from labeler.retrieval.clusters import connected
from labeler.splits.edges import Edge

__all__ = ["Bridge", "Oversized", "bridges_of", "find_oversized", "groups_of", "largest_allowed"]

LARGEST_SHARE = 0.05
"""The share of documents that a group may have."""

SHARE_OF_SMALLEST = 0.5
"""The share of the smallest part that a group may fill."""

_SHOWN_BRIDGES = 10
_SIDES = 2


@dataclass(frozen=True, slots=True)
class Bridge:
    """Edges between two nodes without which a group falls apart.

    Attributes:
        edges: All edges between the two ends.
        cut_off: How many nodes the smaller side has.
    """

    edges: tuple[Edge, ...]
    cut_off: int


@dataclass(frozen=True, slots=True)
class Oversized:
    """A group that is too large.

    Attributes:
        members: Its nodes.
        documents: How many of them are documents.
        allowed: How many documents a group may have.
        bridges: The edges without which it falls apart, the most even parting first.
        weakest: Where no single edge parts it: its edges of likeness, the weakest first.
    """

    members: tuple[str, ...]
    documents: int
    allowed: float
    bridges: tuple[Bridge, ...]
    weakest: tuple[Edge, ...]


def groups_of(nodes: Sequence[str], edges: Iterable[Edge]) -> list[tuple[str, ...]]:
    """Give the connected components of the links, each in sorted order, by their first node."""
    number = {node: place for place, node in enumerate(sorted(nodes))}
    links = [
        (number[edge.left], number[edge.right])
        for edge in edges
        if edge.action is EdgeAction.LINK and edge.left in number and edge.right in number
    ]
    found: dict[int, list[str]] = {}
    roots = connected(number.values(), links)
    for node, place in number.items():
        found.setdefault(roots[place], []).append(node)
    return [tuple(members) for _, members in sorted(found.items())]


def documents_in(members: Iterable[str]) -> int:
    """Count the documents among nodes."""
    return sum(node.startswith("document:") for node in members)


def largest_allowed(documents: int, shares: Iterable[float]) -> float:
    """Give how many documents a group may have, at least 1.

    The smaller of 5% of the documents and half of the smallest part.
    """
    smallest = min(share for share in shares if share > 0)
    return max(1.0, documents * min(LARGEST_SHARE, SHARE_OF_SMALLEST * smallest))


def find_oversized(
    groups: Iterable[tuple[str, ...]], edges: Sequence[Edge], allowed: float
) -> list[Oversized]:
    """Give the groups with more documents than allowed, largest first."""
    large = [(documents_in(one), one) for one in groups if documents_in(one) > allowed]
    links = [edge for edge in edges if edge.action is EdgeAction.LINK]
    found = []
    for documents, members in sorted(large, key=lambda one: (-one[0], one[1])):
        inside = set(members)
        own = [edge for edge in links if edge.left in inside]
        weakest = sorted((edge for edge in own if edge.score is not None), key=_strength)
        found.append(
            Oversized(
                members,
                documents,
                allowed,
                tuple(bridges_of(members, own)[:_SHOWN_BRIDGES]),
                tuple(weakest[:_SHOWN_BRIDGES]),
            )
        )
    return found


def _strength(edge: Edge) -> tuple[float, str, str]:
    return edge.score or 0.0, edge.left, edge.right


def bridges_of(members: Sequence[str], edges: Iterable[Edge]) -> list[Bridge]:
    """Find the pairs of nodes whose edges alone hold a connected group together.

    Tarjan 1974, "A note on finding the bridges of a graph"; without recursion. What cuts off a
    single node is no bridge here, since it makes the group hardly smaller.

    Returns:
        The most even parting first.
    """
    between: dict[tuple[str, str], list[Edge]] = {}
    for edge in edges:
        between.setdefault((edge.left, edge.right), []).append(edge)
    beside: dict[str, list[str]] = {node: [] for node in members}
    for left, right in between:
        beside[left].append(right)
        beside[right].append(left)
    found = [
        Bridge(tuple(between[min(pair), max(pair)]), min(below, len(members) - below))
        for pair, below in _tree_bridges(members[0], beside)
    ]
    wanted = [one for one in found if one.cut_off >= _SIDES]
    return sorted(wanted, key=lambda one: (-one.cut_off, one.edges[0].key))


def _tree_bridges(
    root: str, beside: Mapping[str, Sequence[str]]
) -> list[tuple[tuple[str, str], int]]:
    """Walk depth first; give each bridge with the number of nodes below it."""
    entered = {root: 0}
    lowest = {root: 0}
    below = {root: 1}
    found = []
    stack = [(root, "", iter(beside[root]))]
    while stack:
        node, parent, ahead = stack[-1]
        child = next(ahead, None)
        if child is None:
            stack.pop()
            if parent:
                lowest[parent] = min(lowest[parent], lowest[node])
                below[parent] += below[node]
                if lowest[node] > entered[parent]:
                    found.append(((parent, node), below[node]))
        elif child not in entered:
            entered[child] = lowest[child] = len(entered)
            below[child] = 1
            stack.append((child, node, iter(beside[child])))
        elif child != parent:
            lowest[node] = min(lowest[node], entered[child])
    return found
