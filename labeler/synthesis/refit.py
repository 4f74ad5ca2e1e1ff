"""Thresholds fitted on what people said of generated questions.

A pure search: the loosest pair of thresholds whose questions are good often enough. With few
answers the best threshold is partly luck, so the share is judged by the lower end of its interval,
and what was found is stated together with the answers that it was found on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from labeler.synthesis.thresholds import Thresholds

__all__ = ["LEAST_ANSWERS", "Fit", "Judged", "fit_thresholds", "judged_of"]

LEAST_ANSWERS = 20
"""Fewer answers of people tell nothing about a threshold."""
_NAMES = ("log_probability", "window_similarity", "answerable")
_Z = 1.0
_STEPS = 24


@dataclass(frozen=True, slots=True)
class Judged:
    """A question that people said something of.

    Attributes:
        is_good: Whether it was accepted as it was. An edited one wasn't good as it was generated.
        scores: What was measured of it, by the names of thresholds; what wasn't has no key.
        weight: One over the probability with which it was drawn.
    """

    is_good: bool
    scores: dict[str, float]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Fit:
    """What a fit found.

    Attributes:
        thresholds: The thresholds.
        answers: On how many answers of people.
        kept: The weighted share of the questions that pass.
        good: The weighted share of good ones among those that pass, or None when none does.
        before_kept: The same for the thresholds that were in force.
        before_good: The same for the thresholds that were in force.
        is_reached: Whether the wanted share of good ones was shown.
    """

    thresholds: Thresholds
    answers: int
    kept: float
    good: float | None
    before_kept: float
    before_good: float | None
    is_reached: bool


def judged_of(is_good: bool, scores: dict[str, float | None], probability: float) -> Judged:
    """Make a judged question of what was measured; leaves out what wasn't."""
    known = {name: value for name, value in scores.items() if value is not None}
    return Judged(is_good, known, 1.0 / probability)


def fit_thresholds(judged: Sequence[Judged], before: Thresholds, target: float) -> Fit:
    """Find the thresholds that keep most questions while enough of those kept are good.

    Each threshold is searched over the values that were measured (24 of them at the most). Of all
    combinations whose share of good ones reaches the target by the lower end of a Wilson interval
    (Wilson 1927, at one standard deviation, with Kish's effective number of answers) the one that
    keeps most is taken, then the one with the lowest thresholds; when none reaches it, the one with
    the highest lower end.

    Args:
        judged: What people said.
        before: The thresholds in force.
        target: The share of good ones wanted among those that pass, in (0, 1).
    """
    names = [name for name in _NAMES if any(name in one.scores for one in judged)]
    grids = [_grid([one.scores[name] for one in judged if name in one.scores]) for name in names]
    best: tuple[tuple[float, ...], Thresholds] | None = None
    for values in product(*grids):
        trial = _with(before, dict(zip(names, values, strict=True)))
        kept = [one for one in judged if _passes(one, trial)]
        if not kept:
            continue
        low = _lower_end(kept)
        weight = sum(one.weight for one in kept)
        reached = low >= target
        order = (float(reached), weight if reached else low, *(-value for value in values))
        if best is None or order > best[0]:
            best = (order, trial)
    found = before if best is None else best[1]
    is_reached = best is not None and best[0][0] == 1.0
    origin = f"fitted on {len(judged)} answers"
    thresholds = replace(found, origin=origin) if best is not None else before
    kept_now, good_now = _shares(judged, thresholds)
    kept_before, good_before = _shares(judged, before)
    return Fit(thresholds, len(judged), kept_now, good_now, kept_before, good_before, is_reached)


def _with(before: Thresholds, values: Mapping[str, float]) -> Thresholds:
    return Thresholds(
        log_probability=values.get("log_probability", before.log_probability),
        window_similarity=values.get("window_similarity", before.window_similarity),
        answerable=values.get("answerable", before.answerable),
        origin=before.origin,
    )


def _grid(values: Sequence[float]) -> list[float]:
    ordered = sorted(set(values))
    step = max(len(ordered) / _STEPS, 1.0)
    return [ordered[int(place * step)] for place in range(int(len(ordered) / step))]


def _passes(one: Judged, thresholds: Thresholds) -> bool:
    return all(value >= getattr(thresholds, name) for name, value in one.scores.items())


def _shares(judged: Sequence[Judged], thresholds: Thresholds) -> tuple[float, float | None]:
    kept = [one for one in judged if _passes(one, thresholds)]
    total = sum(one.weight for one in judged)
    weight = sum(one.weight for one in kept)
    good = sum(one.weight for one in kept if one.is_good)
    return (weight / total if total else 0.0), (good / weight if weight else None)


def _lower_end(kept: Sequence[Judged]) -> float:
    """Give the lower end of the interval of the share of good ones."""
    weight = sum(one.weight for one in kept)
    share = sum(one.weight for one in kept if one.is_good) / weight
    n = weight**2 / sum(one.weight**2 for one in kept)
    spread = _Z * math.sqrt((share * (1 - share) + _Z**2 / (4 * n)) / n)
    return (share + _Z**2 / (2 * n) - spread) / (1 + _Z**2 / n)
