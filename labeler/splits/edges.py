"""Edges: why two documents or queries belong together, or may."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from labeler.records.splits import EdgeAction

__all__ = [
    "SETTLED_BY_PEOPLE",
    "Cause",
    "Edge",
    "Rulings",
    "document_node",
    "edge_between",
    "query_node",
    "ruled",
    "star",
]


class Cause(StrEnum):
    """What an edge rests on."""

    CONVERSATION = "conversation"
    TEMPLATE = "template"
    ENTITY = "entity"
    SOURCE_DOCUMENT = "source_document"
    SUPERSEDES = "supersedes"
    """A later version of the same source document."""
    EXACT_TEXT = "exact_text"
    NORMALISED_TEXT = "normalised_text"
    EXACT_PASSAGE = "exact_passage"
    NORMALISED_PASSAGE = "normalised_passage"
    NEAR_DOCUMENT = "near_document"
    NEAR_PASSAGE = "near_passage"
    NEAR_QUERY = "near_query"
    SEMANTIC_PASSAGE = "semantic_passage"
    SEMANTIC_QUERY = "semantic_query"
    RULING = "ruling"
    """A person said so, and nothing else did."""


SETTLED_BY_PEOPLE = frozenset(
    {
        Cause.NEAR_DOCUMENT,
        Cause.NEAR_PASSAGE,
        Cause.NEAR_QUERY,
        Cause.SEMANTIC_PASSAGE,
        Cause.SEMANTIC_QUERY,
    }
)
"""Likeness is a guess that a person can settle; provenance and equal texts are facts."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Why two nodes belong together, or may.

    Attributes:
        left: A node, such as ``document:ID`` or ``query:ID``; before ``right`` in sorted order.
        right: The other node.
        cause: What it rests on.
        score: Containment or cosine, in [0, 1]; None where the cause is a fact.
        evidence: In words, without any text of either side.
        action: What it does.
    """

    left: str
    right: str
    cause: Cause
    score: float | None
    evidence: str
    action: EdgeAction

    @property
    def key(self) -> tuple[str, str, Cause]:
        """What makes it one edge: its ends and its cause."""
        return self.left, self.right, self.cause


def document_node(name: str) -> str:
    """Name a document as a node."""
    return f"document:{name}"


def query_node(name: str) -> str:
    """Name a query as a node."""
    return f"query:{name}"


def edge_between(
    one: str,
    other: str,
    cause: Cause,
    evidence: str,
    *,
    action: EdgeAction = EdgeAction.LINK,
    score: float | None = None,
) -> Edge:
    """Make an edge with its ends in order."""
    left, right = sorted((one, other))
    return Edge(left, right, cause, score, evidence, action)


def star(
    nodes: Iterable[str], cause: Cause, evidence: str, action: EdgeAction = EdgeAction.LINK
) -> Iterator[Edge]:
    """Tie nodes that share something to the first of them: n - 1 edges, not n * n."""
    first, *rest = sorted(set(nodes))
    for node in rest:
        yield Edge(first, node, cause, None, evidence, action)


Rulings = Mapping[tuple[str, str], tuple[EdgeAction, str]]
"""By left and right end, what people ruled, and in words who did and why."""


def ruled(edges: Iterable[Edge], rulings: Rulings) -> list[Edge]:
    """Apply what people said: of two ends, every edge of likeness does what was ruled.

    Two ends that were linked without an edge between them get one.

    Args:
        edges: The edges as they were found.
        rulings: What people said.
    """
    found = []
    known = set()
    for edge in edges:
        known.add((edge.left, edge.right))
        ruling = rulings.get((edge.left, edge.right))
        if ruling is None or edge.cause not in SETTLED_BY_PEOPLE:
            found.append(edge)
        else:
            action, who = ruling
            found.append(replace(edge, action=action, evidence=f"{edge.evidence}; {who}"))
    for (left, right), (action, who) in sorted(rulings.items()):
        if action is EdgeAction.LINK and (left, right) not in known:
            found.append(Edge(left, right, Cause.RULING, None, who, action))
    return found
