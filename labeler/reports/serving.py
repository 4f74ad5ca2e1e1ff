"""How a run was served: latency, depths, timeouts, cache state and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.evaluation.latency import Quantile, quantile
from labeler.records import table
from labeler.records.runs import RunQuery
from labeler.retrieval.runs import RunRef

__all__ = ["Serving", "Spread", "read_serving", "spread"]


@dataclass(frozen=True, slots=True)
class Spread:
    """The least, the middle and the most of some counts."""

    least: float
    middle: float
    most: float


@dataclass(frozen=True, slots=True)
class Serving:
    """What a run recorded of how its queries were served.

    Attributes:
        run: The run's name.
        queries: Queries that it was asked, of those that count.
        p50: The median latency in milliseconds, over the queries that did not time out.
        p95: The 95th percentile likewise.
        timed_out: Queries that timed out.
        timeouts_known: Queries for which it is recorded whether they did.
        candidate_depth: How many candidates were ranked; None where it isn't recorded.
        returned: How many hits were returned.
        cache: Queries by cache state; an unrecorded one has the name ``unrecorded``.
        cost: The sum of costs in the team's currency; None where none is recorded.
        cost_known: Queries with a cost.
    """

    run: str
    queries: int
    p50: Quantile
    p95: Quantile
    timed_out: int
    timeouts_known: int
    candidate_depth: Spread | None
    returned: Spread | None
    cache: Mapping[str, int]
    cost: float | None
    cost_known: int


def read_serving(connection: Connection, run: RunRef, queries: NDArray[np.int64]) -> Serving:
    """Read how a run was served for the queries that count.

    A query that timed out has no latency of its own: what is recorded is the limit, so it is told
    beside and left out of the quantiles.
    """
    asked = table(RunQuery)
    wanted = set(queries.tolist())
    rows = [
        row
        for row in connection.execute(
            sa.select(asked).where(asked.c.run_id == run.key).order_by(asked.c.query_id)
        )
        if row.query_id in wanted
    ]
    latencies = np.array(
        [row.latency_ms for row in rows if row.latency_ms is not None and not row.timed_out],
        dtype=np.float64,
    )
    costs = [row.cost for row in rows if row.cost is not None]
    return Serving(
        run=run.name,
        queries=len(rows),
        p50=quantile(latencies, 0.5),
        p95=quantile(latencies, 0.95),
        timed_out=sum(bool(row.timed_out) for row in rows),
        timeouts_known=sum(row.timed_out is not None for row in rows),
        candidate_depth=spread([r.candidate_depth for r in rows if r.candidate_depth is not None]),
        returned=spread([row.returned for row in rows]),
        cache=dict(sorted(Counter(row.cache_state or "unrecorded" for row in rows).items())),
        cost=float(sum(costs)) if costs else None,
        cost_known=len(costs),
    )


def spread(counts: list[int]) -> Spread | None:
    """Give the least, the middle and the most, or None of nothing."""
    if not counts:
        return None
    return Spread(float(min(counts)), float(np.median(counts)), float(max(counts)))
