"""Later documents and queries: nothing moves; what comes joins a group, makes one, or waits."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from labeler.errors import ConflictError
from labeler.providers.embeddings import Embedder
from labeler.records.splits import EdgeAction, SplitPart
from labeler.sealing.split_in_force import (
    FrozenSplit,
    NewMember,
    append_members,
    find_split,
)
from labeler.splits.assigning import DEFAULT_SHARES, assign
from labeler.splits.content import Content, read_content
from labeler.splits.edges import Edge, ruled
from labeler.splits.explaining import frozen_edges
from labeler.splits.grouping import groups_of
from labeler.splits.manifest import group_digest
from labeler.splits.plan import find_edges, sized
from labeler.splits.rulings import rulings_of_edges
from labeler.splits.standing import Standing, absent_documents, read_standing
from labeler.splits.storing import add_edges, add_groups, group_keys
from labeler.store.database import Store

__all__ = ["Extension", "Placement", "extend_split", "place_later"]


@dataclass(frozen=True, slots=True)
class Placement:
    """Where later nodes go.

    Attributes:
        joining: By node, the number of the group that it joins.
        making: Groups of nodes that are tied to nothing that was there.
        quarantined: By node, the numbers of the groups that it would join.
    """

    joining: Mapping[str, int]
    making: Sequence[tuple[str, ...]]
    quarantined: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Extension:
    """What came to a frozen split.

    Attributes:
        split: The split as it stands now.
        joined: How many nodes joined a group that was there.
        made: How many groups were made.
        parts: How many later documents and queries each part got.
        quarantined: By node, the groups that it would join.
        absent: Documents that the new snapshot no longer has.
        crossing: Links between two that were there before, in different parts, which the later
            texts or a better comparison brought to light; nothing moves, the check reports them.
    """

    split: FrozenSplit
    joined: int = 0
    made: int = 0
    parts: Mapping[SplitPart, int] = field(default_factory=dict)
    quarantined: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    absent: int = 0
    crossing: tuple[Edge, ...] = ()


def place_later(
    later: Iterable[str],
    known: Mapping[str, int],
    edges: Sequence[Edge],
    changed: frozenset[str] = frozenset(),
) -> Placement:
    """Decide where later nodes go.

    What is tied to two groups is quarantined. Where a chain of later nodes ties two groups and no
    single node does, all of the chain is.

    Args:
        later: Nodes that the split doesn't hold yet.
        known: By node that it holds, the number of its group.
        edges: Edges among all of them; only links count.
        changed: Known nodes whose text is another now: one that is now tied to another group is
            quarantined, since it can't move.
    """
    links = [edge for edge in edges if edge.action is EdgeAction.LINK]
    waiting = set(later)
    tied: dict[str, set[int]] = defaultdict(set)
    away: dict[str, set[int]] = {}
    for edge in links:
        for node, end in ((edge.left, edge.right), (edge.right, edge.left)):
            if node in waiting and end in known:
                tied[node].add(known[end])
            elif node in changed and end in known and known[end] != known[node]:
                away.setdefault(node, {known[node]}).add(known[end])
    away |= {node: groups for node, groups in tied.items() if len(groups) > 1}
    waiting -= set(away)
    joining: dict[str, int] = {}
    making = []
    for members in groups_of(sorted(waiting), links):
        groups = set().union(*(tied[node] for node in members if node in tied))
        if not groups:
            making.append(members)
        elif len(groups) == 1:
            joining |= dict.fromkeys(members, next(iter(groups)))
        else:
            away |= dict.fromkeys(members, groups)
    return Placement(joining, making, {node: tuple(sorted(away[node])) for node in sorted(away)})


def extend_split(
    store: Store,
    *,
    name: str | None = None,
    snapshot: str | None = None,
    embedder: Embedder | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Extension:
    """Bring later documents and queries into a frozen split. Doing it again changes nothing.

    Args:
        store: The open database.
        name: The split; the only one by default.
        snapshot: The snapshot that it is to cover, a later one or the same for later queries; by
            default the one that it covers.
        embedder: Compares meanings; None leaves that out.
        progress: Is told what is being done.

    Raises:
        NotFoundError: When there is no such split or snapshot.
    """
    with store.read() as connection:
        split = find_split(connection, name=name)
        content = read_content(connection, snapshot or split.snapshot)
        absent = absent_documents(connection, split, content)
        standing = read_standing(connection, split)
        frozen = {edge.key for edge in frozen_edges(connection, split.id)}
        rulings = rulings_of_edges(connection)
    everything = replace(
        content, documents=sorted([*content.documents, *absent], key=lambda one: one.name)
    )
    digests = {one.node: one.digest for one in everything.documents}
    nodes = [*digests, *(one.node for one in everything.queries)]
    later = {node for node in nodes if node not in standing.groups} - standing.quarantined
    changed = {
        node for node, leaf in standing.digests.items() if digests.get(node, leaf) != leaf
    } - standing.quarantined
    if not later and not changed and content.snapshot_id == split.snapshot_id:
        return Extension(split, absent=len(absent))
    edges = ruled(find_edges(everything, embedder, progress), rulings)
    placement = place_later(later, standing.groups, edges, frozenset(changed))
    moved = later | changed
    fresh = [
        edge
        for edge in edges
        if edge.key not in frozen and not moved.isdisjoint((edge.left, edge.right))
    ]
    extension = _store(store, split, everything, standing, placement, fresh)
    return replace(
        extension,
        absent=len(absent),
        crossing=tuple(_crossing(edges, standing, placement)),
    )


def _crossing(edges: Sequence[Edge], standing: Standing, placement: Placement) -> Iterator[Edge]:
    for edge in edges:
        parts = {standing.part(edge.left), standing.part(edge.right)}
        away = {edge.left, edge.right} & set(placement.quarantined)
        if edge.action is EdgeAction.LINK and None not in parts and len(parts) > 1 and not away:
            yield edge


def _store(
    store: Store,
    split: FrozenSplit,
    content: Content,
    standing: Standing,
    placement: Placement,
    fresh: Sequence[Edge],
) -> Extension:
    parts = _new_parts(split, content, standing, placement)
    documents = {one.node: (one.key, one.digest) for one in content.documents}
    queries = {one.node: (one.key, one.digest) for one in content.queries}
    with store.write("split extend") as tx:
        if find_split(tx.connection, name=split.name).root_digest != split.root_digest:
            raise ConflictError("the split was extended in the meanwhile", hint="run it again")
        numbers = dict(placement.joining)
        first = max(standing.parts, default=0) + 1
        for number, members in enumerate(placement.making, first):
            numbers |= dict.fromkeys(members, number)
        leaves = {node: digest for node, (_, digest) in (documents | queries).items()}
        made = [
            (number, str(parts[number]), group_digest({node: leaves[node] for node in members}))
            for number, members in enumerate(placement.making, first)
        ]
        add_groups(tx, split.id, made)
        keys = group_keys(tx.connection, split.id)
        members_to_add = [
            NewMember(
                group_id=keys[number],
                name=node,
                digest=leaves[node],
                document_id=documents[node][0] if node in documents else None,
                query_id=queries[node][0] if node in queries else None,
            )
            for node, number in sorted(numbers.items())
        ]
        append_members(
            tx,
            split,
            members_to_add,
            snapshot_id=content.snapshot_id,
            quarantined=[
                (
                    documents[node][0] if node in documents else None,
                    queries[node][0] if node in queries else None,
                    groups,
                )
                for node, groups in placement.quarantined.items()
            ],
        )
        add_edges(tx, split.id, fresh)
        now = find_split(tx.connection, name=split.name)
    counted = Counter(standing.parts.get(number) or parts[number] for number in numbers.values())
    return Extension(
        now, len(placement.joining), len(placement.making), counted, placement.quarantined
    )


def _new_parts(
    split: FrozenSplit, content: Content, standing: Standing, placement: Placement
) -> dict[int, SplitPart]:
    """Give the parts of the groups that are made, by number; what is there counts."""
    there: dict[int, list[str]] = defaultdict(list)
    nodes = {one.node for one in content.documents} | {one.node for one in content.queries}
    for node, number in standing.groups.items():
        if node in nodes:
            there[number].append(node)
    taken: dict[tuple[str, SplitPart], tuple[int, int]] = {}
    known = sorted(there)
    for number, group in zip(
        known, sized(content, [tuple(there[one]) for one in known]), strict=True
    ):
        key = (group.domain, standing.parts[number])
        documents, queries = taken.get(key, (0, 0))
        taken[key] = (documents + group.documents, queries + group.queries)
    stated = split.scheme["shares"]
    shares = (
        {part: float(stated[part.value]) for part in SplitPart}
        if isinstance(stated, Mapping)
        else dict(DEFAULT_SHARES)
    )
    chosen = assign(sized(content, placement.making), shares, split.seed, taken)
    first = max(standing.parts, default=0) + 1
    return dict(enumerate(chosen, first))
