"""What a depth would cost, before it is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import NotFoundError, UsageError
from labeler.pools.known import judged_queries, texts_of
from labeler.records import table
from labeler.records.pools import Item
from labeler.records.projections import ItemLabel
from labeler.records.queries import Query
from labeler.retrieval.collapse import collapse
from labeler.retrieval.rankings import evidence_of_chunks
from labeler.retrieval.runs import Order, hits_by_query, queries_of, runs_meant
from labeler.store.bulk import find_ids

__all__ = ["DepthCost", "plan_depths"]


@dataclass(frozen=True, slots=True)
class DepthCost:
    """What a pool of one depth would hold.

    Attributes:
        depth: Evidences taken from the top of each run.
        candidates: Distinct pairs of query and evidence.
        new: Candidates that the depth before doesn't have.
        from_one_system: Candidates that just one run brings.
        without_text: Candidates that nobody can judge.
        labelled: Candidates with a label in force, under any rubric.
        to_label: Candidates with a text and no label: what the depth would cost.
    """

    depth: int
    candidates: int
    new: int
    from_one_system: int
    without_text: int
    labelled: int
    to_label: int


def plan_depths(
    connection: Connection,
    depths: Sequence[int],
    *,
    runs: Sequence[str] = (),
    snapshot: str | None = None,
    order: Order = "score",
    only_judged: bool = False,
    queries: Sequence[str] = (),
) -> list[DepthCost]:
    """Count the candidates of each depth, without making a pool.

    Args:
        connection: A transaction's connection.
        depths: The depths, each 1 or more.
        runs: Names or patterns; none means all runs.
        snapshot: The snapshot, when the runs' names don't tell it.
        order: What orders a run.
        only_judged: Whether to count only queries for which something was judged.
        queries: The ids of the queries to count, such as those of dev; none means all.

    Raises:
        UsageError: When a depth is below 1.
        NotFoundError: When a run, the snapshot or a query isn't there.
    """
    wanted = sorted(set(depths))
    if not wanted or wanted[0] < 1:
        raise UsageError("a depth is 1 or more")
    chosen = runs_meant(connection, runs, snapshot)
    keys = [run.key for run in chosen]
    snapshot_id = chosen[0].snapshot_id
    counted = queries_of(connection, keys)
    if only_judged:
        counted &= judged_queries(connection, snapshot_id)
    if queries:
        known = find_ids(connection, table(Query), list(dict.fromkeys(queries)))
        if missing := [name for name in queries if name not in known]:
            raise NotFoundError(f"the project has no query '{missing[0]}'")
        counted &= set(known.values())
    carried = evidence_of_chunks(connection, snapshot_id, keys, make=False)
    reached: dict[tuple[int, int], list[int]] = {}
    for run in chosen:
        for query, chunks in hits_by_query(connection, run.key, order):
            if query in counted:
                for one in collapse(chunks, carried, wanted[-1])[0]:
                    reached.setdefault((query, one.evidence), []).append(one.rank)
    texts = texts_of(connection, snapshot_id)
    labelled = _labelled(connection, snapshot_id)
    costs: list[DepthCost] = []
    for depth in wanted:
        pairs = {pair: ranks for pair, ranks in reached.items() if min(ranks) <= depth}
        have_text = {pair for pair in pairs if pair[1] in texts}
        costs.append(
            DepthCost(
                depth=depth,
                candidates=len(pairs),
                new=len(pairs) - (costs[-1].candidates if costs else 0),
                from_one_system=sum(
                    sum(rank <= depth for rank in ranks) == 1 for ranks in pairs.values()
                ),
                without_text=len(pairs) - len(have_text),
                labelled=len(pairs.keys() & labelled),
                to_label=len(have_text - labelled),
            )
        )
    return costs


def _labelled(connection: Connection, snapshot_id: int) -> set[tuple[int, int]]:
    item, label = table(Item), table(ItemLabel)
    statement = (
        sa.select(item.c.query_id, item.c.evidence_id)
        .join(label, label.c.item_id == item.c.id)
        .where(item.c.snapshot_id == snapshot_id)
    )
    return {(int(query), int(evidence)) for query, evidence in connection.execute(statement)}
