"""The embedding cache in the project's database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import sqlalchemy as sa

from labeler.providers.embeddings import CachedEmbedder, E5Embedder
from labeler.records import table
from labeler.records.ledger import Embedding
from labeler.store.bulk import is_one_of
from labeler.store.database import Store

__all__ = ["StoredEmbeddings", "stored_embedder"]

_EMBEDDING = table(Embedding)


class StoredEmbeddings:
    """Keeps vectors by key in the project, so that a stopped run loses little."""

    def __init__(self, store: Store, model_digest: str) -> None:
        """Use a project's cache.

        Args:
            store: The project.
            model_digest: The embedder's digest; rows of other models can be thrown away by it.
        """
        self._store = store
        self._model = model_digest

    def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Give the vectors that are there, by key."""
        with self._store.read() as connection:
            statement = sa.select(_EMBEDDING.c.text_digest, _EMBEDDING.c.vector).where(
                _EMBEDDING.c.model_digest == self._model,
                is_one_of(connection, _EMBEDDING.c.text_digest, keys),
            )
            return {str(key): bytes(vector) for key, vector in connection.execute(statement)}

    def put(self, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors; a key that another process stored meanwhile stays as it is."""
        with self._store.work() as connection:
            there = sa.select(_EMBEDDING.c.text_digest).where(
                _EMBEDDING.c.model_digest == self._model,
                is_one_of(connection, _EMBEDDING.c.text_digest, list(vectors)),
            )
            known = {str(key) for (key,) in connection.execute(there)}
            rows = [
                {"model_digest": self._model, "text_digest": key, "vector": vector}
                for key, vector in vectors.items()
                if key not in known
            ]
            if rows:
                connection.execute(sa.insert(_EMBEDDING), rows)


def stored_embedder(
    store: Store,
    *,
    threads: int | None = None,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
) -> CachedEmbedder:
    """Load the embedded embedder, with its vectors kept in the project.

    Args:
        store: The project.
        threads: Threads to embed with; None takes one for each processor.
        advance: Is told how many of a call's missing vectors are there.

    Raises:
        MissingExtraError: When what it runs on is not installed.
        JudgeError: When it can't run here.
    """
    engine = E5Embedder(threads=threads)
    return CachedEmbedder(engine, StoredEmbeddings(store, engine.digest), advance=advance)
