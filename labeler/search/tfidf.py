"""How alike texts are by their words: cosines of tf-idf vectors."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeler.search.words import tokens

__all__ = ["TfIdf"]


class TfIdf:
    """Texts as unit vectors of their terms, weighted by ``(1 + ln tf) * ln(1 + N / n)``.

    The weights ``ltc`` of Manning, Raghavan and Schütze 2008, "Introduction to Information
    Retrieval", section 6.4.3, with 1 inside the logarithm so that a term in all texts still counts.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        """Weigh the texts; term frequencies among them decide the idf."""
        from scipy.sparse import csr_matrix

        known: defaultdict[str, int] = defaultdict(count().__next__)
        columns: list[int] = []
        ends = [0]
        for text in texts:
            columns.extend(map(known.__getitem__, tokens(text)))
            ends.append(len(columns))
        self._terms: Mapping[str, int] = dict(known)
        self.lengths = np.diff(np.array(ends, dtype=np.int64))
        """Shape (texts,): how many terms each has."""
        width = max(len(known), 1)
        counts = csr_matrix(
            (np.ones(len(columns)), np.array(columns, dtype=np.int64), np.array(ends)),
            shape=(len(texts), width),
        )
        counts.sum_duplicates()
        holding = np.bincount(counts.indices, minlength=width)
        self._idf = np.log(1.0 + len(texts) / np.maximum(holding, 1))
        counts.data = (1.0 + np.log(counts.data)) * self._idf[counts.indices]
        norms = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
        counts.data /= np.repeat(np.maximum(norms, 1e-12), np.diff(counts.indptr))
        self._vectors: Any = counts

    def similarity(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Give the cosines of some texts with some others, shape (rows, columns), in [0, 1]."""
        found: NDArray[np.float64] = (self._vectors[rows] @ self._vectors[columns].T).toarray()
        cosines: NDArray[np.float64] = np.clip(found, 0.0, 1.0)
        return cosines

    def cosine_and_coverage(self, query: str, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Compare some texts with a query.

        Returns:
            Shape (rows, 2): the cosine, and the share of the query's idf whose terms the text
            holds; both in [0, 1], and 0 for a query whose terms no text holds.
        """
        known = sorted({self._terms[term] for term in tokens(query) if term in self._terms})
        if not known:
            return np.zeros((len(rows), 2))
        # Summed in the order of the terms: every row is the same, whatever stands beside it.
        held = self._vectors[rows][:, known].toarray()
        idf = self._idf[known]
        cosine = (held * idf).sum(axis=1) / math.sqrt(math.fsum(idf**2))
        coverage = ((held > 0) * idf).sum(axis=1) / math.fsum(idf)
        both: NDArray[np.float64] = np.clip(np.column_stack([cosine, coverage]), 0.0, 1.0)
        return both
