"""How far what runs found is judged, and which runs the pool favours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.evaluation.gain import GainRule
from labeler.evaluation.metrics import Metric, measure
from labeler.evaluation.pooling_bias import (
    MOST_COVERAGE_GAP,
    coverage_at_ranks,
    coverage_gap,
    only_from,
    order_change,
    without,
)
from labeler.evaluation.ranking import JudgedRanking, Numbers, judged_coverage_at
from labeler.labels import StateCode
from labeler.reports.conditions import Conditions
from labeler.reports.judged_rankings import judged_ranking, known_of
from labeler.reports.metric_rows import MeasuredRun, keys_of_one_run, number
from labeler.reports.scope import Scope, ScopeOptions, read_scope

__all__ = [
    "CoverageReport",
    "CoverageRow",
    "LeftOut",
    "Refusal",
    "draw_command",
    "report_coverage",
]


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """How far one run's first places are judged.

    Attributes:
        run: The run's name.
        role: Its role.
        judged: Mean share of judged places among those returned up to the cutoff.
        by_rank: The share at each exact rank up to the cutoff; None where nobody has a place.
        unknown: Unknown places up to the cutoff.
        abstained: How many of them people couldn't judge.
        candidate_only: How many of them no other run of the report has up to its cutoff.
        outside: How many of them are no item of the frame.
    """

    run: str
    role: str
    judged: float | None
    by_rank: tuple[float | None, ...]
    unknown: int
    abstained: int
    candidate_only: int
    outside: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What happens when the labels that one run alone brought are taken away.

    Attributes:
        run: The run that is left out.
        labels: Labels taken away.
        value: The run's mean with all labels, unknown as not relevant.
        change: The change of that mean.
        tau: Kendall's tau-b between the orders of all runs; None with fewer than two.
        largest_drop: By how many places the run that fell farthest fell.
    """

    run: str
    labels: int
    value: float | None
    change: float | None
    tau: float | None
    largest_drop: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """Two runs that can't be compared yet: one is judged farther than the other.

    Attributes:
        first: A run.
        second: Another one.
        gap: By how much their judged shares differ.
        command: What draws the judgments that are missing.
    """

    first: str
    second: str
    gap: float
    command: str


@dataclass(frozen=True, slots=True)
class CoverageReport:
    """How far what runs found is judged.

    Attributes:
        conditions: What every number rests on.
        cutoff: How many places count.
        metric: The metric that leaving a run out is told by, with whose labels it takes.
        rows: By run.
        left_out: By run, what leaving it out does.
        refusals: Pairs of runs that can't be compared yet.
        notices: What a reader should know besides.
    """

    conditions: Conditions
    cutoff: int
    metric: str
    rows: tuple[CoverageRow, ...]
    left_out: tuple[LeftOut, ...]
    refusals: tuple[Refusal, ...]
    notices: tuple[str, ...]


def report_coverage(
    connection: Connection,
    options: ScopeOptions,
    *,
    cutoff: int,
    metric: Metric,
) -> CoverageReport:
    """Tell how far what runs found is judged.

    Args:
        connection: A transaction's connection.
        options: What is looked at.
        cutoff: How many places count, and to which depth a run is taken to have brought labels.
        metric: What leaving a run out is told by.

    Raises:
        NotFoundError: When a name or the revision isn't there, or no query has a label.
        UsageError: When it isn't clear which snapshot or rubric is meant.
    """
    scope = read_scope(connection, options)
    evaluated = scope.evaluated
    rankings = {run: evaluated.judged(run) for run in evaluated.runs}
    alone = keys_of_one_run(rankings.values(), cutoff)
    at_cutoff = replace(metric, cutoff=cutoff)
    measured = {
        run: MeasuredRun.of(
            run, at_cutoff, ranking, evaluated.labels, evaluated.queries, alone, options.gain
        )
        for run, ranking in rankings.items()
    }
    rows = tuple(_row(scope, measured[run], ranking, cutoff) for run, ranking in rankings.items())
    return CoverageReport(
        conditions=scope.conditions,
        cutoff=cutoff,
        metric=metric.full_name(scope.conditions.labels),
        rows=rows,
        left_out=_leave_out(scope, rankings, cutoff, metric, options.gain),
        refusals=_refusals(options, rankings, cutoff),
        notices=scope.notices,
    )


def _row(scope: Scope, measured: MeasuredRun, ranking: JudgedRanking, cutoff: int) -> CoverageRow:
    top = (ranking.ranks <= cutoff) & (ranking.states == StateCode.UNKNOWN)
    coverage = measured.coverage[~np.isnan(measured.coverage)]
    return CoverageRow(
        run=measured.run,
        role=scope.evaluated.runs[measured.run].role.value,
        judged=float(coverage.mean()) if len(coverage) else None,
        by_rank=tuple(number(one) for one in coverage_at_ranks(ranking, cutoff).tolist()),
        unknown=int(measured.unknown.sum()),
        abstained=int(measured.abstained.sum()),
        candidate_only=int(measured.candidate_only.sum()),
        outside=int((top & ~ranking.framed).sum()),
    )


def _leave_out(
    scope: Scope,
    rankings: Mapping[str, JudgedRanking],
    cutoff: int,
    metric: Metric,
    rule: GainRule,
) -> tuple[LeftOut, ...]:
    """Take away what each run alone brought, and measure all runs again."""
    evaluated, labels = scope.evaluated, scope.evaluated.labels
    places = np.arange(len(labels.items))
    brought = {run: _labelled_top(scope, one, cutoff) for run, one in rankings.items()}
    before = {run: _mean(measure(metric, one, rule).value) for run, one in rankings.items()}
    found = []
    for run in rankings:
        gone = only_from(brought, run)
        states = without(labels.states, places, gone)
        gains = np.where(states == StateCode.UNKNOWN, np.nan, labels.gains)
        fewer = replace(labels, states=states, gains=gains)
        known = known_of(fewer, evaluated.queries)
        after = {
            name: _mean(
                measure(
                    metric,
                    judged_ranking(evaluated.rankings[name], fewer, evaluated.queries, known),
                    rule,
                ).value
            )
            for name in rankings
        }
        change = order_change(_defined(before), _defined(after)) if _all(before, after) else None
        value, then = before[run], after[run]
        found.append(
            LeftOut(
                run=run,
                labels=len(gone),
                value=value,
                change=None if value is None or then is None else then - value,
                tau=None if change is None else change.tau,
                largest_drop=0 if change is None else change.largest_drop,
            )
        )
    return tuple(found)


def _labelled_top(scope: Scope, ranking: JudgedRanking, cutoff: int) -> NDArray[np.int64]:
    """Give the places, among the labels, of the judged items in a run's first places."""
    labels, queries = scope.evaluated.labels, scope.evaluated.queries
    top = (ranking.ranks <= cutoff) & (ranking.states != StateCode.UNKNOWN)
    return labels.places(queries[ranking.query_of[top]], ranking.evidence[top])


def _mean(values: Numbers) -> float | None:
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else None


def _all(*values: Mapping[str, float | None]) -> bool:
    return all(one is not None for of in values for one in of.values())


def _defined(values: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in values.items() if value is not None}


def _refusals(
    options: ScopeOptions, rankings: Mapping[str, JudgedRanking], cutoff: int
) -> tuple[Refusal, ...]:
    coverage = {run: judged_coverage_at(one, cutoff) for run, one in rankings.items()}
    found = []
    for first, second in combinations(rankings, 2):
        gap = coverage_gap(coverage[first], coverage[second])
        if gap is not None and gap > MOST_COVERAGE_GAP:
            command = draw_command(options.pool, (first, second), cutoff, options.relevant)
            found.append(Refusal(first, second, gap, command))
    return tuple(found)


def draw_command(
    pool: str | None, runs: tuple[str, ...], cutoff: int, relevant: str = "partially"
) -> str:
    """Write the command that plans the judgments which a comparison lacks.

    Args:
        pool: The pool's name; without one, one has to be made first.
        runs: The runs that are compared.
        cutoff: How many places count.
        relevant: From which grade on: partially or fully.
    """
    named = "".join(f" --runs {run}" for run in runs)
    if pool is None:
        return f"labeler pool create NAME --depth {cutoff}{named}"
    more = "" if relevant == "partially" else f" --relevant {relevant}"
    return f"labeler sample plan {pool}{named} --k {cutoff}{more}"
