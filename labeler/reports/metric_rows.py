"""One metric of one run over one slice, with all that stands beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.assessment.label_states import LabelStates
from labeler.evaluation.gain import GainRule
from labeler.evaluation.metrics import Kind, Metric, measure
from labeler.evaluation.ranking import (
    JudgedRanking,
    Measured,
    Numbers,
    judged_coverage_at,
    returned_at,
)
from labeler.evaluation.summary import Summary, summarise
from labeler.labels import StateCode

__all__ = ["MeasuredRun", "MetricRow", "keys_of_one_run", "metric_row", "number", "top_keys"]

_UNDEFINED = {
    Kind.RECALL: "no relevant evidence is known for any query",
    Kind.NDCG: "no label of any query has a gain",
}


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric's mean, and its conditions.

    Attributes:
        run: The run's name.
        slice: The slice.
        metric: The full name, with whose labels it takes.
        short: The name as commands take it.
        summary: The means, the bounds, and how many queries they rest on.
        judged_coverage: Mean share of judged places among those returned up to the cutoff.
        returned: Mean share of the places up to the cutoff that were returned; None without one.
        unknown: Unknown places up to the cutoff.
        abstained: How many of them people couldn't judge.
        candidate_only: How many of them no other run of the report has up to its cutoff.
        ceiling: What precision can't pass with what is known: mean(min(R, k) / k); None where it is
            1, or the metric is another.
        undefined: Why queries have no value, or None.
    """

    run: str
    slice: str
    metric: str
    short: str
    summary: Summary
    judged_coverage: float | None
    returned: float | None
    unknown: int
    abstained: int
    candidate_only: int
    ceiling: float | None
    undefined: str | None


@dataclass(frozen=True, eq=False)
class MeasuredRun:
    """A run measured once for all queries; slices take their parts of it.

    Attributes:
        run: The run's name.
        metric: What was measured.
        measured: Query by query.
        coverage: Shape (queries,): judged places among those returned.
        returned: Shape (queries,): share of the cutoff that was returned; not a number without one.
        unknown: Shape (queries,): unknown places.
        abstained: Shape (queries,): of them those that people couldn't judge.
        candidate_only: Shape (queries,): of them those that no other run has.
    """

    run: str
    metric: Metric
    measured: Measured
    coverage: Numbers
    returned: Numbers
    unknown: Numbers
    abstained: Numbers
    candidate_only: Numbers

    @classmethod
    def of(
        cls,
        run: str,
        metric: Metric,
        ranking: JudgedRanking,
        labels: LabelStates,
        queries: NDArray[np.int64],
        of_one_run: NDArray[np.int64],
        rule: GainRule,
    ) -> MeasuredRun:
        """Measure a run; `keys_of_one_run` says what no other run of the report has."""
        deepest = int(ranking.returned.max(initial=1))
        cutoff = metric.cutoff or max(deepest, 1)
        top = ranking.ranks <= cutoff
        unknown = top & (ranking.states == StateCode.UNKNOWN)
        places = labels.places(queries[ranking.query_of], ranking.evidence)
        abstained = unknown & np.isin(places, labels.abstained)
        alone = unknown & np.isin(_keys(ranking), of_one_run)
        whole = np.full(len(queries), np.nan)
        return cls(
            run=run,
            metric=metric,
            measured=measure(metric, ranking, rule),
            coverage=judged_coverage_at(ranking, cutoff),
            returned=whole if metric.cutoff is None else returned_at(ranking, cutoff),
            unknown=ranking.count_where(unknown),
            abstained=ranking.count_where(abstained),
            candidate_only=ranking.count_where(alone),
        )


def metric_row(
    run: MeasuredRun,
    inside: NDArray[np.bool_],
    *,
    slice_name: str,
    source: str,
    relevant: NDArray[np.int64],
    clusters: NDArray[np.int64],
    weights: Numbers,
) -> MetricRow:
    """Summarise a measured run over a slice.

    Args:
        run: The measured run.
        inside: Shape (queries,): the queries of the slice.
        slice_name: Its name.
        source: Whose labels count.
        relevant: Shape (queries,): known relevant evidence.
        clusters: Shape (queries,).
        weights: Shape (queries,).
    """
    part = Measured(
        **{
            name: getattr(run.measured, name)[inside]
            for name in ("value", "lower", "upper", "judged_only", "part", "whole")
        }
    )
    why = _UNDEFINED.get(run.metric.kind, "no query has a value")
    summary = summarise(part, clusters[inside], weights[inside], why_undefined=why)
    ceiling = None
    if run.metric.kind is Kind.PRECISION and run.metric.cutoff and inside.any():
        cutoff = run.metric.cutoff
        most = float((np.minimum(relevant[inside], cutoff) / cutoff).mean())
        ceiling = most if most < 1 else None
    return MetricRow(
        run=run.run,
        slice=slice_name,
        metric=run.metric.full_name(source),
        short=run.metric.short,
        summary=summary,
        judged_coverage=_mean(run.coverage[inside]),
        returned=_mean(run.returned[inside]),
        unknown=int(run.unknown[inside].sum()),
        abstained=int(run.abstained[inside].sum()),
        candidate_only=int(run.candidate_only[inside].sum()),
        ceiling=ceiling,
        undefined=why if summary.undefined else None,
    )


def keys_of_one_run(rankings: Iterable[JudgedRanking], cutoff: int | None) -> NDArray[np.int64]:
    """Give what just one of some rankings has up to a cutoff: a number for query and evidence."""
    keys = np.concatenate([top_keys(ranking, cutoff) for ranking in rankings])
    found, counts = np.unique(keys, return_counts=True)
    once: NDArray[np.int64] = found[counts == 1]
    return once


def top_keys(ranking: JudgedRanking, cutoff: int | None) -> NDArray[np.int64]:
    """Give one number for each pair of query and evidence up to a cutoff; None is all of them."""
    keys = _keys(ranking)
    return keys if cutoff is None else keys[ranking.ranks <= cutoff]


def _keys(ranking: JudgedRanking) -> NDArray[np.int64]:
    # Keys of evidence lie between -2^31 and 2^31.
    return (ranking.query_of << 33) + ranking.evidence + (1 << 32)


def number(value: float) -> float | None:
    """Give a number for JSON, None for not a number."""
    return None if np.isnan(value) else float(value)


def _mean(values: Numbers) -> float | None:
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else None
