"""Reading runs for pooling: which runs are meant, their hits in order, the evidence of chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Literal

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from labeler.errors import NotFoundError, UsageError
from labeler.records import table
from labeler.records.corpus import Chunk, ChunkEvidence, Evidence, Snapshot, SnapshotEvidence
from labeler.records.judgments import Judgment
from labeler.records.pools import Item
from labeler.records.runs import Hit, Role, Run, RunQuery
from labeler.store.bulk import intern, is_one_of
from labeler.store.registry import snapshots_by_name

__all__ = [
    "Order",
    "RunRef",
    "all_runs",
    "evidence_of_chunks",
    "hits_by_query",
    "judged_queries",
    "queries_of",
    "runs_meant",
    "texts_of",
]

Order = Literal["score", "rank"]

_RUN, _HIT = table(Run), table(Hit)


@dataclass(frozen=True, slots=True)
class RunRef:
    """A run that is to be pooled."""

    key: int
    name: str
    role: Role
    snapshot_id: int
    snapshot: str
    digest: str


def all_runs(connection: Connection) -> list[RunRef]:
    """List every run of the project, by name."""
    stand = table(Snapshot)
    statement = (
        sa.select(_RUN.c.id, _RUN.c.name, _RUN.c.role, _RUN.c.digest, stand.c.id, stand.c.name)
        .join(stand, stand.c.id == _RUN.c.snapshot_id)
        .order_by(_RUN.c.name, _RUN.c.id)
    )
    return [
        RunRef(key, name, Role(role), snapshot_id, where, digest)
        for key, name, role, digest, snapshot_id, where in connection.execute(statement)
    ]


def runs_meant(
    connection: Connection, patterns: Sequence[str], snapshot: str | None
) -> list[RunRef]:
    """Find runs by name or by patterns such as ``bm25-*``; no pattern means all of them.

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
    runs = [run for run in all_runs(connection) if snapshot in {None, run.snapshot}]
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


def evidence_of_chunks(
    connection: Connection, snapshot_id: int, run_keys: Sequence[int], *, make: bool
) -> dict[int, list[int]]:
    """Give the evidences of every chunk that some runs hold, ordered by their names.

    A chunk that the snapshot lacks stands for an evidence of its own name.

    Args:
        connection: A transaction's connection.
        snapshot_id: The snapshot.
        run_keys: The runs.
        make: Whether evidence that isn't there may be made; without it, it gets a negative key,
            as planning needs no more.
    """
    link, evidence, chunk = table(ChunkEvidence), table(Evidence), table(Chunk)
    carried: dict[int, list[int]] = {}
    known = (
        sa.select(link.c.chunk_id, link.c.evidence_id)
        .join(evidence, evidence.c.id == link.c.evidence_id)
        .where(link.c.snapshot_id == snapshot_id)
        .order_by(evidence.c.external_id)
    )
    for chunk_id, evidence_id in connection.execute(known):
        carried.setdefault(chunk_id, []).append(evidence_id)
    retrieved = (
        sa.select(chunk.c.id, chunk.c.external_id)
        .where(
            chunk.c.id.in_(
                sa.select(_HIT.c.chunk_id).where(is_one_of(connection, _HIT.c.run_id, run_keys))
            )
        )
        .order_by(chunk.c.id)
    )
    missing = {
        int(key): str(name) for key, name in connection.execute(retrieved) if key not in carried
    }
    if missing and make:
        made = intern(connection, evidence, list(missing.values()))
        carried |= {key: [made[name]] for key, name in missing.items()}
    else:
        carried |= {key: [-key] for key in missing}
    return carried


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


def judged_queries(connection: Connection, snapshot_id: int) -> set[int]:
    """Give the queries for which anything was judged, over a snapshot."""
    item, judgment = table(Item), table(Judgment)
    statement = (
        sa.select(item.c.query_id)
        .join(judgment, judgment.c.item_id == item.c.id)
        .where(item.c.snapshot_id == snapshot_id)
        .distinct()
    )
    return {int(key) for (key,) in connection.execute(statement)}


def texts_of(connection: Connection, snapshot_id: int) -> Mapping[int, int]:
    """Give the representative text of each evidence in a snapshot."""
    there = table(SnapshotEvidence)
    statement = sa.select(there.c.evidence_id, there.c.text_id).where(
        there.c.snapshot_id == snapshot_id
    )
    return {int(evidence): int(text) for evidence, text in connection.execute(statement)}
