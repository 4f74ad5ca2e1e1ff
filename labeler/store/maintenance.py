"""Backup and check."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import ConflictError, NotFoundError, UsageError
from labeler.records import Record, table
from labeler.records.project import Revision, Text, Tombstone
from labeler.store.database import Store
from labeler.store.guards import expected_guards, installed_guards
from labeler.store.journals import left_journals, left_lines
from labeler.store.projections import projection_digest, refresh
from labeler.store.registry import text_digest

__all__ = ["Finding", "backup", "check", "revisions"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One check and what it found; no problems means that it passed.

    Attributes:
        check: What was looked at.
        problems: What is wrong.
        notes: What isn't wrong, but should be known.
    """

    check: str
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()


def backup(store: Store, target: Path) -> int:
    """Write a complete copy while others may go on writing; give its size in bytes.

    Raises:
        UsageError: On PostgreSQL, which has its own tools.
        ConflictError: When the target is already there.
    """
    if not store.is_sqlite:
        raise UsageError(
            "a backup of a PostgreSQL database is made by its own tools", hint="pg_dump -Fc"
        )
    if target.exists():
        raise ConflictError(f"{target} is already there", hint="name a file that isn't")
    if not target.absolute().parent.is_dir():
        raise NotFoundError(f"the folder {target.absolute().parent} doesn't exist")
    raw = store.engine.raw_connection()
    try:
        cursor = raw.cursor()
        cursor.execute("VACUUM INTO ?", (str(target),))
        cursor.close()
    finally:
        raw.close()
    return target.stat().st_size


def revisions(connection: Connection, last: int) -> list[dict[str, object]]:
    """List the newest revisions, newest first: number, time, who, and which command."""
    revision = table(Revision)
    rows = connection.execute(sa.select(revision).order_by(revision.c.id.desc()).limit(last))
    return [
        {
            "revision": row.id,
            "at": row.at.isoformat(timespec="seconds"),
            "actor": row.actor,
            "command": row.command,
        }
        for row in rows
    ]


def check(store: Store) -> list[Finding]:
    """Look for damage: in the file, in references, in the guards, in texts and projections."""
    with store.read() as connection:
        findings = [*_file_findings(connection), _guard_finding(connection)]
        findings.append(_text_finding(connection))
        findings.append(_revision_finding(connection))
    findings.append(_projection_finding(store))
    findings.append(_journal_finding(store))
    return findings


def _file_findings(connection: Connection) -> list[Finding]:
    if connection.dialect.name != "sqlite":
        return []
    integrity = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check")]
    broken = [
        f"{row[0]}, row {row[1]}: refers to {row[2]}, which isn't there"
        for row in connection.exec_driver_sql("PRAGMA foreign_key_check")
    ]
    return [
        Finding("the file is whole", tuple(line for line in integrity if line != "ok")),
        Finding("every reference leads somewhere", tuple(broken)),
    ]


def _guard_finding(connection: Connection) -> Finding:
    missing = sorted(set(expected_guards(connection)) - installed_guards(connection))
    return Finding(
        "append-only is guarded by the database",
        tuple(f"the trigger {name} is missing" for name in missing),
    )


def _text_finding(connection: Connection) -> Finding:
    text, tombstone = table(Text), table(Tombstone)
    erased = {row[0] for row in connection.execute(sa.select(tombstone.c.text_id))}
    problems = []
    rows = connection.execution_options(yield_per=1000).execute(
        sa.select(text.c.id, text.c.digest, text.c.body)
    )
    for key, digest, body in rows:
        if body is None and key not in erased:
            problems.append(f"text {key} has no body and no tombstone")
        elif body is not None and text_digest(body) != digest:
            problems.append(f"text {key} doesn't have the digest that it was stored under")
    return Finding("every text has its digest", tuple(problems))


def _revision_finding(connection: Connection) -> Finding:
    newest = connection.execute(sa.select(sa.func.max(table(Revision).c.id))).scalar() or 0
    problems = []
    for checked in Record.metadata.sorted_tables:
        if "revision_id" in checked.columns:
            highest = connection.execute(sa.select(sa.func.max(checked.c.revision_id))).scalar()
            if highest is not None and highest > newest:
                problems.append(f"{checked.name} refers to revision {highest} of {newest}")
    return Finding("every record has its revision", tuple(problems))


def _projection_finding(store: Store) -> Finding:
    with store.work() as connection:
        before = projection_digest(connection)
        trial = connection.begin_nested()
        refresh(connection, None)
        agrees = projection_digest(connection) == before
        trial.rollback()
    problem = "they differ from the log; `labeler db rebuild` derives them again"
    return Finding("projections agree with the log", () if agrees else (problem,))


def _journal_finding(store: Store) -> Finding:
    """Mention what sittings couldn't write: it isn't lost, and isn't in the database either."""
    waiting, refused = left_journals(store.location)
    notes = [
        f"{_events(path)} in {path}: the sitting that goes on stores them, or else the next one"
        for path in waiting
    ]
    notes += [
        f"{_events(path)} in {path} couldn't be stored; each line says why. Remove the file when "
        "nothing of it is needed"
        for path in refused
    ]
    return Finding("no event of a reviewer waits outside", (), tuple(notes))


def _events(path: Path) -> str:
    count = left_lines(path)
    if count is None:
        return "events of another user"
    return "1 event" if count == 1 else f"{count} events"
