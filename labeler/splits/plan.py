"""A plan: edges, groups and parts of a snapshot, and what stands against freezing it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version

from labeler.providers.embeddings import Embedder
from labeler.records.splits import EdgeAction, SplitPart
from labeler.splits import near_duplicates, semantic, shingles
from labeler.splits.assigning import DEFAULT_SHARES, Sized, assign
from labeler.splits.content import Content
from labeler.splits.edges import Edge, Rulings, ruled
from labeler.splits.facts import WordDigests, equal_text_edges, provenance_edges, queries_with_keys
from labeler.splits.grouping import (
    Oversized,
    documents_in,
    find_oversized,
    groups_of,
    largest_allowed,
)
from labeler.splits.proposing import BANDS, INDEXED_FREQUENCY, PERMUTATIONS

__all__ = [
    "FEW_GROUPS",
    "Plan",
    "PlannedGroup",
    "edge_scheme",
    "find_edges",
    "make_plan",
    "sized",
]

FEW_GROUPS = 40
"""Under so many groups no group can be small against the whole, so its size is a warning."""

UNEVEN_GROUPS = 60
"""Under so many groups the parts miss their shares by several percent."""


@dataclass(frozen=True, slots=True)
class PlannedGroup:
    """A group with its part; groups are numbered from 1 by their first member."""

    number: int
    part: SplitPart
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a split would be.

    Attributes:
        content: What is split.
        edges: All edges, rulings applied.
        groups: The groups with their parts.
        shares: The share that each part is to have.
        seed: The seed of the assignment.
        scheme: What is stored with the split.
        oversized: Groups that are too large.
        warnings: What a reader has to know, one sentence each.
    """

    content: Content
    edges: Sequence[Edge]
    groups: Sequence[PlannedGroup]
    shares: Mapping[SplitPart, float]
    seed: str
    scheme: Mapping[str, object]
    oversized: Sequence[Oversized]
    warnings: Sequence[str] = field(default_factory=tuple)

    @property
    def can_freeze(self) -> bool:
        """Whether no group is too large, or there are so few that each is."""
        return not self.oversized or len(self.groups) < FEW_GROUPS

    @property
    def waiting(self) -> list[Edge]:
        """The edges that wait for a person, most alike first."""
        open_edges = [edge for edge in self.edges if edge.action is EdgeAction.REVIEW]
        return sorted(open_edges, key=lambda edge: (-(edge.score or 0), edge.key))

    def counts(self) -> dict[SplitPart, Counter[str]]:
        """Count groups, documents and queries of each part."""
        found = {part: Counter({"groups": 0, "documents": 0, "queries": 0}) for part in SplitPart}
        for group in self.groups:
            documents = documents_in(group.members)
            found[group.part]["groups"] += 1
            found[group.part]["documents"] += documents
            found[group.part]["queries"] += len(group.members) - documents
        return found


def edge_scheme(embedder: Embedder | None) -> dict[str, object]:
    """Tell all that decides which edges are found: measures, thresholds, versions."""
    return {
        "words": "NFKC, casefold, letters and digits; 3-grams",
        "rare": f"in at most {shingles.COMMON_SHARE:g} of the texts, {shingles.LEAST_COMMON} at "
        "the least",
        "proposed": f"MinHash, {PERMUTATIONS} permutations, {BANDS} bands; 3-grams of up to "
        f"{INDEXED_FREQUENCY} texts",
        "containment": {"link": near_duplicates.LINK, "review": near_duplicates.REVIEW},
        "containment_without_rare": {"link": near_duplicates.WHOLE_LINK},
        "cosine": {"link": semantic.LINK, "review": semantic.REVIEW},
        "embedded": f"queries; proposed passages of a containment from {near_duplicates.PROPOSED}",
        "embedder": None
        if embedder is None
        else {"name": embedder.name, "digest": embedder.digest},
        "versions": {name: version(name) for name in ("labeler", "numpy", "rensa")},
    }


def find_edges(
    content: Content,
    embedder: Embedder | None,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Edge]:
    """Find all edges of a content, before any ruling.

    Args:
        content: Documents and queries.
        embedder: Compares meanings; None leaves that out.
        progress: Is told what is being done.
    """
    progress("comparing keys and equal texts")
    edges = list(provenance_edges(content))
    words = WordDigests.of(content)
    edges += equal_text_edges(content, words, shingles.rare_limit(len(content.documents)))
    progress("looking for near duplicates")
    near = near_duplicates.find_near_duplicates(content, words)
    edges += near.edges
    if embedder is not None:
        progress("comparing meanings")
        edges += semantic.find_semantic_edges(content.queries, near.proposed, embedder)
    by_key = {edge.key: edge for edge in edges}
    return [by_key[key] for key in sorted(by_key)]


def make_plan(
    content: Content,
    found: Sequence[Edge],
    rulings: Rulings,
    scheme: Mapping[str, object],
    *,
    seed: str = "labeler",
    shares: Mapping[SplitPart, float] = DEFAULT_SHARES,
) -> Plan:
    """Group what is linked and give each group its part."""
    edges = ruled(found, rulings)
    nodes = [one.node for one in content.documents] + [one.node for one in content.queries]
    members = groups_of(nodes, edges)
    parts = assign(sized(content, members), shares, seed)
    groups = [
        PlannedGroup(number, part, one)
        for number, (part, one) in enumerate(zip(parts, members, strict=True), 1)
    ]
    oversized = find_oversized(
        members, edges, largest_allowed(len(content.documents), shares.values())
    )
    full = {
        **scheme,
        "shares": {part.value: shares[part] for part in SplitPart},
        "documents": len(content.documents),
        "queries": len(content.queries),
        "queries_with_keys": queries_with_keys(content.queries),
        "content_digest": content.digest,
    }
    plan = Plan(content, edges, groups, shares, seed, full, oversized)
    return replace(plan, warnings=tuple(_warnings(plan)))


def sized(content: Content, groups: Sequence[tuple[str, ...]]) -> list[Sized]:
    """Describe groups for their assignment."""
    of_document = {one.node: one.domain or "" for one in content.documents}
    of_query = {one.node: one.domain or "" for one in content.queries}
    found = []
    for members in groups:
        documents = Counter(of_document[node] for node in members if node in of_document)
        queries = Counter(of_query[node] for node in members if node in of_query)
        counted = documents or queries
        domain = min(counted, key=lambda one: (-counted[one], one)) if counted else ""
        key = hashlib.sha256(json.dumps(members).encode()).hexdigest()
        found.append(Sized(key, domain, documents.total(), queries.total()))
    return found


def _warnings(plan: Plan) -> Iterator[str]:
    groups = len(plan.groups)
    if plan.oversized and groups < FEW_GROUPS:
        yield (
            f"{len(plan.oversized):,} groups have more than {plan.oversized[0].allowed:.1f} "
            f"documents; with {groups} groups in all that can't be helped"
        )
    if groups < UNEVEN_GROUPS:
        yield f"{groups} groups: the parts can miss their shares by a good deal"
    if plan.content.queries and not plan.scheme["queries_with_keys"]:
        yield (
            "topic leakage unmeasured: no query has a conversation, template, entity or source "
            "document (`labeler import queries --group` reads them)"
        )
    if plan.scheme["embedder"] is None:
        yield "no embeddings: texts that say the same in other words are not found"
    if waiting := len(plan.waiting):
        one, several = "edge waits for a person and doesn't", "edges wait for a person and don't"
        wait = one if waiting == 1 else several
        yield (
            f"{waiting:,} {wait} link until then "
            "(`labeler split edges` shows them, `labeler split settle` settles one)"
        )
