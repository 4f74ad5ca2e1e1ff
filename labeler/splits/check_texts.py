"""The second look at texts: what two parts share, told anew from the texts themselves.

Nothing here is shared with the code that finds edges. That one proposes pairs by hashing; this one
goes through an index of all rare 3-grams, so that it finds what hashing missed.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.retrieval.query_facts import GROUP_KEYS
from labeler.search.words import tokens
from labeler.splits.check_records import Crossing
from labeler.splits.content import Content

__all__ = [
    "ALIKE",
    "CROSSES",
    "LISTED",
    "RUN",
    "SEMANTIC_CROSSES",
    "CheckedText",
    "common_limit",
    "keys_across",
    "near_across",
    "same_words_across",
    "semantic_across",
    "verbatim_across",
]

CROSSES, LISTED, ALIKE = 0.5, 0.3, 0.1
"""Containment that breaks a rule, that is listed, and from which embeddings have a look, too."""
SEMANTIC_CROSSES, SEMANTIC_LISTED = 0.96, 0.92
"""Cosine of queries that breaks a rule, and of queries and passages that is listed."""

RUN = 8
"""Words that two texts share one after the other before it is listed."""

_LEAST_COMMON = 10
_COMMON = 0.005
_INDEXED = 50
_SHARED = 3
_LEAST = {"query": 3, "document": 5, "passage": 5}

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CheckedText:
    """A text with its place: ``name`` such as ``passage:ID``, the node it belongs to, its part."""

    name: str
    node: str
    part: str
    text: str


def common_limit(texts: int) -> int:
    """Give in how many texts something may stand and be rare: 0.5% of them, at least 10."""
    return max(_LEAST_COMMON, round(_COMMON * texts))


def same_words_across(texts: Sequence[CheckedText], *, least: int, common: int) -> list[Crossing]:
    """Give pairs of texts of the same words in two parts; one pair a text and part.

    Args:
        texts: The texts.
        least: Texts of fewer words say nothing.
        common: Words that more nodes have than this are boilerplate.
    """
    holders: dict[tuple[str, ...], list[CheckedText]] = defaultdict(list)
    for one in texts:
        words = tuple(tokens(one.text))
        if len(words) >= max(least, 1):
            holders[words].append(one)
    found = []
    for same in holders.values():
        if len({one.node for one in same}) > common:
            continue
        first = {one.part: one for one in reversed(same)}
        named = sorted(first.values(), key=lambda one: one.name)
        found += [
            Crossing(named[0].name, one.name, named[0].part, one.part, "same words")
            for one in named[1:]
        ]
    return sorted(found, key=lambda one: (one.left, one.right))


class _Numbered:
    """Texts as numbers of words: all of them one after the other."""

    def __init__(self, texts: Iterable[str]) -> None:
        numbers: dict[str, int] = {}
        words, ends = array("q"), array("q", [0])
        for text in texts:
            words.extend(numbers.setdefault(word, len(numbers)) for word in tokens(text))
            ends.append(len(words))
        self.words = np.array(words, dtype=np.int64)
        self.ends = np.array(ends, dtype=np.int64)
        self.vocabulary = max(len(numbers), 1)

    def runs(self, length: int) -> tuple[Numbers, Numbers, Numbers]:
        """Give each run of words as a number, with its text and its place in it."""
        count = max(len(self.words) - length + 1, 0)
        text = np.repeat(np.arange(len(self.ends) - 1), np.diff(self.ends))
        whole = text[:count] == text[length - 1 :] if count else np.zeros(0, dtype=bool)
        named = np.zeros(count, dtype=np.int64)
        for step in range(length):
            # What was numbered so far is numbered anew, so that no two runs share a number.
            joined = named * self.vocabulary + self.words[step : step + count]
            named = np.unique(joined, return_inverse=True)[1].astype(np.int64)
        at = np.arange(count) - self.ends[:-1][text[:count]] if count else named
        return named[whole], text[:count][whole], at[whole]


def _distinct(values: Numbers) -> Numbers:
    ordered = np.sort(values)
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    kept: Numbers = ordered[first]
    return kept


def near_across(
    texts: Sequence[CheckedText], kind: str, *, frequency_of: Sequence[int] | None = None
) -> list[Crossing]:
    """Give pairs of texts in two parts that share at least .1 of their rare 3-grams.

    Args:
        texts: The texts.
        kind: ``document``, ``passage`` or ``query``; queries may be shorter.
        frequency_of: By text, the number of the document in which a 3-gram counts once; each text
            is its own by default.
    """
    grams, owner, _ = _Numbered(one.text for one in texts).runs(3)
    if not len(grams):
        return []
    total = int(grams.max()) + 1
    both = _distinct(owner * total + grams)
    owner, grams = both // total, both % total
    counted = (
        both if frequency_of is None else _distinct(np.asarray(frequency_of)[owner] * total + grams)
    )
    frequency = np.bincount(counted % total, minlength=total)
    holders = len(texts) if frequency_of is None else len(set(frequency_of))
    rare = frequency[grams] <= common_limit(holders)
    owner, grams = owner[rare], grams[rare]
    starts = np.searchsorted(owner, np.arange(len(texts) + 1))
    parts = np.unique([one.part for one in texts], return_inverse=True)[1]
    found = []
    for first, second in _candidates(grams, owner, parts):
        one, other = texts[first], texts[second]
        if one.node == other.node:
            continue
        left = grams[starts[first] : starts[first + 1]]
        right = grams[starts[second] : starts[second + 1]]
        of = min(len(left), len(right))
        if of >= _LEAST[kind]:
            score = len(np.intersect1d(left, right, assume_unique=True)) / of
            if score >= ALIKE:
                found.append(_crossing(one, other, f"near {kind}", round(score, 4)))
    return found


def _candidates(grams: Numbers, owner: Numbers, parts: Numbers) -> Iterator[tuple[int, int]]:
    """Give pairs of texts in two parts that share several 3-grams of not too many texts."""
    held = np.bincount(grams)[grams]
    keep = (held > 1) & (held <= _INDEXED)
    order = np.lexsort((owner[keep], grams[keep]))
    grams, owner = grams[keep][order], owner[keep][order]
    texts = len(parts)
    pairs = [np.empty(0, dtype=np.int64)]
    for distance in range(1, _INDEXED):
        same = grams[distance:] == grams[:-distance]
        if not same.any():
            break
        low, high = owner[:-distance][same], owner[distance:][same]
        across = parts[low] != parts[high]
        pairs.append(low[across] * texts + high[across])
    named, counts = np.unique(np.concatenate(pairs), return_counts=True)
    for pair in named[counts >= _SHARED]:
        yield int(pair // texts), int(pair % texts)


def verbatim_across(texts: Sequence[CheckedText]) -> tuple[list[Crossing], int]:
    """Give pairs of texts in two parts that share a run of 8 words or more.

    Returns:
        The pairs with the length of the longest run in words, longest first; and how many runs of
        8 words stand in more than 50 texts and in two parts, which are not listed.
    """
    runs, owner, place = _Numbered(one.text for one in texts).runs(RUN)
    if not len(runs):
        return [], 0
    parts = np.unique([one.part for one in texts], return_inverse=True)[1]
    order = np.lexsort((place, owner, runs))
    runs, owner, place = runs[order], owner[order], place[order]
    held = np.bincount(runs)
    in_parts = np.unique(runs * (int(parts.max()) + 1) + parts[owner]) // (int(parts.max()) + 1)
    crossing = np.bincount(in_parts, minlength=len(held)) > 1
    common = int((crossing & (held > _INDEXED)).sum())
    keep = (crossing & (held <= _INDEXED))[runs]
    runs, owner, place = runs[keep], owner[keep], place[keep]
    shared: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for distance in range(1, _INDEXED):
        same = runs[distance:] == runs[:-distance]
        if not same.any():
            break
        across = same & (parts[owner[distance:]] != parts[owner[:-distance]])
        for at in np.flatnonzero(across):
            low, high = int(owner[at]), int(owner[at + distance])
            shared[low, high].append((int(place[at]), int(place[at + distance])))
    found = [
        _crossing(texts[low], texts[high], "verbatim run", float(_longest(places)))
        for (low, high), places in shared.items()
    ]
    return sorted(found, key=lambda one: (-(one.score or 0), one.left, one.right)), common


def _longest(places: Sequence[tuple[int, int]]) -> int:
    """Give the length in words of the longest run, from where its parts of 8 words begin."""
    ending: dict[tuple[int, int], int] = {}
    for left, right in sorted(set(places)):
        ending[left, right] = ending.get((left - 1, right - 1), RUN - 1) + 1
    return max(ending.values())


def _crossing(one: CheckedText, other: CheckedText, cause: str, score: float) -> Crossing:
    first, second = sorted((one, other), key=lambda text: text.name)
    low, high = sorted((one.node, other.node))
    return Crossing(first.name, second.name, first.part, second.part, cause, score, (low, high))


def semantic_across(
    texts: Sequence[CheckedText], embed: Callable[[Sequence[str]], NDArray[np.float32]]
) -> list[Crossing]:
    """Give pairs of texts in two parts whose embeddings have a cosine of .92 or more.

    Args:
        texts: The texts.
        embed: Makes unit vectors, shape (n, dimensions).
    """
    if not texts:
        return []
    vectors = embed([one.text for one in texts])
    found = []
    for at, one in enumerate(texts):
        cosines = vectors[at + 1 :] @ vectors[at]
        for after in np.flatnonzero(cosines >= SEMANTIC_LISTED):
            other = texts[at + 1 + int(after)]
            if one.part != other.part and one.text.strip() and other.text.strip():
                cosine = round(min(float(cosines[after]), 1.0), 4)
                found.append(_crossing(one, other, "semantic", cosine))
    return found


def keys_across(content: Content, parts: Mapping[str, str]) -> list[Crossing]:
    """Give queries in two parts that share a provenance key, or are away from their source."""
    holders: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for query in content.queries:
        node = f"query:{query.name}"
        for name in GROUP_KEYS:
            value = query.group_keys.get(name)
            if value and node in parts:
                holders[name, value].setdefault(parts[node], node)
    found = []
    for (name, value), by_part in sorted(holders.items()):
        source = f"document:{value}"
        if name == "source_document" and source in parts:
            by_part.setdefault(parts[source], source)
        first, *rest = sorted(by_part.items())
        found += [Crossing(first[1], node, first[0], part, name) for part, node in rest]
    return found
