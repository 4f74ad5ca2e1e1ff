"""Edges between texts that are nearly the same: proposed by hashing, verified by containment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.records.splits import EdgeAction
from labeler.splits.containment import shared_counts
from labeler.splits.content import Content
from labeler.splits.edges import Cause, Edge, edge_between
from labeler.splits.facts import WordDigests, normalised_digest
from labeler.splits.proposing import propose_pairs
from labeler.splits.shingles import Places, Shingles, rare_limit, read_shingles

__all__ = ["LINK", "REVIEW", "NearDuplicates", "Unit", "find_near_duplicates", "near_pairs"]

LINK, REVIEW = 0.5, 0.3
"""Containment of rare 3-grams from which two texts are linked, or shown to a person."""

WHOLE_LINK = 0.8
"""The same for all 3-grams of a text that has too few rare ones, such as one of many copies."""

PROPOSED = 0.1
"""Containment from which embeddings have a look at a pair, too."""

_LEAST_PASSAGE, _LEAST_QUERY = 5, 3


@dataclass(frozen=True, slots=True)
class Unit:
    """A text that is compared: whose it is, and what it is called in evidence."""

    node: str
    name: str


@dataclass(frozen=True, slots=True)
class Near:
    """A verified pair of units: how many rare 3-grams they share, of how many."""

    first: int
    second: int
    shared: int
    of: int
    is_whole: bool = False

    @property
    def score(self) -> float:
        """Containment, in [0, 1]."""
        return self.shared / self.of


@dataclass(frozen=True, slots=True)
class NearDuplicates:
    """What was found.

    Attributes:
        edges: Links and edges for review.
        proposed: Pairs of passages that were proposed and not linked, most alike first: the nodes,
            the names, and the texts.
    """

    edges: list[Edge]
    proposed: list[tuple[Unit, Unit, str, str]]


def find_near_duplicates(content: Content, words: WordDigests) -> NearDuplicates:
    """Compare documents, their passages, and queries, each with their like.

    Args:
        content: Documents and queries.
        words: The digests of their words; of those that are equal the first is compared.
    """
    units = [
        Unit(document.node, passage.name)
        for document in content.documents
        for passage in document.passages
    ]
    texts = [passage.text for document in content.documents for passage in document.passages]
    by_passage = read_shingles(texts)
    counts = [len(document.passages) for document in content.documents]
    owner = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    by_document = by_passage.merged(owner, len(counts))
    limit = rare_limit(len(counts))
    frequency = by_document.frequencies
    wholes = [Unit(document.node, "") for document in content.documents]
    whole_texts = [document.text for document in content.documents]
    near = near_pairs(
        by_document, frequency <= limit, _firsts(words.documents), least=_LEAST_PASSAGE, whole=True
    )
    edges = _edges(near, wholes, Cause.NEAR_DOCUMENT)
    found = near
    if max(counts, default=0) <= 1:
        units, texts = wholes, whole_texts
    else:
        firsts = _firsts([normalised_digest(text) for text in texts])
        found = near_pairs(
            by_passage, frequency <= limit, firsts, least=_LEAST_PASSAGE, owner=owner
        )
        edges += _edges(found, units, Cause.NEAR_PASSAGE)
    proposed = sorted(
        (one for one in found if PROPOSED <= one.score < LINK and not one.is_whole),
        key=lambda one: (-one.score, one.first, one.second),
    )
    return NearDuplicates(
        edges + _near_queries(content, words),
        [
            (units[one.first], units[one.second], texts[one.first], texts[one.second])
            for one in proposed
        ],
    )


def _near_queries(content: Content, words: WordDigests) -> list[Edge]:
    texts = [query.text for query in content.queries]
    shingles = read_shingles(texts)
    rare = shingles.frequencies <= rare_limit(len(texts))
    near = near_pairs(shingles, rare, _firsts(words.queries), least=_LEAST_QUERY)
    units = [Unit(query.node, "") for query in content.queries]
    return _edges(near, units, Cause.NEAR_QUERY)


def _firsts(digests: Sequence[str | None]) -> NDArray[np.bool_]:
    """Tell of each text whether it is the first one of its words: the others are linked to it."""
    seen: set[str | None] = {None}
    first = []
    for digest in digests:
        first.append(digest not in seen)
        seen.add(digest)
    return np.array(first, dtype=bool)


def near_pairs(
    shingles: Shingles,
    is_rare: NDArray[np.bool_],
    firsts: NDArray[np.bool_],
    *,
    least: int,
    owner: Places | None = None,
    whole: bool = False,
) -> list[Near]:
    """Propose pairs of units and verify each by containment.

    The measure is the number of rare 3-grams that both hold over that of the unit with fewer of
    them; a 3-gram that stands in one unit only counts below the line as well.

    Args:
        shingles: The 3-grams of the units.
        is_rare: Which 3-grams are rare, shape (g,).
        firsts: Which units are compared, shape (units,).
        least: How many rare 3-grams a unit needs to be compared by them.
        owner: Units of one owner are not compared, shape (units,); None: each is its own.
        whole: Compare units that have too few rare 3-grams by all of theirs.

    Returns:
        All proposed pairs that share anything, in their order.
    """
    rare = shingles.keeping(is_rare)
    enough = firsts & (rare.sizes >= least)
    rare_units = _only(rare, enough)
    found = _verified(rare_units, rare_units, owner)
    few = firsts & (rare.sizes < np.maximum(least, shingles.sizes // 10))
    if whole and few.any():
        full = _only(shingles, few & (shingles.sizes >= least))
        none = _only(shingles, np.zeros(shingles.units, dtype=bool))
        common = _verified(full, none, owner)
        known = {(one.first, one.second) for one in found if one.score >= LINK}
        found += [
            Near(one.first, one.second, one.shared, one.of, is_whole=True)
            for one in common
            if one.score >= WHOLE_LINK and (one.first, one.second) not in known
        ]
    return found


def _only(shingles: Shingles, units: NDArray[np.bool_]) -> Shingles:
    keep = units[shingles.owners]
    start = np.concatenate([[0], np.cumsum(np.where(units, shingles.sizes, 0))]).astype(np.int64)
    return Shingles(shingles.units, shingles.hashes, start, shingles.held[keep])


def _verified(signed: Shingles, rare: Shingles, owner: Places | None) -> list[Near]:
    pairs = propose_pairs(signed, rare)
    if owner is not None:
        pairs = pairs[owner[pairs[:, 0]] != owner[pairs[:, 1]]]
    shared = shared_counts(signed, pairs)
    of = np.minimum(signed.sizes[pairs[:, 0]], signed.sizes[pairs[:, 1]])
    alike = shared >= PROPOSED * of
    return [
        Near(int(first), int(second), int(both), int(total))
        for (first, second), both, total in zip(pairs[alike], shared[alike], of[alike], strict=True)
        if both
    ]


def _edges(near: Sequence[Near], units: Sequence[Unit], cause: Cause) -> list[Edge]:
    """Make an edge of the best pair of two nodes."""
    best: dict[tuple[str, str], Near] = {}
    for one in near:
        if one.score >= REVIEW:
            ends = units[one.first].node, units[one.second].node
            key = (min(ends), max(ends))
            if key not in best or one.score > best[key].score:
                best[key] = one
    return list(_made(best, units, cause))


def _made(best: dict[tuple[str, str], Near], units: Sequence[Unit], cause: Cause) -> Iterator[Edge]:
    for (left, right), one in sorted(best.items()):
        measure = "3-grams, hardly any rare" if one.is_whole else "rare 3-grams"
        names = f"{units[one.first].name} ~ {units[one.second].name}: "
        yield edge_between(
            left,
            right,
            cause,
            f"{names if units[one.first].name else ''}{one.shared:,} of {one.of:,} {measure}",
            action=EdgeAction.LINK if one.score >= LINK else EdgeAction.REVIEW,
            score=round(one.score, 4),
        )
