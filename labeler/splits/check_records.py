"""The second look at a frozen split, by SQL: what stands in two parts, which links cross.

Nothing here is shared with the code that makes groups: a mistake there has to show here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import BrokenDatabaseError

__all__ = [
    "Crossing",
    "Leaf",
    "exposed_and_sealed",
    "generated_queries",
    "in_several_places",
    "links_across",
    "parts_by_name",
    "read_leaves",
    "set_aside",
    "unplaced",
]


@dataclass(frozen=True, slots=True)
class Crossing:
    """Two things in different parts, and what ties them: ids and scores, never a text.

    Attributes:
        left: ``document:ID``, ``passage:ID`` or ``query:ID``.
        right: The other.
        left_part: The part of the one.
        right_part: The part of the other.
        cause: What ties them.
        score: Containment or cosine in [0, 1], or a number of words; None for facts.
        nodes: The nodes that the two belong to, in order, where rulings are about them.
    """

    left: str
    right: str
    left_part: str
    right_part: str
    cause: str
    score: float | None = None
    nodes: tuple[str, str] | None = None


_PLACES = """
    SELECT 'document:' || d.external_id AS node, g.part AS part, m.id AS member
    FROM split_member m JOIN split_group g ON g.id = m.group_id
    JOIN document d ON d.id = m.document_id
    WHERE g.split_id = :split AND NOT EXISTS (
        SELECT 1 FROM split_quarantine z JOIN split_extension x ON x.id = z.extension_id
        WHERE x.split_id = :split AND z.document_id = m.document_id)
    UNION ALL
    SELECT 'query:' || q.external_id, g.part, m.id
    FROM split_member m JOIN split_group g ON g.id = m.group_id
    JOIN query q ON q.id = m.query_id
    WHERE g.split_id = :split AND NOT EXISTS (
        SELECT 1 FROM split_quarantine z JOIN split_extension x ON x.id = z.extension_id
        WHERE x.split_id = :split AND z.query_id = m.query_id)
"""

_LATEST_RULING = """
    SELECT r."left", r."right", r.action FROM edge_ruling r
    WHERE NOT EXISTS (SELECT 1 FROM edge_ruling n
        WHERE n."left" = r."left" AND n."right" = r."right" AND n.id > r.id)
"""

_TIES = f"""
    WITH ruling AS ({_LATEST_RULING})
    SELECT "left", "right", cause, score FROM split_edge
    WHERE split_id = :split AND action = 'link'
    UNION ALL
    SELECT "left", "right", 'ruling', NULL FROM ruling WHERE action = 'link'
"""  # noqa: S608 - our own text

_SEVERAL = f"""
    WITH place AS ({_PLACES})
    SELECT node, COUNT(*), MIN(part), MAX(part) FROM place
    GROUP BY node HAVING COUNT(*) > 1 ORDER BY node
"""  # noqa: S608 - our own text

_UNPLACED = f"""
    WITH place AS ({_PLACES})
    SELECT 'document:' || d.external_id FROM snapshot_document s
    JOIN document d ON d.id = s.document_id
    WHERE s.snapshot_id = :snapshot AND NOT EXISTS (
        SELECT 1 FROM place WHERE place.node = 'document:' || d.external_id)
    UNION ALL
    SELECT 'query:' || q.external_id FROM query q
    WHERE EXISTS (SELECT 1 FROM query_version v WHERE v.query_id = q.id) AND NOT EXISTS (
        SELECT 1 FROM place WHERE place.node = 'query:' || q.external_id)
"""  # noqa: S608 - our own text

_EXPOSED = """
    SELECT DISTINCT d.external_id FROM exposure e
    JOIN split_member m ON m.document_id = e.document_id
    JOIN split_group g ON g.id = m.group_id
    JOIN document d ON d.id = e.document_id
    WHERE g.split_id = :split AND g.part = 'test' ORDER BY d.external_id
"""

_GENERATED = """
    SELECT 'query:' || q.external_id FROM query q JOIN query_version v ON v.query_id = q.id
    WHERE v.origin = 'synthetic' AND NOT EXISTS (SELECT 1 FROM query_version n
        WHERE n.query_id = v.query_id AND n.version > v.version)
"""

_LEAVES = """
    SELECT g.number, g.part, d.external_id, q.external_id, l.digest, l.extension_id,
        COALESCE(x.snapshot_id, s.snapshot_id)
    FROM split_member m JOIN split_group g ON g.id = m.group_id JOIN split s ON s.id = g.split_id
    LEFT JOIN split_leaf l ON l.member_id = m.id
    LEFT JOIN split_extension x ON x.id = l.extension_id
    LEFT JOIN document d ON d.id = m.document_id LEFT JOIN query q ON q.id = m.query_id
    WHERE g.split_id = :split ORDER BY m.id
"""


def parts_by_name(connection: Connection, split: int) -> dict[str, str]:
    """Give the part of each node that has one."""
    rows = connection.execute(sa.text(_PLACES), {"split": split})
    return {str(node): str(part) for node, part, _ in rows}


def in_several_places(connection: Connection, split: int) -> list[Crossing]:
    """Give what is a member more than once."""
    rows = connection.execute(sa.text(_SEVERAL), {"split": split})
    return [Crossing(node, node, one, other, "member twice") for node, _, one, other in rows]


def links_across(connection: Connection, split: int, parts: Mapping[str, str]) -> list[Crossing]:
    """Give the links, those that people made later included, whose ends are in two parts.

    Args:
        connection: A transaction's connection.
        split: The split's key.
        parts: What `parts_by_name` gives. A database would compare each tie with every place.
    """
    found = [
        Crossing(left, right, parts[left], parts[right], cause, score)
        for left, right, cause, score in connection.execute(sa.text(_TIES), {"split": split})
        if left in parts and right in parts and parts[left] != parts[right]
    ]
    return sorted(found, key=lambda one: (one.left, one.right, one.cause))


def unplaced(connection: Connection, split: int, snapshot: int) -> list[str]:
    """Name the documents of a snapshot and the queries that have no part."""
    rows = connection.execute(sa.text(_UNPLACED), {"split": split, "snapshot": snapshot})
    return sorted(str(node) for (node,) in rows)


def exposed_and_sealed(connection: Connection, split: int) -> list[Crossing]:
    """Give the sealed documents whose text ever went to a generator, under whatever split."""
    rows = connection.execute(sa.text(_EXPOSED), {"split": split})
    return [
        Crossing(f"document:{name}", "generator", "test", "train", "exposure") for (name,) in rows
    ]


def set_aside(connection: Connection) -> set[tuple[str, str]]:
    """Give the pairs of nodes whose likeness people have set aside."""
    rows = connection.execute(sa.text(_LATEST_RULING))
    return {(str(left), str(right)) for left, right, action in rows if action == "ignore"}


def generated_queries(connection: Connection) -> frozenset[str]:
    """Give the nodes of queries that a generator wrote."""
    return frozenset(str(node) for (node,) in connection.execute(sa.text(_GENERATED)))


@dataclass(frozen=True, slots=True)
class Leaf:
    """A member as the manifest states it; ``extension`` is None for what was there at first."""

    group: int
    part: str
    node: str
    digest: str
    extension: int | None
    snapshot: int


def read_leaves(connection: Connection, split: int) -> list[Leaf]:
    """Read the manifest's leaves.

    Raises:
        BrokenDatabaseError: When a member has none: something else wrote it.
    """
    found = []
    for number, part, document, query, digest, extension, snapshot in connection.execute(
        sa.text(_LEAVES), {"split": split}
    ):
        node = f"document:{document}" if query is None else f"query:{query}"
        if digest is None:
            raise BrokenDatabaseError(f"the split's member {node} stands in no manifest")
        found.append(Leaf(number, part, node, digest, extension, snapshot))
    return found
