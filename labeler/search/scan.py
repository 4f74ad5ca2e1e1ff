"""Lexical search without an index: one pass over texts that come from elsewhere, one by one."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable

from labeler.search.lexical import TermStatistics, tokens

__all__ = ["scan"]


def scan(
    texts: Iterable[tuple[str, str]],
    terms: Collection[str],
    depth: int,
    *,
    k1: float = 0.9,
    b: float = 0.4,
) -> list[tuple[str, float]]:
    """Find the best texts for some terms by BM25, in one pass and little memory.

    For a search now and then: an index over 100,000 texts takes longer to make than many passes,
    and a gigabyte to hold. Scores are those of `labeler.search.lexical.bm25`, but that lengths are
    counted in characters, since only texts that hold a term are split into terms.

    Args:
        texts: Ids and texts, read once.
        terms: What is looked for, as `labeler.search.words.tokens` makes terms.
        depth: How many texts to give at the most.
        k1: BM25's k1.
        b: BM25's b.

    Returns:
        Ids with their scores, best first, ties by id descending; none without a term.
    """
    wanted = frozenset(terms)
    documents = characters = 0
    frequency: Counter[str] = Counter()
    found: list[tuple[str, Counter[str], int]] = []
    for key, text in texts:
        documents += 1
        characters += len(text)
        # A term of a text stands in its folded form as it is, which is quicker to see.
        folded = unicodedata.normalize("NFKC", text).casefold()
        if any(term in folded for term in wanted):
            counts = Counter(term for term in tokens(text) if term in wanted)
            if counts:
                frequency.update(counts.keys())
                found.append((key, counts, len(text)))
    average = characters / documents if characters else 1.0
    statistics = TermStatistics(documents, average, dict(frequency))
    idf = {term: statistics.idf(term) for term in wanted}
    scored: list[tuple[float, str]] = []
    for key, counts, length in found:
        norm = k1 * (1.0 - b + b * length / average)
        score = math.fsum(idf[term] * count / (count + norm) for term, count in counts.items())
        scored.append((score, key))
    return [(key, score) for score, key in sorted(scored, reverse=True)[: max(depth, 0)]]
