"""What the project knows already: the snapshot that is meant, and queries that files name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import NotFoundError, UsageError
from labeler.formats.findings import Findings, shown
from labeler.records import table
from labeler.records.corpus import IDS_ONLY, Chunk, ChunkEvidence, Evidence, Snapshot, SnapshotChunk
from labeler.records.queries import Query, QueryVersion
from labeler.store.bulk import is_one_of
from labeler.store.database import WriteTransaction
from labeler.store.registry import snapshots_by_name

__all__ = [
    "IDS_ONLY",
    "check_queries",
    "first_places",
    "snapshot_meant",
    "tell_no_corpus",
    "tell_unknown_documents",
    "unknown_queries_hint",
]

_ANOTHER_CORPUS = 10
"""So many documents, none of which the snapshot holds, are no few odd rows: refused."""


def snapshot_meant(tx: WriteTransaction, name: str | None) -> tuple[int, str]:
    """Find the snapshot that the user means: the named one, else the only one.

    In a project without any, an empty one is made, so that runs and labels can be compared by
    their ids alone.

    Raises:
        NotFoundError: When no snapshot has that name.
        UsageError: When there are several and none is named.
    """
    snapshot = table(Snapshot)
    rows = tx.connection.execute(sa.select(snapshot.c.name, snapshot.c.id).order_by(snapshot.c.id))
    everything = {str(row.name): int(row.id) for row in rows}
    known = snapshots_by_name(tx.connection)
    names = ", ".join(known)
    if name is not None:
        if name not in everything:
            raise NotFoundError(
                f"there is no snapshot '{name}'",
                hint=f"there is {names}" if known else "`labeler import corpus` makes one",
            )
        return everything[name], name
    if len(known) > 1:
        raise UsageError(
            f"the project has several snapshots: {names}", hint="name one: --snapshot NAME"
        )
    if known:
        return next((key, name) for name, key in known.items())
    statement = sa.insert(snapshot).values(
        name=IDS_ONLY,
        source_version="no corpus: ids alone",
        ingested_at=tx.clock(),
        digest="",
        revision_id=tx.revision_id,
    )
    return int(tx.connection.execute(statement.returning(snapshot.c.id)).scalar_one()), IDS_ONLY


def _alike(name: str) -> str:
    """Fold the differences by which one id is often written in two ways."""
    plain = name if name.isascii() else unicodedata.normalize("NFKC", name)
    folded = plain.strip().casefold()
    if "0" not in folded:
        return folded
    return re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"\.0$", "", folded))


def check_queries(
    connection: Connection,
    places: Mapping[str, tuple[str, int | None]],
    rows: Mapping[str, int],
    findings: Findings,
) -> frozenset[str]:
    """Compare the query ids of a file with those that the project knows.

    In a project with queries, an unknown id is a fault: it is a slip, or the queries are still to
    be imported. In one without, ids are taken as they come, unless one looks like another way to
    write a known id (``01`` and ``1``): then results would fall silently to zero.

    Args:
        connection: A transaction's connection.
        places: Each query id of the files, with the file and the line where it first comes.
        rows: How many rows each of them has.
        findings: Takes the faults.

    Returns:
        The ids that became faults.
    """
    query, version = table(Query), table(QueryVersion)
    known = {str(name) for (name,) in connection.execute(sa.select(query.c.external_id))}
    have_texts = connection.execute(sa.select(version.c.id).limit(1)).first() is not None
    unknown = [name for name in places if name not in known]
    if not known or not unknown:
        return frozenset()
    alike = alike_names(unknown, known)
    refused: set[str] = set()
    for name in unknown:
        if name in alike:
            problem = f"the query {shown(name)} is unknown; {_difference(name, alike[name])}"
        elif have_texts:
            problem = f"the query {shown(name)} is not among those imported"
        else:
            continue
        findings.fault(*places[name], problem, rows=rows[name])
        refused.add(name)
    return frozenset(refused)


def unknown_queries_hint(
    connection: Connection, names: Iterable[str], refused: AbstractSet[str]
) -> str | None:
    """Say what to do about files of which not one query is known; None where some are.

    Args:
        connection: A transaction's connection.
        names: The query ids of the files.
        refused: Those that the project should know and doesn't.
    """
    if not refused or not refused >= set(names):
        return None
    chunk = table(Chunk)
    statement = sa.select(chunk.c.external_id).where(
        is_one_of(connection, chunk.c.external_id, sorted(refused))
    )
    documents = {str(name) for (name,) in connection.execute(statement)}
    if documents == refused:
        return "these ids are those of documents: the query's column stands before the document's"
    return (
        "none of these queries is known: `labeler import queries` first, or say which project: --db"
    )


def alike_names(unknown: Sequence[str], known: Iterable[str]) -> dict[str, str]:
    """Find the known name that an unknown one is probably another way to write, if there is one."""
    known = sorted(known)
    if not known:
        return {}
    wanted = {_alike(name) for name in unknown}
    near: dict[str, str] = {}
    for name in known:
        folded = _alike(name)
        if folded in wanted:
            near.setdefault(folded, name)
    return {name: near[_alike(name)] for name in unknown if _alike(name) in near}


def tell_unknown_documents(
    connection: Connection,
    snapshot_id: int,
    documents: Mapping[str, Sequence[str]],
    findings: Findings,
) -> None:
    """Tell of document ids that the snapshot lacks, where they look like a slip.

    A file may name passages that the snapshot lacks. But when an id differs from a known one only
    in how it is written, results would silently fall to zero: that is told. When a corpus lacks all
    of them, the file belongs to another one, and nobody could judge any of it: that is told, too,
    and a fault where there are ten or more.

    Args:
        connection: A transaction's connection.
        snapshot_id: The snapshot.
        documents: The distinct document ids of each file, by the file's path.
        findings: Takes faults and notices.
    """
    known, has_corpus = known_documents(connection, snapshot_id)
    unknown = {
        path: [one for one in names if one not in known] for path, names in documents.items()
    }
    everything = {name for names in unknown.values() for name in names}
    alike = alike_names(sorted(everything), known) if everything else {}
    for path, names in unknown.items():
        near = [name for name in names if name in alike]
        if near:
            findings.notice(
                path,
                None,
                f"{len(near)} document id{'s' if len(near) > 1 else ''} unknown, such as "
                f"{shown(near[0])}; {_difference(near[0], alike[near[0]])}: they are taken as "
                "other documents",
            )
        elif has_corpus and names and len(names) == len(documents[path]):
            tell = findings.fault if len(names) >= _ANOTHER_CORPUS else findings.notice
            tell(
                path,
                None,
                f"the snapshot holds none of these documents (such as {shown(names[0])}): import "
                "the corpus that they are of, or name its snapshot: --snapshot NAME",
            )


def _difference(name: str, near: str) -> str:
    if name.lstrip("0") == near.lstrip("0"):
        return f"{shown(near)} is known, and the two differ only by leading zeros"
    return f"{shown(near)} is known, and the two differ only in how they are written"


def tell_no_corpus(what: str, path: Path, snapshot: str, findings: Findings) -> None:
    """Tell that something stands on the empty snapshot, where it does."""
    if snapshot == IDS_ONLY:
        findings.notice(
            path,
            None,
            f"there is no corpus, so these {what} stand on the empty snapshot '{IDS_ONLY}' and "
            "none of their passages can be judged; after `import corpus`, import them again",
        )


def known_documents(connection: Connection, snapshot_id: int) -> tuple[set[str], bool]:
    """Give the ids of a snapshot's chunks and evidences, and whether it has any.

    For a snapshot without a corpus, all ids that the project knows.
    """
    chunk, evidence = table(Chunk), table(Evidence)
    there, carried = table(SnapshotChunk), table(ChunkEvidence)
    of_chunks = sa.select(chunk.c.external_id)
    of_evidence = sa.select(evidence.c.external_id)
    in_corpus = (
        of_chunks.join(there, there.c.chunk_id == chunk.c.id).where(
            there.c.snapshot_id == snapshot_id
        ),
        of_evidence.join(carried, carried.c.evidence_id == evidence.c.id).where(
            carried.c.snapshot_id == snapshot_id
        ),
    )
    names = {str(name) for one in in_corpus for (name,) in connection.execute(one)}
    if names:
        return names, True
    everywhere = (of_chunks, of_evidence)
    return {str(name) for one in everywhere for (name,) in connection.execute(one)}, False


def first_places(
    names: Sequence[str], path: str, lines: Sequence[int]
) -> dict[str, tuple[str, int | None]]:
    """Give each name with the file and the line where it first comes; line 0 is no line."""
    places: dict[str, tuple[str, int | None]] = {}
    for name, line in zip(names, lines, strict=True):
        places.setdefault(name, (path, line or None))
    return places
