"""A small corpus with planted copies, as plain values and as a project."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.splits.content import Content, Passage, SplitDocument, SplitQuery
from labeler.store.database import Store
from labeler.store.registry import text_digest


def seeded(seed: int) -> Random:
    """Give a generator of texts that are the same every time."""
    return Random(seed)  # noqa: S311 - texts for tests, not keys


def sentence(random: Random, words: int = 60) -> str:
    """Write a text of words that hardly come twice."""
    return " ".join(f"w{random.randrange(100_000)}" for _ in range(words))


def document(name: str, *texts: str, supersedes: str | None = None, key: int = 0) -> SplitDocument:
    """Make a document of passages."""
    passages = tuple(
        Passage(f"{name}#{number}", text, text_digest(text)) for number, text in enumerate(texts)
    )
    return SplitDocument(key, name, None, supersedes, passages)


def query(name: str, text: str, **keys: str) -> SplitQuery:
    """Make a query with provenance keys."""
    return SplitQuery(0, name, text, text_digest(text), None, keys)


def content(documents: Sequence[SplitDocument], queries: Sequence[SplitQuery] = ()) -> Content:
    """Put documents and queries together."""
    return Content(1, "s", list(documents), list(queries))


def write_project(
    store: Store,
    folder: Path,
    documents: Mapping[str, Sequence[str]],
    queries: Mapping[str, Mapping[str, str]],
    snapshot: str = "s1",
) -> None:
    """Import documents, each a list of passages, and queries, each a text with keys."""
    rows = [
        {"_id": f"{name}#{at}", "text": text, "document": name, "domain": "d"}
        for name, texts in documents.items()
        for at, text in enumerate(texts)
    ]
    folder.mkdir(exist_ok=True, parents=True)
    corpus = folder / f"{snapshot}.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    import_corpus(store, [corpus], CorpusOptions(snapshot=snapshot))
    if queries:
        lines = [json.dumps({"_id": name, **fields}) for name, fields in queries.items()]
        path = folder / f"{snapshot}-queries.jsonl"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        import_queries(store, [path], QueryOptions())
