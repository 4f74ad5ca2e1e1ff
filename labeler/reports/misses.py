"""Known relevant evidence that a run missed, by failure class; what is unknown is a list apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import NotFoundError, UsageError
from labeler.labels import StateCode
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.evaluations import FailureClass, MissRuling
from labeler.records.pools import Item
from labeler.records.project import Revision
from labeler.records.queries import Query
from labeler.records.runs import Run
from labeler.reports.conditions import Conditions
from labeler.reports.evaluated import EvaluatedRuns
from labeler.reports.failure_classes import classes_digest, classify
from labeler.reports.miss_facts import FactReader
from labeler.reports.scope import Scope, ScopeOptions, read_scope
from labeler.store.database import Store

__all__ = ["Miss", "MissReport", "UnknownPlace", "has_ruling", "read_misses", "rule_on_miss"]


@dataclass(frozen=True, slots=True)
class Miss:
    """One known relevant evidence that the run doesn't have in its top k.

    Attributes:
        query: The query's id.
        evidence: The evidence's id.
        rank: Its rank in the run, below k, or None.
        failure: Why it was missed: a person's ruling, or what can be told.
        told: What can be told without a person.
        ruled_by: Who ruled, or None.
        note: The ruling's reason, or empty.
    """

    query: str
    evidence: str
    rank: int | None
    failure: FailureClass
    told: FailureClass
    ruled_by: str | None
    note: str


@dataclass(frozen=True, slots=True)
class UnknownPlace:
    """A result in the top k of which nobody knows whether it is relevant.

    Attributes:
        query: The query's id.
        evidence: The evidence's id, or None where the project doesn't know it.
        rank: Its rank.
    """

    query: str
    evidence: str | None
    rank: int


@dataclass(frozen=True, slots=True)
class MissReport:
    """What a run missed.

    Attributes:
        run: The run.
        cutoff: How many places count.
        conditions: What every number rests on.
        known_relevant: Known relevant evidences of the queries.
        found: Those in the top k.
        by_class: Misses by failure class.
        misses: Every miss.
        unknown: Every unknown place of the top k: neither a hit nor a miss.
        rules: The digest of the rules that told classes.
        notices: What a reader should know besides.
    """

    run: str
    cutoff: int
    conditions: Conditions
    known_relevant: int
    found: int
    by_class: Mapping[str, int]
    misses: tuple[Miss, ...]
    unknown: tuple[UnknownPlace, ...]
    rules: str
    notices: tuple[str, ...]


def read_misses(
    connection: Connection, options: ScopeOptions, *, cutoff: int
) -> tuple[MissReport, Scope]:
    """List what one run missed.

    Args:
        connection: A transaction's connection.
        options: What is looked at; it names one run.
        cutoff: How many places count, 1 or more.

    Returns:
        The report, and what was looked at.

    Raises:
        NotFoundError: When a name or the revision isn't there.
        UsageError: When not just one run is meant, or the cutoff is below 1.
    """
    if cutoff < 1:
        raise UsageError(f"a cutoff is 1 or more, not {cutoff}")
    scope = read_scope(connection, options)
    evaluated = scope.evaluated
    if len(evaluated.runs) != 1:
        raise UsageError(f"misses are those of one run, not of {', '.join(evaluated.runs)}")
    run = next(iter(evaluated.runs))
    names = _names(connection)
    ranks = _ranks(evaluated, run)
    facts = FactReader.read(connection, evaluated, run, cutoff)
    rulings = _rulings(connection, evaluated.runs[run].key, options.as_of)
    labels = evaluated.labels
    counted = np.isin(labels.queries, evaluated.queries)
    relevant = np.flatnonzero(counted & (labels.states == StateCode.RELEVANT))
    misses = []
    for place in relevant.tolist():
        query, evidence = int(labels.queries[place]), int(labels.evidence[place])
        rank = ranks.get((query, evidence))
        if rank is not None and rank <= cutoff:
            continue
        told = classify(facts.of(query, evidence, rank))
        ruling = rulings.get(int(labels.items[place]))
        misses.append(
            Miss(
                query=names.queries[query],
                evidence=names.evidence[evidence],
                rank=rank,
                failure=ruling.failure if ruling is not None else told,
                told=told,
                ruled_by=None if ruling is None else ruling.by,
                note="" if ruling is None else ruling.note,
            )
        )
    misses.sort(key=lambda miss: (miss.query, miss.evidence))
    report = MissReport(
        run=run,
        cutoff=cutoff,
        conditions=scope.conditions,
        known_relevant=len(relevant),
        found=len(relevant) - len(misses),
        by_class=dict(Counter(miss.failure.value for miss in misses).most_common()),
        misses=tuple(misses),
        unknown=tuple(_unknown(evaluated, run, cutoff, names)),
        rules=classes_digest(),
        notices=scope.notices,
    )
    return report, scope


def rule_on_miss(
    store: Store, *, run: str, query: str, evidence: str, failure: FailureClass, note: str
) -> int:
    """Append a person's word on why a run missed an evidence, and give the revision.

    Raises:
        NotFoundError: When there is no such run, or no such item over its snapshot.
    """
    with store.write(f"report misses --set {failure.value}") as tx:
        item, asked, carried = table(Item), table(Query), table(Evidence)
        runs = table(Run)
        found = tx.connection.execute(
            sa.select(runs.c.id, item.c.id)
            .join(item, item.c.snapshot_id == runs.c.snapshot_id)
            .join(asked, asked.c.id == item.c.query_id)
            .join(carried, carried.c.id == item.c.evidence_id)
            .where(
                runs.c.name == run,
                asked.c.external_id == query,
                carried.c.external_id == evidence,
            )
        ).first()
        if found is None:
            raise NotFoundError(
                f"nothing is judged of query '{query}' and evidence '{evidence}' over the "
                f"snapshot of a run '{run}'",
                hint=f"`labeler report misses {run}` lists what it missed",
            )
        tx.connection.execute(
            sa.insert(table(MissRuling)).values(
                run_id=found[0],
                item_id=found[1],
                failure=failure.value,
                note=note,
                revision_id=tx.revision_id,
            )
        )
        return tx.revision_id


def has_ruling(connection: Connection, run: str, query: str) -> bool:
    """Tell whether anybody ruled on a miss of a run for a query."""
    ruling, runs, item, asked = (table(one) for one in (MissRuling, Run, Item, Query))
    statement = (
        sa.select(ruling.c.id)
        .join(runs, runs.c.id == ruling.c.run_id)
        .join(item, item.c.id == ruling.c.item_id)
        .join(asked, asked.c.id == item.c.query_id)
        .where(runs.c.name == run, asked.c.external_id == query)
    )
    return connection.execute(statement).first() is not None


@dataclass(frozen=True, slots=True)
class _Names:
    queries: Mapping[int, str]
    evidence: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class _Ruling:
    failure: FailureClass
    by: str
    note: str


def _names(connection: Connection) -> _Names:
    queries, evidence = (
        {
            int(key): str(name)
            for key, name in connection.execute(
                sa.select(table(one).c.id, table(one).c.external_id)
            )
        }
        for one in (Query, Evidence)
    )
    return _Names(queries, evidence)


def _ranks(evaluated: EvaluatedRuns, run: str) -> dict[tuple[int, int], int]:
    ranking = evaluated.rankings[run]
    places = (ranking.query_of_places.tolist(), ranking.evidence.tolist(), ranking.ranks.tolist())
    return {(query, one): rank for query, one, rank in zip(*places, strict=True)}


def _unknown(evaluated: EvaluatedRuns, run: str, cutoff: int, names: _Names) -> list[UnknownPlace]:
    judged = evaluated.judged(run)
    top = (judged.states == StateCode.UNKNOWN) & (judged.ranks <= cutoff)
    places = np.flatnonzero(top)
    return [
        UnknownPlace(
            names.queries[int(evaluated.queries[judged.query_of[place]])],
            names.evidence.get(int(judged.evidence[place])),
            int(judged.ranks[place]),
        )
        for place in places.tolist()
    ]


def _rulings(connection: Connection, run_key: int, as_of: int | None) -> dict[int, _Ruling]:
    ruling, revision = table(MissRuling), table(Revision)
    statement = (
        sa.select(ruling.c.item_id, ruling.c.failure, ruling.c.note, revision.c.actor)
        .join(revision, revision.c.id == ruling.c.revision_id)
        .where(ruling.c.run_id == run_key)
        .order_by(ruling.c.id)
    )
    if as_of is not None:
        statement = statement.where(ruling.c.revision_id <= as_of)
    return {
        int(item): _Ruling(FailureClass(failure), str(actor), str(note))
        for item, failure, note, actor in connection.execute(statement)
    }
