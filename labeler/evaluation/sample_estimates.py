"""What a drawn and labelled sample says of one system, or of two: value, interval, strength.

The posterior gives the interval. Where fewer than 5 sampled items are relevant, and wherever a
veto hangs on it, the exact limits take its place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product

import numpy as np

from labeler.evaluation.estimators import (
    Known,
    StratifiedSample,
    Strength,
    design_effect,
    difference_ratio,
    effective_size,
    horvitz_thompson,
    strength,
)
from labeler.evaluation.exact import (
    exact_recall,
    exact_recall_difference,
    exact_total,
    exact_total_difference,
)
from labeler.evaluation.posterior import DRAWS, Interval, LabelledStratum, draw_totals

__all__ = [
    "DrawnStratum",
    "Estimand",
    "Method",
    "SampleEstimate",
    "SampleFacts",
    "estimate",
    "facts_of",
]

_FEW_POSITIVES = 5


class Estimand(StrEnum):
    """What is estimated; `first` and `second` are the two systems."""

    RECALL = "recall"
    RECALL_DIFFERENCE = "recall_difference"
    PRECISION = "precision"
    PRECISION_DIFFERENCE = "precision_difference"
    RELEVANT = "relevant"


class Method(StrEnum):
    """How an interval was made."""

    POSTERIOR = "stratified beta-binomial posterior"
    EXACT = "exact limits (Clopper-Pearson, Sidak)"


@dataclass(frozen=True, slots=True)
class DrawnStratum:
    """A stratum of which items were drawn, and how people answered.

    Attributes:
        labelled: Its size, the labelled items, the relevant ones, and who retrieved them.
        abstained: Drawn items of which people say that they can't be judged.
        waiting: Drawn items that nobody settled yet.
    """

    labelled: LabelledStratum
    abstained: int = 0
    waiting: int = 0

    def __post_init__(self) -> None:
        if self.labelled.labelled + self.abstained + self.waiting > self.labelled.size:
            raise ValueError("more items were drawn than the stratum has")


@dataclass(frozen=True, slots=True)
class SampleFacts:
    """Unweighted counts of a sample, and what its weights cost.

    Attributes:
        size: Items of the frame.
        labelled: Drawn items with a label.
        relevant: Those that are relevant.
        abstained: Drawn items that can't be judged.
        waiting: Drawn items that nobody settled yet.
        effective: Kish's effective size.
        design_effect: Labelled items over the effective size, or None.
        strength: How far an estimate can be leaned on.
    """

    size: int
    labelled: int
    relevant: int
    abstained: int
    waiting: int
    effective: float
    design_effect: float | None
    strength: Strength


@dataclass(frozen=True, slots=True)
class SampleEstimate:
    """One number with its interval.

    Attributes:
        estimand: What it is.
        value: The design-weighted estimate; None where it is undefined.
        interval: The interval, abstentions and missing answers taken to be like the others of
            their stratum: an assumption.
        bounds: The widest interval that any answers to what was abstained from could give; the
            same as the interval where nobody abstained.
        method: How the intervals were made.
        error: The standard error by design, for display, or None.
    """

    estimand: Estimand
    value: float | None
    interval: Interval
    bounds: Interval
    method: Method
    error: float | None


def facts_of(strata: Sequence[DrawnStratum]) -> SampleFacts:
    """Count a sample without weights."""
    labelled = [one.labelled for one in strata]
    weights = np.array(
        [one.size / one.labelled for one in labelled for _ in range(one.labelled)], dtype=np.float64
    )
    positives = sum(one.relevant for one in labelled)
    return SampleFacts(
        size=sum(one.size for one in labelled),
        labelled=len(weights),
        relevant=positives,
        abstained=sum(one.abstained for one in strata),
        waiting=sum(one.waiting for one in strata),
        effective=effective_size(weights),
        design_effect=design_effect(weights),
        strength=strength(weights, positives),
    )


def estimate(
    estimand: Estimand,
    strata: Sequence[DrawnStratum],
    known: Known,
    *,
    seed: int,
    places: int = 0,
    veto: bool = False,
    confidence: float = 0.95,
    draws: int = DRAWS,
) -> SampleEstimate:
    """Estimate something of the first system, or of the first less the second.

    Args:
        estimand: What is estimated.
        strata: The strata, each alike in who retrieved its items.
        known: Relevant items that were labelled before the draw.
        seed: Decides the posterior's draws.
        places: k times the number of queries; for precision.
        veto: Whether a veto hangs on it, which calls for exact limits.
        confidence: In (0, 1).
        draws: Draws from the posterior.

    Raises:
        ValueError: When precision is meant and there are no places.
    """
    if places < 1 and estimand in {Estimand.PRECISION, Estimand.PRECISION_DIFFERENCE}:
        raise ValueError("precision needs k times the number of queries")
    labelled = [one.labelled for one in strata]
    few = sum(one.relevant for one in labelled) < _FEW_POSITIVES
    method = Method.EXACT if veto or few else Method.POSTERIOR

    def interval(parts: Sequence[LabelledStratum]) -> Interval:
        if method is Method.EXACT:
            return _exact(estimand, parts, known, places, confidence)
        return _posterior(estimand, parts, known, places, confidence, seed, draws)

    middle = interval(labelled)
    corners = [interval(parts) for parts in _answered(strata)] or [middle]
    value, error = _point(estimand, labelled, known, places)
    bounds = Interval(
        min(middle.low, *(one.low for one in corners)),
        max(middle.high, *(one.high for one in corners)),
    )
    return SampleEstimate(estimand, value, middle, bounds, method, error)


def _posterior(
    estimand: Estimand,
    strata: Sequence[LabelledStratum],
    known: Known,
    places: int,
    confidence: float,
    seed: int,
    draws: int,
) -> Interval:
    totals = draw_totals(strata, known, seed=seed, draws=draws)
    match estimand:
        case Estimand.RECALL:
            return totals.recall(confidence=confidence)
        case Estimand.RECALL_DIFFERENCE:
            return totals.recall_difference(confidence=confidence)
        case Estimand.PRECISION:
            return totals.precision(places, confidence=confidence)
        case Estimand.PRECISION_DIFFERENCE:
            return totals.precision_difference(places, confidence=confidence)
        case Estimand.RELEVANT:
            return totals.relevant(confidence=confidence)


def _exact(
    estimand: Estimand,
    strata: Sequence[LabelledStratum],
    known: Known,
    places: int,
    confidence: float,
) -> Interval:
    match estimand:
        case Estimand.RECALL:
            return exact_recall(strata, known, confidence=confidence)
        case Estimand.RECALL_DIFFERENCE:
            return exact_recall_difference(strata, known, confidence=confidence)
        case Estimand.RELEVANT:
            return exact_total(strata, known, confidence=confidence)
        case Estimand.PRECISION:
            alone = [replace(one, second=False) for one in strata]
            found = exact_total_difference(
                alone, Known(known.total, known.first, 0), confidence=confidence
            )
        case Estimand.PRECISION_DIFFERENCE:
            found = exact_total_difference(strata, known, confidence=confidence)
    return Interval(found.low / places, found.high / places)


def _answered(strata: Sequence[DrawnStratum]) -> list[list[LabelledStratum]]:
    """Give the sample under the extreme answers to what people abstained from.

    Everything that is estimated is monotone in the total of each cell (who retrieved it), so that
    its extremes are among all or none relevant, cell by cell.
    """
    cells = sorted({(one.labelled.first, one.labelled.second) for one in strata if one.abstained})
    found = []
    for chosen in product((0, 1), repeat=len(cells)) if cells else ():
        relevant = dict(zip(cells, chosen, strict=True))
        found.append(
            [
                replace(
                    one.labelled,
                    labelled=one.labelled.labelled + one.abstained,
                    relevant=one.labelled.relevant
                    + one.abstained * relevant.get((one.labelled.first, one.labelled.second), 0),
                )
                for one in strata
            ]
        )
    return found


def _point(
    estimand: Estimand, strata: Sequence[LabelledStratum], known: Known, places: int
) -> tuple[float | None, float | None]:
    """Give the design-weighted estimate and its standard error."""
    merged = merge_unlabelled(strata)
    if merged is None:
        return None, None
    sample, first, second = _as_sample(merged)
    match estimand:
        case Estimand.RECALL:
            found = difference_ratio(
                sample, first, known_numerator=known.first, known_total=known.total
            )
        case Estimand.RECALL_DIFFERENCE:
            found = difference_ratio(
                sample,
                first - second,
                known_numerator=known.first - known.second,
                known_total=known.total,
            )
        case Estimand.RELEVANT:
            found = horvitz_thompson(sample, known.total)
        case Estimand.PRECISION | Estimand.PRECISION_DIFFERENCE:
            both = estimand is Estimand.PRECISION_DIFFERENCE
            worth = (first - second if both else first)[sample.strata] / places
            lead = (known.first - known.second if both else known.first) / places
            found = horvitz_thompson(sample.with_values(sample.values * worth), lead)
    return found.value, found.error


def merge_unlabelled(strata: Sequence[LabelledStratum]) -> list[LabelledStratum] | None:
    """Merge strata of which nothing is labelled into others of their cell.

    Returns:
        The strata; None when a whole cell has no label, so that nothing can be said of it.
    """
    cells: Mapping[tuple[bool, bool], list[LabelledStratum]] = defaultdict(list)
    for one in strata:
        if one.size:
            cells[one.first, one.second].append(one)
    found: list[LabelledStratum] = []
    for parts in cells.values():
        labelled = [one for one in parts if one.labelled]
        if not labelled:
            return None
        lost = sum(one.size for one in parts if not one.labelled)
        found += [replace(labelled[0], size=labelled[0].size + lost), *labelled[1:]]
    return found


def _as_sample(
    strata: Sequence[LabelledStratum],
) -> tuple[StratifiedSample, np.ndarray, np.ndarray]:
    counts = [one.labelled for one in strata]
    place = np.repeat(np.arange(len(strata)), counts).astype(np.int64)
    values = [np.repeat([1.0, 0.0], [one.relevant, one.labelled - one.relevant]) for one in strata]
    sample = StratifiedSample(
        np.array([one.size for one in strata], dtype=np.int64),
        place,
        np.concatenate(values) if values else np.zeros(0),
    )
    first = np.array([float(one.first) for one in strata])
    second = np.array([float(one.second) for one in strata])
    return sample, first, second
