"""A pool: the top of several runs, frozen."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Table

from labeler.assessment.rubric import Rubric
from labeler.errors import ConflictError, NotFoundError, UsageError
from labeler.pools.collapse import collapse
from labeler.pools.hits import (
    Order,
    RunRef,
    all_runs,
    evidence_of_chunks,
    hits_by_query,
    judged_queries,
    queries_of,
    runs_meant,
    texts_of,
)
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.pools import (
    Candidate,
    Contribution,
    Item,
    Pool,
    PoolQuery,
    PoolRun,
    Source,
)
from labeler.records.queries import Query
from labeler.store.bulk import insert_rows, intern_keys
from labeler.store.database import Store, WriteTransaction
from labeler.store.registry import rubric_key

__all__ = ["PoolOptions", "PoolReport", "create_pool", "list_pools", "pool_named"]

_POOL, _CANDIDATE = table(Pool), table(Candidate)

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
        extends: A pool whose candidates are taken over.
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


@dataclass(frozen=True, slots=True)
class PoolReport:
    """What came of making a pool."""

    name: str
    digest: str
    snapshot: str
    queries: int
    runs: int
    passages: int
    candidates: int
    from_one_system: int
    without_text: int
    revision: int | None


@dataclass(slots=True)
class _Gathered:
    """Everything that a pool will hold, while it is gathered."""

    runs: list[tuple[RunRef, int]]
    queries: set[int]
    contributions: dict[Pair, dict[int, tuple[int, int]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    by_people: set[Pair] = field(default_factory=set)
    passages: set[Pair] = field(default_factory=set)


def create_pool(store: Store, name: str, options: PoolOptions) -> PoolReport:
    """Make a pool, all of it or nothing; making it again the same way changes nothing.

    Raises:
        UsageError: When the depth is below 1.
        NotFoundError: When a run, the snapshot or the pool to extend isn't there.
        ConflictError: When a pool of that name holds something else.
    """
    if options.depth < 1:
        raise UsageError("--depth is 1 or more")
    with store.write(f"pool create {name}") as tx:
        gathered, parent = _gather(tx, options)
        snapshot = gathered.runs[0][0]
        texts = texts_of(tx.connection, snapshot.snapshot_id)
        digest = _digest(tx.connection, gathered, options)
        known = tx.connection.execute(
            sa.select(_POOL.c.digest).where(_POOL.c.name == name)
        ).scalar()
        if known is not None and known != digest:
            raise ConflictError(
                f"the pool '{name}' is immutable, and this would be another one",
                hint=f"choose another name; --extends {name} takes its candidates over",
            )
        if known is None:
            _store(tx, name, digest, gathered, options, parent, texts)
    pairs = gathered.contributions.keys() | gathered.by_people
    return PoolReport(
        name=name,
        digest=digest,
        snapshot=snapshot.snapshot,
        queries=len(gathered.queries),
        runs=len(gathered.runs),
        passages=len(gathered.passages),
        candidates=len(pairs),
        from_one_system=sum(len(by_run) == 1 for by_run in gathered.contributions.values()),
        without_text=sum(evidence not in texts for _, evidence in pairs),
        revision=tx.made_revision,
    )


def pool_named(connection: Connection, name: str) -> Any:
    """Find a pool's row by its name.

    Raises:
        NotFoundError: When there is none.
    """
    row = connection.execute(sa.select(_POOL).where(_POOL.c.name == name)).first()
    if row is None:
        names = [str(one) for (one,) in connection.execute(sa.select(_POOL.c.name))]
        raise NotFoundError(
            f"there is no pool '{name}'",
            hint=f"there is {', '.join(names)}" if names else "`labeler pool create` makes one",
        )
    return row


def _gather(tx: WriteTransaction, options: PoolOptions) -> tuple[_Gathered, int | None]:
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
    gathered = _Gathered(runs, queries, by_people=by_people)
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


def _names(connection: Connection, of: Table, keys: set[int]) -> dict[int, str]:
    rows = connection.execute(sa.select(of.c.id, of.c.external_id))
    return {int(key): str(name) for key, name in rows if key in keys}


def _digest(connection: Connection, gathered: _Gathered, options: PoolOptions) -> str:
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


def _store(
    tx: WriteTransaction,
    name: str,
    digest: str,
    gathered: _Gathered,
    options: PoolOptions,
    parent: int | None,
    texts: Mapping[int, int],
) -> None:
    rubric = options.rubric
    rubric_id = rubric_key(
        tx, name=rubric.name, digest=rubric.digest, body=rubric.to_json(), scale=rubric.scale
    )
    snapshot_id = gathered.runs[0][0].snapshot_id
    statement = sa.insert(_POOL).values(
        name=name,
        snapshot_id=snapshot_id,
        rubric_id=rubric_id,
        depth=options.depth,
        order_rule=options.order,
        passages=len(gathered.passages),
        extends_id=parent,
        digest=digest,
        revision_id=tx.revision_id,
    )
    pool_id = int(tx.connection.execute(statement.returning(_POOL.c.id)).scalar_one())
    insert_rows(
        tx.connection,
        table(PoolRun),
        ["pool_id", "run_id", "depth"],
        [(pool_id, run.key, depth) for run, depth in gathered.runs],
    )
    insert_rows(
        tx.connection,
        table(PoolQuery),
        ["pool_id", "query_id"],
        [(pool_id, query) for query in sorted(gathered.queries)],
    )
    pairs = sorted(gathered.contributions.keys() | gathered.by_people)
    items = _items(tx, pairs, rubric_id, snapshot_id, texts)
    _store_candidates(tx, pool_id, gathered, pairs, items)


def _items(
    tx: WriteTransaction,
    pairs: Sequence[Pair],
    rubric_id: int,
    snapshot_id: int,
    texts: Mapping[int, int],
) -> dict[tuple[int, ...], int]:
    item = table(Item)
    return intern_keys(
        tx.connection,
        item,
        ["query_id", "evidence_id", "rubric_id", "snapshot_id"],
        [(query, evidence, rubric_id, snapshot_id) for query, evidence in pairs],
        known=sa.and_(item.c.snapshot_id == snapshot_id, item.c.rubric_id == rubric_id),
        extra=(["text_id"], lambda key: [texts.get(key[1])]),
    )


def _store_candidates(
    tx: WriteTransaction,
    pool_id: int,
    gathered: _Gathered,
    pairs: Sequence[Pair],
    items: Mapping[tuple[int, ...], int],
) -> None:
    by_pair = {(key[0], key[1]): item for key, item in items.items()}
    sources = {
        pair: Source.RUN if pair in gathered.contributions else Source.PERSON for pair in pairs
    }
    insert_rows(
        tx.connection,
        _CANDIDATE,
        ["pool_id", "item_id", "source"],
        [(pool_id, by_pair[pair], sources[pair].value) for pair in pairs],
    )
    statement = sa.select(_CANDIDATE.c.item_id, _CANDIDATE.c.id).where(
        _CANDIDATE.c.pool_id == pool_id
    )
    candidates = {int(item): int(key) for item, key in tx.connection.execute(statement)}
    insert_rows(
        tx.connection,
        table(Contribution),
        ["candidate_id", "run_id", "rank", "raw_rank"],
        (
            (candidates[by_pair[pair]], run, *gathered.contributions[pair][run])
            for pair in pairs
            for run in sorted(gathered.contributions.get(pair, ()))
        ),
    )


def list_pools(connection: Connection) -> list[dict[str, object]]:
    """List the pools with their sizes, oldest first."""
    size = sa.select(sa.func.count()).where(_CANDIDATE.c.pool_id == _POOL.c.id).scalar_subquery()
    rows = connection.execute(
        sa.select(_POOL.c.name, _POOL.c.depth, size, _POOL.c.digest).order_by(_POOL.c.id)
    )
    return [
        {"pool": name, "depth": depth, "candidates": count, "digest": digest}
        for name, depth, count, digest in rows
    ]
