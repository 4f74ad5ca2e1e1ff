"""What the project knows already: the snapshot that is meant, and queries that files name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import NotFoundError, UsageError
from labeler.formats.findings import Findings, shown
from labeler.records import table
from labeler.records.corpus import Snapshot
from labeler.records.queries import Query, QueryVersion
from labeler.store.database import WriteTransaction

__all__ = ["IDS_ONLY", "check_queries", "snapshot_meant"]

IDS_ONLY = "ids-only"
"""The empty snapshot that runs and labels stand on when no corpus was imported."""


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
    known = {str(row.name): int(row.id) for row in rows}
    names = ", ".join(known)
    if name is not None:
        if name not in known:
            raise NotFoundError(
                f"there is no snapshot '{name}'",
                hint=f"there is {names}" if known else "`labeler import corpus` makes one",
            )
        return known[name], name
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
    folded = unicodedata.normalize("NFKC", name).strip().casefold()
    return re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"\.0$", "", folded))


def check_queries(
    connection: Connection,
    places: Mapping[str, tuple[str, int | None]],
    findings: Findings,
) -> None:
    """Compare the query ids of a file with those that the project knows.

    In a project with queries, an unknown id is a fault: it is a slip, or the queries are still to
    be imported. In one without, ids are taken as they come, unless one looks like another way to
    write a known id (``01`` and ``1``): then results would fall silently to zero.

    Args:
        connection: A transaction's connection.
        places: Each query id of the files, with the file and the line where it first comes.
        findings: Takes the faults.
    """
    query, version = table(Query), table(QueryVersion)
    known = {str(name) for (name,) in connection.execute(sa.select(query.c.external_id))}
    have_texts = connection.execute(sa.select(version.c.id).limit(1)).first() is not None
    unknown = [name for name in places if name not in known]
    if not known or not unknown:
        return
    alike: dict[str, str] = {}
    for name in sorted(known):
        alike.setdefault(_alike(name), name)
    for name in unknown:
        path, line = places[name]
        near = alike.get(_alike(name))
        if near is not None:
            findings.fault(
                path, line, f"the query {shown(name)} is unknown; {_difference(name, near)}"
            )
        elif have_texts:
            findings.fault(path, line, f"the query {shown(name)} is not among those imported")


def _difference(name: str, near: str) -> str:
    if name.lstrip("0") == near.lstrip("0"):
        return f"{shown(near)} is known, and the two differ only by leading zeros"
    return f"{shown(near)} is known, and the two differ only in how they are written"


def first_places(
    names: Sequence[str], path: str, lines: Sequence[int]
) -> dict[str, tuple[str, int | None]]:
    """Give each name with the file and the line where it first comes; line 0 is no line."""
    places: dict[str, tuple[str, int | None]] = {}
    for name, line in zip(names, lines, strict=True):
        places.setdefault(name, (path, line or None))
    return places
