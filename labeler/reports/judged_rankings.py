"""Rankings held against what is known: the arrays that measures take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labeler.assessment.label_states import LabelStates
from labeler.evaluation.ranking import JudgedRanking, Known
from labeler.labels import StateCode
from labeler.retrieval.rankings import Ranking

__all__ = ["judged_ranking", "known_of", "labelled_queries"]


def labelled_queries(labels: LabelStates) -> NDArray[np.int64]:
    """Give the queries with at least one label, ascending."""
    return np.unique(labels.queries[labels.states != StateCode.UNKNOWN])


def known_of(labels: LabelStates, queries: NDArray[np.int64]) -> Known:
    """Gather what is known of some queries.

    Args:
        labels: What is known.
        queries: Shape (queries,), ascending.
    """
    place, inside = _placed(queries, labels.queries)
    relevant = inside & (labels.states == StateCode.RELEVANT)
    unknown = inside & (labels.states == StateCode.UNKNOWN)
    graded = inside & ~np.isnan(labels.gains)
    owner, gains = place[graded], labels.gains[graded]
    best_first = np.lexsort((-gains, owner))
    counts = np.bincount(owner, minlength=len(queries))
    return Known(
        relevant=np.bincount(place[relevant], minlength=len(queries)),
        unknown=np.bincount(place[unknown], minlength=len(queries)),
        ideal_starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        ideal_gains=gains[best_first],
        top_gain=labels.top_gain,
    )


def judged_ranking(
    ranking: Ranking, labels: LabelStates, queries: NDArray[np.int64], known: Known
) -> JudgedRanking:
    """Hold what a run ranked against what is known.

    Args:
        ranking: What the run ranked.
        labels: What is known.
        queries: Shape (queries,), ascending: those that count. One that the run has nothing for
            has no places.
        known: What `known_of` gathered of the same queries.
    """
    place, inside = _placed(queries, ranking.query_of_places)
    owner, evidence = place[inside], ranking.evidence[inside]
    found = labels.places(queries[owner], evidence)
    lengths = np.bincount(owner, minlength=len(queries))
    return JudgedRanking(
        starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        evidence=evidence,
        states=labels.states_at(found),
        gains=labels.gains_at(found),
        framed=found >= 0,
        known=known,
    )


def _placed(
    queries: NDArray[np.int64], of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Find each query's number among the ones that count, and which are among them."""
    if not len(queries):
        return np.zeros(len(of), dtype=np.int64), np.zeros(len(of), dtype=np.bool_)
    place = np.minimum(np.searchsorted(queries, of), len(queries) - 1)
    return place, queries[place] == of
