"""Checking a frozen split: every rule it has to keep, and what its parts are alike in.

docs/splits.md describes the form of the answer, which another program can read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from labeler.providers.embeddings import Embedder
from labeler.sealing.sealed import TOPIC_UNMEASURED
from labeler.sealing.split_in_force import FrozenSplit
from labeler.splits.check_manifest import broken_manifest, changed_texts
from labeler.splits.check_records import (
    Crossing,
    exposed_and_sealed,
    generated_queries,
    in_several_places,
    links_across,
    parts_by_name,
    read_leaves,
    set_aside,
    unplaced,
)
from labeler.splits.check_texts import (
    CROSSES,
    LISTED,
    RUN,
    SEMANTIC_CROSSES,
    CheckedText,
    common_limit,
    keys_across,
    near_across,
    same_words_across,
    semantic_across,
    verbatim_across,
)
from labeler.splits.content import Content, read_content

__all__ = ["MOST_LISTED", "CheckReport", "Listing", "Rule", "check_split"]

MOST_LISTED = 1_000
"""So many pairs of a kind are listed; the rest is counted."""

_FEW_PASSAGES = 1_000
"""So many passages are all embedded, 0.2 s of CPU each the first time; of more, those alike."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its name, what was looked at, and what broke it; a person's ruling excuses."""

    name: str
    checked: int
    broken: int
    findings: tuple[Crossing, ...]
    excused: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """Pairs in two parts that are alike and break no rule; the most alike are listed."""

    name: str
    total: int
    findings: tuple[Crossing, ...]


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What the check found.

    Attributes:
        split: The split.
        parts: By part, how many documents and queries it holds.
        rules: Every rule.
        listings: What is alike between parts.
        unplaced: Documents and queries without a part: they came later, or are quarantined.
        unmeasured: What could not be told, one sentence each.
    """

    split: FrozenSplit
    parts: Mapping[str, Mapping[str, int]]
    rules: tuple[Rule, ...]
    listings: tuple[Listing, ...]
    unplaced: int
    unmeasured: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing crosses."""
        return not any(rule.broken for rule in self.rules)


def check_split(
    connection: Connection,
    split: FrozenSplit,
    embedder: Embedder | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> CheckReport:
    """Check a frozen split by a second way: SQL over its records, and its texts told anew."""
    progress("checking records")
    content = read_content(connection, split.snapshot)
    parts = parts_by_name(connection, split.id)
    rules = _record_rules(connection, split, content, parts)
    progress("comparing texts")
    texts = _texts(content, parts)
    excused = set_aside(connection)
    generated = generated_queries(connection)
    near = _near(texts)
    broken, alike = _broken(near, CROSSES, generated)
    rules += [
        _rule("no_same_words_across", texts.count, _same_words(texts)),
        _rule("no_near_duplicate_across", texts.count, broken, excused),
    ]
    runs, common = verbatim_across([*texts.passages, *texts.queries])
    listings = [
        _listing("near_duplicates", [one for one in alike if (one.score or 0) >= LISTED]),
        _listing("verbatim_runs", runs),
    ]
    unmeasured = list(_unmeasured(split, common, embedder))
    if embedder is not None:
        progress("comparing meanings")
        queries = semantic_across(texts.queries, embedder.queries)
        broken, alike = _broken(queries, SEMANTIC_CROSSES, generated)
        rules.append(_rule("no_semantic_query_across", len(texts.queries), broken, excused))
        chosen = _to_embed(texts.passages, [*near, *runs])
        unmeasured += _not_embedded(chosen, texts.passages)
        alike += semantic_across(chosen, embedder.passages)
        listings.append(_listing("semantic_neighbours", alike))
    return CheckReport(
        split=split,
        parts=_counts(parts),
        rules=tuple(rules),
        listings=tuple(listings),
        unplaced=len(unplaced(connection, split.id, split.snapshot_id)),
        unmeasured=tuple(unmeasured),
    )


def _record_rules(
    connection: Connection, split: FrozenSplit, content: Content, parts: Mapping[str, str]
) -> list[Rule]:
    leaves = read_leaves(connection, split.id)
    return [
        _rule("one_part", len(leaves), in_several_places(connection, split.id)),
        _rule("no_link_across", len(parts), links_across(connection, split.id, parts)),
        _rule("no_key_across", len(content.queries), keys_across(content, parts)),
        _rule("sealed_never_shown", len(parts), exposed_and_sealed(connection, split.id)),
        _rule("digests", len(leaves), changed_texts(connection, leaves)),
        _rule("manifest", len(leaves), broken_manifest(connection, split.id, leaves)),
    ]


@dataclass(frozen=True, slots=True)
class _Texts:
    """What has a part: whole documents, their passages, queries; which document a passage is of."""

    documents: Sequence[CheckedText]
    passages: Sequence[CheckedText]
    queries: Sequence[CheckedText]
    of_passage: Sequence[int]
    all_documents: int

    @property
    def count(self) -> int:
        return len(self.documents) + len(self.queries)


def _texts(content: Content, parts: Mapping[str, str]) -> _Texts:
    documents, passages, owners = [], [], []
    for number, document in enumerate(content.documents):
        node = f"document:{document.name}"
        if node not in parts:
            continue
        whole = "\n".join(passage.text for passage in document.passages)
        documents.append(CheckedText(node, node, parts[node], whole))
        for passage in document.passages:
            named = f"passage:{passage.name}"
            passages.append(CheckedText(named, node, parts[node], passage.text))
            owners.append(number)
    queries = [
        CheckedText(f"query:{one.name}", f"query:{one.name}", parts[f"query:{one.name}"], one.text)
        for one in content.queries
        if f"query:{one.name}" in parts
    ]
    return _Texts(documents, passages, queries, owners, len(content.documents))


def _same_words(texts: _Texts) -> list[Crossing]:
    # A whole document or query of the same words is a copy, however short and however common.
    everything = len(texts.documents) + len(texts.queries)
    found = same_words_across(texts.documents, least=1, common=everything)
    found += same_words_across(texts.queries, least=1, common=everything)
    if len(texts.passages) > len(texts.documents):
        common = common_limit(texts.all_documents)
        found += same_words_across(texts.passages, least=RUN, common=common)
    return found


def _near(texts: _Texts) -> list[Crossing]:
    found = near_across(texts.documents, "document")
    if len(texts.passages) > len(texts.documents):
        found += near_across(texts.passages, "passage", frequency_of=texts.of_passage)
    return found + near_across(texts.queries, "query")


def _to_embed(passages: Sequence[CheckedText], alike: Sequence[Crossing]) -> list[CheckedText]:
    """Choose the passages that are embedded: all where they are few, else those alike in words."""
    if len(passages) <= _FEW_PASSAGES:
        return list(passages)
    wanted = {end for one in alike for end in (one.left, one.right)}
    counts = Counter(one.node for one in passages)
    # Of a document that is alike as a whole, that is of one passage; others are compared apart.
    return [
        one
        for one in passages
        if one.name in wanted or (one.node in wanted and counts[one.node] == 1)
    ]


def _unmeasured(split: FrozenSplit, common: int, embedder: Embedder | None) -> Iterator[str]:
    if not split.topic_measured:
        yield TOPIC_UNMEASURED
    if common:
        yield f"{common:,} runs of {RUN} words stand in more than 50 texts and are not listed"
    if embedder is None:
        yield "no embeddings: texts that say the same in other words are not found"


def _not_embedded(chosen: Sequence[CheckedText], passages: Sequence[CheckedText]) -> Iterator[str]:
    if len(chosen) < len(passages):
        yield (
            f"semantic neighbours: {len(chosen):,} of {len(passages):,} passages were embedded, "
            "those that share words with another part"
        )


def _rule(
    name: str,
    checked: int,
    found: Sequence[Crossing],
    excused: Collection[tuple[str, str]] = (),
) -> Rule:
    broken = [one for one in found if one.nodes not in excused]
    return Rule(name, checked, len(broken), tuple(broken[:MOST_LISTED]), len(found) - len(broken))


def _listing(name: str, found: Sequence[Crossing]) -> Listing:
    ordered = sorted(found, key=lambda one: (-(one.score or 0), one.left, one.right))
    return Listing(name, len(ordered), tuple(ordered[:MOST_LISTED]))


def _broken(
    found: Sequence[Crossing], least: float, generated: frozenset[str]
) -> tuple[list[Crossing], list[Crossing]]:
    """Part what breaks a rule from what is listed alone.

    A generated question stays with its source, and its filters have compared it with the queries of
    all parts, numbers and names included: where nothing is sealed, that it is worded like a query
    of another part is listed.
    """
    broken: list[Crossing] = []
    listed: list[Crossing] = []
    for one in found:
        is_apart = "test" not in {one.left_part, one.right_part} and not generated.isdisjoint(
            one.nodes or ()
        )
        crosses = (one.score or 0) >= least and not is_apart
        (broken if crosses else listed).append(one)
    return broken, listed


def _counts(parts: Mapping[str, str]) -> dict[str, dict[str, int]]:
    counted = Counter((part, node.partition(":")[0]) for node, part in parts.items())
    return {
        part: {"documents": counted[part, "document"], "queries": counted[part, "query"]}
        for part in ("train", "dev", "test")
    }
