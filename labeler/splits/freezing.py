"""Freezing: a plan becomes a split, with its manifest and every edge."""

from __future__ import annotations

import json
from dataclasses import dataclass

import sqlalchemy as sa

from labeler.errors import ConflictError, LabelerError, NotFoundError
from labeler.records import table
from labeler.records.splits import Split, SplitGroup, SplitLeaf, SplitMember
from labeler.sealing.split_in_force import FrozenSplit, find_split, split_of_snapshot
from labeler.splits.content import read_content
from labeler.splits.manifest import group_digest, manifest_root
from labeler.splits.plan import Plan
from labeler.splits.storing import add_edges, add_groups, group_keys
from labeler.store.bulk import insert_rows
from labeler.store.database import Store, WriteTransaction

__all__ = ["Frozen", "OversizedGroupError", "freeze_split"]

_SPLIT, _GROUP, _MEMBER = table(Split), table(SplitGroup), table(SplitMember)
_LEAF = table(SplitLeaf)


class OversizedGroupError(LabelerError):
    """A group is too large to be dealt to a part as a whole."""


@dataclass(frozen=True, slots=True)
class Frozen:
    """A frozen split, and whether it was there already."""

    split: FrozenSplit
    is_new: bool


def freeze_split(
    store: Store, name: str, plan: Plan, *, instead_of: str | None = None, reason: str = ""
) -> Frozen:
    """Store a plan as a split. Doing the same again changes nothing.

    Args:
        store: The open database.
        name: The split's name.
        plan: The plan.
        instead_of: The split of this snapshot whose place it takes. What was opened or shown to a
            generator under that one stays so, and the check says where it is sealed now.
        reason: Why it takes its place.

    Raises:
        OversizedGroupError: When a group is too large.
        ConflictError: When the name is taken by another split, the snapshot has one already, or
            the project has changed since the plan was made.
    """
    if not plan.can_freeze:
        group = plan.oversized[0]
        raise OversizedGroupError(
            f"{len(plan.oversized):,} groups are too large; the largest has {group.documents:,} "
            f"documents, and {group.allowed:,.1f} are allowed (5% of all, half the smallest part)",
            hint="settle the edges that bridge it: labeler split settle A B --ignore --why '...'",
        )
    scheme = dict(plan.scheme)
    if instead_of is not None:
        scheme |= {"instead_of": instead_of, "reason": reason}
    stored = json.dumps(scheme, sort_keys=True, ensure_ascii=False)
    leaves = {one.node: one.digest for one in plan.content.documents}
    leaves |= {one.node: one.digest for one in plan.content.queries}
    digests = [group_digest({node: leaves[node] for node in one.members}) for one in plan.groups]
    root = manifest_root(
        plan.seed,
        stored,
        [
            (group.number, str(group.part), digest)
            for group, digest in zip(plan.groups, digests, strict=True)
        ],
    )
    with store.write("split freeze") as tx:
        known = _known(tx, name)
        if known is not None and _first_root(tx, known.id) == root:
            return Frozen(known, is_new=False)
        _refuse(tx, name, known, plan, instead_of)
        split = tx.connection.execute(
            sa.insert(_SPLIT)
            .values(
                name=name,
                snapshot_id=plan.content.snapshot_id,
                seed=plan.seed,
                scheme=stored,
                root_digest=root,
                revision_id=tx.revision_id,
            )
            .returning(_SPLIT.c.id)
        ).scalar_one()
        _store(tx, int(split), plan, digests, leaves)
        return Frozen(find_split(tx.connection, name=name), is_new=True)


def _known(tx: WriteTransaction, name: str) -> FrozenSplit | None:
    try:
        return find_split(tx.connection, name=name)
    except NotFoundError:
        return None


def _first_root(tx: WriteTransaction, key: int) -> str:
    statement = sa.select(_SPLIT.c.root_digest).where(_SPLIT.c.id == key)
    return str(tx.connection.execute(statement).scalar_one())


def _refuse(
    tx: WriteTransaction,
    name: str,
    known: FrozenSplit | None,
    plan: Plan,
    instead_of: str | None,
) -> None:
    if known is not None:
        raise ConflictError(
            f"there is a frozen split '{name}' of other content",
            hint="`labeler split extend` brings what came later; another name makes another split",
        )
    other = split_of_snapshot(tx.connection, plan.content.snapshot_id)
    if other is None:
        newest = tx.connection.execute(sa.select(sa.func.max(_SPLIT.c.id))).scalar()
        other = None if newest is None else find_split(tx.connection)
    if other is not None and other.name != instead_of:
        raise ConflictError(
            f"this project has the frozen split '{other.name}' (snapshot '{other.snapshot}'): a "
            "second one would unseal what it seals",
            hint="`labeler split extend` brings later documents and queries; --instead-of "
            f"{other.name} --why '...' starts anew, and is stated from then on",
        )
    if read_content(tx.connection, plan.content.snapshot).digest != plan.content.digest:
        raise ConflictError(
            "corpus or queries have changed since the plan was made", hint="run it again"
        )


def _store(
    tx: WriteTransaction, split: int, plan: Plan, digests: list[str], leaves: dict[str, str]
) -> None:
    numbered = zip(plan.groups, digests, strict=True)
    add_groups(tx, split, ((one.number, str(one.part), digest) for one, digest in numbered))
    groups = group_keys(tx.connection, split)
    documents = {one.node: one.key for one in plan.content.documents}
    queries = {one.node: one.key for one in plan.content.queries}
    insert_rows(
        tx.connection,
        _MEMBER,
        ["group_id", "document_id", "query_id"],
        (
            (groups[group.number], documents.get(node), queries.get(node))
            for group in plan.groups
            for node in group.members
        ),
    )
    nodes = {("d", key): node for node, key in documents.items()}
    nodes |= {("q", key): node for node, key in queries.items()}
    members = tx.connection.execute(
        sa.select(_MEMBER.c.id, _MEMBER.c.document_id, _MEMBER.c.query_id)
        .join(_GROUP, _GROUP.c.id == _MEMBER.c.group_id)
        .where(_GROUP.c.split_id == split)
    ).all()
    insert_rows(
        tx.connection,
        _LEAF,
        ["member_id", "digest"],
        (
            (key, leaves[nodes["d", document] if query is None else nodes["q", query]])
            for key, document, query in members
        ),
    )
    add_edges(tx, split, plan.edges)
