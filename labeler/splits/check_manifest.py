"""The second look at a manifest: every digest told anew from texts and leaves."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.splits.check_records import Crossing, Leaf

__all__ = ["broken_manifest", "changed_texts"]

_DOCUMENT_TEXTS = """
    SELECT d.external_id, t.body FROM snapshot_chunk c
    JOIN document d ON d.id = c.document_id JOIN text t ON t.id = c.text_id
    WHERE c.snapshot_id = :snapshot ORDER BY c.document_id, c.position, c.id
"""

_EMPTY_DOCUMENTS = """
    SELECT d.external_id FROM snapshot_document s JOIN document d ON d.id = s.document_id
    WHERE s.snapshot_id = :snapshot
"""

_QUERY_TEXTS = """
    SELECT q.external_id, t.body FROM query_version v
    JOIN query q ON q.id = v.query_id JOIN text t ON t.id = v.text_id
"""


def changed_texts(connection: Connection, leaves: Sequence[Leaf]) -> list[Crossing]:
    """Give the members whose texts have another digest than the manifest states.

    What was erased can't be told and is left out.
    """
    stated: dict[int, dict[str, Leaf]] = defaultdict(dict)
    for leaf in leaves:
        stated[leaf.snapshot][leaf.node] = leaf
    wordings: dict[str, set[str | None]] = defaultdict(set)
    for name, body in connection.execute(sa.text(_QUERY_TEXTS)):
        wordings[f"query:{name}"].add(None if body is None else _sha(body))
    found = []
    for snapshot, by_node in sorted(stated.items()):
        documents = _document_digests(connection, snapshot)
        for node, leaf in by_node.items():
            possible = wordings[node] if node.startswith("query:") else documents.get(node, set())
            if leaf.digest not in possible and None not in possible:
                found.append(Crossing(node, node, leaf.part, leaf.part, "another text"))
    return found


def _document_digests(connection: Connection, snapshot: int) -> dict[str, set[str | None]]:
    passages: dict[str, list[str | None]] = {
        f"document:{name}": []
        for (name,) in connection.execute(sa.text(_EMPTY_DOCUMENTS), {"snapshot": snapshot})
    }
    for name, body in connection.execute(sa.text(_DOCUMENT_TEXTS), {"snapshot": snapshot}):
        passages[f"document:{name}"].append(None if body is None else _sha(body))
    found: dict[str, set[str | None]] = {}
    for node, digests in passages.items():
        known = [one for one in digests if one is not None]
        found[node] = {None} if len(known) < len(digests) else {_sha("\n".join(known))}
    return found


def broken_manifest(connection: Connection, split: int, leaves: Sequence[Leaf]) -> list[Crossing]:
    """Give the groups, and the roots, that the leaves don't bear out."""
    stored = connection.execute(
        sa.text("SELECT number, part, digest FROM split_group WHERE split_id = :split"),
        {"split": split},
    ).all()
    own: dict[int, list[Leaf]] = defaultdict(list)
    for leaf in leaves:
        own[leaf.group].append(leaf)
    found = []
    first_groups = []
    for number, part, digest in stored:
        began = min((leaf.extension or 0 for leaf in own[number]), default=0)
        first = {leaf.node: leaf.digest for leaf in own[number] if (leaf.extension or 0) == began}
        told = _sha(_canonical(sorted(first.items())))
        if told != digest:
            found.append(_broken(f"group:{number}", part, "another digest of the group"))
        if not began:
            first_groups.append((number, part, told))
    row = connection.execute(
        sa.text("SELECT seed, scheme, root_digest FROM split WHERE id = :split"), {"split": split}
    ).one()
    root = _sha(_canonical([row.seed, row.scheme, sorted(first_groups)]))
    if root != row.root_digest:
        found.append(_broken("manifest", "", "another root"))
    root = row.root_digest
    for key, number, stated in connection.execute(
        sa.text(
            "SELECT id, number, root_digest FROM split_extension WHERE split_id = :split "
            "ORDER BY number"
        ),
        {"split": split},
    ):
        added = sorted(
            (leaf.group, leaf.part, leaf.node, leaf.digest)
            for leaf in leaves
            if leaf.extension == key
        )
        if _sha(_canonical([root, added])) != stated:
            found.append(_broken(f"extension:{number}", "", "another root"))
        root = stated
    return found


def _broken(what: str, part: str, why: str) -> Crossing:
    return Crossing(what, what, part, part, why)


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(content: object) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
