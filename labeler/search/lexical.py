"""Term statistics, BM25, and a small lexical index over texts held in memory."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.search.words import tokens

__all__ = ["LexicalIndex", "TermStatistics", "bm25", "tokens"]


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """What a set of texts says about how telling a term is.

    Attributes:
        documents: How many texts there are.
        average_length: Terms per text; 0 when there are no texts.
        document_frequency: In how many texts each term stands.
    """

    documents: int
    average_length: float
    document_frequency: Mapping[str, int]

    @classmethod
    def from_texts(cls, texts: Iterable[str]) -> TermStatistics:
        """Count the terms of all texts."""
        frequency: Counter[str] = Counter()
        documents = length = 0
        for text in texts:
            terms = tokens(text)
            documents += 1
            length += len(terms)
            frequency.update(set(terms))
        return cls(documents, length / documents if documents else 0.0, dict(frequency))

    def idf(self, term: str) -> float:
        """Give the inverse document frequency of a term, above 0; a term never seen has the most.

        ``ln(1 + (N - n + 0.5) / (n + 0.5))``, the form of Robertson and Zaragoza 2009 ("The
        Probabilistic Relevance Framework", equation 3.3) with the 1 that Lucene adds inside the
        logarithm, so that a term in most texts doesn't count against them.
        """
        holding = self.document_frequency.get(term, 0)
        return math.log(1.0 + (max(self.documents, holding) - holding + 0.5) / (holding + 0.5))

    @property
    def digest(self) -> str:
        """The SHA-256 of the counts."""
        content = [self.documents, self.average_length, sorted(self.document_frequency.items())]
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def bm25(
    query_terms: Sequence[str],
    passage_terms: Sequence[str],
    statistics: TermStatistics,
    k1: float = 0.9,
    b: float = 0.4,
) -> float:
    """Score a passage for a query with BM25; 0 when they share no term.

    Each query term adds ``idf * tf / (tf + k1 * (1 - b + b * length / average length))``: Robertson
    and Zaragoza 2009, equation 3.15, without the constant factor ``k1 + 1``, which changes no order
    (the variant called "Lucene (accurate)" in Kamphuis et al. 2020, "Which BM25 Do You Mean?").
    So the score stays below the sum of the query terms' idf. A term that the query repeats counts
    as often as it stands there. The defaults are those of Anserini for short passages.
    """
    counts = Counter(passage_terms)
    average = statistics.average_length
    relative = len(passage_terms) / average if average > 0 else 1.0
    norm = k1 * (1.0 - b + b * relative)
    return math.fsum(
        statistics.idf(term) * counts[term] / (counts[term] + norm)
        for term in query_terms
        if counts[term]
    )


class LexicalIndex:
    """An inverted index in memory with BM25 (see `bm25`) over texts by id."""

    def __init__(self, texts: Mapping[str, str], *, k1: float = 0.9, b: float = 0.4) -> None:
        """Index the texts; an empty mapping gives an index that finds nothing."""
        # Descending ids: a stable sort by score then leaves ties in the order that is promised.
        self._ids = sorted(texts, reverse=True)
        terms = [tokens(texts[key]) for key in self._ids]
        frequency: Counter[str] = Counter()
        lengths = np.array([len(words) for words in terms], dtype=np.float64)
        places: dict[str, list[int]] = {}
        counts: dict[str, list[int]] = {}
        for place, words in enumerate(terms):
            for term, count in Counter(words).items():
                frequency[term] += 1
                places.setdefault(term, []).append(place)
                counts.setdefault(term, []).append(count)
        average = float(lengths.mean()) if self._ids else 0.0
        self.statistics = TermStatistics(len(self._ids), average, dict(frequency))
        self._norms = k1 * (1.0 - b + b * (lengths / average if average > 0 else lengths))
        self._postings: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {
            term: (np.array(found, dtype=np.int64), np.array(counts[term], dtype=np.float64))
            for term, found in places.items()
        }

    def __len__(self) -> int:
        return len(self._ids)

    def search(self, query: str, depth: int) -> list[tuple[str, float]]:
        """Give the best texts with their scores, best first, ties by id descending.

        Texts that share no term with the query are left out, so fewer than ``depth`` may come.
        """
        scores = np.zeros(len(self._ids))
        for term in tokens(query):
            if term in self._postings:
                places, counts = self._postings[term]
                idf = self.statistics.idf(term)
                scores[places] += idf * counts / (counts + self._norms[places])
        order = np.argsort(-scores, kind="stable")[: max(depth, 0)]
        return [(self._ids[place], float(scores[place])) for place in order if scores[place] > 0]
