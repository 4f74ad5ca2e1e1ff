"""Freeze a split by hand, for tests of what stands on one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import sqlalchemy as sa

from labeler.records import table
from labeler.records.corpus import Document, Snapshot
from labeler.records.queries import Query
from labeler.records.splits import Split, SplitGroup, SplitMember
from labeler.store.database import Store

Groups = Mapping[int, tuple[str, list[str], list[str]]]
"""By the number of a group: its part, and the ids of its documents and queries."""


def freeze(store: Store, groups: Groups, *, name: str = "v1") -> int:
    """Freeze the newest snapshot's split as the groups say; give its key."""
    with store.write("freeze") as tx:
        connection = tx.connection
        snapshot = connection.execute(sa.select(sa.func.max(table(Snapshot).c.id))).scalar_one()
        keys = {}
        for kind, record in (("document", Document), ("query", Query)):
            named = table(record)
            rows = connection.execute(sa.select(named.c.external_id, named.c.id))
            keys[kind] = {str(one): int(key) for one, key in rows}
        content = repr(sorted((number, *group) for number, group in groups.items()))
        statement = sa.insert(table(Split)).values(
            name=name,
            snapshot_id=snapshot,
            seed="0",
            scheme="{}",
            root_digest=hashlib.sha256(content.encode()).hexdigest(),
            revision_id=tx.revision_id,
        )
        split = int(connection.execute(statement.returning(table(Split).c.id)).scalar_one())
        for number, (part, documents, queries) in groups.items():
            row = sa.insert(table(SplitGroup)).values(
                split_id=split, number=number, part=part, digest=str(number)
            )
            group = connection.execute(row.returning(table(SplitGroup).c.id)).scalar_one()
            for kind, names in (("document", documents), ("query", queries)):
                for one in names:
                    member = {"document_id": None, "query_id": None, f"{kind}_id": keys[kind][one]}
                    connection.execute(
                        sa.insert(table(SplitMember)).values(group_id=group, **member)
                    )
    return split
