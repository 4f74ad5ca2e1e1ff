"""Near duplicates among logged queries: the same words, save for order, case, signs and spelling.

Two queries are joined when they have the same words in any order, but for one word at the most; and
that word must be the other one misspelt or inflected. A word that is there or not ("not", a
product) never joins, nor does one with a digit: what such a word changes is what is asked.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

__all__ = ["group_queries", "normalised", "words_of"]

_LEAST_LENGTH = 4
_ALIKE = 85
_RARER = 5
_ENDING = 2
_WORD = re.compile(r"\[\w+\]|\w+")


def normalised(text: str) -> str:
    """Give a query's words in lower case, as they stand, without signs."""
    return " ".join(words_of(text))


def words_of(text: str) -> list[str]:
    """Give a query's words in lower case."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def group_queries(asked: Mapping[str, int]) -> dict[str, str]:
    """Take near duplicates together.

    Args:
        asked: How often each text was asked; texts as `normalised` gives them, without empty ones.

    Returns:
        For each text the one that stands for its group: that which was asked most.
    """
    words = {text: tuple(sorted(text.split())) for text in asked}
    seen: Counter[str] = Counter()
    for text, count in asked.items():
        for word in set(words[text]):
            seen[word] += count
    groups = _Groups(asked)
    by_words: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for text, key in words.items():
        by_words[key].append(text)
    for texts in by_words.values():
        for other in texts[1:]:
            groups.join(texts[0], other)
    for left, right in _spelt_alike(list(by_words), seen):
        groups.join(by_words[left][0], by_words[right][0])
    return groups.named()


def _spelt_alike(
    keys: Sequence[tuple[str, ...]], seen: Mapping[str, int]
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Find pairs of queries that differ in one word, which is the other one spelt differently.

    Without the word that differs the two are the same, so that only those are compared that share
    all other words and the first two letters of that one.
    """
    blocks: dict[tuple[tuple[str, ...], str], list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
    for key in keys:
        for place, word in enumerate(key):
            if _can_differ(word) and (place == 0 or key[place - 1] != word):
                rest = key[:place] + key[place + 1 :]
                blocks[rest, word[:2]].append((word, key))
    found = []
    for members in blocks.values():
        if len(members) > 1:
            by_word = dict(members)
            found += [(by_word[a], by_word[b]) for a, b in _alike(sorted(by_word), seen)]
    return found


def _can_differ(word: str) -> bool:
    return len(word) >= _LEAST_LENGTH and word.isalpha()


def _alike(words: Sequence[str], seen: Mapping[str, int]) -> list[tuple[str, str]]:
    """Find pairs of words that are one word spelt in two ways."""
    import numpy as np
    from rapidfuzz import fuzz, process

    scores = process.cdist(
        words, words, scorer=fuzz.ratio, score_cutoff=_ALIKE, dtype=np.uint8, workers=1
    )
    pairs = zip(*np.nonzero(np.triu(scores, 1)), strict=True)
    return [(words[a], words[b]) for a, b in pairs if is_one_word(words[a], words[b], seen)]


def is_one_word(left: str, right: str, seen: Mapping[str, int]) -> bool:
    """Tell whether two words that look alike are one: inflected, transposed, or misspelt.

    A misspelling is far rarer than the word; two words that are both in use ("contact" and
    "contract") are two.

    Args:
        left: A word.
        right: Another one, of much the same letters.
        seen: How often each word was asked.
    """
    short, long = sorted((left, right), key=len)
    if long.startswith(short) and len(long) - len(short) <= _ENDING:
        return True
    if sorted(left) == sorted(right):
        return True
    rare, common = sorted((seen[left], seen[right]))
    return rare * _RARER <= common


class _Groups:
    """Sets of texts that are joined one pair at a time."""

    def __init__(self, asked: Mapping[str, int]) -> None:
        self._asked = asked
        self._over = {text: text for text in asked}

    def _top(self, text: str) -> str:
        while (over := self._over[text]) != text:
            self._over[text] = self._over[over]
            text = over
        return text

    def join(self, left: str, right: str) -> None:
        """Make one set of the sets of two texts."""
        tops = sorted({self._top(left), self._top(right)}, key=lambda t: (-self._asked[t], t))
        for other in tops[1:]:
            self._over[other] = tops[0]

    def named(self) -> dict[str, str]:
        """Give each text the one of its set that was asked most."""
        return {text: self._top(text) for text in self._asked}
