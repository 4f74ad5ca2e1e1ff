"""Refitting the label model of a pool to people's votes, as a frozen version of its scores."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeler.assessment.item_scores import ItemScores, add_scores, scores_by_digest
from labeler.assessment.people_labels import PeopleLabels, read_people_labels
from labeler.assessment.pool_signals import GRADE_RANK, PoolSignals, read_pool_signals
from labeler.calibration.design import make_design
from labeler.calibration.health import JudgeHealth, as_plain, health_of, judges_at_chance
from labeler.calibration.label_fit import LEAST_FOR_CALIBRATED, LabelFit, Way, fit_labels
from labeler.errors import NotFoundError
from labeler.records.scores import Calibration
from labeler.store.database import Store
from labeler.store.registry import pool_named

__all__ = ["CalibrationReport", "calibrate_pool", "fit_scores", "read_healths"]

NAME = "label model"
_DIGITS = 9
"""Probabilities are kept to so many digits: what machines round in other ways lies behind them."""


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """What a fit came to.

    Attributes:
        pool: The pool.
        items: Its items.
        digest: Names the score version.
        is_new: Whether the version is new; a fit to the same labels and signals is the same one.
        calibration: Whether enough labels of people stand behind it.
        labels: Items that people's blind votes settle.
        needed: How many it takes to be called calibrated.
        queries: Their queries.
        disputed: Items on which people's votes contradict each other; they are left out.
        way: Which labels are in force: the judges' own, refitted, or refitted and smoothed.
        losses: Log loss of each way that could be tried, at labels that it wasn't fitted on.
        smoothed: Queries with labels enough for smoothing.
        judges: How each judge does against people.
        revision: The revision that was made, or None.
    """

    pool: str
    items: int
    digest: str
    is_new: bool
    calibration: Calibration
    labels: int
    needed: int
    queries: int
    disputed: int
    way: Way
    losses: dict[Way, float]
    smoothed: int
    judges: tuple[JudgeHealth, ...]
    revision: int | None


def calibrate_pool(
    store: Store, name: str, *, advance: Callable[[int, int], None] = lambda _done, _total: None
) -> CalibrationReport:
    """Fit the label model to the votes on a pool, and append the scores as a version.

    Votes may go on meanwhile: what was read at the start is what counts.

    Args:
        store: The project.
        name: The pool's name.
        advance: Told how many of its steps are done.

    Raises:
        NotFoundError: When there is no such pool, or no judge has judged any of its items.
    """
    with store.read() as connection:
        pool_id = int(pool_named(connection, name).id)
        signals = read_pool_signals(connection, pool_id)
        labels = read_people_labels(connection, pool_id)
    if not signals.judges:
        raise NotFoundError(
            f"no judge has judged an item of the pool '{name}'",
            hint=f"`labeler judge run {name} --judge embedded` needs no key",
        )
    healths = read_healths(signals, labels)
    scores, fitted = fit_scores(signals, labels, healths, advance=advance)
    with store.write(f"calibrate {name}") as tx:
        is_new = scores_by_digest(tx.connection, scores.digest) is None
        if is_new:
            add_scores(tx, pool_id, scores)
    return CalibrationReport(
        pool=name,
        items=len(signals.item_ids),
        digest=scores.digest,
        is_new=is_new,
        calibration=scores.calibration,
        labels=fitted.labels,
        needed=LEAST_FOR_CALIBRATED,
        queries=fitted.queries,
        disputed=labels.disputed,
        way=fitted.way,
        losses=dict(fitted.losses),
        smoothed=fitted.smoothed,
        judges=healths,
        revision=tx.made_revision,
    )


def fit_scores(
    signals: PoolSignals,
    labels: PeopleLabels,
    healths: tuple[JudgeHealth, ...],
    *,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
) -> tuple[ItemScores, LabelFit]:
    """Fit the label model: a pure function of signals and labels.

    Args:
        signals: The raw signals of a pool.
        labels: What people say of its items.
        healths: How each judge does; those at chance don't count in the panel.
        advance: Told how many of its steps are done.
    """
    at_chance = judges_at_chance(healths)
    places, grades = _labelled(signals, labels)
    fitted = fit_labels(make_design(signals, at_chance), places, grades, advance=advance)
    model: dict[str, Any] = json.loads(fitted.to_json())
    model |= {
        "signals": signals.digest,
        "labels": labels.digest,
        "judges": [as_plain(one) for one in healths],
    }
    calibration = Calibration.CALIBRATED if fitted.is_calibrated else Calibration.UNCALIBRATED
    scores = ItemScores(
        name=NAME,
        calibration=calibration,
        model=json.dumps(model, sort_keys=True, allow_nan=False),
        labels=fitted.labels,
        queries=fitted.queries,
        item_ids=signals.item_ids,
        probabilities=np.round(fitted.probabilities, _DIGITS),
    )
    return scores, fitted


def read_healths(signals: PoolSignals, labels: PeopleLabels) -> tuple[JudgeHealth, ...]:
    """Tell how each judge does on the items that no doubt picked."""
    places, grades = _labelled(signals, labels, only=labels.unpicked)
    queries = signals.queries[places]
    return tuple(health_of(judge, places, grades > 0, queries) for judge in signals.judges)


def _labelled(
    signals: PoolSignals, labels: PeopleLabels, only: frozenset[int] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the places of labelled items, and their grades as numbers."""
    found = [
        (place, GRADE_RANK[labels.grades[item]])
        for place, item in enumerate(signals.item_ids.tolist())
        if item in labels.grades and (only is None or item in only)
    ]
    pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
