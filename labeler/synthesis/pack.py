"""The safe pack: a file with the texts of train and dev alone, and nothing that leads to others.

One JSON object a line: a head that says which split it was made from, then chunks, then queries.
The generator reads it in a process without the database; indexes, neighbours and wordings for
prompts are made from it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from labeler.errors import Fault, InputError
from labeler.search.lexical import LexicalIndex

__all__ = ["PackChunk", "PackQuery", "SafePack", "read_pack"]

_VERSION = 1


@dataclass(frozen=True, slots=True)
class PackChunk:
    """A chunk of a document of train or dev.

    Attributes:
        chunk: Its id in the corpus.
        document: Its document's id.
        group: The number of its split group.
        part: ``train`` or ``dev``.
        text: The text as retrievers see it.
        title: The title of the chunk, else of its document, or None.
        domain: The document's domain, or None.
        type: What sort of document it is, as far as the corpus tells; else empty.
        product: The document's product, or None.
        region: The document's region, or None.
        date: From when it is in force, or None.
        language: BCP 47 tag, or None.
    """

    chunk: str
    document: str
    group: int
    part: str
    text: str
    title: str | None = None
    domain: str | None = None
    type: str = ""
    product: str | None = None
    region: str | None = None
    date: str | None = None
    language: str | None = None

    @property
    def search_text(self) -> str:
        """The text with its title before it, as it is searched; just once if it has both."""
        title = (self.title or "").strip()
        if not title or self.text.lstrip().casefold().startswith(title.casefold()):
            return self.text
        return f"{title} {self.text}"


@dataclass(frozen=True, slots=True)
class PackQuery:
    """A query of train or dev that a person or a log gave, for the words that people use."""

    query: str
    group: int
    part: str
    text: str
    domain: str | None = None
    language: str | None = None


@dataclass(frozen=True)
class SafePack:
    """The texts of train and dev of one frozen split.

    Attributes:
        split: The split's name.
        root_digest: The root digest of its manifest.
        sealed_digest: The digest of the set of sealed words that goes with it.
        chunks: By id.
        queries: By id.
    """

    split: str
    root_digest: str
    sealed_digest: str
    chunks: tuple[PackChunk, ...]
    queries: tuple[PackQuery, ...]

    @cached_property
    def by_chunk(self) -> dict[str, PackChunk]:
        """The chunks by their ids."""
        return {one.chunk: one for one in self.chunks}

    @cached_property
    def by_group(self) -> dict[int, tuple[PackChunk, ...]]:
        """The chunks of each split group."""
        found: dict[int, list[PackChunk]] = {}
        for one in self.chunks:
            found.setdefault(one.group, []).append(one)
        return {group: tuple(chunks) for group, chunks in found.items()}

    @cached_property
    def lexical(self) -> LexicalIndex:
        """BM25 over the pack's chunks, with the pack's own term statistics."""
        return LexicalIndex({one.chunk: one.search_text for one in self.chunks})

    @cached_property
    def wordings(self) -> LexicalIndex:
        """BM25 over the pack's queries."""
        return LexicalIndex({one.query: one.text for one in self.queries})

    @cached_property
    def by_query(self) -> dict[str, PackQuery]:
        """The queries by their ids."""
        return {one.query: one for one in self.queries}

    @cached_property
    def content(self) -> bytes:
        """The file's content."""
        lines = [json.dumps(row, ensure_ascii=False, sort_keys=True) for row in self._rows()]
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")

    @property
    def digest(self) -> str:
        """The SHA-256 of the file."""
        return hashlib.sha256(self.content).hexdigest()

    def _rows(self) -> Iterator[dict[str, Any]]:
        yield {
            "pack": _VERSION,
            "split": self.split,
            "root_digest": self.root_digest,
            "sealed_digest": self.sealed_digest,
            "chunks": len(self.chunks),
            "queries": len(self.queries),
        }
        yield from (asdict(one) for one in self.chunks)
        yield from (asdict(one) for one in self.queries)

    def write(self, folder: Path) -> Path:
        """Write the file, named by its digest; readable by its owner alone."""
        path = folder / f"pack-{self.digest[:16]}.jsonl"
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(self.content)
        temporary.replace(path)
        return path


def read_pack(path: Path, digest: str) -> SafePack:
    """Read a pack.

    Raises:
        InputError: When the file isn't there, isn't the one that the digest names, or is no pack.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError([Fault(str(path), None, f"can't be read: {error.strerror}")]) from None
    if hashlib.sha256(content).hexdigest() != digest:
        raise InputError([Fault(str(path), None, f"isn't the pack {digest[:16]}")])
    rows = [json.loads(line) for line in content.splitlines() if line]
    head, rest = rows[0], rows[1:]
    if head.get("pack") != _VERSION:
        raise InputError([Fault(str(path), 1, f"isn't a pack of version {_VERSION}")])
    return SafePack(
        split=head["split"],
        root_digest=head["root_digest"],
        sealed_digest=head["sealed_digest"],
        chunks=_read(rest[: head["chunks"]], PackChunk),
        queries=_read(rest[head["chunks"] :], PackQuery),
    )


def _read(rows: Sequence[dict[str, Any]], kind: Any) -> tuple[Any, ...]:
    return tuple(kind(**row) for row in rows)
