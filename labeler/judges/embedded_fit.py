"""Fitting the embedded judge's coefficients on labelled collections, and measuring its skill."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labeler.calibration.features import block_features
from labeler.calibration.label_model import GRADES, LabelModel, fit
from labeler.errors import UsageError
from labeler.evaluation.skill import (
    accuracy_at_coverage,
    auc,
    expected_calibration_error,
    log_loss,
)
from labeler.labels import Grade
from labeler.providers.embeddings import Embedder
from labeler.search.lexical import TermStatistics

__all__ = [
    "L2",
    "L2_ELSEWHERE",
    "CollectionFeatures",
    "LabelledCollection",
    "Skill",
    "collection_features",
    "cross_validated",
    "drawn",
    "evaluate",
    "fit_on",
    "skill_of",
]

L2 = 1 / 0.3
"""The penalty for labels of the project where the model will be used."""

L2_ELSEWHERE = 300.0
"""The penalty of the shipped coefficients, which have to hold on collections that nobody labelled.

Of 3.3, 30, 100, 300 and 1000 about the best log loss where a fit on one open collection answers
another, at next to no cost on its own collection (docs/embedded-judge.md).
"""

SHARES = (0.2, 0.4, 0.6, 1.0)
"""The most confident parts of the items at which accuracy is measured."""


@dataclass(frozen=True, slots=True)
class LabelledCollection:
    """Queries, passages and the grades that people gave to pairs.

    Attributes:
        name: What the collection is called in reports.
        queries: Text by query id.
        passages: Text by passage id; term statistics come from all of them.
        labels: Grade by (query id, passage id).
    """

    name: str
    queries: Mapping[str, str]
    passages: Mapping[str, str]
    labels: Mapping[tuple[str, str], Grade]


@dataclass(frozen=True, slots=True)
class CollectionFeatures:
    """The features of a collection's labelled pairs, query by query.

    Attributes:
        name: The collection's name.
        x: Shape (pairs, 8).
        classes: Shape (pairs,): the column of each grade in `GRADES`.
        query: Shape (pairs,): the number of the pair's query, from 0.
    """

    name: str
    x: NDArray[np.float64]
    classes: NDArray[np.int64]
    query: NDArray[np.int64]

    @property
    def grades(self) -> list[Grade]:
        """The grade of each pair."""
        return [GRADES[column] for column in self.classes]


@dataclass(frozen=True, slots=True)
class Skill:
    """How well a model's probabilities tell the grades of labelled pairs.

    Attributes:
        pairs: Labelled pairs.
        queries: Queries with labelled pairs.
        auc: Chance that a relevant pair has more probability of being relevant than one that is
            not, over all pairs; None when there is only one kind.
        auc_within_query: The same within each query, then the mean over the queries with both.
        queries_with_both: How many queries have relevant and not relevant pairs.
        log_loss: Over the three grades.
        prior_log_loss: That of always giving the share of each grade in these very labels.
        calibration_error: Expected calibration error of the most probable grade, 10 bins.
        relevance_calibration_error: The same of the more probable state, relevant or not.
        accuracy: Share of pairs with the right grade at the most confident 20, 40, 60, 100 %.
        state_accuracy: The same for relevant or not.
    """

    pairs: int
    queries: int
    auc: float | None
    auc_within_query: float | None
    queries_with_both: int
    log_loss: float
    prior_log_loss: float
    calibration_error: float
    relevance_calibration_error: float
    accuracy: tuple[float, ...]
    state_accuracy: tuple[float, ...]


def drawn(collection: LabelledCollection, queries: int, seed: int) -> LabelledCollection:
    """Draw whole queries of a collection; the same seed draws the same ones.

    Term statistics still come from all of its passages.
    """
    labelled = sorted({query for query, _ in collection.labels})
    kept = set(random.Random(seed).sample(labelled, min(queries, len(labelled))))  # noqa: S311
    labels = {pair: grade for pair, grade in collection.labels.items() if pair[0] in kept}
    return replace(collection, labels=labels)


def collection_features(collection: LabelledCollection, embedder: Embedder) -> CollectionFeatures:
    """Compute the features of all labelled pairs; the block of a query is all its labelled ones.

    Args:
        collection: What was labelled.
        embedder: Embeds queries and labelled passages; put a cache before it.

    Raises:
        UsageError: When nothing is labelled, or a label names a query or passage without text.
    """
    by_query: dict[str, list[str]] = {}
    for query_id, passage_id in sorted(collection.labels):
        if query_id not in collection.queries or passage_id not in collection.passages:
            raise UsageError(f"{collection.name}: no text for ({query_id}, {passage_id})")
        by_query.setdefault(query_id, []).append(passage_id)
    if not by_query:
        raise UsageError(f"{collection.name}: no labels")
    statistics = TermStatistics.from_texts(collection.passages.values())
    rows: list[NDArray[np.float64]] = []
    classes: list[int] = []
    numbers: list[int] = []
    for number, (query_id, passage_ids) in enumerate(by_query.items()):
        query = collection.queries[query_id]
        passages = [collection.passages[key] for key in passage_ids]
        rows.append(
            block_features(
                query,
                passages,
                embedder.queries([query])[0],
                embedder.passages(passages),
                statistics,
            )
        )
        classes.extend(GRADES.index(collection.labels[query_id, key]) for key in passage_ids)
        numbers.extend([number] * len(passage_ids))
    return CollectionFeatures(
        collection.name, np.concatenate(rows), np.array(classes), np.array(numbers)
    )


def fit_on(
    collections: Sequence[CollectionFeatures],
    *,
    name: str,
    fitted_on: str | None = None,
    l2: float = L2,
) -> LabelModel:
    """Fit a label model on the pairs of one or more collections, each pair counting the same.

    Args:
        collections: Features with grades.
        name: The model's name.
        fitted_on: In words, which labels these are; None lists the collections with their counts.
        l2: The penalty, see `labeler.calibration.label_model.fit`.

    Raises:
        UsageError: When there are no pairs, or all have one grade.
    """
    if not collections:
        raise UsageError("a fit needs a labelled collection")
    stated = "; ".join(
        f"{part.name}: {len(part.x)} pairs of {len(np.unique(part.query))} queries"
        for part in collections
    )
    return fit(
        np.concatenate([part.x for part in collections]),
        [grade for part in collections for grade in part.grades],
        l2=l2,
        name=name,
        fitted_on=fitted_on if fitted_on is not None else stated,
    )


def evaluate(model: LabelModel, collection: CollectionFeatures) -> Skill:
    """Measure a model on a collection that it was not fitted on."""
    return skill_of(model.probabilities(collection.x), collection)


def cross_validated(
    collection: CollectionFeatures,
    *,
    also: Sequence[CollectionFeatures] = (),
    folds: int = 5,
    seed: int = 0,
    l2: float = L2,
) -> Skill:
    """Measure what a fit on a collection is worth on other queries of the same collection.

    Whole queries are dealt to the folds, so no query is in both parts. Each fold is answered by a
    model fitted on the other folds (and on the collections in ``also``).

    Args:
        collection: Features with grades.
        also: Collections that every fold is fitted on besides.
        folds: How many parts; at most as many as there are queries.
        seed: Deals the queries.
        l2: The penalty.

    Raises:
        UsageError: When there are fewer than two folds, or fewer queries than folds.
    """
    queries = np.unique(collection.query)
    if not 2 <= folds <= len(queries):  # noqa: PLR2004 - one fold leaves nothing to fit on
        raise UsageError(f"{folds} folds don't fit {len(queries)} queries")
    dealt = np.random.default_rng(seed).permutation(len(queries)) % folds
    fold = dealt[np.searchsorted(queries, collection.query)]
    probabilities = np.empty((len(collection.x), len(GRADES)))
    for number in range(folds):
        held_out = fold == number
        rest = CollectionFeatures(
            collection.name,
            collection.x[~held_out],
            collection.classes[~held_out],
            collection.query[~held_out],
        )
        model = fit_on([rest, *also], name="fold", l2=l2)
        probabilities[held_out] = model.probabilities(collection.x[held_out])
    return skill_of(probabilities, collection)


def skill_of(probabilities: NDArray[np.float64], collection: CollectionFeatures) -> Skill:
    """Measure given probabilities, shape (pairs, 3), against the grades of a collection."""
    classes = collection.classes
    relevant = classes > 0
    chance = 1.0 - probabilities[:, 0]
    within = [
        value
        for query in np.unique(collection.query)
        if (value := auc(chance[here := collection.query == query], relevant[here])) is not None
    ]
    shares = np.bincount(classes, minlength=len(GRADES)) / len(classes)
    best = probabilities.argmax(axis=1)
    confidence = probabilities.max(axis=1)
    state_confidence = np.maximum(chance, 1.0 - chance)
    state_right = (chance > 0.5) == relevant  # noqa: PLR2004 - the more probable state
    return Skill(
        pairs=len(classes),
        queries=len(np.unique(collection.query)),
        auc=auc(chance, relevant),
        auc_within_query=float(np.mean(within)) if within else None,
        queries_with_both=len(within),
        log_loss=log_loss(probabilities, classes),
        prior_log_loss=log_loss(np.tile(shares, (len(classes), 1)), classes),
        calibration_error=expected_calibration_error(confidence, best == classes),
        relevance_calibration_error=expected_calibration_error(state_confidence, state_right),
        accuracy=accuracy_at_coverage(confidence, best == classes, SHARES),
        state_accuracy=accuracy_at_coverage(state_confidence, state_right, SHARES),
    )
