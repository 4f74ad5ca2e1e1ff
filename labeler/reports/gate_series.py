"""The metrics of a gate, query by query: of one run, or of the candidate less the baseline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.evaluation.difference_bounds import difference_bounds
from labeler.evaluation.metrics import Kind, Metric, measure
from labeler.evaluation.ranking import JudgedRanking, judged_coverage_at
from labeler.reports.answer_needs import measure_domains, measure_required
from labeler.reports.completed_labels import CompletedLabels
from labeler.reports.evaluated import EvaluatedRuns
from labeler.reports.gate_evidence import Sampled, Series, ranges
from labeler.reports.gate_file import MetricName

__all__ = [
    "MeasuredRuns",
    "coverage_cutoff",
    "measured_runs",
    "placed_runs",
    "sampled_runs",
]

_COVERED_RANKS = 10
"""The cutoff whose judged share stands beside a metric without a cutoff of its own."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MeasuredRuns:
    """One metric of one run, or of two.

    Attributes:
        series: The metric, or the first run's less the second's.
        first: The first run's judged share.
        second: The second's, or None for one run.
    """

    series: Series
    first: float | None
    second: float | None

    @property
    def coverage_gap(self) -> float:
        """By how much the judged shares differ."""
        if self.first is None or self.second is None:
            return 0.0
        return abs(self.first - self.second)


def coverage_cutoff(metric: Metric) -> int:
    """Give the cutoff at which the judged share is told beside a metric."""
    return metric.cutoff or _COVERED_RANKS


def measured_runs(
    evaluated: EvaluatedRuns, metric: Metric, first: str, second: str | None
) -> MeasuredRuns:
    """Measure one run, or the difference of two, over all queries.

    Args:
        evaluated: The runs with what is known.
        metric: What is measured.
        first: The run.
        second: The run whose values are taken off, or None.
    """
    cutoff = coverage_cutoff(metric)
    ours = evaluated.judged(first)
    measured = measure(metric, ours)
    coverage = judged_coverage_at(ours, cutoff)
    if second is None:
        least, most = ranges(against_baseline=False)
        ceiling = _ceiling(metric, ours)
        series = _series(evaluated, measured.value, measured.lower, measured.upper, coverage)
        return MeasuredRuns(
            Series(*series, least=least, most=most, ceiling=ceiling), _mean(coverage), None
        )
    theirs = evaluated.judged(second)
    other = measure(metric, theirs)
    theirs_covered = judged_coverage_at(theirs, cutoff)
    lower, upper = difference_bounds(metric, ours, theirs)
    least, most = ranges(against_baseline=True)
    series = _series(
        evaluated, measured.value - other.value, lower, upper, np.fmin(coverage, theirs_covered)
    )
    return MeasuredRuns(
        Series(*series, least=least, most=most), _mean(coverage), _mean(theirs_covered)
    )


def _series(
    evaluated: EvaluatedRuns, value: Floats, lower: Floats, upper: Floats, coverage: Floats
) -> tuple[Floats, Floats, Floats, Floats, NDArray[np.int64]]:
    return value, lower, upper, coverage, evaluated.clusters


def _mean(values: Floats) -> float | None:
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else None


def _ceiling(metric: Metric, ranking: JudgedRanking) -> Floats | None:
    """Give the most that any ranking could reach on each query.

    For P@k ``min(R, k) / k`` with all that may yet turn out to be relevant: known relevant and
    unknown items of the frame, and what the run itself found outside of it. For recall@k
    ``min(1, k / R)`` with the known relevant ones alone, since more of them only lower it.
    """
    if metric.cutoff is None:
        return None
    known = ranking.known.relevant.astype(np.float64)
    if metric.kind is Kind.PRECISION:
        beyond = ~ranking.framed & (ranking.ranks <= metric.cutoff)
        possible = known + ranking.known.unknown + ranking.count_where(beyond)
        return np.asarray(np.minimum(possible, metric.cutoff) / metric.cutoff)
    if metric.kind is Kind.RECALL:
        return np.asarray(np.minimum(1.0, metric.cutoff / np.maximum(known, 1.0)))
    return None


def placed_runs(
    connection: Connection,
    evaluated: EvaluatedRuns,
    metric: MetricName,
    first: str,
    second: str | None,
) -> Series:
    """Measure what depends on no label: the right domain, and the evidence that an answer needs.

    Args:
        connection: A transaction's connection.
        evaluated: The runs.
        metric: ``domain_accuracy`` or ``required_evidence_coverage``, with its cutoff.
        first: The run.
        second: The run whose values are taken off, or None.
    """
    value, lower, upper = _placed(connection, evaluated, metric, first)
    if second is not None:
        other = _placed(connection, evaluated, metric, second)
        value, lower, upper = value - other[0], lower - other[2], upper - other[1]
    least, most = ranges(against_baseline=second is not None)
    return Series(value, lower, upper, None, evaluated.clusters, least=least, most=most)


def _placed(
    connection: Connection, evaluated: EvaluatedRuns, metric: MetricName, run: str
) -> tuple[Floats, Floats, Floats]:
    facts = [evaluated.facts[int(key)] for key in evaluated.queries]
    ranking, cutoff = evaluated.judged(run), metric.cutoff or _COVERED_RANKS
    if metric.name == "domain_accuracy":
        found = measure_domains(connection, evaluated.snapshot_id, facts, ranking, cutoff)
        return found.value, found.lower, found.upper
    value = measure_required(connection, facts, ranking, cutoff)
    return value, value, value


def sampled_runs(
    evaluated: EvaluatedRuns,
    completed: CompletedLabels,
    metric: Metric,
    first: str,
    second: str | None,
) -> Sampled:
    """Measure the same under every label set that a sample completed."""
    lower, upper = completed.bounds(evaluated, metric, first, second)
    return Sampled(lower, upper, completed.positives)
