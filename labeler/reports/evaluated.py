"""Runs held against one revision of the labels, ready to be measured: what comparisons share."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.assessment.label_states import LabelSource, LabelStates, read_label_states
from labeler.errors import NotFoundError, UsageError
from labeler.evaluation.ranking import JudgedRanking
from labeler.records import table
from labeler.records.pools import PoolQuery
from labeler.records.project import Revision
from labeler.reports.judged_rankings import judged_ranking, known_of
from labeler.retrieval.clusters import clusters_of
from labeler.retrieval.query_facts import (
    SINGLE_POSITIVE,
    AskedBy,
    QueryFacts,
    one_origin,
    read_query_facts,
)
from labeler.retrieval.rankings import Ranking, read_rankings
from labeler.retrieval.runs import Order, RunRef, all_runs
from labeler.store.registry import pool_named

__all__ = ["ALL", "EvaluatedRuns", "newest_revision", "origin_notices", "read_evaluated"]

ALL = "all"
"""The slice that holds every query."""


@dataclass(frozen=True, eq=False)
class EvaluatedRuns:
    """Some runs of one pool's snapshot with what is known of their results.

    Attributes:
        pool: The pool's name.
        pool_id: Its key.
        snapshot_id: The snapshot's key.
        snapshot: Its name.
        revision: The revision of the labels.
        labels: What is known of the pool's items.
        queries: Shape (queries,), ascending: keys of the queries that count.
        facts: What is known of each query.
        clusters: Shape (queries,): the cluster of each.
        weights: Shape (queries,): its production weight.
        runs: The runs by name, in the order in which they were named.
        rankings: What each ranked, by its name.
        asked_by: Who wrote the queries.
        left_out: How many others were left out, since figures of the two are never pooled.
    """

    pool: str
    pool_id: int
    snapshot_id: int
    snapshot: str
    revision: int
    labels: LabelStates
    queries: NDArray[np.int64]
    facts: Mapping[int, QueryFacts]
    clusters: NDArray[np.int64]
    weights: NDArray[np.float64]
    runs: Mapping[str, RunRef]
    rankings: Mapping[str, Ranking]
    asked_by: AskedBy = AskedBy.PEOPLE
    left_out: int = 0

    def judged(self, run: str, labels: LabelStates | None = None) -> JudgedRanking:
        """Hold a run against the labels, or against others of the same items."""
        labels = self.labels if labels is None else labels
        known = known_of(labels, self.queries)
        return judged_ranking(self.rankings[run], labels, self.queries, known)

    def top_items(self, run: str, cutoff: int) -> NDArray[np.bool_]:
        """Tell which items of the labels a run has in its first places, shape (items,)."""
        ranking = self.rankings[run]
        top = ranking.ranks <= cutoff
        places = self.labels.places(ranking.query_of_places[top], ranking.evidence[top])
        found = np.zeros(len(self.labels.items), dtype=np.bool_)
        found[places[places >= 0]] = True
        return found

    def in_slice(self, name: str) -> NDArray[np.bool_]:
        """Tell which queries belong to a slice, shape (queries,).

        Raises:
            NotFoundError: When no query does.
        """
        if name == ALL:
            return np.ones(len(self.queries), dtype=np.bool_)
        inside = np.array(
            [name in self.facts[int(key)].all_slices for key in self.queries], dtype=np.bool_
        )
        if not inside.any():
            known = sorted({one for key in self.queries for one in self.facts[int(key)].all_slices})
            raise NotFoundError(
                f"no query is in the slice '{name}'",
                hint=f"there is {', '.join((ALL, *known))}",
            )
        return inside

    def with_labels(self, states: NDArray[np.int8], gain: float) -> LabelStates:
        """Fill labels in: states of all items; a relevant one that had no gain gets this one."""
        filled = (self.labels.states == -1) & (states != -1)
        gains = np.where(filled, np.where(states == 1, gain, 0.0), self.labels.gains)
        return replace(self.labels, states=states, gains=gains)


def origin_notices(evaluated: EvaluatedRuns) -> Iterator[str]:
    """Tell whose queries were left out, and of how many generated ones one positive is known."""
    others = next(one for one in AskedBy if one is not evaluated.asked_by)
    if evaluated.left_out:
        yield (
            f"{evaluated.left_out:,} queries of origin {others} are left out, since figures of "
            f"people's queries and of generated ones are never pooled"
        )
    if evaluated.asked_by is AskedBy.GENERATOR:
        single = sum(
            SINGLE_POSITIVE in evaluated.facts[key].slices for key in evaluated.queries.tolist()
        )
        yield (
            f"the queries are synthetic; {single:,} of {len(evaluated.queries):,} are "
            "single-positive: one relevant evidence of theirs is known and no other was looked for"
        )


def newest_revision(connection: Connection) -> int:
    """Give the newest revision."""
    return int(connection.execute(sa.select(sa.func.max(table(Revision).c.id))).scalar() or 0)


def read_evaluated(
    connection: Connection,
    pool: str,
    runs: Sequence[str],
    source: LabelSource,
    *,
    as_of: int | None = None,
    order: Order | None = None,
    only: Collection[int] | None = None,
    asked_by: AskedBy | None = None,
) -> EvaluatedRuns:
    """Read some runs with what is known of the pool's items, at one revision for all of them.

    Args:
        connection: A transaction's connection.
        pool: The pool whose queries and items are meant.
        runs: Names of runs over the pool's snapshot; they need not be in the pool.
        source: Whose labels count.
        as_of: A revision; None is the present.
        order: What orders a run; as the pool was made by default.
        only: The queries that count, among the pool's; all of them by default.
        asked_by: Whose queries count; those of people by default, or a generator's where there are
            no others.

    Raises:
        NotFoundError: When a name or the revision isn't there, or no query is left.
        UsageError: When no run is named.
    """
    newest = newest_revision(connection)
    if as_of is not None and not 0 <= as_of <= newest:
        raise NotFoundError(f"there is no revision {as_of}; the newest is {newest}")
    row = pool_named(connection, pool)
    if as_of is not None and row.revision_id > as_of:
        raise NotFoundError(
            f"there is no pool '{pool}' at revision {as_of}",
            hint=f"it was made at revision {row.revision_id}",
        )
    if not runs:
        raise UsageError("name the runs that are meant")
    named = _named(connection, row.snapshot_id, runs)
    asked = table(PoolQuery)
    statement = sa.select(asked.c.query_id).where(asked.c.pool_id == row.id)
    keys = {int(key) for (key,) in connection.execute(statement)}
    keys = keys if only is None else keys & set(only)
    facts = read_query_facts(connection, as_of)
    whose = one_origin(keys, facts, asked_by)
    others = {key for key, one in facts.items() if one.asked_by is not whose}
    left_out = len(keys & others)
    keys -= others
    if not keys:
        raise NotFoundError(
            f"no query of the pool '{pool}' is left to look at",
            hint=f"{left_out:,} are not of origin {whose}" if left_out else None,
        )
    queries = np.array(sorted(keys), dtype=np.int64)
    cluster_of = clusters_of(facts.values())
    how: Order = order or row.order_rule
    rankings = read_rankings(connection, list(named.values()), how, queries=keys)
    return EvaluatedRuns(
        pool=pool,
        pool_id=int(row.id),
        snapshot_id=int(row.snapshot_id),
        snapshot=next(iter(named.values())).snapshot,
        revision=newest if as_of is None else as_of,
        labels=read_label_states(
            connection,
            snapshot_id=row.snapshot_id,
            rubric_id=row.rubric_id,
            source=source,
            pool_id=row.id,
            as_of=as_of,
        ).without_queries(others),
        queries=queries,
        facts=facts,
        clusters=np.array([cluster_of[key] for key in queries.tolist()], dtype=np.int64),
        weights=np.array([facts[key].weight for key in queries.tolist()], dtype=np.float64),
        runs=named,
        rankings=dict(zip(named, rankings, strict=True)),
        asked_by=whose,
        left_out=left_out,
    )


def _named(connection: Connection, snapshot_id: int, names: Sequence[str]) -> dict[str, RunRef]:
    """Find runs by their exact names on a snapshot."""
    there = {run.name: run for run in all_runs(connection) if run.snapshot_id == snapshot_id}
    for name in names:
        if name not in there:
            raise NotFoundError(
                f"no run over the pool's snapshot is called '{name}'",
                hint=f"there is {', '.join(there)}",
            )
    return {name: there[name] for name in dict.fromkeys(names)}
