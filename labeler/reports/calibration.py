"""Whether the probabilities of a pool's labels are what they say, by people's blind votes.

Every probability here was given without the label that it is compared with: a score version holds
for a labelled item what the fit says without its label (`labeler.calibration.label_fit`).

What the queue brought before people because it looked doubtful is no sample of the pool: its errors
are more frequent than elsewhere. So figures rest on items that were drawn at random, each counting
by one over its probability, or on a pool of which every item is labelled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.assessment.item_scores import ItemScores, latest_scores
from labeler.assessment.labels_in_force import items_of_pool
from labeler.assessment.people_labels import drawn_probabilities, read_people_labels
from labeler.assessment.pool_signals import GRADE_RANK
from labeler.errors import NotFoundError, UsageError
from labeler.evaluation.agreement import Estimate
from labeler.evaluation.calibration import MassBin, Murphy, clustered, equal_mass_bins, murphy
from labeler.evaluation.calibration_figures import COVERAGES, figures_of
from labeler.evaluation.intervals import LEAST_CLUSTERS
from labeler.records import table
from labeler.records.pools import Item
from labeler.records.project import Revision
from labeler.records.sampling import Draw, FrameItem, Stratum
from labeler.store.registry import pool_named

__all__ = [
    "CalibrationFigures",
    "LabelSource",
    "Of",
    "ReliabilityRow",
    "report_calibration",
]

_BINS = 10


class LabelSource(StrEnum):
    """Which of people's labels count."""

    DRAWN = "drawn"
    ALL = "all"


class Of(StrEnum):
    """What a label is: one of the grades, or relevant or not."""

    GRADE = "grade"
    RELEVANCE = "relevance"


@dataclass(frozen=True, slots=True)
class ReliabilityRow:
    """The items whose confidence lies between two edges; the upper one belongs to the bin.

    Attributes:
        low: The lower edge.
        high: The upper edge.
        count: Labels in it, 1 or more.
        mean_confidence: In [0, 1], weighted.
        right: The share whose label people gave too, weighted, with its interval.
    """

    low: float
    high: float
    count: int
    mean_confidence: float
    right: Estimate


@dataclass(frozen=True, slots=True)
class CalibrationFigures:
    """What labels say of probabilities.

    Attributes:
        pool: The pool.
        scores: The digest of the score version.
        calibration: ``calibrated`` or ``uncalibrated``.
        of: What a label is.
        frame: In words, of which items the figures speak.
        is_sample: Whether they are an estimate for the frame; else they describe the labels alone.
        labels: Labels of people that count here.
        labels_of_queue: Labels of people that don't, since the queue picked the items.
        queries: Their queries.
        reliability: Bins of equal width that hold labels.
        mass_bins: Bins of about as many labels each.
        error_equal_width: Expected calibration error over ten bins of equal width.
        error_equal_mass: The same over ten bins of about as many labels each.
        brier: Mean squared difference of confidence and whether the label was right.
        murphy: Its parts.
        auc_wrong: AUROC of "the label is wrong": the chance that a wrong label is less sure than a
            right one.
        risk: The share of wrong labels among the surest part, by its size.
        area_under_risk: Their mean over all parts.
        interval: How intervals were made.
        revision: The state that was read.
    """

    pool: str
    scores: str
    calibration: str
    of: Of
    frame: str
    is_sample: bool
    labels: int
    labels_of_queue: int
    queries: int
    reliability: tuple[ReliabilityRow, ...]
    mass_bins: tuple[MassBin, ...]
    error_equal_width: Estimate
    error_equal_mass: Estimate
    brier: Estimate
    murphy: Murphy
    auc_wrong: Estimate
    risk: Mapping[str, Estimate]
    area_under_risk: Estimate
    interval: str
    revision: int

    @property
    def notices(self) -> tuple[str, ...]:
        """What a reader should know besides."""
        told = "the queue picked these items; no figure here is an estimate for the pool"
        return () if self.is_sample else (told,)


@dataclass(frozen=True, eq=False)
class _Labelled:
    """Labelled items with their probabilities; all arrays have one row an item."""

    confidence: NDArray[np.float64]
    right: NDArray[np.bool_]
    weights: NDArray[np.float64]
    queries: NDArray[np.int64]


def report_calibration(
    connection: Connection,
    pool: str,
    *,
    source: LabelSource = LabelSource.DRAWN,
    of: Of = Of.GRADE,
    as_of: int | None = None,
) -> CalibrationFigures:
    """Hold the latest scores of a pool against people's blind votes.

    Args:
        connection: A transaction's connection.
        pool: The pool's name.
        source: Which labels count.
        of: What a label is.
        as_of: The state after this revision; None is the present.

    Raises:
        NotFoundError: When there is no such pool or revision, no scores, or no label.
        UsageError: When none of the labels is of an item that was drawn at random.
    """
    row = pool_named(connection, pool)
    newest = int(connection.execute(sa.select(sa.func.max(table(Revision).c.id))).scalar() or 0)
    if as_of is not None and not 0 <= as_of <= newest:
        raise NotFoundError(f"there is no revision {as_of}; the newest is {newest}")
    scores = latest_scores(connection, row.id, as_of)
    if scores is None:
        raise NotFoundError(
            f"the pool '{pool}' has no scores", hint=f"`labeler calibrate {pool}` fits them"
        )
    grades = read_people_labels(connection, row.id, as_of).grades
    rank = {item: GRADE_RANK[grade] for item, grade in grades.items()}
    chosen, frame, is_sample = _frame(connection, row.id, pool, source, set(rank), scores)
    labelled = _labelled(connection, row.id, scores, rank, chosen, of)
    figures = figures_of(
        labelled.confidence, labelled.right, labelled.queries, weights=labelled.weights
    )
    return CalibrationFigures(
        pool=pool,
        scores=scores.digest,
        calibration=scores.calibration.value,
        of=of,
        frame=frame,
        is_sample=is_sample,
        labels=len(labelled.right),
        labels_of_queue=len(rank) - len(labelled.right),
        queries=len(np.unique(labelled.queries)),
        reliability=_reliability(labelled),
        mass_bins=equal_mass_bins(labelled.confidence, labelled.right, labelled.weights),
        error_equal_width=figures["error_equal_width"],
        error_equal_mass=figures["error_equal_mass"],
        brier=figures["brier"],
        murphy=murphy(labelled.confidence, labelled.right, labelled.weights),
        auc_wrong=figures["auc_wrong"],
        risk={f"{share:.0%}": figures[f"risk_{share}"] for share in COVERAGES},
        area_under_risk=figures["area_under_risk"],
        interval=f"95%, jackknife over queries, from {LEAST_CLUSTERS} queries on",
        revision=newest if as_of is None else as_of,
    )


def _frame(
    connection: Connection,
    pool_id: int,
    pool: str,
    source: LabelSource,
    labelled: set[int],
    scores: ItemScores,
) -> tuple[dict[int, float], str, bool]:
    """Choose the labels that count, with their weights, and say of what they speak."""
    scored = set(scores.item_ids.tolist())
    labelled = labelled & scored
    if not labelled:
        raise NotFoundError(
            f"people have labelled nothing of the pool '{pool}'",
            hint=f"`labeler review --pool {pool}`, or `labeler import labels`",
        )
    if labelled >= scored:
        return dict.fromkeys(labelled, 1.0), f"all {len(scored):,} items of pool {pool}", True
    if source is LabelSource.ALL:
        words = f"the {len(labelled):,} labelled items of pool {pool}, which are no sample of it"
        return dict.fromkeys(labelled, 1.0), words, False
    drawn = drawn_probabilities(connection, pool_id)
    chosen = {item: 1 / drawn[item] for item in labelled & drawn.keys()}
    if not chosen:
        raise UsageError(
            f"of the {len(labelled):,} labels of pool '{pool}' none is of an item drawn at random, "
            "and what the queue picked is no sample",
            hint="`labeler route` draws an audit; --labels all describes the labelled items alone",
        )
    size = _drawn_from(connection, pool_id)
    words = (
        f"{size:,} of the {len(scored):,} items of pool {pool}, by {len(chosen):,} that were drawn "
        f"at random and judged, of {len(drawn):,} drawn"
    )
    return chosen, words, True


def _drawn_from(connection: Connection, pool_id: int) -> int:
    """Count the items of a pool that a draw could have picked."""
    part, draw, stratum = table(FrameItem), table(Draw), table(Stratum)
    pooled = items_of_pool(pool_id)
    with_draws = sa.select(draw.c.stratum_id).where(draw.c.item_id.in_(pooled))
    frames = sa.select(stratum.c.frame_id).where(stratum.c.id.in_(with_draws))
    strata = sa.select(stratum.c.id).where(stratum.c.frame_id.in_(frames))
    statement = sa.select(sa.func.count(sa.distinct(part.c.item_id))).where(
        part.c.stratum_id.in_(strata), part.c.item_id.in_(pooled)
    )
    return int(connection.execute(statement).scalar_one())


def _labelled(
    connection: Connection,
    pool_id: int,
    scores: ItemScores,
    rank: Mapping[int, int],
    chosen: Mapping[int, float],
    of: Of,
) -> _Labelled:
    item = table(Item)
    statement = sa.select(item.c.id, item.c.query_id).where(item.c.id.in_(items_of_pool(pool_id)))
    queries = {int(key): int(query) for key, query in connection.execute(statement)}
    items = sorted(chosen)
    places = np.searchsorted(scores.item_ids, np.array(items, dtype=np.int64))
    probabilities = scores.probabilities[places]
    truth = np.array([rank[one] for one in items], dtype=np.int64)
    if of is Of.RELEVANCE:
        relevant = 1.0 - probabilities[:, 0]
        probabilities = np.column_stack([1.0 - relevant, relevant])
        truth = np.minimum(truth, 1)
    return _Labelled(
        confidence=probabilities.max(axis=1),
        right=probabilities.argmax(axis=1) == truth,
        weights=np.array([chosen[one] for one in items]),
        queries=np.array([queries[one] for one in items], dtype=np.int64),
    )


def _reliability(labelled: _Labelled) -> tuple[ReliabilityRow, ...]:
    edges = np.linspace(0.0, 1.0, _BINS + 1)
    place = np.clip(np.searchsorted(edges, labelled.confidence, side="left") - 1, 0, _BINS - 1)
    rows: list[ReliabilityRow] = []
    for number in np.unique(place).tolist():
        inside = place == number
        weight = labelled.weights[inside]
        right = labelled.right[inside]

        def share(
            chosen: NDArray[np.int64],
            weight: NDArray[np.float64] = weight,
            right: NDArray[np.bool_] = right,
        ) -> float | None:
            mass = weight[chosen]
            return float(mass @ right[chosen] / mass.sum()) if len(mass) else None

        rows.append(
            ReliabilityRow(
                low=float(edges[number]),
                high=float(edges[number + 1]),
                count=int(inside.sum()),
                mean_confidence=float(weight @ labelled.confidence[inside] / weight.sum()),
                right=clustered(share, labelled.queries[inside], least=0.0, most=1.0),
            )
        )
    return tuple(rows)
