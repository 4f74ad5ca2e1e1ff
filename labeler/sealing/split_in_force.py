"""The frozen split of a snapshot, as other stages read it: the part of each document and query.

What is quarantined has no part: it stands in no mapping here. The texts of train and dev, and
nothing else, are what `labeler.sealing.split_texts.safe_content` gives.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import ConflictError, NotFoundError
from labeler.records import table
from labeler.records.corpus import Snapshot
from labeler.records.splits import (
    Split,
    SplitExtension,
    SplitGroup,
    SplitLeaf,
    SplitMember,
    SplitPart,
    SplitQuarantine,
)
from labeler.sealing.openings import development_queries
from labeler.sealing.sealed import topic_measured
from labeler.store.bulk import insert_rows
from labeler.store.database import WriteTransaction
from labeler.store.registry import snapshots_by_name

__all__ = [
    "SAFE_PARTS",
    "FrozenSplit",
    "Membership",
    "NewMember",
    "Place",
    "append_members",
    "document_digest",
    "extension_root",
    "find_split",
    "read_membership",
    "split_of_snapshot",
]

SAFE_PARTS = (SplitPart.TRAIN, SplitPart.DEV)
"""The parts whose texts a generator may see."""

_SPLIT, _EXTENSION, _GROUP = table(Split), table(SplitExtension), table(SplitGroup)
_MEMBER, _LEAF, _QUARANTINE = table(SplitMember), table(SplitLeaf), table(SplitQuarantine)


@dataclass(frozen=True, slots=True)
class FrozenSplit:
    """A split as it was frozen, and as it stands after what came to it later.

    Attributes:
        id: Its key.
        name: Its name.
        snapshot_id: The newest snapshot that it covers.
        snapshot: The name of that snapshot.
        seed: The seed of the assignment.
        scheme: Thresholds, shares, versions of libraries, whether embeddings were used.
        root_digest: The digest of its manifest, later members included.
        revision: The revision that froze it.
    """

    id: int
    name: str
    snapshot_id: int
    snapshot: str
    seed: str
    scheme: Mapping[str, object]
    root_digest: str
    revision: int

    @property
    def topic_measured(self) -> bool:
        """Whether leakage of topics can be told: a query had a provenance key when it froze."""
        return topic_measured(self.scheme)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document or a query belongs.

    Attributes:
        group_id: The key of its group.
        group: The number of its group in the split.
        part: The part that it was frozen in.
        counts_as: The part that it counts for: dev for a sealed query that tuning has seen.
    """

    group_id: int
    group: int
    part: SplitPart
    counts_as: SplitPart


@dataclass(frozen=True, slots=True)
class Membership:
    """The place of everything that a split holds, by the keys of documents and queries."""

    documents: Mapping[int, Place]
    queries: Mapping[int, Place]
    quarantined_documents: frozenset[int]
    quarantined_queries: frozenset[int]


def split_of_snapshot(connection: Connection, snapshot_id: int) -> FrozenSplit | None:
    """Give the latest frozen split that covers a snapshot; None when there is none."""
    later = sa.select(_EXTENSION.c.split_id).where(_EXTENSION.c.snapshot_id == snapshot_id)
    statement = sa.select(_SPLIT.c.id).where(
        sa.or_(_SPLIT.c.snapshot_id == snapshot_id, _SPLIT.c.id.in_(later))
    )
    key = connection.execute(statement.order_by(_SPLIT.c.id.desc()).limit(1)).scalar()
    return None if key is None else _read(connection, int(key))


def find_split(
    connection: Connection, *, name: str | None = None, snapshot: str | None = None
) -> FrozenSplit:
    """Find a frozen split: by its name, by its snapshot, or the only one that there is.

    Raises:
        NotFoundError: When there is none; the hint says how to make one.
    """
    if name is not None:
        row = connection.execute(sa.select(_SPLIT.c.id).where(_SPLIT.c.name == name)).scalar()
        if row is None:
            raise NotFoundError(f"there is no frozen split '{name}'", hint=_HOW)
        return _read(connection, int(row))
    if snapshot is not None:
        key = snapshots_by_name(connection).get(snapshot)
        if key is None:
            raise NotFoundError(
                f"there is no snapshot '{snapshot}'", hint="`labeler corpus list` names them"
            )
        found = split_of_snapshot(connection, key)
        if found is None:
            raise NotFoundError(f"the snapshot '{snapshot}' has no frozen split", hint=_HOW)
        return found
    newest = connection.execute(sa.select(sa.func.max(_SPLIT.c.id))).scalar()
    if newest is None:
        raise NotFoundError("there is no frozen split", hint=_HOW)
    return _read(connection, int(newest))


_HOW = "`labeler split plan` shows what a split would be; `labeler split freeze NAME` makes it"


def _read(connection: Connection, key: int) -> FrozenSplit:
    split = connection.execute(sa.select(_SPLIT).where(_SPLIT.c.id == key)).one()
    last = connection.execute(
        sa.select(_EXTENSION.c.snapshot_id, _EXTENSION.c.root_digest)
        .where(_EXTENSION.c.split_id == key)
        .order_by(_EXTENSION.c.number.desc())
        .limit(1)
    ).first()
    snapshot_id = split.snapshot_id if last is None else last.snapshot_id
    snapshot = table(Snapshot)
    name = connection.execute(
        sa.select(snapshot.c.name).where(snapshot.c.id == snapshot_id)
    ).scalar_one()
    return FrozenSplit(
        id=key,
        name=split.name,
        snapshot_id=snapshot_id,
        snapshot=name,
        seed=split.seed,
        scheme=json.loads(split.scheme),
        root_digest=split.root_digest if last is None else last.root_digest,
        revision=split.revision_id,
    )


def read_membership(connection: Connection, split: FrozenSplit) -> Membership:
    """Read the place of each document and query of a split."""
    statement = (
        sa.select(
            _MEMBER.c.document_id, _MEMBER.c.query_id, _GROUP.c.id, _GROUP.c.number, _GROUP.c.part
        )
        .join(_GROUP, _GROUP.c.id == _MEMBER.c.group_id)
        .where(_GROUP.c.split_id == split.id)
        .order_by(_MEMBER.c.id)
    )
    away_documents, away_queries = _quarantined(connection, split)
    tuned = development_queries(connection)
    documents: dict[int, Place] = {}
    queries: dict[int, Place] = {}
    for document, query, group_id, number, named in connection.execute(statement):
        part = SplitPart(named)
        if document is not None and document not in away_documents:
            documents[document] = Place(group_id, number, part, part)
        elif query is not None and query not in away_queries:
            counts_as = SplitPart.DEV if query in tuned and part is SplitPart.TEST else part
            queries[query] = Place(group_id, number, part, counts_as)
    return Membership(documents, queries, frozenset(away_documents), frozenset(away_queries))


def _quarantined(connection: Connection, split: FrozenSplit) -> tuple[set[int], set[int]]:
    statement = (
        sa.select(_QUARANTINE.c.document_id, _QUARANTINE.c.query_id)
        .join(_EXTENSION, _EXTENSION.c.id == _QUARANTINE.c.extension_id)
        .where(_EXTENSION.c.split_id == split.id)
    )
    rows = connection.execute(statement).all()
    documents = {int(row.document_id) for row in rows if row.document_id is not None}
    return documents, {int(row.query_id) for row in rows if row.query_id is not None}


@dataclass(frozen=True, slots=True)
class NewMember:
    """A query or a document that comes to a group of a frozen split.

    Attributes:
        group_id: The group's key.
        name: ``query:ID`` or ``document:ID``, by the id in files.
        digest: The digest of its text: `text_digest` of a query's, `document_digest` of a document.
        document_id: The document's key, where it is one.
        query_id: The query's key, where it is one.
    """

    group_id: int
    name: str
    digest: str
    document_id: int | None = None
    query_id: int | None = None


def append_members(
    tx: WriteTransaction,
    split: FrozenSplit,
    members: Sequence[NewMember],
    *,
    snapshot_id: int | None = None,
    quarantined: Sequence[tuple[int | None, int | None, Sequence[int]]] = (),
) -> int:
    """Append later members to a frozen split, and give the key of the extension.

    Nothing that is there moves. A generated question that became a query goes to its source's
    group by this.

    Args:
        tx: The write transaction.
        split: The split, as it stands now.
        members: What comes to it; at least one, unless something is quarantined or the snapshot
            is a new one.
        snapshot_id: The snapshot that it covers from now on; as before by default.
        quarantined: Document key, query key (one of the two), and the groups it would join.

    Raises:
        ConflictError: When a member is in the split already.
    """
    known = read_membership(tx.connection, split)
    for one in members:
        if one.document_id in known.documents or one.query_id in known.queries:
            raise ConflictError(f"{one.name} is in the split '{split.name}' already")
    root = _read(tx.connection, split.id).root_digest
    number = tx.connection.execute(
        sa.select(sa.func.max(_EXTENSION.c.number)).where(_EXTENSION.c.split_id == split.id)
    ).scalar()
    groups = {
        key: (number, str(part))
        for key, number, part in tx.connection.execute(
            sa.select(_GROUP.c.id, _GROUP.c.number, _GROUP.c.part).where(
                _GROUP.c.split_id == split.id
            )
        )
    }
    leaves = [(*groups[one.group_id], one.name, one.digest) for one in members]
    statement = sa.insert(_EXTENSION).values(
        split_id=split.id,
        number=(number or 0) + 1,
        snapshot_id=split.snapshot_id if snapshot_id is None else snapshot_id,
        root_digest=extension_root(root, leaves),
        revision_id=tx.revision_id,
    )
    key = int(tx.connection.execute(statement.returning(_EXTENSION.c.id)).scalar_one())
    for one in members:
        row = sa.insert(_MEMBER).values(
            group_id=one.group_id, document_id=one.document_id, query_id=one.query_id
        )
        member = tx.connection.execute(row.returning(_MEMBER.c.id)).scalar_one()
        leaf = sa.insert(_LEAF).values(member_id=member, digest=one.digest, extension_id=key)
        tx.connection.execute(leaf)
    insert_rows(
        tx.connection,
        _QUARANTINE,
        ["extension_id", "document_id", "query_id", "groups"],
        [(key, document, query, json.dumps(list(to))) for document, query, to in quarantined],
    )
    return key


def document_digest(text_digests: Sequence[str]) -> str:
    """Digest a document: the digests of its passages' texts, in their order."""
    return hashlib.sha256("\n".join(text_digests).encode()).hexdigest()


def extension_root(before: str, leaves: Sequence[tuple[int, str, str, str]]) -> str:
    """Digest the manifest before an extension together with the leaves that it adds.

    Args:
        before: The root digest before.
        leaves: Group number, part, name and text digest of each new member, in any order.
    """
    content = json.dumps([before, sorted(leaves)], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
