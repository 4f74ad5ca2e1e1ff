"""Recall over all queries of a pool together, as a gate decides it.

Relevant items that the run has in its first k over all relevant items of the pool: a ratio of two
totals, which a sample tells whatever its strata cross. The mean over queries of each one's recall
is another number; no sample that crosses queries tells it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.clustered import ClusteredMean, clustered_mean
from labeler.evaluation.estimators import StratifiedSample, variance_of_total
from labeler.evaluation.gate_checks import (
    Evidence,
    IntervalBy,
    Requirement,
    confidence_for,
    needs_exact_limits,
)
from labeler.evaluation.paired import bounded_interval
from labeler.evaluation.posterior import Interval
from labeler.evaluation.ranking import judged_coverage_at
from labeler.labels import StateCode
from labeler.reports.completed_labels import CompletedLabels
from labeler.reports.evaluated import EvaluatedRuns
from labeler.reports.gate_evidence import ranges, share_of_queries
from labeler.reports.gate_limits import sampled_positives

__all__ = ["evidence_of_pooled_recall"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Pooled:
    """The items of a pool that count, each with what it adds to the numerator if it is relevant.

    Attributes:
        states: Shape (items,): codes of `StateCode`.
        worth: Shape (items,): 1 where the run has it in its first places; of two, that less the
            same of the other.
        weights: Shape (items,): how many items each stands for.
        queries: Shape (items,): the number of the query of each, from 0.
        clusters: Shape (queries,): the cluster of each query.
    """

    states: NDArray[np.int8]
    worth: Floats
    weights: Floats
    queries: NDArray[np.int64]
    clusters: NDArray[np.int64]

    @property
    def relevant(self) -> Floats:
        """For how many relevant items each stands, shape (items,); unknown is not relevant."""
        return np.asarray((self.states == StateCode.RELEVANT) * self.weights)

    def mean(self) -> ClusteredMean | None:
        """Give the ratio with its error over clusters; None where nothing is relevant."""
        count = len(self.clusters)
        whole = np.bincount(self.queries, self.relevant, count).astype(np.float64)
        part = np.bincount(self.queries, self.relevant * self.worth, count)
        there = whole > 0
        if not there.any():
            return None
        return clustered_mean(part[there] / whole[there], self.clusters[there], whole[there])

    def least(self) -> _Pooled:
        """Label what is unknown so that the ratio is least.

        What takes from the numerator lowers it, and what adds nothing draws it towards 0.
        """
        unknown = self.states == StateCode.UNKNOWN
        taking = unknown & (self.worth < 0)
        left = float((self.relevant * self.worth).sum()) + float(self.worth[taking].sum())
        added = unknown & (self.worth == 0) if left >= 0 else taking
        states = np.where(taking | added, np.int8(StateCode.RELEVANT), self.states)
        return replace(self, states=states)

    def most(self) -> _Pooled:
        """Label what is unknown so that the ratio is largest."""
        return replace(replace(self, worth=-self.worth).least(), worth=self.worth)


@dataclass(frozen=True, eq=False)
class _Weighed:
    """The same, where drawn items stand for all of their strata.

    Attributes:
        items: The items with their weights; what wasn't drawn of a stratum weighs nothing.
        sizes: Shape (strata,): items of each stratum.
        drawn: For each stratum, the places of its labelled items.
    """

    items: _Pooled
    sizes: NDArray[np.int64]
    drawn: tuple[NDArray[np.int64], ...]

    def label_variance(self, ratio: float) -> float:
        """Give the variance that is left when the queries are taken as they are."""
        places = np.concatenate(self.drawn)
        strata = np.repeat(np.arange(len(self.drawn)), [len(one) for one in self.drawn])
        relevant = self.items.states[places] == StateCode.RELEVANT
        linear = relevant * (self.items.worth[places] - ratio) / self.items.relevant.sum()
        return variance_of_total(StratifiedSample(self.sizes, strata, linear))


def evidence_of_pooled_recall(
    asked: Requirement,
    evaluated: EvaluatedRuns,
    runs: tuple[str, str | None],
    cutoff: int,
    inside: NDArray[np.bool_],
    completed: CompletedLabels | None,
    agreement: float | None,
) -> Evidence:
    """Gather what a check of pooled recall is decided by.

    The interval is that of a ratio of cluster totals (Cochran 1977, equation 2.45). With a sample
    each drawn item stands for N/n items of its stratum (Horvitz and Thompson 1952), so that the
    spread of these totals between clusters holds the uncertainty of queries and of labels together
    (ultimate clusters: Hansen, Hurwitz and Madow 1953, volume I, chapter 6). What no sample tells
    of is at its worst and at its best.

    Args:
        asked: What is asked for.
        evaluated: The runs with what is known.
        runs: The run, and the one whose recall is taken off, or None.
        cutoff: How many first places count.
        inside: Shape (queries,): the queries that count.
        completed: What a sample shows, or None.
        agreement: How far people agree, or None.
    """
    pooled, weighed, positives = _pooled(evaluated, runs, cutoff, inside), None, 0
    if completed is not None:
        positives = sampled_positives(evaluated, completed, inside)
        if not needs_exact_limits(asked.role, positives):
            weighed = _weighed(pooled, evaluated, completed, inside)
    if weighed is not None:
        pooled = weighed.items
    confidence = confidence_for(asked.role, asked.alpha)
    value, worst, best = (one.mean() for one in (pooled, pooled.least(), pooled.most()))
    low, high = (_interval(one, runs, confidence) for one in (worst, best))
    lowest, highest = (None if one is None else one.value for one in (worst, best))
    share = share_of_queries(low, high, lowest, highest)
    if weighed is not None and value is not None and value.error:
        share *= 1 - min(1.0, weighed.label_variance(value.value) / value.error**2)
    coverage = judged_coverage_at(evaluated.judged(runs[0]), cutoff)[inside]
    return Evidence(
        value=None if value is None else value.value,
        interval=None if low is None or high is None else Interval(low.low, high.high),
        lowest=lowest,
        highest=highest,
        ceiling=None,
        clusters=len(np.unique(pooled.clusters)),
        queries=int(inside.sum()),
        coverage=float(np.nanmean(coverage)) if (~np.isnan(coverage)).any() else None,
        query_share=share,
        positives=None if weighed is None else positives,
        agreement=agreement,
        interval_by=IntervalBy.BOUNDS if weighed is None else IntervalBy.WEIGHTED_SAMPLE,
    )


def _pooled(
    evaluated: EvaluatedRuns, runs: tuple[str, str | None], cutoff: int, inside: NDArray[np.bool_]
) -> _Pooled:
    labels = evaluated.labels
    chosen = np.isin(labels.queries, evaluated.queries[inside])
    worth = evaluated.top_items(runs[0], cutoff).astype(np.float64)
    if runs[1] is not None:
        worth -= evaluated.top_items(runs[1], cutoff)
    return _Pooled(
        states=labels.states[chosen],
        worth=worth[chosen],
        weights=np.ones(int(chosen.sum())),
        queries=np.searchsorted(evaluated.queries[inside], labels.queries[chosen]),
        clusters=evaluated.clusters[inside],
    )


def _weighed(
    known: _Pooled, evaluated: EvaluatedRuns, completed: CompletedLabels, inside: NDArray[np.bool_]
) -> _Weighed | None:
    """Let each drawn item stand for its stratum, within the queries that count.

    Returns:
        None when a stratum has no labelled item there.
    """
    chosen = np.isin(evaluated.labels.queries, evaluated.queries[inside])
    place = np.cumsum(chosen) - 1
    states, weights = completed.states[chosen].copy(), known.weights.copy()
    sizes, drawn = [], []
    for one, answered in zip(completed.strata, completed.answered, strict=True):
        rest, told = (place[items[chosen[items]]] for items in (one.items, answered))
        if len(told):
            sizes.append(len(rest) + len(told))
            drawn.append(told)
            weights[told] = sizes[-1] / len(told)
        elif len(rest):
            return None
        weights[rest], states[rest] = 0.0, StateCode.NOT_RELEVANT
    items = replace(known, states=states, weights=weights)
    return _Weighed(items, np.array(sizes, dtype=np.int64), tuple(drawn))


def _interval(
    mean: ClusteredMean | None, runs: tuple[str, str | None], confidence: float
) -> Interval | None:
    """Give the interval of clusters; None where nothing is relevant, or clusters are too few."""
    if mean is None:
        return None
    least, most = ranges(against_baseline=runs[1] is not None)
    return bounded_interval(mean, least=least, most=most, confidence=confidence)
