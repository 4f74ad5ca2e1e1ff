"""What a report on runs looks at: which runs, queries, items and labels, and how to say so."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.label_states import LabelSource, read_label_states
from labeler.errors import NotFoundError, UsageError
from labeler.evaluation.gain import GainRule
from labeler.labels import Grade
from labeler.records import table
from labeler.records.pools import Item, PoolRun
from labeler.records.scales import RubricRecord
from labeler.reports.conditions import Conditions, frame_in_words, notices_of
from labeler.reports.evaluated import (
    EvaluatedRuns,
    newest_revision,
    read_evaluated,
)
from labeler.reports.judged_rankings import labelled_queries
from labeler.retrieval.clusters import clusters_of
from labeler.retrieval.query_facts import AskedBy, one_origin, read_query_facts
from labeler.retrieval.rankings import read_rankings
from labeler.retrieval.runs import Order, all_runs, queries_of, runs_meant
from labeler.store.registry import pool_named, scale_of

__all__ = ["Scope", "ScopeOptions", "read_scope"]

NO_POOL = ""
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class ScopeOptions:
    """What the user wants to look at.

    Attributes:
        pool: The pool whose queries and items count; without one, every item of the snapshot
            under the rubric, and the queries with a label.
        runs: Names or patterns; the pool's runs, or all of them, by default.
        snapshot: The snapshot, where neither pool nor runs tell it.
        rubric: The rubric by name or digest, where several have labels and no pool tells it.
        source: Whose labels count.
        least: The least grade that counts as relevant.
        order: What orders a run; as the pool was made, or by score.
        gain: How a level's gain counts in nDCG.
        as_of: A revision; None is the present.
        asked_by: Whose queries count; those of people, or a generator's where there are no others.
    """

    pool: str | None = None
    runs: tuple[str, ...] = ()
    snapshot: str | None = None
    rubric: str | None = None
    source: LabelSource = LabelSource.HUMAN
    least: Grade = Grade.PARTIALLY_RELEVANT
    order: Order | None = None
    gain: GainRule = "linear"
    as_of: int | None = None
    asked_by: AskedBy | None = None

    @property
    def relevant(self) -> str:
        """How the least grade is written in commands: ``partially`` or ``fully``."""
        return self.least.value.removesuffix("_relevant")


@dataclass(frozen=True, eq=False)
class Scope:
    """Runs with what is known of their results, and the conditions in words.

    Attributes:
        evaluated: The runs, the queries and the labels.
        conditions: What is told beside every number.
        order: What orders a run.
        notices: What a reader should know besides.
    """

    evaluated: EvaluatedRuns
    conditions: Conditions
    order: Order
    notices: tuple[str, ...]


def read_scope(connection: Connection, options: ScopeOptions) -> Scope:
    """Read what a report looks at.

    Raises:
        NotFoundError: When a name or the revision isn't there, or no query has a label where that
            is needed.
        UsageError: When it isn't clear which snapshot or rubric is meant.
    """
    newest = newest_revision(connection)
    if options.as_of is not None and not 0 <= options.as_of <= newest:
        raise NotFoundError(f"there is no revision {options.as_of}; the newest is {newest}")
    if options.pool is not None:
        evaluated, rubric_id, order = _of_pool(connection, options.pool, options)
    else:
        evaluated, rubric_id, order = _of_snapshot(connection, options, newest)
    conditions = _conditions(connection, options, evaluated, rubric_id, order)
    return Scope(evaluated, conditions, order, tuple(notices_of(connection, evaluated, conditions)))


def _of_pool(
    connection: Connection, pool: str, options: ScopeOptions
) -> tuple[EvaluatedRuns, int, Order]:
    row = pool_named(connection, pool)
    order: Order = options.order or row.order_rule
    known = [
        one for one in all_runs(connection, options.as_of) if one.snapshot_id == row.snapshot_id
    ]
    if options.runs:
        snapshot = next((one.snapshot for one in known), None)
        runs = runs_meant(connection, options.runs, snapshot, options.as_of)
    else:
        part = table(PoolRun)
        keys = {
            int(key)
            for (key,) in connection.execute(
                sa.select(part.c.run_id).where(part.c.pool_id == row.id)
            )
        }
        runs = [one for one in known if one.key in keys]
    evaluated = read_evaluated(
        connection,
        pool,
        [one.name for one in runs],
        options.source,
        as_of=options.as_of,
        order=order,
        asked_by=options.asked_by,
    )
    if options.least is not Grade.PARTIALLY_RELEVANT:
        labels = read_label_states(
            connection,
            snapshot_id=row.snapshot_id,
            rubric_id=row.rubric_id,
            source=options.source,
            pool_id=row.id,
            least=options.least,
            as_of=options.as_of,
        )
        others = set(labels.queries.tolist()) - set(evaluated.labels.queries.tolist())
        evaluated = replace(evaluated, labels=labels.without_queries(others))
    return evaluated, int(row.rubric_id), order


def _of_snapshot(
    connection: Connection, options: ScopeOptions, newest: int
) -> tuple[EvaluatedRuns, int, Order]:
    runs = runs_meant(connection, options.runs, options.snapshot, options.as_of)
    order: Order = options.order or "score"
    rubric_id = _rubric_meant(connection, runs[0].snapshot_id, options.rubric)
    labels = read_label_states(
        connection,
        snapshot_id=runs[0].snapshot_id,
        rubric_id=rubric_id,
        source=options.source,
        least=options.least,
        as_of=options.as_of,
    )
    asked = queries_of(connection, [run.key for run in runs])
    facts = read_query_facts(connection, options.as_of)
    labelled = asked & set(labelled_queries(labels).tolist())
    whose = one_origin(labelled, facts, options.asked_by)
    others = {key for key, one in facts.items() if one.asked_by is not whose}
    queries = np.array(sorted(labelled - others), dtype=np.int64)
    if not len(queries):
        raise NotFoundError(
            f"no query of these runs has a label ({options.source.value})",
            hint="`labeler review` and `labeler import labels` bring people's labels; "
            "--labels human+auto counts what a policy accepted, too",
        )
    cluster_of = clusters_of(facts.values())
    rankings = read_rankings(connection, runs, order, queries=queries.tolist())
    evaluated = EvaluatedRuns(
        pool=NO_POOL,
        pool_id=0,
        snapshot_id=runs[0].snapshot_id,
        snapshot=runs[0].snapshot,
        revision=newest if options.as_of is None else options.as_of,
        labels=labels.without_queries(others),
        queries=queries,
        facts=facts,
        clusters=np.array([cluster_of[key] for key in queries.tolist()], dtype=np.int64),
        weights=np.array([facts[key].weight for key in queries.tolist()], dtype=np.float64),
        runs={run.name: run for run in runs},
        rankings={run.name: one for run, one in zip(runs, rankings, strict=True)},
        asked_by=whose,
        left_out=len(labelled & others),
    )
    return evaluated, rubric_id, order


def _rubric_meant(connection: Connection, snapshot_id: int, wanted: str | None) -> int:
    """Find the rubric under which a snapshot's items are judged."""
    item, rubric = table(Item), table(RubricRecord)
    rows = connection.execute(
        sa.select(rubric.c.id, rubric.c.name, rubric.c.digest)
        .where(
            rubric.c.id.in_(sa.select(item.c.rubric_id).where(item.c.snapshot_id == snapshot_id))
        )
        .order_by(rubric.c.id)
    ).all()
    if not rows:
        raise NotFoundError(
            "nothing is pooled or labelled over this snapshot",
            hint="`labeler import labels FILE` or `labeler pool create NAME`",
        )
    fitting = [
        row for row in rows if wanted in {None, row.name} or row.digest.startswith(wanted or "-")
    ]
    names = ", ".join(f"{row.name} {row.digest[:_SHOWN]}" for row in rows)
    if not fitting:
        raise NotFoundError(f"no rubric '{wanted}' is in use here", hint=f"there is {names}")
    if len(fitting) > 1:
        raise UsageError(
            f"items of this snapshot are judged under several rubrics: {names}",
            hint="name one: --rubric NAME or the start of its digest; or --pool NAME",
        )
    return int(fitting[0].id)


def _conditions(
    connection: Connection,
    options: ScopeOptions,
    evaluated: EvaluatedRuns,
    rubric_id: int,
    order: Order,
) -> Conditions:
    rubric = table(RubricRecord)
    row = connection.execute(sa.select(rubric).where(rubric.c.id == rubric_id)).one()
    labels = evaluated.labels
    scales = labels.scales or (scale_of(connection, row.scale_id),)
    labelled = np.intersect1d(evaluated.queries, labelled_queries(labels))
    pool = None if options.pool is None else pool_named(connection, options.pool)
    return Conditions(
        frame=frame_in_words(connection, pool, evaluated),
        pool=None if pool is None else f"{pool.name} {pool.digest[:_SHOWN]}",
        snapshot=evaluated.snapshot,
        rubric=f"{row.name} {row.digest[:_SHOWN]}",
        scales=tuple(scale.describe() for scale in scales),
        gains=labels.gain_rule if options.gain == "linear" else f"2^g - 1, g {labels.gain_rule}",
        labels=options.source.value,
        relevant=f"{options.least.value} or better",
        order=order,
        revision=evaluated.revision,
        queries=len(evaluated.queries),
        labelled_queries=len(labelled),
        clusters=len(np.unique(evaluated.clusters)),
        origin=evaluated.asked_by.value,
    )
