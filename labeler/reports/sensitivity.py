"""How much a comparison of two runs depends on what is unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.errors import UsageError
from labeler.evaluation.gain import GainRule
from labeler.evaluation.metrics import Metric, measure
from labeler.evaluation.pooling_bias import MOST_COVERAGE_GAP, coverage_gap
from labeler.evaluation.ranking import JudgedRanking, Numbers, judged_coverage_at
from labeler.evaluation.reversal import (
    FlipTables,
    Reversal,
    flip_tables,
    least_flips,
    worst_difference,
)
from labeler.reports.conditions import Conditions
from labeler.reports.coverage import draw_command
from labeler.reports.flip_chances import chance_of_flips
from labeler.reports.scenarios import (
    SAMPLED,
    Basis,
    ScenarioRow,
    judges_labels,
    probabilities,
    relevant_by_chance,
    sampled_labels,
)
from labeler.reports.scope import Scope, ScopeOptions, read_scope

__all__ = ["ALPHA", "SensitivityReport", "Verdict", "report_sensitivity"]

ALPHA = 0.05


class Verdict(StrEnum):
    """What can be said of a comparison."""

    ROBUST = "robust"
    DEPENDS = "depends on unknown items"
    REVERSED = "reversed"
    REFUSED = "refused"
    TIED = "tied"


@dataclass(frozen=True, slots=True)
class SensitivityReport:
    """How much a comparison of two runs depends on what is unknown.

    Attributes:
        conditions: What every number rests on.
        metric: The metric, with whose labels it takes.
        leader: The run with the higher mean, unknown taken as not relevant.
        other: The other run.
        queries: Queries where the metric is defined.
        rows: What each way to treat unknown items gives: leader, other, difference.
        least_flips: The least number of unknown items that would have to be relevant to put the
            other run ahead, or its lower bound; None when no number does.
        most_flips: Its upper bound; equal where the number is exact.
        available: Unknown items that could be among them.
        chance_of_flips: The probability that at least so many of those are relevant, under
            calibrated probabilities taken as independent; it is no less than that of a reversal.
        no_chance: Why there is none.
        coverage: Judged shares of leader and other.
        coverage_gap: By how much they differ.
        verdict: What can be said.
        why: In words.
        next: The command that brings what is missing, or None.
        notices: What a reader should know besides.
    """

    conditions: Conditions
    metric: str
    leader: str
    other: str
    queries: int
    rows: tuple[ScenarioRow, ...]
    least_flips: int | None
    most_flips: int | None
    available: int
    chance_of_flips: float | None
    no_chance: str | None
    coverage: tuple[float | None, float | None]
    coverage_gap: float | None
    verdict: Verdict
    why: str
    next: str | None
    notices: tuple[str, ...]


def report_sensitivity(
    connection: Connection,
    options: ScopeOptions,
    *,
    metric: Metric,
    progress: Callable[[int, int], None] | None = None,
) -> SensitivityReport:
    """Compare two runs under every way to treat unknown items.

    Args:
        connection: A transaction's connection.
        options: What is looked at; its runs are the two.
        metric: What is compared.
        progress: Told how many steps are done, of how many.

    Raises:
        NotFoundError: When a name or the revision isn't there, or no query has a label.
        UsageError: When there aren't two runs, or it isn't clear what is meant.
    """
    scope = read_scope(connection, options)
    if len(scope.evaluated.runs) != 2:  # noqa: PLR2004 - a comparison
        raise UsageError(
            f"two runs are compared, not {len(scope.evaluated.runs)}",
            hint=f"there is {', '.join(scope.evaluated.runs)}",
        )
    tell = progress or (lambda _done, _of: None)
    rule = options.gain
    pair = _Pair.of(scope, metric, rule)
    tell(1, 4)
    chances = probabilities(connection, options, scope)
    rows = [
        pair.as_it_is(),
        sampled_labels(connection, options, scope, pair.names, metric, rule),
        judges_labels(connection, options, scope, pair.names, metric, rule),
    ]
    tell(2, 4)
    rows.append(relevant_by_chance(scope, chances, pair.names, metric, rule))
    tell(3, 4)
    rows += [pair.worst(), pair.best()]
    chance, no_chance = _chance_of_flips(pair, chances.of_items, chances.missing)
    tell(4, 4)
    verdict, why = _verdict(pair, rows, chance)
    return SensitivityReport(
        conditions=scope.conditions,
        metric=metric.full_name(scope.conditions.labels),
        leader=pair.names[0],
        other=pair.names[1],
        queries=pair.queries,
        rows=tuple(rows),
        least_flips=pair.reversal.least,
        most_flips=pair.reversal.most,
        available=pair.reversal.available,
        chance_of_flips=chance,
        no_chance=no_chance,
        coverage=pair.coverage,
        coverage_gap=pair.gap,
        verdict=verdict,
        why=why,
        next=None
        if verdict in {Verdict.ROBUST, Verdict.REVERSED}
        else draw_command(options.pool, pair.names, pair.cutoff, options.relevant),
        notices=scope.notices,
    )


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two runs, the leader first."""

    scope: Scope
    metric: Metric
    rule: GainRule
    names: tuple[str, str]
    rankings: tuple[JudgedRanking, JudgedRanking]
    values: tuple[Numbers, Numbers]
    flips: FlipTables
    reversal: Reversal
    cutoff: int
    coverage: tuple[float | None, float | None]
    gap: float | None

    @classmethod
    def of(cls, scope: Scope, metric: Metric, rule: GainRule) -> _Pair:
        """Measure both runs and put the leader first; of two equal ones the first by name."""
        runs = {run: scope.evaluated.judged(run) for run in scope.evaluated.runs}
        values = {run: measure(metric, one, rule).value for run, one in runs.items()}
        first, second = sorted(runs, key=lambda run: (-_sum(values[run]), run))
        flips = flip_tables(metric, runs[first], runs[second], rule)
        deepest = max(int(one.returned.max(initial=1)) for one in runs.values())
        cutoff = metric.cutoff or max(deepest, 1)
        coverage = [judged_coverage_at(runs[run], cutoff) for run in (first, second)]
        return cls(
            scope=scope,
            metric=metric,
            rule=rule,
            names=(first, second),
            rankings=(runs[first], runs[second]),
            values=(values[first], values[second]),
            flips=flips,
            reversal=Reversal(
                least_flips(flips.floor), least_flips(flips.tables), sum(flips.available)
            ),
            cutoff=cutoff,
            coverage=(_mean(coverage[0]), _mean(coverage[1])),
            gap=coverage_gap(coverage[0], coverage[1]),
        )

    @property
    def queries(self) -> int:
        """Queries where the metric is defined."""
        return int((~np.isnan(self.values[0])).sum())

    @property
    def lead(self) -> float:
        """The sum of differences as they are."""
        return _sum(self.values[0]) - _sum(self.values[1])

    def as_it_is(self) -> ScenarioRow:
        return ScenarioRow(
            "unknown is not relevant",
            Basis.ASSUMPTION,
            _mean(self.values[0]),
            _mean(self.values[1]),
            None if not self.queries else self.lead / self.queries,
        )

    def worst(self) -> ScenarioRow:
        """The unknown items that the other run needs are relevant, and no others."""
        return self._extreme("worst case for the leader", self.flips.tables, 1.0)

    def best(self) -> ScenarioRow:
        leader, other = self.rankings
        tables = flip_tables(self.metric, other, leader, self.rule).tables
        return self._extreme("best case for the leader", tables, -1.0)

    def _extreme(self, name: str, tables: Sequence[Numbers], sign: float) -> ScenarioRow:
        defined = ~np.isnan(self.values[0])
        flipped = np.array([int(table.argmin()) > 0 for table in tables], dtype=np.bool_)
        count = int((defined | flipped).sum())
        least = worst_difference(tables)
        return ScenarioRow(
            name, Basis.ASSUMPTION, None, None, None if not count else sign * least / count
        )


def _chance_of_flips(
    pair: _Pair, of_items: NDArray[np.float64] | None, missing: str | None
) -> tuple[float | None, str | None]:
    """Give the probability that so many items are relevant as a reversal needs."""
    if pair.reversal.least is None:
        return 0.0, None
    if of_items is None:
        return None, missing
    evaluated = pair.scope.evaluated
    return chance_of_flips(
        evaluated,
        pair.metric.kind,
        pair.reversal.least,
        evaluated.queries,
        pair.flips.useful,
        of_items,
    )


def _verdict(pair: _Pair, rows: list[ScenarioRow], chance: float | None) -> tuple[Verdict, str]:
    if abs(pair.lead) < 1e-12:  # noqa: PLR2004 - rounding
        return Verdict.TIED, "both have the same mean with unknown taken as not relevant"
    if pair.reversal.least is None:
        return Verdict.ROBUST, "no labels of unknown items put the other run ahead"
    sampled = next((row for row in rows if row.scenario == SAMPLED and row.low is not None), None)
    if sampled is not None:
        return _as_sampled(sampled)
    if pair.gap is not None and pair.gap > MOST_COVERAGE_GAP:
        points = f"{100 * pair.gap:.1f} points, more than {100 * MOST_COVERAGE_GAP:.0f}"
        return Verdict.REFUSED, f"judged shares differ by {points}: draw judgments first"
    if chance is not None and chance < ALPHA:
        why = f"so many relevant items have a probability of {chance:.3g}, below {ALPHA:g}"
        return Verdict.ROBUST, why
    some = f"{pair.reversal.least:,} of {pair.reversal.available:,}"
    return Verdict.DEPENDS, f"{some} unknown items could put the other run ahead"


def _as_sampled(row: ScenarioRow) -> tuple[Verdict, str]:
    """Decide by what a drawn sample says: by chance it speaks of all that is unknown."""
    interval = f"a drawn sample puts the difference in [{row.low:.3f}, {row.high:.3f}]"
    if row.low is not None and row.low > 0:
        return Verdict.ROBUST, interval
    if row.high is not None and row.high < 0:
        return Verdict.REVERSED, f"{interval}: the other run is ahead"
    return Verdict.DEPENDS, interval


def _sum(values: Numbers) -> float:
    return float(np.nansum(values))


def _mean(values: Numbers) -> float | None:
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else None
