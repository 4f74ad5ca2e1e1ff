"""How good runs are: every metric for every run, overall and by slice, with its conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.evaluation.metrics import DEFAULT_METRICS, Metric
from labeler.evaluation.ranking import JudgedRanking
from labeler.evaluation.summary import Mean, mean_over
from labeler.reports.answer_needs import measure_domains, measure_required
from labeler.reports.conditions import Conditions
from labeler.reports.evaluated import ALL
from labeler.reports.metric_rows import MeasuredRun, MetricRow, keys_of_one_run, metric_row, number
from labeler.reports.scope import Scope, ScopeOptions, read_scope
from labeler.reports.serving import Serving, Spread, read_serving, spread

__all__ = ["DOMAINS_AT", "NEEDS_AT", "QueryRow", "RecallReport", "SliceFacts", "report_recall"]

NEEDS_AT = 10
DOMAINS_AT = 5


@dataclass(frozen=True, slots=True)
class SliceFacts:
    """What a slice rests on, whatever the run.

    Attributes:
        slice: Its name; ``all`` is every query.
        queries: How many queries.
        clusters: How many clusters they belong to.
        known_relevant: Known relevant evidence by query.
        unknown: Unknown items of the frame.
        abstained: Items of the frame that people couldn't judge.
    """

    slice: str
    queries: int
    clusters: int
    known_relevant: Spread | None
    unknown: int
    abstained: int


@dataclass(frozen=True, slots=True)
class NeedRow:
    """Whether a run brings what answers need, over one slice.

    Attributes:
        run: The run's name.
        slice: The slice.
        required_evidence_coverage: Mean share of required evidence in the first places.
        required_cutoff: How many places those are.
        domain_accuracy: Mean share of the first places that are of the query's domain.
        domain_upper: The same with every place of unknown domain taken as right.
        domain_cutoff: How many places those are.
    """

    run: str
    slice: str
    required_evidence_coverage: Mean
    required_cutoff: int
    domain_accuracy: Mean
    domain_upper: float | None
    domain_cutoff: int


@dataclass(frozen=True, slots=True)
class QueryRow:
    """One metric of one run for one query; None is undefined."""

    run: str
    query: str
    metric: str
    value: float | None
    lower: float | None
    upper: float | None
    judged_only: float | None
    judged_coverage: float | None
    known_relevant: int


@dataclass(frozen=True, slots=True)
class RecallReport:
    """How good runs are.

    Attributes:
        conditions: What every number rests on.
        interval: How intervals were made.
        slices: What each slice rests on.
        metrics: Every metric of every run, overall first.
        needs: Required evidence and domains, likewise.
        serving: Latency and its company, by run.
        queries: Every metric query by query, where asked for.
        notices: What a reader should know besides.
    """

    conditions: Conditions
    interval: str
    slices: tuple[SliceFacts, ...]
    metrics: tuple[MetricRow, ...]
    needs: tuple[NeedRow, ...]
    serving: tuple[Serving, ...]
    queries: tuple[QueryRow, ...]
    notices: tuple[str, ...]


def report_recall(
    connection: Connection,
    options: ScopeOptions,
    *,
    metrics: Sequence[Metric] = DEFAULT_METRICS,
    required_cutoff: int = NEEDS_AT,
    domain_cutoff: int = DOMAINS_AT,
    per_query: bool = False,
) -> RecallReport:
    """Measure runs.

    Args:
        connection: A transaction's connection.
        options: What is looked at.
        metrics: The metrics.
        required_cutoff: Among how many first places required evidence is looked for.
        domain_cutoff: Of how many first places the domain is looked at.
        per_query: Whether every query's values are wanted.

    Raises:
        NotFoundError: When a name or the revision isn't there, or no query has a label.
        UsageError: When it isn't clear which snapshot or rubric is meant.
    """
    scope = read_scope(connection, options)
    evaluated = scope.evaluated
    rankings = {run: evaluated.judged(run) for run in evaluated.runs}
    alone = {
        metric: keys_of_one_run(rankings.values(), metric.cutoff)
        for metric in dict.fromkeys(metrics)
    }
    measured = [
        MeasuredRun.of(
            run, metric, ranking, evaluated.labels, evaluated.queries, alone[metric], options.gain
        )
        for run, ranking in rankings.items()
        for metric in alone
    ]
    slices = _slices(scope)
    known = next(iter(rankings.values())).known
    rows = tuple(
        metric_row(
            one,
            inside,
            slice_name=name,
            source=scope.conditions.labels,
            relevant=known.relevant,
            clusters=evaluated.clusters,
            weights=evaluated.weights,
        )
        for name, inside in slices.items()
        for one in measured
    )
    return RecallReport(
        conditions=scope.conditions,
        interval="95%, t over clusters of queries; it speaks of other queries, not of labels",
        slices=tuple(_slice_facts(scope, name, inside) for name, inside in slices.items()),
        metrics=rows,
        needs=_needs(connection, scope, rankings, slices, (required_cutoff, domain_cutoff)),
        serving=tuple(
            read_serving(connection, run, evaluated.queries) for run in evaluated.runs.values()
        ),
        queries=_by_query(scope, measured, known.relevant) if per_query else (),
        notices=scope.notices,
    )


def _slices(scope: Scope) -> dict[str, NDArray[np.bool_]]:
    """Give every slice with its queries, all of them first."""
    evaluated = scope.evaluated
    names = {name for key in evaluated.queries.tolist() for name in evaluated.facts[key].all_slices}
    return {name: evaluated.in_slice(name) for name in (ALL, *sorted(names - {ALL}))}


def _slice_facts(scope: Scope, name: str, inside: NDArray[np.bool_]) -> SliceFacts:
    evaluated, labels = scope.evaluated, scope.evaluated.labels
    queries = evaluated.queries[inside]
    mine = np.isin(labels.queries, queries)
    relevant = labels.queries[mine & (labels.states == 1)]
    counts = np.bincount(np.searchsorted(queries, relevant), minlength=len(queries))
    return SliceFacts(
        slice=name,
        queries=len(queries),
        clusters=len(np.unique(evaluated.clusters[inside])),
        known_relevant=spread(counts.tolist()),
        unknown=int((mine & (labels.states == -1)).sum()),
        abstained=int(mine[labels.abstained].sum()),
    )


def _needs(
    connection: Connection,
    scope: Scope,
    rankings: Mapping[str, JudgedRanking],
    slices: Mapping[str, NDArray[np.bool_]],
    cutoffs: tuple[int, int],
) -> tuple[NeedRow, ...]:
    evaluated = scope.evaluated
    facts = [evaluated.facts[key] for key in evaluated.queries.tolist()]
    by_run = {
        run: (
            measure_required(connection, facts, ranking, cutoffs[0]),
            measure_domains(connection, evaluated.snapshot_id, facts, ranking, cutoffs[1]),
        )
        for run, ranking in rankings.items()
    }
    rows = []
    for name, inside in slices.items():
        clusters = evaluated.clusters[inside]
        for run, (required, domains) in by_run.items():
            upper = domains.upper[inside]
            rows.append(
                NeedRow(
                    run=run,
                    slice=name,
                    required_evidence_coverage=mean_over(
                        required[inside],
                        clusters,
                        why_undefined="no query lists the evidence that an answer needs",
                    ),
                    required_cutoff=cutoffs[0],
                    domain_accuracy=mean_over(
                        domains.value[inside], clusters, why_undefined="no query has a domain"
                    ),
                    domain_upper=None if np.isnan(upper).all() else float(np.nanmean(upper)),
                    domain_cutoff=cutoffs[1],
                )
            )
    return tuple(rows)


def _by_query(
    scope: Scope, measured: Sequence[MeasuredRun], relevant: NDArray[np.int64]
) -> tuple[QueryRow, ...]:
    evaluated = scope.evaluated
    return tuple(
        QueryRow(
            run=one.run,
            query=evaluated.facts[key].name,
            metric=one.metric.full_name(scope.conditions.labels),
            value=number(one.measured.value[place]),
            lower=number(one.measured.lower[place]),
            upper=number(one.measured.upper[place]),
            judged_only=number(one.measured.judged_only[place]),
            judged_coverage=number(one.coverage[place]),
            known_relevant=int(relevant[place]),
        )
        for place, key in enumerate(evaluated.queries.tolist())
        for one in measured
    )
