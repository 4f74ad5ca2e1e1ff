"""Fitting the label model to people's labels: probabilities that never saw the label they are for.

Three ways to have a label are compared by their log loss, each on labels that it wasn't fitted on:
the judges' own, *fixed*; a *refit* of the global model, folds by query; and the refit *smoothed*
inside each query. The best is in force, so that a refit on few labels can't make things worse.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from labeler.calibration.design import Design
from labeler.calibration.label_model import GRADES, LabelModel, fit
from labeler.calibration.smoothing import LEAST_LABELS, Kernel, QueryPart, smooth, tune
from labeler.evaluation.skill import log_loss

__all__ = ["LEAST_FOR_CALIBRATED", "LabelFit", "Way", "fit_labels"]

LEAST_FOR_CALIBRATED = 100
"""With fewer labels of people nothing is called calibrated, and the judges' own labels stay."""

L2 = 30.0
"""The penalty of the global model, over standardised columns.

Of 10, 30 and 100 the best in the review of 33 queries of TREC DL 2019 (docs/calibration.md)."""

FOLDS = 4
"""Each labelled query is answered by a fit to the others of so many parts of the queries."""

_LEAST_QUERIES = 2
_SMALLEST = 0.002
"""No grade gets less: what is left of a query after smoothing is never that sure."""

_SHARES = (0.25, 0.5, 0.75, 1.0)
"""How much of their own uncertainty judges are left with, where nothing is refitted: the best."""

Advance = Callable[[int, int], None]


class Way(StrEnum):
    """How the labels in force come about."""

    FIXED = "fixed"
    REFIT = "refit"
    SMOOTHED = "smoothed"


@dataclass(frozen=True, eq=False)
class LabelFit:
    """What came of a fit.

    Attributes:
        probabilities: Shape (items, 3), worst grade first; that of a labelled item comes from a fit
            that didn't have its label.
        way: Which of the ways is in force.
        losses: Log loss of each way that could be tried, at labels it hadn't seen.
        labels: How many labels of people there were.
        queries: To how many queries they belong.
        both_sides: Whether there are relevant and not relevant ones among them.
        smoothed: Queries with enough labels for smoothing.
        model: The global model of all labels; None where labels are too few.
        kernel: The smoothing's kernel; None where nothing was smoothed.
    """

    probabilities: NDArray[np.float64]
    way: Way
    losses: dict[Way, float]
    labels: int
    queries: int
    both_sides: bool
    smoothed: int
    model: LabelModel | None
    kernel: Kernel | None

    @property
    def is_calibrated(self) -> bool:
        """Whether enough labels stand behind the probabilities, of both sides of relevance.

        Labels of relevant items alone, as many collections have them, say nothing of the others.
        """
        return self.labels >= LEAST_FOR_CALIBRATED and self.both_sides

    def to_json(self) -> str:
        """Write what decides the probabilities, beside signals and labels, as canonical JSON."""
        content = {
            "way": self.way.value,
            "losses": {way.value: loss for way, loss in self.losses.items()},
            "smoothed_queries": self.smoothed,
            "l2": L2,
            "folds": FOLDS,
            "kernel": None if self.kernel is None else asdict(self.kernel),
            "global": None if self.model is None else json.loads(self.model.to_json()),
        }
        return json.dumps(content, sort_keys=True)


def fit_labels(
    design: Design,
    places: NDArray[np.int64],
    grades: NDArray[np.int64],
    *,
    advance: Advance = lambda _done, _total: None,
) -> LabelFit:
    """Fit the label model.

    Args:
        design: The columns of the pool's items.
        places: Shape (labels,): the places of the labelled items, each once, ascending.
        grades: Shape (labels,): their grades as numbers from 0, the worst.
        advance: Told how many of its steps are done.
    """
    steps = FOLDS + 3
    advance(0, steps)
    fixed = _as_judges_say(design.fixed, places, grades)
    found = {Way.FIXED: fixed}
    has_label = np.zeros(len(design.x), dtype=np.bool_)
    has_label[places] = True
    parts = [part for part in design.parts if has_label[part].any()]
    several = sum(int(has_label[part].sum()) >= LEAST_LABELS for part in parts)
    model, kernel = None, None
    across = _across_queries(design, places, grades, parts, advance, steps)
    if across is not None:
        model, found[Way.REFIT] = across
        if several:
            kernel, found[Way.SMOOTHED] = _smoothed(design, found[Way.REFIT], places, grades, parts)
    losses = (
        {way: log_loss(given[places], grades) for way, given in found.items()}
        if len(places)
        else {}
    )
    way = min(losses, key=lambda one: losses[one]) if losses else Way.FIXED
    advance(steps, steps)
    return LabelFit(
        probabilities=found[way],
        way=way,
        losses=losses,
        labels=len(places),
        queries=len(parts),
        both_sides=bool((grades > 0).any() and (grades == 0).any()),
        smoothed=several if kernel is not None else 0,
        model=model,
        kernel=kernel,
    )


def _as_judges_say(
    fixed: NDArray[np.float64], places: NDArray[np.int64], grades: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Give the judges' own labels the share of certainty that fits people's labels best.

    A label keeps half at least, so it stays what it is; only how sure it is changes, so that the
    judges aren't beaten for being too sure. Without labels they are taken at their word.
    """
    if not len(places):
        return _bounded(fixed)
    own = np.eye(3)[fixed.argmax(axis=1)]
    made = [_bounded((1 - share) * own + share * fixed) for share in _SHARES]
    return min(made, key=lambda given: log_loss(given[places], grades))


def _across_queries(
    design: Design,
    places: NDArray[np.int64],
    grades: NDArray[np.int64],
    parts: list[NDArray[np.int64]],
    advance: Advance,
    steps: int,
) -> tuple[LabelModel, NDArray[np.float64]] | None:
    """Fit the global model, and answer each labelled query by a fit without its labels.

    Returns:
        The model of all labels, and the probabilities; None where labels are too few, or some fold
        leaves labels of one grade only.
    """
    if len(places) < LEAST_FOR_CALIBRATED or len(parts) < _LEAST_QUERIES or not design.names:
        return None
    folds = min(FOLDS, len(parts))
    fold = np.full(len(design.x), -1)
    for number, part in enumerate(parts):
        fold[part] = number % folds
    training = [fold[places] != number for number in range(folds)]
    if any(len(np.unique(grades[rows])) < 2 for rows in training):  # noqa: PLR2004 - two kinds
        return None
    model = _fit(design, places, grades)
    found = model.probabilities(design.x)
    for number, rows in enumerate(training):
        advance(number + 1, steps)
        of_fold = fold == number
        found[of_fold] = _fit(design, places[rows], grades[rows]).probabilities(design.x[of_fold])
    advance(folds + 1, steps)
    return model, _bounded(found)


def _fit(design: Design, places: NDArray[np.int64], grades: NDArray[np.int64]) -> LabelModel:
    return fit(
        design.x[places],
        [GRADES[grade] for grade in grades],
        l2=L2,
        name="label model",
        fitted_on=f"{len(places)} labels of people",
        features=design.names,
    )


def _smoothed(
    design: Design,
    across: NDArray[np.float64],
    places: NDArray[np.int64],
    grades: NDArray[np.int64],
    parts: list[NDArray[np.int64]],
) -> tuple[Kernel, NDArray[np.float64]]:
    """Smooth the residuals of the global model inside the queries that have labels enough."""
    grade_at = np.full(len(design.x), -1, dtype=np.int64)
    grade_at[places] = grades
    # Not standardised: mean and deviation over the pool would bring in an item's own label.
    z = np.log((1 - across[:, 0]) / across[:, 0])
    chosen = [
        QueryPart(part, labelled, design.texts, design.x, z)
        for part in parts
        if len(labelled := np.flatnonzero(grade_at[part] >= 0)) >= LEAST_LABELS
    ]
    residuals = [np.eye(3)[grade_at[one.own]] - across[one.own] for one in chosen]
    kernel = tune(chosen, residuals)
    found = across.copy()
    for one, own in zip(chosen, residuals, strict=True):
        correction, without = smooth(one, kernel, own)
        correction[one.labelled] = without
        found[one.places] += correction
    return kernel, _bounded(found)


def _bounded(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Keep each probability above the least; rows add to 1."""
    found = np.maximum(probabilities, _SMALLEST)
    total: NDArray[np.float64] = found / found.sum(axis=1, keepdims=True)
    return total
