"""Edges that are facts: shared provenance, versions of one document, equal texts."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from labeler.records.splits import EdgeAction
from labeler.retrieval.query_facts import GROUP_KEYS
from labeler.search.words import tokens
from labeler.splits.content import Content, Passage, SplitDocument, SplitQuery
from labeler.splits.edges import Cause, Edge, document_node, edge_between, star

__all__ = [
    "LEAST_WORDS",
    "WordDigests",
    "equal_text_edges",
    "normalised_digest",
    "provenance_edges",
    "queries_with_keys",
]

LEAST_WORDS = 8
"""A passage of fewer words that two documents share says nothing: a headline, "see also"."""


def provenance_edges(content: Content) -> Iterator[Edge]:
    """Tie queries that share a key, a query to its source document, a document to its versions."""
    holders: dict[tuple[str, str], list[str]] = defaultdict(list)
    known = {document.name for document in content.documents}
    for query in content.queries:
        for name in GROUP_KEYS:
            value = query.group_keys.get(name)
            if value:
                holders[name, value].append(query.node)
    for (name, value), nodes in sorted(holders.items()):
        to_document = name == Cause.SOURCE_DOCUMENT and value in known
        if not to_document:
            yield from star(nodes, Cause(name), f"{name} {value}")
            continue
        for node in nodes:
            yield edge_between(node, document_node(value), Cause(name), f"{name} {value}")
    for document in content.documents:
        if document.supersedes in known and document.supersedes != document.name:
            yield edge_between(
                document.node,
                document_node(document.supersedes or ""),
                Cause.SUPERSEDES,
                f"{document.name} supersedes {document.supersedes}",
            )


def normalised_digest(text: str) -> str | None:
    """Digest the words of a text, whatever its case, blanks and punctuation; None without words."""
    words = tokens(text)
    if not words:
        return None
    return hashlib.sha256(" ".join(words).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class WordDigests:
    """The digest of the words of each document and query, in their order; None without words."""

    documents: Sequence[str | None]
    queries: Sequence[str | None]

    @classmethod
    def of(cls, content: Content) -> WordDigests:
        """Digest the words of a content."""
        return cls(
            [normalised_digest(one.text) for one in content.documents],
            [normalised_digest(one.text) for one in content.queries],
        )


def equal_text_edges(content: Content, words: WordDigests, common: int) -> Iterator[Edge]:
    """Tie what has the same text, as it is or by its words.

    Args:
        content: The documents and queries.
        words: The digests of their words.
        common: A passage that stands in more documents than this is boilerplate and ties nothing.
    """
    kinds: tuple[tuple[Sequence[SplitDocument | SplitQuery], Sequence[str | None]], ...] = (
        (content.documents, words.documents),
        (content.queries, words.queries),
    )
    for members, digests in kinds:
        rows = [
            (one.node, one.digest, digest) for one, digest in zip(members, digests, strict=True)
        ]
        yield from _equal(rows)
    yield from _equal_passages(content.documents, common)


def _equal(rows: Sequence[tuple[str, str, str | None]]) -> Iterator[Edge]:
    """Tie nodes by exact digest, and one of each exact text to the others of its words."""
    by_exact: dict[str, list[str]] = defaultdict(list)
    by_words: dict[str, dict[str, str]] = defaultdict(dict)
    for node, digest, words in rows:
        if words is None:
            continue
        by_exact[digest].append(node)
        by_words[words].setdefault(digest, node)
    for digest, nodes in by_exact.items():
        if len(nodes) > 1:
            yield from star(nodes, Cause.EXACT_TEXT, f"SHA-256 {digest[:12]}")
    for words, firsts in by_words.items():
        if len(firsts) > 1:
            evidence = f"SHA-256 of the words {words[:12]}"
            yield from star(firsts.values(), Cause.NORMALISED_TEXT, evidence)


def _equal_passages(documents: Sequence[SplitDocument], common: int) -> Iterator[Edge]:
    several = {document.node for document in documents if len(document.passages) > 1}
    if not several:
        return
    holders: dict[str, dict[str, Passage]] = defaultdict(dict)
    lengths: dict[str, int] = {}
    for document in documents:
        for passage in document.passages:
            words = normalised_digest(passage.text)
            if words is not None:
                lengths[words] = len(tokens(passage.text))
                holders[words].setdefault(document.node, passage)
    for words, found in sorted(holders.items()):
        if several & set(found):
            yield from _same_passage(found, lengths[words], common)


def _same_passage(found: Mapping[str, Passage], length: int, common: int) -> Iterator[Edge]:
    first, *rest = sorted(found)
    why_not = ""
    if length < LEAST_WORDS:
        why_not = f"; {length} words"
    elif len(found) > common:
        why_not = f"; in {len(found):,} documents"
    for node in rest:
        same = found[first].digest == found[node].digest
        yield edge_between(
            first,
            node,
            Cause.EXACT_PASSAGE if same else Cause.NORMALISED_PASSAGE,
            f"{found[first].name} = {found[node].name}{why_not}",
            action=EdgeAction.IGNORE if why_not else EdgeAction.LINK,
        )


def queries_with_keys(queries: Sequence[SplitQuery]) -> int:
    """Count the queries that have a provenance key."""
    return sum(any(query.group_keys.get(name) for name in GROUP_KEYS) for query in queries)
