"""Completed label sets: what a drawn sample makes of the labels that are unknown."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from labeler.assessment.item_scores import latest_scores
from labeler.assessment.label_states import LabelStates, is_of_people
from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.draws.drawn_samples import DrawnSample, latest_sample
from labeler.evaluation.completion import COMPLETIONS, UnlabelledStratum, complete
from labeler.evaluation.difference_bounds import difference_bounds
from labeler.evaluation.metrics import Kind, Metric, measure
from labeler.labels import StateCode
from labeler.reports.evaluated import EvaluatedRuns

__all__ = [
    "AnsweredSample",
    "CompletedLabels",
    "complete_labels",
    "gain_of_relevant",
    "read_answered_sample",
    "read_completed_labels",
]

_PARTLY_RELEVANT = 1

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CompletedLabels:
    """Label sets in which a sample's frame has no unknown item.

    Attributes:
        sample: The sample's name.
        frame: Its population in words.
        size: Items of the frame.
        labelled: Drawn items with a label.
        positives: Those that are relevant.
        drawn: Items drawn.
        sets: Shape (sets, items): states of the items of `EvaluatedRuns.labels`.
        states: Shape (items,): the same before the sets were filled in: what a stratum holds beside
            its answered items is unknown.
        strata: The strata, each with its unknown items.
        answered: For each stratum, the places of the drawn items that are labelled.
        seed: Decides the sets.
    """

    sample: str
    frame: str
    size: int
    labelled: int
    positives: int
    drawn: int
    sets: NDArray[np.int8]
    states: NDArray[np.int8]
    strata: tuple[UnlabelledStratum, ...]
    answered: tuple[NDArray[np.int64], ...]
    seed: int

    @property
    def relevant(self) -> NDArray[np.int64]:
        """Places of the drawn items that are relevant."""
        places = np.concatenate(self.answered)
        found: NDArray[np.int64] = places[self.states[places] == StateCode.RELEVANT]
        return found

    def untold(self, metric: Metric) -> str | None:
        """Say why the label sets can't tell the mean of a metric over queries; None where they can.

        Strata cross queries, and the sets spread what is relevant in a stratum over its queries: by
        calibrated probabilities, or evenly. Where each query is divided by what is relevant for it,
        the mean is biased then (tests/benchmarks/coverage.py measures it).
        """
        if metric.kind is Kind.RECALL:
            return "a sample that crosses queries can't tell the mean of their recall"
        tilted = all(one.probabilities is not None for one in self.strata if len(one.items))
        if metric.kind is Kind.NDCG and not tilted:
            return "a sample tells nDCG only beside calibrated probabilities"
        return None

    def split_by(self, codes: NDArray[np.int64]) -> CompletedLabels:
        """Complete the labels again in strata that are parted further.

        Given how many of a part were drawn, they are a random draw from it (post-stratification,
        Cochran 1977, section 5A.9). So a metric over fewer places than the strata were made for is
        not taken to be like the others of them.

        Args:
            codes: Shape (items,): what parts the items of a stratum.
        """
        strata, answered = [], []
        for one, places in zip(self.strata, self.answered, strict=True):
            for code in np.unique(codes[np.concatenate([one.items, places])]):
                rest, told = codes[one.items] == code, places[codes[places] == code]
                relevant = int((self.states[told] == StateCode.RELEVANT).sum())
                tilt = None if one.probabilities is None else one.probabilities[rest]
                strata.append(UnlabelledStratum(one.items[rest], len(told), relevant, tilt))
                answered.append(told)
        sets = _filled(self.states, strata, self.seed, len(self.sets))
        return replace(self, sets=sets, strata=tuple(strata), answered=tuple(answered))

    def split_by_tops(
        self, evaluated: EvaluatedRuns, runs: Sequence[str], cutoff: int | None
    ) -> CompletedLabels:
        """Part the strata by which of the runs have an item in their first places; see `split_by`.

        A metric without a cutoff leaves the strata as they are.
        """
        if cutoff is None:
            return self
        codes = np.zeros(len(self.states), dtype=np.int64)
        for place, run in enumerate(runs):
            codes += evaluated.top_items(run, cutoff).astype(np.int64) << place
        return self.split_by(codes)

    def bounds(
        self, evaluated: EvaluatedRuns, metric: Metric, first: str, second: str | None = None
    ) -> tuple[Floats, Floats]:
        """Measure a run under every label set, or the difference of two.

        Returns:
            What it is at least, whatever lies outside the sample's frame, and at most, each of the
            shape (sets, queries).
        """
        gain = gain_of_relevant(evaluated.labels)
        lowest, highest = [], []
        for states in self.sets:
            labels = evaluated.with_labels(states, gain)
            ours = evaluated.judged(first, labels)
            if second is None:
                found = measure(metric, ours)
                limits = found.lower, found.upper
            else:
                limits = difference_bounds(metric, ours, evaluated.judged(second, labels))
            lowest.append(limits[0])
            highest.append(limits[1])
        return np.stack(lowest), np.stack(highest)


@dataclass(frozen=True, eq=False)
class AnsweredSample:
    """A sample, and which of its drawn items people have answered.

    Attributes:
        sample: The sample.
        answered: Drawn items that people judged, or said that they can't be.
    """

    sample: DrawnSample
    answered: frozenset[int]

    @property
    def waiting(self) -> int:
        """How many drawn items wait for people."""
        return sum(len(one.drawn - self.answered) for one in self.sample.strata)

    @property
    def left(self) -> int:
        """How many items of its frame aren't drawn."""
        return sum(len(one.items - one.drawn) for one in self.sample.strata)


def read_answered_sample(
    connection: Connection, pool_id: int, as_of: int | None = None
) -> AnsweredSample | None:
    """Read the latest sample of a pool with what is answered of it, or None without one."""
    sample = latest_sample(connection, pool_id, as_of)
    if sample is None:
        return None
    labels = labels_in_force(connection, items_of_pool(pool_id), as_of)
    people = {item for item, label in labels.items() if is_of_people(label)}
    drawn = frozenset().union(*(one.drawn for one in sample.strata))
    return AnsweredSample(sample, drawn & people)


def read_completed_labels(
    connection: Connection, evaluated: EvaluatedRuns, as_of: int | None = None
) -> CompletedLabels | None:
    """Complete the labels by the latest sample of the pool; None without one that has answers.

    Only drawn items count in a stratum, with what people said of them. What people labelled in it
    for another reason, and what a policy accepted, stays unknown here: it was not chosen by chance,
    or nobody has looked at it.
    """
    answered = read_answered_sample(connection, evaluated.pool_id, as_of)
    if answered is None:
        return None
    scores = latest_scores(connection, evaluated.pool_id, as_of)
    chances = None
    if scores is not None and scores.is_calibrated:
        # Calibrated on people's labels, so that they may tilt what is drawn inside a stratum.
        chances = np.full(len(evaluated.labels.items), np.nan)
        known = np.isin(evaluated.labels.items, scores.item_ids)
        place = np.searchsorted(scores.item_ids, evaluated.labels.items[known])
        chances[known] = 1 - scores.probabilities[place, 0]
    return complete_labels(evaluated.labels, answered.sample, chances, answered.answered)


def complete_labels(
    labels: LabelStates,
    sample: DrawnSample,
    chances: Floats | None = None,
    answered: Collection[int] | None = None,
    *,
    seed: int | None = None,
    count: int = COMPLETIONS,
) -> CompletedLabels | None:
    """Complete labels by what a sample shows.

    Args:
        labels: What is known.
        sample: What was drawn.
        chances: Shape (items,): calibrated probabilities of being relevant, NaN where there is
            none, or None.
        answered: Drawn items that people answered; by default all that have a label.
        seed: Decides the label sets; by default the sample's name and answers do.
        count: How many label sets.

    Returns:
        None when no drawn item has a label yet.
    """
    place_of = {item: place for place, item in enumerate(labels.items.tolist())}
    strata: list[UnlabelledStratum] = []
    states = labels.states.copy()
    labelled = positives = 0
    found: list[NDArray[np.int64]] = []
    for stratum in sample.strata:
        places = _places(place_of, stratum.items)
        of_people = stratum.drawn if answered is None else stratum.drawn & set(answered)
        drawn = _places(place_of, of_people)
        told = drawn[labels.states[drawn] != StateCode.UNKNOWN]
        relevant = int((labels.states[told] == StateCode.RELEVANT).sum())
        rest = np.setdiff1d(places, told)
        states[rest] = StateCode.UNKNOWN
        labelled, positives = labelled + len(told), positives + relevant
        tilt = None if chances is None or np.isnan(chances[rest]).any() else chances[rest]
        strata.append(UnlabelledStratum(rest, len(told), relevant, tilt))
        found.append(told)
    if not labelled:
        return None
    if seed is None:
        named = f"{sample.name} {labelled} {positives}"
        seed = int.from_bytes(hashlib.sha256(named.encode()).digest()[:4], "big")
    return CompletedLabels(
        sample=sample.name,
        frame=sample.frame,
        size=sum(len(one.items) for one in sample.strata),
        labelled=labelled,
        positives=positives,
        drawn=sum(len(one.drawn) for one in sample.strata),
        sets=_filled(states, strata, seed, count),
        states=states,
        strata=tuple(strata),
        answered=tuple(found),
        seed=seed,
    )


def _filled(
    states: NDArray[np.int8], strata: Sequence[UnlabelledStratum], seed: int, count: int
) -> NDArray[np.int8]:
    filled = complete(strata, len(states), seed=seed, count=count)
    sets = np.broadcast_to(states, (count, len(states))).copy()
    inside = np.concatenate([one.items for one in strata])
    sets[:, inside] = filled[:, inside].astype(np.int8)
    return sets


def _places(place_of: dict[int, int], items: Sequence[int] | frozenset[int]) -> NDArray[np.int64]:
    found = sorted(place_of[item] for item in items if item in place_of)
    return np.array(found, dtype=np.int64)


def gain_of_relevant(labels: LabelStates) -> float:
    """Give the gain of a relevant item that nobody graded: the mean of those that are known."""
    gains = labels.gains[labels.states == StateCode.RELEVANT]
    gains = gains[~np.isnan(gains)]
    return float(gains.mean()) if len(gains) else float(_PARTLY_RELEVANT)
