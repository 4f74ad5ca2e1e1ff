"""Runs as the project holds them: which are meant, what each was asked, its chunks in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Literal

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from labeler.errors import NotFoundError, UsageError
from labeler.records import table
from labeler.records.corpus import Snapshot
from labeler.records.runs import Hit, Role, Run, RunQuery
from labeler.store.bulk import is_one_of
from labeler.store.registry import snapshots_by_name

__all__ = ["Order", "RunRef", "all_runs", "hits_by_query", "queries_of", "runs_meant"]

Order = Literal["score", "rank"]
"""What orders a run: ``score`` as trec_eval does, or the file's ``rank`` column."""

_RUN, _HIT = table(Run), table(Hit)


@dataclass(frozen=True, slots=True)
class RunRef:
    """A run of the project, and the snapshot that it stands on."""

    key: int
    name: str
    role: Role
    snapshot_id: int
    snapshot: str
    digest: str


def all_runs(connection: Connection, as_of: int | None = None) -> list[RunRef]:
    """List every run of the project, by name.

    Args:
        connection: A transaction's connection.
        as_of: Only those of this revision or before; all by default.
    """
    stand = table(Snapshot)
    statement = (
        sa.select(_RUN.c.id, _RUN.c.name, _RUN.c.role, _RUN.c.digest, stand.c.id, stand.c.name)
        .join(stand, stand.c.id == _RUN.c.snapshot_id)
        .order_by(_RUN.c.name, _RUN.c.id)
    )
    if as_of is not None:
        statement = statement.where(_RUN.c.revision_id <= as_of)
    return [
        RunRef(key, name, Role(role), snapshot_id, where, digest)
        for key, name, role, digest, snapshot_id, where in connection.execute(statement)
    ]


def runs_meant(
    connection: Connection,
    patterns: Sequence[str],
    snapshot: str | None,
    as_of: int | None = None,
) -> list[RunRef]:
    """Find runs by name or by patterns such as ``bm25-*``; no pattern means all of them.

    Args:
        connection: A transaction's connection.
        patterns: Names or patterns.
        snapshot: The snapshot, when the names don't tell it.
        as_of: Only runs of this revision or before; all by default.

    Raises:
        NotFoundError: When a pattern matches no run.
        UsageError: When the runs stand on several snapshots and none is named.
    """
    if snapshot is None and not patterns:
        named = list(snapshots_by_name(connection))
        if len(named) > 1:
            raise UsageError(
                f"the project has several snapshots: {', '.join(named)}",
                hint="name one: --snapshot NAME",
            )
        snapshot = named[0] if named else None
    runs = [run for run in all_runs(connection, as_of) if snapshot in {None, run.snapshot}]
    if not runs:
        where = f" over the snapshot '{snapshot}'" if snapshot else ""
        raise NotFoundError(f"there are no runs{where}", hint="`labeler import runs FILE...`")
    chosen: dict[int, RunRef] = {} if patterns else {run.key: run for run in runs}
    for pattern in patterns:
        found = [run for run in runs if fnmatchcase(run.name, pattern)]
        if not found:
            names = ", ".join(sorted({run.name for run in runs})[:12])
            raise NotFoundError(f"no run is called '{pattern}'", hint=f"there is {names}")
        chosen |= {run.key: run for run in found}
    stands = sorted({run.snapshot for run in chosen.values()})
    if len(stands) > 1:
        raise UsageError(
            f"these runs stand on several snapshots: {', '.join(stands)}",
            hint="name one: --snapshot NAME",
        )
    return sorted(chosen.values(), key=lambda run: run.name)


def hits_by_query(
    connection: Connection, run_key: int, order: Order
) -> Iterator[tuple[int, list[int]]]:
    """Go through a run query by query; each with its chunks, best first.

    The order ``score`` is that of trec_eval; ``rank`` is that of the file's rank column, ties and
    absent ranks by score.
    """
    by: list[ColumnElement[int]] = [_HIT.c.rank]
    if order == "rank":
        by = [sa.func.coalesce(_HIT.c.stated_rank, 2**31 - 1), _HIT.c.rank]
    statement = (
        sa.select(_HIT.c.query_id, _HIT.c.chunk_id)
        .where(_HIT.c.run_id == run_key)
        .order_by(_HIT.c.query_id, *by)
    )
    for query, rows in groupby(connection.execute(statement), key=lambda row: row[0]):
        yield int(query), [int(chunk) for _, chunk in rows]


def queries_of(connection: Connection, run_keys: Sequence[int]) -> set[int]:
    """Give the queries that some runs were asked, also those with nothing returned."""
    asked = table(RunQuery)
    statement = sa.select(asked.c.query_id).where(is_one_of(connection, asked.c.run_id, run_keys))
    return {int(key) for (key,) in connection.execute(statement)}
