"""Runs of two snapshots, each held against what is known on its own: before and after a change.

A label counts on both snapshots where the evidence has the same text on both. Where the text is
another one, or the evidence is on one side only, nothing is carried over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.assessment.label_states import LabelStates
from labeler.errors import NotFoundError, UsageError
from labeler.evaluation.ranking import JudgedRanking
from labeler.labels import StateCode
from labeler.records import table
from labeler.records.corpus import SnapshotEvidence
from labeler.records.pools import Pool, PoolRun
from labeler.reports.evaluated import EvaluatedRuns
from labeler.reports.judged_rankings import judged_ranking, known_of, labelled_queries
from labeler.reports.scope import Scope, ScopeOptions, read_scope
from labeler.retrieval.clusters import clusters_of
from labeler.retrieval.rankings import Ranking, read_rankings
from labeler.retrieval.runs import RunRef, all_runs, queries_of

__all__ = ["AcrossSnapshots", "SnapshotsDiffer", "carried_over", "read_across", "snapshots_meant"]


@dataclass(frozen=True, slots=True)
class SnapshotsDiffer:
    """How two snapshots differ in what is compared: items that are pooled or labelled.

    Attributes:
        before: The snapshot of the run that the others are compared with.
        after: The other one.
        both: Candidates of both with the same text.
        only_before: Candidates of the first that are none of the second, or have another text.
        only_after: Likewise of the second.
        labels_lost: Labels of the first whose text the second doesn't have: unknown there.
        labels_new: Likewise of the second.
        queries_left_out: Queries with a label that the runs of one snapshot weren't asked.
    """

    before: str
    after: str
    both: int
    only_before: int
    only_after: int
    labels_lost: int
    labels_new: int
    queries_left_out: int

    def lines(self) -> tuple[str, ...]:
        """Say so; what is to stand on top of a comparison."""
        how = (
            "each run is measured on its own, and a label counts on both where the text is the same"
        )
        candidates = (
            f"{self.both:,} on both, {self.only_before:,} only on {self.before}, "
            f"{self.only_after:,} only on {self.after}"
        )
        labels = f"labels that count on one only: {self.labels_lost:,} and {self.labels_new:,}"
        told = [
            f"the snapshots differ: {self.before} before, {self.after} after; {how}",
            f"candidates: {candidates}; {labels}",
        ]
        if self.queries_left_out:
            told.append(
                f"{self.queries_left_out:,} queries with a label are left out: the runs of one "
                "snapshot weren't asked them"
            )
        return tuple(told)


@dataclass(frozen=True, eq=False)
class AcrossSnapshots:
    """What is compared across two snapshots.

    Attributes:
        scope: The queries that all runs were asked, with conditions that name both snapshots; its
            labels are those of the first.
        judged: Each run held against what is known on its own snapshot.
        pools: The newest pool of each run that is in one, by the run's name.
        differ: How the snapshots differ.
    """

    scope: Scope
    judged: Mapping[str, JudgedRanking]
    pools: Mapping[str, str]
    differ: SnapshotsDiffer


def snapshots_meant(connection: Connection, options: ScopeOptions) -> list[str]:
    """Give the snapshots that the named runs stand on; none where options tell the snapshot."""
    if options.pool is not None or options.snapshot is not None or not options.runs:
        return []
    return sorted({run.snapshot for run in _meant(connection, options)})


def read_across(
    connection: Connection, options: ScopeOptions, against: str | None
) -> AcrossSnapshots:
    """Read runs of two snapshots.

    Runs that have the same name on both are called ``NAME@SNAPSHOT``.

    Args:
        connection: A transaction's connection.
        options: What is looked at; its runs stand on two snapshots.
        against: The run that the others are compared with; the first that is named by default.

    Raises:
        NotFoundError: When nothing is pooled or labelled on one of them, or no query is left.
        UsageError: When there are more than two, or they can't be compared.
    """
    runs = _named(_meant(connection, options))
    first = runs.get(against or "") or _first(options.runs, runs)
    names = sorted(
        {run.snapshot for run in runs.values()}, key=lambda one: (one != first.snapshot, one)
    )
    if len(names) != 2:  # noqa: PLR2004 - before and after
        raise UsageError(
            f"runs of two snapshots can be compared, not of {', '.join(names)}",
            hint="name runs of two, or one snapshot: --snapshot NAME",
        )
    sides = [_side(connection, options, name, list(runs.values())) for name in names]
    _check_alike(sides)
    queries, left_out = _common_queries(connection, sides)
    same = _same_texts(connection, *(side.evaluated.snapshot_id for side in sides))
    own = [side.evaluated.labels for side in sides]
    labels = [carried_over(own[0], own[1], same), carried_over(own[1], own[0], same)]
    rankings: dict[str, Ranking] = {}
    judged: dict[str, JudgedRanking] = {}
    for side, known in zip(sides, labels, strict=True):
        mine = {name: run for name, run in runs.items() if run.snapshot == side.evaluated.snapshot}
        read = read_rankings(connection, list(mine.values()), side.order, queries=queries.tolist())
        for name, ranking in zip(mine, read, strict=True):
            rankings[name] = ranking
            judged[name] = judged_ranking(ranking, known, queries, known_of(known, queries))
    scope = _joined(sides, runs, rankings, queries)
    differ = _differ(names, own, same, queries, left_out)
    return AcrossSnapshots(scope, judged, _newest_pools(connection, runs), differ)


def _meant(connection: Connection, options: ScopeOptions) -> list[RunRef]:
    return [
        run
        for run in all_runs(connection, options.as_of)
        if any(fnmatchcase(run.name, pattern) for pattern in options.runs)
    ]


def _named(runs: Sequence[RunRef]) -> dict[str, RunRef]:
    times = Counter(run.name for run in runs)
    return {run.name if times[run.name] == 1 else f"{run.name}@{run.snapshot}": run for run in runs}


def _first(patterns: Sequence[str], runs: Mapping[str, RunRef]) -> RunRef:
    """Give the first run that was named; of those of one name the one that was stored first."""
    fitting = [run for run in runs.values() if fnmatchcase(run.name, patterns[0])]
    return min(fitting, key=lambda run: (run.name, run.key))


def _side(
    connection: Connection, options: ScopeOptions, snapshot: str, runs: Sequence[RunRef]
) -> Scope:
    names = tuple(run.name for run in runs if run.snapshot == snapshot)
    try:
        return read_scope(connection, replace(options, snapshot=snapshot, runs=names))
    except NotFoundError as error:
        raise NotFoundError(
            f"snapshot {snapshot}: {error.message}",
            hint=f"labels carry over to what is pooled: labeler pool create NAME --runs {names[0]} "
            f"--snapshot {snapshot}",
        ) from None


def _check_alike(sides: Sequence[Scope]) -> None:
    for name in ("rubric", "gains", "origin"):
        before, after = (getattr(side.conditions, name) for side in sides)
        if before != after:
            raise UsageError(
                f"the labels of the two snapshots can't be held against each other: {name} "
                f"{before} before, {after} after",
                hint="--rubric and --origin tell which labels and queries are meant",
            )


def _common_queries(
    connection: Connection, sides: Sequence[Scope]
) -> tuple[NDArray[np.int64], int]:
    """Give the queries with a label that every snapshot's runs were asked; and how many others."""
    labelled = set(
        np.concatenate([labelled_queries(one.evaluated.labels) for one in sides]).tolist()
    )
    common = set(labelled)
    for side in sides:
        common &= queries_of(connection, [run.key for run in side.evaluated.runs.values()])
    if not common:
        raise NotFoundError("no query with a label was asked of the runs of both snapshots")
    return np.array(sorted(common), dtype=np.int64), len(labelled - common)


def _same_texts(connection: Connection, first: int, second: int) -> NDArray[np.int64]:
    """Give the evidence that shows the same text in two snapshots."""
    shown = table(SnapshotEvidence)
    other = shown.alias("other")
    statement = sa.select(shown.c.evidence_id).join(
        other,
        sa.and_(other.c.evidence_id == shown.c.evidence_id, other.c.text_id == shown.c.text_id),
    )
    statement = statement.where(shown.c.snapshot_id == first, other.c.snapshot_id == second)
    return np.array([int(key) for (key,) in connection.execute(statement)], dtype=np.int64)


def carried_over(labels: LabelStates, other: LabelStates, same: NDArray[np.int64]) -> LabelStates:
    """Add the labels of another snapshot that count on this one.

    What both know is left as it is: an item's own label stands, and `labels_in_force` has given it
    the other's where it has none.

    Args:
        labels: What is known on a snapshot.
        other: What is known on the other.
        same: The evidence with the same text on both.
    """
    missing = labels.places(other.queries, other.evidence) < 0
    known = other.states != StateCode.UNKNOWN
    more = np.flatnonzero(missing & known & np.isin(other.evidence, same))
    if not len(more):
        return labels
    queries = np.concatenate([labels.queries, other.queries[more]])
    evidence = np.concatenate([labels.evidence, other.evidence[more]])
    order = np.lexsort((evidence, queries))
    place_of = np.argsort(order)
    return replace(
        labels,
        items=np.concatenate([labels.items, other.items[more]])[order],
        queries=queries[order],
        evidence=evidence[order],
        states=np.concatenate([labels.states, other.states[more]])[order],
        gains=np.concatenate([labels.gains, other.gains[more]])[order],
        abstained=np.sort(place_of[labels.abstained]),
    )


def _joined(
    sides: Sequence[Scope],
    runs: Mapping[str, RunRef],
    rankings: Mapping[str, Ranking],
    queries: NDArray[np.int64],
) -> Scope:
    first, second = sides
    evaluated = first.evaluated
    cluster_of = clusters_of(evaluated.facts.values())
    joined = EvaluatedRuns(
        pool=evaluated.pool,
        pool_id=evaluated.pool_id,
        snapshot_id=evaluated.snapshot_id,
        snapshot=f"{evaluated.snapshot} and {second.evaluated.snapshot}",
        revision=evaluated.revision,
        labels=evaluated.labels,
        queries=queries,
        facts=evaluated.facts,
        clusters=np.array([cluster_of[key] for key in queries.tolist()], dtype=np.int64),
        weights=np.array([evaluated.facts[key].weight for key in queries.tolist()]),
        runs=dict(runs),
        rankings=dict(rankings),
        asked_by=evaluated.asked_by,
        left_out=evaluated.left_out,
    )
    conditions = replace(
        first.conditions,
        frame=f"{first.conditions.frame}; {second.conditions.frame}",
        snapshot=joined.snapshot,
        scales=tuple(dict.fromkeys((*first.conditions.scales, *second.conditions.scales))),
        queries=len(queries),
        labelled_queries=len(queries),
        clusters=len(np.unique(joined.clusters)),
    )
    return Scope(joined, conditions, first.order, (*first.notices, *second.notices))


def _newest_pools(connection: Connection, runs: Mapping[str, RunRef]) -> dict[str, str]:
    pool, part = table(Pool), table(PoolRun)
    statement = (
        sa.select(part.c.run_id, pool.c.name)
        .join(pool, pool.c.id == part.c.pool_id)
        .where(part.c.run_id.in_([run.key for run in runs.values()]))
        .order_by(pool.c.id)
    )
    newest = {int(key): str(name) for key, name in connection.execute(statement)}
    return {name: newest[run.key] for name, run in runs.items() if run.key in newest}


def _differ(
    names: Sequence[str],
    labels: Sequence[LabelStates],
    same: NDArray[np.int64],
    queries: NDArray[np.int64],
    left_out: int,
) -> SnapshotsDiffer:
    before, after = labels
    counted = [np.isin(one.queries, queries) for one in labels]
    shared = [np.isin(one.evidence, same) for one in labels]
    known = [one.states != StateCode.UNKNOWN for one in labels]
    on_both = shared[0] & (after.places(before.queries, before.evidence) >= 0) & counted[0]
    both = int(on_both.sum())
    return SnapshotsDiffer(
        before=names[0],
        after=names[1],
        both=both,
        only_before=int(counted[0].sum()) - both,
        only_after=int(counted[1].sum()) - both,
        labels_lost=int((counted[0] & known[0] & ~shared[0]).sum()),
        labels_new=int((counted[1] & known[1] & ~shared[1]).sum()),
        queries_left_out=left_out,
    )
