"""What a pool will hold: gathered from runs, and from the pool that it extends."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy import Connection, Table

from labeler.assessment.rubric import Rubric
from labeler.errors import NotFoundError, UsageError
from labeler.pools.known import judged_queries
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.pools import Candidate, Item, PoolRun, Source
from labeler.records.proposals import EvidenceProposal
from labeler.records.queries import Query
from labeler.retrieval.collapse import collapse
from labeler.retrieval.rankings import evidence_of_chunks
from labeler.retrieval.runs import (
    Order,
    RunRef,
    all_runs,
    hits_by_query,
    queries_of,
    runs_meant,
)
from labeler.store.database import WriteTransaction
from labeler.store.registry import pool_named

__all__ = ["Gathered", "Pair", "PoolOptions", "gather", "pool_digest"]

_CANDIDATE = table(Candidate)

Pair = tuple[int, int]
"""A query's and an evidence's key."""


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """How a pool is to be made.

    Attributes:
        depth: How many evidences to take from the top of each run, 1 or more.
        runs: Names or patterns; none means all runs.
        snapshot: The snapshot, when the runs' names don't tell it.
        order: What orders a run: ``score`` as trec_eval does, or the file's ``rank``.
        extends: A pool whose candidates are taken over; what reviewers found for its queries comes
            with it.
        only_judged: Whether to leave out queries for which nothing was judged yet.
        rubric: What the items are judged under.
    """

    depth: int
    rubric: Rubric
    runs: tuple[str, ...] = ()
    snapshot: str | None = None
    order: Order = "score"
    extends: str | None = None
    only_judged: bool = False


@dataclass(slots=True)
class Gathered:
    """Everything that a pool will hold, while it is gathered."""

    runs: list[tuple[RunRef, int]]
    queries: set[int]
    contributions: dict[Pair, dict[int, tuple[int, int]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    by_people: set[Pair] = field(default_factory=set)
    passages: set[Pair] = field(default_factory=set)


def gather(tx: WriteTransaction, options: PoolOptions) -> tuple[Gathered, int | None]:
    """Read what a pool will hold; also the key of the pool that it extends, if any.

    Raises:
        UsageError: When the pool to extend stands on another snapshot or another order.
        NotFoundError: When a run, the snapshot or the pool to extend isn't there.
    """
    chosen = {
        run.key: (run, options.depth)
        for run in runs_meant(tx.connection, options.runs, options.snapshot)
    }
    parent = None
    by_people: set[Pair] = set()
    queries: set[int] | None = None
    if options.extends is not None:
        row = pool_named(tx.connection, options.extends)
        parent = int(row.id)
        if row.snapshot_id != next(iter(chosen.values()))[0].snapshot_id:
            raise UsageError(f"the pool '{options.extends}' stands on another snapshot")
        if row.order_rule != options.order:
            raise UsageError(
                f"the pool '{options.extends}' is ordered by {row.order_rule}",
                hint=f"--order {row.order_rule}",
            )
        for run, depth in _runs_of(tx.connection, parent):
            deeper = max(depth, chosen[run.key][1]) if run.key in chosen else depth
            chosen[run.key] = (run, deeper)
        by_people = _pairs_by_people(tx.connection, parent)
    runs = sorted(chosen.values(), key=lambda one: one[0].name)
    snapshot_id = runs[0][0].snapshot_id
    queries = queries_of(tx.connection, list(chosen))
    if options.only_judged:
        queries &= judged_queries(tx.connection, snapshot_id)
        if not queries:
            raise NotFoundError("no query of these runs has a judgment yet")
    if parent is not None:
        by_people |= _pairs_proposed(tx.connection, snapshot_id, queries)
    gathered = Gathered(runs, queries, by_people=by_people)
    carried = evidence_of_chunks(tx.connection, snapshot_id, list(chosen), make=True)
    for run, depth in runs:
        for query, chunks in hits_by_query(tx.connection, run.key, options.order):
            if query not in queries:
                continue
            taken, read = collapse(chunks, carried, depth)
            gathered.passages.update((query, chunk) for chunk in read)
            for one in taken:
                gathered.contributions[query, one.evidence][run.key] = (one.rank, one.raw_rank)
    return gathered, parent


def _runs_of(connection: Connection, pool_id: int) -> Iterator[tuple[RunRef, int]]:
    part = table(PoolRun)
    depths = {
        int(run): int(depth)
        for run, depth in connection.execute(
            sa.select(part.c.run_id, part.c.depth).where(part.c.pool_id == pool_id)
        )
    }
    for run in all_runs(connection):
        if run.key in depths:
            yield run, depths[run.key]


def _pairs_by_people(connection: Connection, pool_id: int) -> set[Pair]:
    item = table(Item)
    statement = (
        sa.select(item.c.query_id, item.c.evidence_id)
        .join(_CANDIDATE, _CANDIDATE.c.item_id == item.c.id)
        .where(_CANDIDATE.c.pool_id == pool_id, _CANDIDATE.c.source == Source.PERSON.value)
    )
    return {(int(query), int(evidence)) for query, evidence in connection.execute(statement)}


def _pairs_proposed(connection: Connection, snapshot_id: int, queries: set[int]) -> set[Pair]:
    """Give what reviewers found for some queries in a snapshot."""
    item, proposal = table(Item), table(EvidenceProposal)
    statement = (
        sa.select(item.c.query_id, item.c.evidence_id)
        .join(proposal, proposal.c.item_id == item.c.id)
        .where(item.c.snapshot_id == snapshot_id)
    )
    found = connection.execute(statement)
    return {(int(query), int(evidence)) for query, evidence in found if query in queries}


def _names(connection: Connection, of: Table, keys: set[int]) -> dict[int, str]:
    rows = connection.execute(sa.select(of.c.id, of.c.external_id))
    return {int(key): str(name) for key, name in rows if key in keys}


def pool_digest(connection: Connection, gathered: Gathered, options: PoolOptions) -> str:
    """Digest what a pool holds by names alone, so that it is the same on every machine."""
    pairs = gathered.contributions.keys() | gathered.by_people
    queries = _names(connection, table(Query), gathered.queries | {query for query, _ in pairs})
    evidence = _names(connection, table(Evidence), {evidence for _, evidence in pairs})
    runs = {run.key: run.name for run, _ in gathered.runs}
    head = [
        gathered.runs[0][0].snapshot,
        options.rubric.digest,
        options.order,
        sorted(queries[key] for key in gathered.queries),
        [(run.name, depth, run.digest) for run, depth in gathered.runs],
    ]
    digest = hashlib.sha256(json.dumps(head).encode())
    for query, key in sorted(pairs, key=lambda pair: (queries[pair[0]], evidence[pair[1]])):
        ranks = sorted(
            (runs[run], *ranks)
            for run, ranks in gathered.contributions.get((query, key), {}).items()
        )
        digest.update(json.dumps([queries[query], evidence[key], ranks]).encode() + b"\n")
    return digest.hexdigest()
