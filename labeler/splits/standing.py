"""What a frozen split holds by now, by the names of its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.corpus import Document, Snapshot
from labeler.records.queries import Query
from labeler.records.splits import (
    Split,
    SplitExtension,
    SplitGroup,
    SplitLeaf,
    SplitMember,
    SplitPart,
)
from labeler.sealing.split_in_force import FrozenSplit, read_membership
from labeler.splits.content import Content, SplitDocument, read_content
from labeler.splits.edges import document_node, query_node

__all__ = ["Standing", "absent_documents", "read_standing"]

_GROUP, _MEMBER, _LEAF = table(SplitGroup), table(SplitMember), table(SplitLeaf)
_SPLIT, _EXTENSION = table(Split), table(SplitExtension)
_DOCUMENT, _QUERY = table(Document), table(Query)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a split holds.

    Attributes:
        groups: By node, the number of its group.
        parts: By number of a group, its part.
        digests: By document, as a node, the digest that the manifest states.
        quarantined: Nodes that have no part.
    """

    groups: Mapping[str, int]
    parts: Mapping[int, SplitPart]
    digests: Mapping[str, str]
    quarantined: frozenset[str]

    def part(self, node: str) -> SplitPart | None:
        """Give the part of a node; None when it has none."""
        number = self.groups.get(node)
        return None if number is None or node in self.quarantined else self.parts[number]


def read_standing(connection: Connection, split: FrozenSplit) -> Standing:
    """Read what a split holds."""
    statement = (
        sa.select(
            _DOCUMENT.c.external_id.label("document"),
            _QUERY.c.external_id.label("query"),
            _GROUP.c.number,
            _GROUP.c.part,
            _LEAF.c.digest,
        )
        .select_from(_MEMBER)
        .join(_GROUP, _GROUP.c.id == _MEMBER.c.group_id)
        .outerjoin(_LEAF, _LEAF.c.member_id == _MEMBER.c.id)
        .outerjoin(_DOCUMENT, _DOCUMENT.c.id == _MEMBER.c.document_id)
        .outerjoin(_QUERY, _QUERY.c.id == _MEMBER.c.query_id)
        .where(_GROUP.c.split_id == split.id)
    )
    groups, digests = {}, {}
    parts: dict[int, SplitPart] = {}
    for document, query, number, part, digest in connection.execute(statement):
        node = document_node(document) if query is None else query_node(query)
        groups[node] = int(number)
        parts[int(number)] = SplitPart(part)
        if query is None and digest is not None:
            digests[node] = str(digest)
    return Standing(groups, parts, digests, _quarantined(connection, split))


def _quarantined(connection: Connection, split: FrozenSplit) -> frozenset[str]:
    membership = read_membership(connection, split)
    found = set()
    for where, keys, node in (
        (_DOCUMENT, membership.quarantined_documents, document_node),
        (_QUERY, membership.quarantined_queries, query_node),
    ):
        names = sa.select(where.c.external_id).where(where.c.id.in_(sorted(keys)))
        found |= {node(str(name)) for name in connection.execute(names).scalars()}
    return frozenset(found)


def absent_documents(
    connection: Connection, split: FrozenSplit, content: Content
) -> list[SplitDocument]:
    """Read the split's documents that a snapshot lacks, as the last one that had them."""
    there = {one.name for one in content.documents}
    snapshot = table(Snapshot)
    first = sa.select(_SPLIT.c.snapshot_id).where(_SPLIT.c.id == split.id)
    later = sa.select(_EXTENSION.c.snapshot_id).where(_EXTENSION.c.split_id == split.id)
    names = connection.execute(
        sa.select(snapshot.c.name)
        .where(snapshot.c.id.in_(first.union(later)), snapshot.c.id != content.snapshot_id)
        .order_by(snapshot.c.id)
    ).scalars()
    found: dict[str, SplitDocument] = {}
    for name in names.all():
        documents = read_content(connection, name).documents
        found |= {one.name: one for one in documents if one.name not in there}
    return list(found.values())
