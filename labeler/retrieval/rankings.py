"""What runs ranked, as arrays of evidence: chunks that carry one fact collapsed before any cut.

Pools and metrics read runs through here, so a place in a ranking means the same to both.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.records import table
from labeler.records.corpus import Chunk, ChunkEvidence, Evidence
from labeler.records.runs import Hit
from labeler.retrieval.collapse import collapse
from labeler.retrieval.runs import Order, RunRef, hits_by_query, queries_of
from labeler.store.bulk import find_ids, intern, is_one_of

__all__ = ["Ranking", "evidence_of_chunks", "read_rankings"]

_EVERYTHING = 2**31


@dataclass(frozen=True, eq=False)
class Ranking:
    """The evidence that one run ranked, query after query.

    Attributes:
        run: The run.
        order: What orders it.
        queries: Shape (queries,), ascending: the keys of what was asked, also with no result.
        starts: Shape (queries + 1,): where each query's evidence starts; the last is the end.
        evidence: Shape (places,): keys of evidence, each query's best first and each once. A
            negative one stands for a chunk whose evidence the project doesn't know: nothing can be
            known of it.
    """

    run: RunRef
    order: Order
    queries: NDArray[np.int64]
    starts: NDArray[np.int64]
    evidence: NDArray[np.int64]

    def of(self, query: int) -> NDArray[np.int64]:
        """Give the evidence ranked for a query, best first; empty when it wasn't asked."""
        place = int(np.searchsorted(self.queries, query))
        if place == len(self.queries) or self.queries[place] != query:
            return self.evidence[:0]
        return self.evidence[self.starts[place] : self.starts[place + 1]]

    @property
    def query_of_places(self) -> NDArray[np.int64]:
        """The query of each place, shape (places,)."""
        return np.repeat(self.queries, np.diff(self.starts))

    @property
    def ranks(self) -> NDArray[np.int64]:
        """The rank of each place among its query's evidence, from 1, shape (places,)."""
        lengths = np.diff(self.starts)
        return np.arange(len(self.evidence)) - np.repeat(self.starts[:-1], lengths) + 1


def read_rankings(
    connection: Connection,
    runs: Sequence[RunRef],
    order: Order = "score",
    *,
    depth: int | None = None,
    queries: Collection[int] | None = None,
) -> list[Ranking]:
    """Read what some runs of one snapshot ranked.

    Args:
        connection: An open connection.
        runs: The runs; all stand on one snapshot.
        order: What orders them.
        depth: How many evidences of each query are wanted, counted after chunks are collapsed; all
            by default.
        queries: The queries that count; all that each run was asked by default.

    Returns:
        One ranking for each run, in their order.
    """
    if not runs:
        return []
    keys = [run.key for run in runs]
    carried = evidence_of_chunks(connection, runs[0].snapshot_id, keys, make=False)
    wanted = None if queries is None else set(queries)
    found: list[Ranking] = []
    for run in runs:
        asked = queries_of(connection, [run.key])
        asked = asked if wanted is None else asked & wanted
        ranked: dict[int, list[int]] = {query: [] for query in sorted(asked)}
        for query, chunks in hits_by_query(connection, run.key, order):
            if query in ranked:
                taken, _ = collapse(chunks, carried, depth or _EVERYTHING)
                ranked[query] = [one.evidence for one in taken]
        lengths = [len(one) for one in ranked.values()]
        found.append(
            Ranking(
                run=run,
                order=order,
                queries=np.array(list(ranked), dtype=np.int64),
                starts=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64),
                evidence=np.array(
                    [evidence for one in ranked.values() for evidence in one], dtype=np.int64
                ),
            )
        )
    return found


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
            as reading needs no more.
    """
    link, evidence, chunk, hit = table(ChunkEvidence), table(Evidence), table(Chunk), table(Hit)
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
                sa.select(hit.c.chunk_id).where(is_one_of(connection, hit.c.run_id, run_keys))
            )
        )
        .order_by(chunk.c.id)
    )
    missing = {
        int(key): str(name) for key, name in connection.execute(retrieved) if key not in carried
    }
    names = list(missing.values())
    there = intern(connection, evidence, names) if make else find_ids(connection, evidence, names)
    return carried | {key: [there.get(name, -key)] for key, name in missing.items()}
