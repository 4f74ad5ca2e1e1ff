"""An embedder for tests that needs no weights: words are hashed to directions and added up."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labeler.search.lexical import tokens


class HashEmbedder:
    """Texts that share words are near; deterministic, and it counts the texts that it embedded."""

    name = "hash"
    digest = hashlib.sha256(b"hash embedder of the tests").hexdigest()
    dimensions = 16

    def __init__(self, cut: int | None = None) -> None:
        self.cut = cut
        self.embedded = 0

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts)

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed([text[: self.cut] for text in texts])

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += len(texts)
        rows = [self._vector(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dimensions)

    def _vector(self, text: str) -> NDArray[np.float64]:
        total = np.full(self.dimensions, 0.01)
        for word in tokens(text):
            seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "replace")).digest()[:8])
            total += np.random.default_rng(seed).normal(size=self.dimensions)
        unit: NDArray[np.float64] = total / np.linalg.norm(total)
        return unit
