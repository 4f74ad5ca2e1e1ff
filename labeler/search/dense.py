"""Exact search over unit vectors held in memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labeler.errors import UsageError

__all__ = ["DenseIndex"]


class DenseIndex:
    """Ids with one vector each; similarity is the dot product, the cosine for unit vectors."""

    def __init__(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep the vectors, shape (ids, dimensions).

        Raises:
            UsageError: When there isn't one vector for each id, or an id stands there twice.
        """
        if vectors.ndim != 2 or len(ids) != len(vectors):  # noqa: PLR2004 - rows and columns
            raise UsageError(f"{len(ids)} ids need as many vectors; got shape {vectors.shape}")
        if len(set(ids)) < len(ids):
            raise UsageError("an id stands twice in a dense index")
        # Descending ids: a stable sort by score then leaves ties in the order that is promised.
        order = sorted(range(len(ids)), key=ids.__getitem__, reverse=True)
        self._ids = [ids[place] for place in order]
        self._vectors = np.ascontiguousarray(vectors[order], dtype=np.float32)

    def __len__(self) -> int:
        return len(self._ids)

    def search(self, vector: NDArray[np.float32], depth: int) -> list[tuple[str, float]]:
        """Give the nearest ids with their scores, best first, ties by id descending."""
        scores = self._vectors @ vector
        order = np.argsort(-scores, kind="stable")[: max(depth, 0)]
        return [(self._ids[place], float(scores[place])) for place in order]
