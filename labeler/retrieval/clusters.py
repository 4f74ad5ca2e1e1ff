"""Clusters of queries: what has to be resampled together, since it has one source.

Two queries that share a conversation, a template, an entity or a source document are one cluster,
and so are two that are joined by others in between. Likeness of texts makes no cluster; it only
keeps queries in one split.
"""

from __future__ import annotations

from collections.abc import Iterable

from labeler.retrieval.query_facts import GROUP_KEYS, QueryFacts

__all__ = ["clusters_of", "connected"]


def clusters_of(queries: Iterable[QueryFacts]) -> dict[int, int]:
    """Give each query's cluster, by the queries' keys.

    A cluster is named by its lowest query. A query without provenance keys is one of its own. Pass
    every query of the project: one that isn't evaluated can still join two that are.
    """
    known = list(queries)
    first_with: dict[tuple[str, str], int] = {}
    links: list[tuple[int, int]] = []
    for query in known:
        for name in GROUP_KEYS:
            value = query.group_keys.get(name)
            if value:
                links.append((first_with.setdefault((name, value), query.key), query.key))
    return connected([query.key for query in known], links)


def connected(nodes: Iterable[int], links: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Give each node's connected component, named by its lowest node.

    Args:
        nodes: The nodes; every end of a link is among them.
        links: Pairs of nodes that belong together.
    """
    parent = {node: node for node in nodes}
    for one, other in links:
        low, high = sorted((_root(parent, one), _root(parent, other)))
        parent[high] = low
    return {node: _root(parent, node) for node in parent}


def _root(parent: dict[int, int], node: int) -> int:
    while parent[node] != node:
        # Each step halves the way for whoever asks next.
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node
