"""Any two runs or more, compared query by query, at one revision of the labels for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.errors import UsageError
from labeler.evaluation.difference_bounds import difference_bounds
from labeler.evaluation.metrics import Metric, measure
from labeler.evaluation.multiplicity import holm, max_t
from labeler.evaluation.paired import paired_difference
from labeler.evaluation.pooling_bias import MOST_COVERAGE_GAP
from labeler.evaluation.ranking import JudgedRanking, judged_coverage_at
from labeler.records import table
from labeler.records.runs import Run
from labeler.reports.across_snapshots import read_across, snapshots_meant
from labeler.reports.compared_runs import (
    Adjustment,
    ComparedRuns,
    ComparisonOptions,
    ComparisonReport,
    Finding,
)
from labeler.reports.coverage import draw_command
from labeler.reports.evaluated import EvaluatedRuns
from labeler.reports.gate_series import coverage_cutoff
from labeler.reports.scope import Scope, read_scope
from labeler.retrieval.runs import RunRef

__all__ = ["compare_runs"]

_ALPHA = 0.05
_MOST_UNPOOLED = 0.05
"""More of the top outside of the pool than this asks for a pool that holds it."""


def compare_runs(
    connection: Connection, options: ComparisonOptions
) -> tuple[ComparisonReport, Scope]:
    """Compare runs.

    Args:
        connection: A transaction's connection.
        options: What is compared.

    Returns:
        The report, and what was looked at.

    Raises:
        NotFoundError: When a name, the revision or a slice isn't there.
        UsageError: When there are not two runs to compare.
    """
    across = None
    if len(snapshots_meant(connection, options.scope)) > 1:
        across = read_across(connection, options.scope, options.against)
    scope = read_scope(connection, options.scope) if across is None else across.scope
    evaluated = scope.evaluated
    names = list(evaluated.runs)
    against = options.against or _first_named(options.scope.runs, evaluated.runs)
    if against not in names or len(names) < 2:  # noqa: PLR2004 - a pair
        raise UsageError(
            f"a comparison takes two runs or more, one of them '{against}'; "
            f"here there is {', '.join(names)}",
            hint="--runs A --runs B --against A",
        )
    rankings = across.judged if across else {name: evaluated.judged(name) for name in names}
    pools = across.pools if across else {}
    compared = [
        _compare(options, evaluated, rankings, name, against, metric, slice_name, pools)
        for slice_name in options.slices
        for metric in options.metrics
        for name in names
        if name != against
    ]
    adjusted, how = _adjusted(options, evaluated, rankings, compared)
    return (
        ComparisonReport(
            conditions=scope.conditions,
            adjustment=how,
            declared=len(adjusted),
            differences=_configurations(connection, evaluated, against),
            comparisons=tuple(adjusted),
            notices=scope.notices,
            across=None if across is None else across.differ,
        ),
        scope,
    )


def _first_named(wanted: Sequence[str], runs: Mapping[str, RunRef]) -> str:
    """Give the run that was named first; of those of one name the one that was stored first."""
    for name in wanted:
        fitting = [(run.key, known) for known, run in runs.items() if name in {known, run.name}]
        if fitting:
            return min(fitting)[1]
    return next(iter(runs), "")


def _compare(
    options: ComparisonOptions,
    evaluated: EvaluatedRuns,
    rankings: Mapping[str, JudgedRanking],
    run: str,
    against: str,
    metric: Metric,
    slice_name: str,
    pools: Mapping[str, str],
) -> ComparedRuns:
    inside = evaluated.in_slice(slice_name)
    ours, theirs = rankings[run], rankings[against]
    first, second = measure(metric, ours), measure(metric, theirs)
    cutoff = coverage_cutoff(metric)
    shares = [_mean(judged_coverage_at(one, cutoff)[inside]) for one in (ours, theirs)]
    lower, upper = first.lower - second.upper, first.upper - second.lower
    if evaluated.runs[run].snapshot_id == evaluated.runs[against].snapshot_id:
        lower, upper = difference_bounds(metric, ours, theirs)
    clusters = evaluated.clusters[inside]
    found = paired_difference(
        first.value[inside], second.value[inside], clusters, seed=options.seed
    )
    weighted = paired_difference(
        first.value[inside],
        second.value[inside],
        clusters,
        evaluated.weights[inside],
        seed=options.seed,
        resamples=1,
    )
    unpooled, whose = max(
        (_unpooled(one, cutoff, inside), name) for name, one in ((run, ours), (against, theirs))
    )
    compared = ComparedRuns(
        run=run,
        against=against,
        metric=metric.full_name(options.scope.source.value),
        slice=slice_name,
        found=found,
        micro=_micro_difference(
            [(one.part[inside], one.whole[inside], one.value[inside]) for one in (first, second)]
        ),
        weighted=weighted.value,
        lowest=_mean(lower[inside]),
        highest=_mean(upper[inside]),
        coverage=shares[0],
        other_coverage=shares[1],
        unpooled=unpooled,
        adjusted_p=None,
        adjusted_interval=None,
        finding=Finding.OPEN,
        command=None,
    )
    return _refused(options, compared, cutoff, evaluated.runs, whose, pools)


def _refused(
    options: ComparisonOptions,
    compared: ComparedRuns,
    cutoff: int,
    runs: Mapping[str, RunRef],
    whose: str,
    pools: Mapping[str, str],
) -> ComparedRuns:
    """Ask for judgments where one run is judged farther, or brings much that no pool holds.

    Where the unknown labels can't change the sign, nothing has to wait for them.

    Args:
        options: What is compared.
        compared: The comparison.
        cutoff: How many places count.
        runs: The runs by name.
        whose: The run that brings more that no pool holds.
        pools: Of runs of two snapshots, each one's pool.
    """
    unpooled, first, second = (runs[name] for name in (whose, compared.run, compared.against))
    if compared.found.value is None:
        return replace(compared, finding=Finding.UNDEFINED)
    gap = abs((compared.coverage or 0.0) - (compared.other_coverage or 0.0))
    pool, scope = options.scope.pool, options.scope
    if not compared.is_robust and compared.unpooled > _MOST_UNPOOLED:
        more = f" --extends {pool}" if pool else ""
        if first.snapshot_id != second.snapshot_id:
            more = f" --snapshot {unpooled.snapshot}"
        command = f"labeler pool create NAME --depth {cutoff} --runs {unpooled.name}{more}"
        return replace(compared, finding=Finding.JUDGMENTS_FIRST, command=command)
    if not compared.is_robust and gap > MOST_COVERAGE_GAP:
        relevant = scope.least.value.removesuffix("_relevant")
        command = draw_command(pool, (first.name, second.name), cutoff, relevant)
        if first.snapshot_id != second.snapshot_id:
            # No pool holds runs of two snapshots: the pool of the one that is judged less.
            ours_is_less = (compared.coverage or 0.0) < (compared.other_coverage or 0.0)
            less = compared.run if ours_is_less else compared.against
            command = draw_command(pools.get(less), (runs[less].name,), cutoff, relevant)
        return replace(compared, finding=Finding.JUDGMENTS_FIRST, command=command)
    if compared.found.interval is None and compared.found.p is None:
        return replace(compared, finding=Finding.FEW_CLUSTERS)
    return compared


def _unpooled(ranking: JudgedRanking, cutoff: int, inside: NDArray[np.bool_]) -> float:
    top = ranking.ranks <= cutoff
    places = ranking.count_where(top)[inside].sum()
    outside = ranking.count_where(top & ~ranking.framed)[inside].sum()
    return float(outside / places) if places else 0.0


def _micro_difference(
    both: Sequence[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]],
) -> float | None:
    found = []
    for part, whole, value in both:
        defined = ~np.isnan(value)
        total = float(whole[defined].sum())
        if total <= 0:
            return None
        found.append(float(part[defined].sum()) / total)
    return found[0] - found[1]


def _mean(values: NDArray[np.float64]) -> float | None:
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else None


def _adjusted(
    options: ComparisonOptions,
    evaluated: EvaluatedRuns,
    rankings: Mapping[str, JudgedRanking],
    compared: list[ComparedRuns],
) -> tuple[list[ComparedRuns], str]:
    """Share the error among all comparisons that were declared, and say how it was done."""
    if options.adjustment is Adjustment.MAX_T:
        together = _max_t(options, evaluated, rankings, compared)
        if together is not None:
            return together, "max-T over sign flips of clusters (Westfall and Young 1993)"
    p_values = holm([one.found.p for one in compared])
    decided = [
        _decided(replace(one, adjusted_p=p)) for one, p in zip(compared, p_values, strict=True)
    ]
    instead = "; max-T needs the same queries for all" if options.adjustment == "max-t" else ""
    return decided, f"Holm (1979){instead}"


def _max_t(
    options: ComparisonOptions,
    evaluated: EvaluatedRuns,
    rankings: Mapping[str, JudgedRanking],
    compared: list[ComparedRuns],
) -> list[ComparedRuns] | None:
    if len(options.slices) > 1:
        return None
    inside = evaluated.in_slice(options.slices[0])
    values = {
        (name, metric): measure(metric, ranking).value[inside]
        for name, ranking in rankings.items()
        for metric in options.metrics
    }
    gaps = np.stack(
        [
            values[one.run, metric] - values[one.against, metric]
            for one, metric in zip(compared, _metrics_of(options, compared), strict=True)
        ]
    )
    defined = ~np.isnan(gaps).any(axis=0)
    if not defined.any():
        return None
    found = max_t(gaps[:, defined], evaluated.clusters[inside][defined], seed=options.seed)
    if found is None:
        return None
    return [
        _decided(replace(one, adjusted_p=shared.p, adjusted_interval=shared.interval))
        for one, shared in zip(compared, found, strict=True)
    ]


def _metrics_of(options: ComparisonOptions, compared: list[ComparedRuns]) -> list[Metric]:
    source = options.scope.source.value
    by_name = {metric.full_name(source): metric for metric in options.metrics}
    return [by_name[one.metric] for one in compared]


def _decided(compared: ComparedRuns) -> ComparedRuns:
    if compared.finding is not Finding.OPEN:
        return compared
    if compared.adjusted_p is None or compared.adjusted_p > _ALPHA:
        return compared
    if (compared.found.value or 0.0) > 0:
        finding = Finding.BETTER if compared.is_robust else Finding.BETTER_SO_FAR
    else:
        finding = Finding.WORSE if compared.is_robust else Finding.WORSE_SO_FAR
    return replace(compared, finding=finding)


def _configurations(
    connection: Connection, evaluated: EvaluatedRuns, against: str
) -> dict[str, tuple[str, ...]]:
    """Tell in which stages each run's configuration differs from that of the reference."""
    run = table(Run)
    keys = {ref.key: name for name, ref in evaluated.runs.items()}
    rows = connection.execute(sa.select(run).where(run.c.id.in_(list(keys)))).mappings()
    stages = ("corpus", "retrieval", "reranking", "generation")
    configs = {keys[row["id"]]: {stage: row[f"{stage}_config"] for stage in stages} for row in rows}
    own = configs[against]
    return {
        name: tuple(
            f"{stage}: {own[stage] or 'none'} -> {config[stage] or 'none'}"
            for stage in stages
            if config[stage] != own[stage]
        )
        for name, config in configs.items()
        if name != against
    }
