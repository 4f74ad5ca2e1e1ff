"""Reads the demo project out of the package, and proves that it holds together."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from importlib.resources import files
from typing import Any

from labeler.demo.project import (
    Audience,
    Chunk,
    Conditions,
    DemoProject,
    DemoQuery,
    Document,
    GroupKeys,
    PlantedMiss,
    Product,
    Region,
    Trap,
)
from labeler.errors import Fault, InputError

__all__ = ["DOMAINS", "WORDS_PER_CHUNK", "faults_in", "read_demo"]

DOMAINS = ("returns", "billing", "devices", "security")
"""The domains, one file each, in their order."""

WORDS_PER_CHUNK = range(40, 151)
"""How many words a passage may have."""

_HELP_CENTRE = "https://help.tarnwick.example"


def read_demo() -> DemoProject:
    """Read the demo project.

    Raises:
        InputError: When the package's content doesn't hold together; all faults are listed.
    """
    documents: list[Document] = []
    chunks: list[Chunk] = []
    for domain in DOMAINS:
        for table in _toml(f"content/{domain}.toml")["document"]:
            document = _document(table, domain)
            documents.append(document)
            chunks.extend(_chunks(table["section"], document))
    evidence = _toml("content/evidence.toml")["evidence"]
    demo = DemoProject(
        documents=tuple(documents),
        chunks=tuple(chunks),
        facts={table["id"]: table["fact"] for table in evidence},
        queries=tuple(_query(table) for table in _toml("content/queries.toml")["query"]),
        traps=tuple(_trap(table) for table in _toml("content/traps.toml")["trap"]),
        rubric=_text("rubric.toml"),
        gate=_text("content/gate.toml"),
        misses=tuple(_miss(table) for table in _toml("content/misses.toml")["miss"]),
    )
    problems = faults_in(demo)
    if problems:
        raise InputError([Fault("labeler/demo/content", None, text) for text in problems])
    return demo


def _text(name: str) -> str:
    return files("labeler.demo").joinpath(name).read_text(encoding="utf-8")


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads(_text(name))


def _document(table: Mapping[str, Any], domain: str) -> Document:
    effective: date = table["effective_date"]
    return Document(
        id=table["id"],
        title=table["title"],
        domain=domain,
        product=Product(table["product"]) if "product" in table else None,
        region=Region(table["region"]) if "region" in table else None,
        effective_date=effective,
        supersedes=table.get("supersedes"),
        source=f"{_HELP_CENTRE}/{domain}/{table['id']}",
    )


def _chunks(sections: Iterable[Mapping[str, Any]], document: Document) -> Iterator[Chunk]:
    for section in sections:
        chunk_id = f"{document.id}#{section['id']}"
        yield Chunk(
            id=chunk_id,
            document=document,
            text=" ".join(section["text"].split()),
            evidence_ids=tuple(section.get("evidence", [chunk_id])),
        )


def _query(table: Mapping[str, Any]) -> DemoQuery:
    conditions = table.get("conditions", {})
    return DemoQuery(
        id=table["id"],
        text=table["text"],
        need=table.get("need"),
        domain=table["domain"],
        language=table.get("language", "en"),
        slices=tuple(table["slices"]),
        weight=float(table.get("weight", 1.0)),
        origin=table.get("origin", "manual"),
        conditions=Conditions(
            product=Product(conditions["product"]) if "product" in conditions else None,
            region=Region(conditions["region"]) if "region" in conditions else None,
            date=conditions.get("date"),
            audience=Audience(conditions["audience"]) if "audience" in conditions else None,
        ),
        groups=GroupKeys(**table.get("groups", {})),
        required_evidence=tuple(table.get("required_evidence", [])),
    )


def _miss(table: Mapping[str, Any]) -> PlantedMiss:
    return PlantedMiss(
        failure=table["failure"],
        run=table["run"],
        query=table["query"],
        relevant=table["relevant"],
        hits=tuple(table["hits"]),
        filler=table.get("filler", 0),
        is_ruled=table.get("ruled", False),
        why=table["why"],
    )


def _trap(table: Mapping[str, Any]) -> Trap:
    return Trap(
        name=table["name"],
        documents=tuple(table["documents"]),
        queries=tuple(table["queries"]),
        near_duplicates=tuple((left, right) for left, right in table.get("near_duplicates", [])),
        identical=tuple(table.get("identical", [])),
        why=table["why"],
    )


def faults_in(demo: DemoProject) -> list[str]:
    """List what doesn't hold together in a demo; empty when all does."""
    return [
        *_repeated_ids(demo),
        *_faults_of_documents(demo),
        *_faults_of_chunks(demo),
        *_faults_of_queries(demo),
        *_faults_of_traps(demo),
        *_faults_of_misses(demo),
    ]


def _repeated_ids(demo: DemoProject) -> Iterator[str]:
    ids = {
        "document": [document.id for document in demo.documents],
        "chunk": [chunk.id for chunk in demo.chunks],
        "query": [query.id for query in demo.queries],
        "trap": [trap.name for trap in demo.traps],
    }
    for kind, names in ids.items():
        yield from (f"{kind} '{name}' stands twice" for name, n in Counter(names).items() if n > 1)


def _faults_of_documents(demo: DemoProject) -> Iterator[str]:
    by_id = {document.id: document for document in demo.documents}
    for document in demo.documents:
        if document.supersedes is None:
            continue
        old = by_id.get(document.supersedes)
        if old is None:
            yield f"'{document.id}' supersedes '{document.supersedes}', which doesn't exist"
        elif old.effective_date >= document.effective_date:
            yield f"'{document.id}' supersedes '{old.id}', which isn't older"
        elif (old.region, old.product) != (document.region, document.product):
            yield f"'{document.id}' supersedes '{old.id}' of another region or product"


def _faults_of_chunks(demo: DemoProject) -> Iterator[str]:
    identical = {chunk_id for trap in demo.traps for chunk_id in trap.identical}
    first_with: dict[str, str] = {}
    carried: set[str] = set()
    for chunk in demo.chunks:
        words = len(chunk.text.split())
        if words not in WORDS_PER_CHUNK:
            yield f"'{chunk.id}' has {words} words"
        for evidence in chunk.evidence_ids:
            carried.add(evidence)
            if evidence not in demo.facts and evidence != chunk.id:
                yield f"'{chunk.id}' carries the evidence '{evidence}', which doesn't exist"
        other = first_with.setdefault(chunk.text, chunk.id)
        if other != chunk.id and not {other, chunk.id} <= identical:
            yield f"'{chunk.id}' has the text of '{other}', and no trap says so"
    yield from (
        f"the evidence '{name}' is carried by no chunk" for name in set(demo.facts) - carried
    )


def _faults_of_queries(demo: DemoProject) -> Iterator[str]:
    documents = {document.id for document in demo.documents}
    evidence = {name for chunk in demo.chunks for name in chunk.evidence_ids}
    for query in demo.queries:
        if query.domain not in DOMAINS:
            yield f"query '{query.id}' has the unknown domain '{query.domain}'"
        if not query.weight > 0:
            yield f"query '{query.id}' has the weight {query.weight}"
        source = query.groups.source_document
        if source is not None and source not in documents:
            yield f"query '{query.id}' comes from '{source}', which doesn't exist"
        for name in query.required_evidence:
            if name not in evidence:
                yield f"query '{query.id}' requires the evidence '{name}', which doesn't exist"


def _faults_of_traps(demo: DemoProject) -> Iterator[str]:
    documents = {document.id for document in demo.documents}
    queries = {query.id for query in demo.queries}
    chunks = {chunk.id for chunk in demo.chunks}
    for trap in demo.traps:
        named = [name for pair in trap.near_duplicates for name in pair] + [*trap.identical]
        for kind, names, known in (
            ("document", trap.documents, documents),
            ("query", trap.queries, queries),
            ("chunk", named, chunks),
        ):
            for name in names:
                if name not in known:
                    yield f"trap '{trap.name}' names the {kind} '{name}', which doesn't exist"


def _faults_of_misses(demo: DemoProject) -> Iterator[str]:
    chunks = {chunk.id for chunk in demo.chunks}
    queries = {query.id for query in demo.queries}
    for miss in demo.misses:
        if miss.query not in queries:
            yield f"the planted miss '{miss.failure}' names no query: '{miss.query}'"
        yield from (
            f"the planted miss '{miss.failure}' returns no chunk: '{hit}'"
            for hit in miss.hits
            if hit not in chunks
        )
