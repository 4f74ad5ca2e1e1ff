"""What every number of a report on runs rests on, and how it is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.labels import StateCode
from labeler.records import table
from labeler.records.pools import PoolRun
from labeler.reports.evaluated import EvaluatedRuns, origin_notices
from labeler.retrieval.runs import RunRef, all_runs, queries_of

__all__ = ["Conditions", "frame_in_words", "notices_of"]


@dataclass(frozen=True, slots=True)
class Conditions:
    """Without what no number of a report means anything.

    Attributes:
        frame: The population that the numbers speak of, in words.
        pool: The pool's name and digest, or None.
        snapshot: The snapshot's name.
        rubric: The rubric's name and digest.
        scales: The scales of the labels, with their mapping to grades.
        gains: What the gains of nDCG are.
        labels: Whose labels count: ``human`` or ``human+auto``.
        relevant: From which grade on.
        order: What orders a run.
        revision: The revision of the labels.
        queries: Queries that count.
        labelled_queries: Those with at least one label.
        clusters: Clusters that the queries belong to.
        origin: Whose queries they are: ``people`` or ``synthetic``.
    """

    frame: str
    pool: str | None
    snapshot: str
    rubric: str
    scales: tuple[str, ...]
    gains: str
    labels: str
    relevant: str
    order: str
    revision: int
    queries: int
    labelled_queries: int
    clusters: int
    origin: str

    def facts(self) -> dict[str, str]:
        """Give names and values in words; a report of no pool names none."""
        found: dict[str, str] = {}
        for name, value in asdict(self).items():
            shown = "; ".join(value) if isinstance(value, tuple) else value
            shown = f"{shown:,}" if isinstance(shown, int) else shown
            if shown is not None:
                found[name.replace("_", " ")] = shown
        return found


def frame_in_words(
    connection: Connection, pool: sa.Row[object] | None, evaluated: EvaluatedRuns
) -> str:
    """Say what population a report speaks of: a pool's items, or those known of a snapshot."""
    items = len(evaluated.labels.items)
    if pool is None:
        return (
            f"the {items:,} items of snapshot {evaluated.snapshot} that are pooled or labelled, "
            "and the queries with a label"
        )
    part = table(PoolRun)
    runs = {run.key: run.name for run in all_runs(connection)}
    depths: dict[int, list[str]] = {}
    for key, depth in connection.execute(
        sa.select(part.c.run_id, part.c.depth).where(part.c.pool_id == pool.id)
    ):
        depths.setdefault(int(depth), []).append(runs[int(key)])
    tops = "; ".join(
        f"the top {depth} of {_listed(sorted(names))}" for depth, names in sorted(depths.items())
    )
    return f"the {items:,} items of pool {pool.name}: {tops}, on snapshot {evaluated.snapshot}"


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def notices_of(
    connection: Connection, evaluated: EvaluatedRuns, conditions: Conditions
) -> list[str]:
    """Say what a reader should know beside the numbers of runs."""
    found = list(origin_notices(evaluated))
    states = evaluated.labels.states
    if not (states == StateCode.RELEVANT).any():
        found.append(
            "no label is relevant: every metric is 0 or undefined. See that the scale and its "
            f"mapping are the right way round: {'; '.join(conditions.scales)}"
        )
    without = conditions.queries - conditions.labelled_queries
    if without:
        found.append(
            f"{without:,} of {conditions.queries:,} queries have no label: all that was ranked "
            "for them is unknown"
        )
    wanted = set(evaluated.queries.tolist())
    for run in evaluated.runs.values():
        found += _missing(connection, run, wanted)
    return found


def _missing(connection: Connection, run: RunRef, wanted: set[int]) -> list[str]:
    missing = len(wanted - queries_of(connection, [run.key]))
    if not missing:
        return []
    return [f"{run.name} has nothing for {missing:,} of {len(wanted):,} queries: counted as empty"]
