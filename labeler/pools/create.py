"""A pool: the top of several runs, frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from labeler.errors import ConflictError, UsageError
from labeler.pools.gather import Gathered, Pair, PoolOptions, gather, pool_digest
from labeler.pools.known import texts_of
from labeler.records import table
from labeler.records.pools import (
    Candidate,
    Contribution,
    Item,
    Pool,
    PoolQuery,
    PoolRun,
    Source,
)
from labeler.store.bulk import insert_rows, intern_keys
from labeler.store.database import Store, WriteTransaction
from labeler.store.registry import rubric_key

__all__ = ["PoolOptions", "PoolReport", "create_pool"]

_POOL, _CANDIDATE = table(Pool), table(Candidate)


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


def create_pool(store: Store, name: str, options: PoolOptions) -> PoolReport:
    """Make a pool, all of it or nothing; making it again the same way changes nothing.

    Raises:
        UsageError: When the depth is below 1, or the name can't be one.
        NotFoundError: When a run, the snapshot or the pool to extend isn't there.
        ConflictError: When a pool of that name holds something else.
    """
    if not name.strip() or not name.isprintable() or "/" in name:
        raise UsageError(f"'{name}' can't be the name of a pool", hint="such as d10 or bm25-top20")
    if options.depth < 1:
        raise UsageError("--depth is 1 or more")
    with store.write(f"pool create {name}") as tx:
        gathered, parent = gather(tx, options)
        snapshot = gathered.runs[0][0]
        texts = texts_of(tx.connection, snapshot.snapshot_id)
        digest = pool_digest(tx.connection, gathered, options)
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


def _store(
    tx: WriteTransaction,
    name: str,
    digest: str,
    gathered: Gathered,
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
    gathered: Gathered,
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
