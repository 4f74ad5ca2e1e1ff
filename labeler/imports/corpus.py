"""A corpus becomes a snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from labeler.errors import ConflictError
from labeler.formats.findings import Findings
from labeler.imports.parts import files_of
from labeler.imports.passages import Passage, corpus_digest, read_passages
from labeler.imports.report import ImportReport, name_from, settle
from labeler.records import table
from labeler.records.corpus import (
    Chunk,
    ChunkEvidence,
    Document,
    Evidence,
    Snapshot,
    SnapshotChunk,
    SnapshotDocument,
    SnapshotEvidence,
)
from labeler.store.bulk import insert_rows, intern
from labeler.store.database import Store, WriteTransaction
from labeler.store.registry import store_texts

__all__ = ["CorpusOptions", "import_corpus"]

_GENERIC = frozenset({"corpus", "collection", "documents", "docs", "passages", "chunks"})


@dataclass(frozen=True, slots=True)
class CorpusOptions:
    """What the user says about a corpus beside its files."""

    snapshot: str | None = None
    source_version: str | None = None
    chunking: str | None = None
    access_policy: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    lenient: bool = False


def import_corpus(store: Store, paths: Sequence[Path], options: CorpusOptions) -> ImportReport:
    """Read files and store them as one frozen snapshot.

    Raises:
        InputError: When a file holds faults, unless the import is lenient.
        ConflictError: When a snapshot of that name has other content.
    """
    findings = Findings()
    files = files_of(paths, "corpus", findings)
    passages = read_passages(files, options.fields, findings)
    if not passages and not findings.faults:
        findings.fault(paths[0], None, "no passages")
    left_out = settle(findings, lenient=options.lenient, kept=len(passages))
    name = options.snapshot or name_from(files[0], _GENERIC)
    digest = corpus_digest(passages)
    with store.write(f"import corpus {name}") as tx:
        added = _store_snapshot(tx, name, digest, passages, options)
    return ImportReport(
        "corpus",
        {
            "passages": len(passages),
            "documents": len({passage.document for passage in passages}),
            "evidence": len({one for passage in passages for one in passage.evidence}),
            "without text": sum(not _has_text(passage) for passage in passages),
            "left out": left_out,
            "added": len(passages) if added else 0,
        },
        {"snapshot": name, "digest": digest},
        tuple(findings.notices),
        tx.made_revision,
    )


def _has_text(passage: Passage) -> bool:
    return bool(passage.text.strip())


def _store_snapshot(
    tx: WriteTransaction,
    name: str,
    digest: str,
    passages: Sequence[Passage],
    options: CorpusOptions,
) -> int | None:
    """Store a snapshot and give its key, or None when it is there already."""
    snapshot = table(Snapshot)
    known = tx.connection.execute(sa.select(snapshot.c.digest).where(snapshot.c.name == name))
    if (found := known.scalar()) is not None:
        if found == digest:
            return None
        raise ConflictError(
            f"snapshot '{name}' is frozen, and these files hold something else",
            hint="import them as a new snapshot: --snapshot NAME",
        )
    statement = sa.insert(snapshot).values(
        name=name,
        source_version=options.source_version,
        chunking=options.chunking,
        access_policy=options.access_policy,
        ingested_at=tx.clock(),
        digest=digest,
        revision_id=tx.revision_id,
    )
    snapshot_id = int(tx.connection.execute(statement.returning(snapshot.c.id)).scalar_one())
    documents = _store_documents(tx, snapshot_id, passages)
    texts = store_texts(tx.connection, (passage.text for passage in passages))
    chunks = intern(tx.connection, table(Chunk), [passage.key for passage in passages])
    insert_rows(
        tx.connection,
        table(SnapshotChunk),
        ["snapshot_id", "chunk_id", "document_id", "text_id", "title", "position"],
        (
            (
                snapshot_id,
                chunks[passage.key],
                documents[passage.document],
                texts[passage.text],
                passage.title,
                passage.position,
            )
            for passage in passages
        ),
    )
    _store_evidence(tx, snapshot_id, passages, chunks, texts)
    return snapshot_id


def _store_documents(
    tx: WriteTransaction, snapshot_id: int, passages: Sequence[Passage]
) -> dict[str, int]:
    first: dict[str, Passage] = {}
    for passage in passages:
        first.setdefault(passage.document, passage)
    replaced = {passage.supersedes for passage in first.values() if passage.supersedes}
    names = list(dict.fromkeys([*first, *sorted(replaced)]))
    keys = intern(tx.connection, table(Document), names)

    def rows() -> Iterator[tuple[Any, ...]]:
        for name, passage in first.items():
            about = passage.about
            yield (
                snapshot_id,
                keys[name],
                passage.title,
                about.get("domain"),
                about.get("product"),
                about.get("region"),
                about.get("effective_date"),
                about.get("source"),
                keys[passage.supersedes] if passage.supersedes else None,
            )

    columns = ["snapshot_id", "document_id", "title", "domain", "product", "region"]
    columns += ["effective_date", "source", "supersedes_id"]
    insert_rows(tx.connection, table(SnapshotDocument), columns, rows())
    return keys


def _store_evidence(
    tx: WriteTransaction,
    snapshot_id: int,
    passages: Sequence[Passage],
    chunks: Mapping[str, int],
    texts: Mapping[str, int],
) -> None:
    """Store which chunk carries which evidence, and the representative text of each evidence.

    The text shown for an evidence is that of its lowest chunk id, compared as text; a chunk that
    has no text represents nothing.
    """
    names = list(dict.fromkeys(one for passage in passages for one in passage.evidence))
    keys = intern(tx.connection, table(Evidence), names)
    insert_rows(
        tx.connection,
        table(ChunkEvidence),
        ["snapshot_id", "chunk_id", "evidence_id"],
        (
            (snapshot_id, chunks[passage.key], keys[one])
            for passage in passages
            for one in passage.evidence
        ),
    )
    lowest: dict[str, Passage] = {}
    for passage in passages:
        if not _has_text(passage):
            continue
        for one in passage.evidence:
            if one not in lowest or passage.key < lowest[one].key:
                lowest[one] = passage
    insert_rows(
        tx.connection,
        table(SnapshotEvidence),
        ["snapshot_id", "evidence_id", "chunk_id", "text_id"],
        (
            (snapshot_id, keys[one], chunks[passage.key], texts[passage.text])
            for one, passage in lowest.items()
        ),
    )
