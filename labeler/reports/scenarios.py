"""Ways to treat unknown items: as drawn samples, judges or probabilities say."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.assessment.item_scores import latest_scores
from labeler.assessment.label_states import state_at
from labeler.assessment.samples import latest_answers
from labeler.evaluation.gain import GainRule
from labeler.evaluation.metrics import Metric, measure
from labeler.evaluation.ranking import Numbers
from labeler.labels import Grade, State, StateCode
from labeler.reports.completed_labels import gain_of_relevant, read_completed_labels
from labeler.reports.evaluated import EvaluatedRuns
from labeler.reports.scope import Scope, ScopeOptions

__all__ = [
    "SAMPLED",
    "Basis",
    "Chances",
    "ScenarioRow",
    "chances_of_items",
    "judges_labels",
    "probabilities",
    "relevant_by_chance",
    "sampled_labels",
]

SAMPLED = "unknown is as a drawn sample says"
"""The row that rests on chance alone."""

_DRAWS = 200
_SEED = 1
_NO_POOL = "it needs a pool: --pool NAME"


class Basis(StrEnum):
    """What a row of the table is."""

    ASSUMPTION = "assumption"
    ESTIMATE = "estimate"


@dataclass(frozen=True, slots=True)
class ScenarioRow:
    """What one way to treat unknown items gives.

    Attributes:
        scenario: The way, in words.
        basis: Whether it is an assumption or an estimate.
        leader: The leader's mean; None where only the difference is known, or nothing.
        other: The other run's mean.
        difference: Leader less other; None where the row is missing.
        low: The lower limit of the difference's 95% interval, for these queries; None without.
        high: The upper limit.
        note: What it rests on, or why the row is missing.
        chance: How probable a reversal is; None where it isn't told.
    """

    scenario: str
    basis: Basis
    leader: float | None
    other: float | None
    difference: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""
    chance: float | None = None


@dataclass(frozen=True, eq=False)
class Chances:
    """Calibrated probabilities of being relevant, for the items of the labels.

    Attributes:
        of_items: Shape (items,); not a number where there is none. None when nothing is calibrated.
        missing: Why there are none.
        note: Which scores they are.
    """

    of_items: NDArray[np.float64] | None
    missing: str | None = None
    note: str = ""


def probabilities(connection: Connection, options: ScopeOptions, scope: Scope) -> Chances:
    """Read the calibrated probabilities of the pool's items."""
    if options.pool is None:
        return Chances(None, _NO_POOL)
    return chances_of_items(connection, scope.evaluated, options.as_of)


def chances_of_items(
    connection: Connection, evaluated: EvaluatedRuns, as_of: int | None
) -> Chances:
    """Read the calibrated probabilities of the items of some runs' pool."""
    scores = latest_scores(connection, evaluated.pool_id, as_of)
    if scores is None:
        return Chances(None, f"nothing is scored: labeler calibrate {evaluated.pool}")
    if not scores.is_calibrated:
        return Chances(
            None, f"scores are uncalibrated, fitted on {scores.labels:,} labels of people"
        )
    labels = evaluated.labels
    first = 2 if labels.least is Grade.FULLY_RELEVANT else 1
    by_item = scores.probabilities[:, first:].sum(axis=1)
    found = np.full(len(labels.items), np.nan)
    known = np.isin(labels.items, scores.item_ids)
    found[known] = by_item[np.searchsorted(scores.item_ids, labels.items[known])]
    note = f"scores {scores.digest[:12]} on {scores.labels:,} labels; items taken as independent"
    return Chances(np.clip(found, 0.0, 1.0), None, note)


def sampled_labels(
    connection: Connection,
    options: ScopeOptions,
    scope: Scope,
    names: tuple[str, str],
    metric: Metric,
    rule: GainRule,
) -> ScenarioRow:
    """Take unknown items as the latest drawn sample of the pool says."""
    if options.pool is None:
        return _missing(SAMPLED, Basis.ESTIMATE, _NO_POOL)
    completed = read_completed_labels(connection, scope.evaluated, options.as_of)
    if completed is None:
        return _missing(SAMPLED, Basis.ESTIMATE, "no drawn sample of this pool has answers")
    untold = completed.untold(metric)
    if untold is not None:
        return _missing(SAMPLED, Basis.ESTIMATE, untold)
    note = (
        f"sample {completed.sample}: {completed.positives:,} relevant of "
        f"{completed.labelled:,} answers, {completed.drawn:,} drawn of {completed.size:,}"
    )
    sets = completed.split_by_tops(scope.evaluated, names, metric.cutoff).sets
    return _over_sets(SAMPLED, scope, sets, names, metric, rule, note)


def relevant_by_chance(
    scope: Scope, chances: Chances, names: tuple[str, str], metric: Metric, rule: GainRule
) -> ScenarioRow:
    """Take unknown items as relevant with their calibrated probabilities, independently."""
    name = "unknown is relevant with its calibrated probability"
    if chances.of_items is None:
        return _missing(name, Basis.ESTIMATE, chances.missing or "")
    states = scope.evaluated.labels.states
    unknown = states == StateCode.UNKNOWN
    if np.isnan(chances.of_items[unknown]).any():
        return _missing(name, Basis.ESTIMATE, "the scores leave out items of the frame")
    random = np.random.default_rng(_SEED)
    drawn = random.random((_DRAWS, int(unknown.sum()))) < chances.of_items[unknown]
    sets = np.broadcast_to(states, (_DRAWS, len(states))).copy()
    sets[:, unknown] = drawn.astype(np.int8)
    return _over_sets(name, scope, sets, names, metric, rule, chances.note)


def judges_labels(
    connection: Connection,
    options: ScopeOptions,
    scope: Scope,
    names: tuple[str, str],
    metric: Metric,
    rule: GainRule,
) -> ScenarioRow:
    """Take unknown items as most judges say; of two as frequent answers not relevant stands."""
    name = "unknown is as the judges say"
    if options.pool is None:
        return _missing(name, Basis.ASSUMPTION, _NO_POOL)
    answers = latest_answers(connection, scope.evaluated.pool_id, options.as_of)
    labels = scope.evaluated.labels
    states = labels.states.copy()
    filled = 0
    for place in np.flatnonzero(labels.states == StateCode.UNKNOWN).tolist():
        said = Counter(
            state_at(one.grade, options.least)
            for one in answers.get(int(labels.items[place]), ())
            if one.grade is not None
        )
        if said:
            relevant = said[State.RELEVANT] > said[State.NOT_RELEVANT]
            states[place] = StateCode.RELEVANT if relevant else StateCode.NOT_RELEVANT
            filled += 1
    if not filled:
        return _missing(name, Basis.ASSUMPTION, "no judge answered on an unknown item")
    judges = sorted({one.judge for of in answers.values() for one in of})
    unknown = int((labels.states == StateCode.UNKNOWN).sum())
    note = f"{filled:,} of {unknown:,} unknown items, by {', '.join(judges)}"
    row = _over_sets(name, scope, states[None], names, metric, rule, note)
    return ScenarioRow(name, Basis.ASSUMPTION, row.leader, row.other, row.difference, note=note)


def _missing(name: str, basis: Basis, why: str) -> ScenarioRow:
    return ScenarioRow(name, basis, None, None, None, note=why)


def _over_sets(
    name: str,
    scope: Scope,
    sets: NDArray[np.int8],
    names: tuple[str, str],
    metric: Metric,
    rule: GainRule,
    note: str,
) -> ScenarioRow:
    """Measure both runs under some label sets; give means, and the middle 95% of differences."""
    values = [_means(scope, sets, run, metric, rule) for run in names]
    difference = values[0] - values[1]
    if np.isnan(difference).all():
        return _missing(name, Basis.ESTIMATE, "the metric is undefined for every query")
    low, high = np.nanquantile(difference, [0.025, 0.975])
    return ScenarioRow(
        scenario=name,
        basis=Basis.ESTIMATE,
        leader=float(np.nanmean(values[0])),
        other=float(np.nanmean(values[1])),
        difference=float(np.nanmean(difference)),
        low=float(low),
        high=float(high),
        note=note,
        chance=float((difference < 0).mean()),
    )


def _means(
    scope: Scope, sets: NDArray[np.int8], run: str, metric: Metric, rule: GainRule
) -> Numbers:
    """Give a run's mean under each label set, shape (sets,)."""
    gain = gain_of_relevant(scope.evaluated.labels)
    found = np.full(len(sets), np.nan)
    for number, states in enumerate(sets):
        filled = scope.evaluated.with_labels(states, gain)
        value = measure(metric, scope.evaluated.judged(run, filled), rule).value
        if not np.isnan(value).all():
            found[number] = np.nanmean(value)
    return found
