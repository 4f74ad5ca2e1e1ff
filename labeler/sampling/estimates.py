"""What a sample says: of runs over all of its queries, of slices, and of what no run found."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from labeler.evaluation.estimators import PointEstimate, Strength
from labeler.evaluation.judge_assisted import AssistedStratum, assisted_estimate
from labeler.evaluation.sample_estimates import (
    DrawnStratum,
    Estimand,
    SampleEstimate,
    estimate,
    facts_of,
)
from labeler.sampling.answers import SampleAnswers, answer_to
from labeler.sampling.plan import as_estimands, known_of, seed_number
from labeler.sampling.stored import StoredStratum

__all__ = [
    "NamedEstimate",
    "SliceEstimates",
    "estimates_of",
    "outside_estimates",
    "slice_estimates",
]


@dataclass(frozen=True, slots=True)
class NamedEstimate:
    """An estimate with the runs and the frame that it is of.

    Attributes:
        metric: Its name, which says what it is within.
        first: The run.
        second: The run that it is compared with, or None.
        found: The estimate.
        assisted: The same leaning on the judge's calibrated probabilities; None without them.
    """

    metric: str
    first: str
    second: str | None
    found: SampleEstimate
    assisted: PointEstimate | None = None


@dataclass(frozen=True, slots=True)
class SliceEstimates:
    """What a sample says of the queries of one slice.

    Attributes:
        name: The slice.
        queries: Its queries in the pool.
        drawn: Drawn items of theirs.
        labelled: Those with a label of people.
        relevant: Those that are relevant; unweighted.
        strength: How far the estimates can be leaned on.
        estimates: The estimates.
    """

    name: str
    queries: int
    drawn: int
    labelled: int
    relevant: int
    strength: Strength
    estimates: tuple[NamedEstimate, ...]


def estimates_of(
    answers: SampleAnswers,
    strata: Sequence[StoredStratum],
    queries: int,
    *,
    keep: Collection[int] | None = None,
    veto: bool = False,
) -> tuple[NamedEstimate, ...]:
    """Estimate recall and precision of each run, and of the first less others.

    Args:
        answers: The sample with what people said.
        strata: Its strata, with the draws that count.
        queries: How many queries it is over.
        keep: Keys of these queries; None is all of the sample.
        veto: Whether a veto hangs on it, which calls for exact limits.
    """
    sample = answers.sample
    k, runs = sample.design.comparison.k, sample.design.comparison.runs
    drawn = [answers.drawn(one, keep) for one in strata]
    relevant = answers.known_relevant(keep)
    judged = _assisted_strata(answers, strata, keep)
    found = []
    for measure, first, second in as_estimands(runs):
        who = [sample.design.retrieved[one.name] for one in strata]
        parts = [
            _of_runs(one, retrieved, first, second)
            for one, retrieved in zip(drawn, who, strict=True)
        ]
        known, places = known_of(relevant, first, second), queries * k
        value = estimate(
            measure, parts, known, seed=seed_number(sample.digest), places=places, veto=veto
        )
        assisted = None
        if judged is not None:
            of_runs = [
                replace(one, first=first in retrieved, second=second in retrieved)
                for one, retrieved in zip(judged, who, strict=True)
            ]
            assisted = assisted_estimate(measure, of_runs, known, places=places)
        found.append(NamedEstimate(_named(measure, k), first, second, value, assisted))
    return tuple(found)


def slice_estimates(
    answers: SampleAnswers, slices: dict[str, frozenset[int]], *, veto: bool = False
) -> tuple[SliceEstimates, ...]:
    """Estimate the same for the queries of each slice, from the same draws.

    Args:
        answers: The sample with what people said.
        slices: Keys of the queries of each slice.
        veto: Whether a veto hangs on it.
    """
    found = []
    for name, queries in sorted(slices.items()):
        strata = [one for one in answers.sample.strata if answers.counts(one, queries).size > 0]
        if not strata:
            continue
        facts = facts_of([answers.drawn(one, queries) for one in strata])
        found.append(
            SliceEstimates(
                name=name,
                queries=len(queries),
                drawn=facts.labelled + facts.abstained + facts.waiting,
                labelled=facts.labelled,
                relevant=facts.relevant,
                strength=facts.strength,
                estimates=estimates_of(answers, strata, len(queries), keep=queries, veto=veto),
            )
        )
    return tuple(found)


def outside_estimates(answers: SampleAnswers, *, veto: bool = False) -> tuple[NamedEstimate, ...]:
    """Say how many relevant pairs the pool misses, and what share of all that is known it holds."""
    sample = answers.sample
    seed, pool = seed_number(sample.digest), sample.design.comparison.pool
    drawn = [answers.drawn(one) for one in sample.strata]
    relevant = answers.known_relevant()
    missed = estimate(Estimand.RELEVANT, drawn, known_of({}, "", None), seed=seed, veto=veto)
    inside = replace(known_of(relevant, "", None), first=sum(relevant.values()))
    share = estimate(Estimand.RECALL, drawn, inside, seed=seed, veto=veto)
    return (
        NamedEstimate(_named(Estimand.RELEVANT, 0), f"pool {pool}", None, missed),
        NamedEstimate(
            "known relevant pairs of the pool / these and those outside[sampled]",
            f"pool {pool}",
            None,
            share,
        ),
    )


def _assisted_strata(
    answers: SampleAnswers, strata: Sequence[StoredStratum], keep: Collection[int] | None
) -> list[AssistedStratum] | None:
    """Give each stratum's labels and probabilities; None where these can't be leaned on."""
    chances, comparison = answers.chances, answers.sample.design.comparison
    found = []
    for one in strata:
        inside = [item for item in one.items if keep is None or answers.queries[item] in keep]
        if chances is None or not chances.keys() >= set(inside):
            return None
        said = {item: answer_to(answers.labels.get(item), comparison) for item in one.all_drawn}
        told = [item for item in inside if said.get(item) in {"relevant", "not_relevant"}]
        found.append(
            AssistedStratum(
                size=len(inside),
                relevant=np.array([float(said[item] == "relevant") for item in told]),
                probabilities=np.array([chances[item] for item in told]),
                total=sum(chances[item] for item in inside),
            )
        )
    return found


def _of_runs(
    drawn: DrawnStratum, retrieved: Sequence[str], first: str, second: str | None
) -> DrawnStratum:
    part = replace(drawn.labelled, first=first in retrieved, second=second in retrieved)
    return replace(drawn, labelled=part)


def _named(measure: Estimand, k: int) -> str:
    names = {
        Estimand.RECALL: f"recall@{k}[within the pool, sampled]",
        Estimand.RECALL_DIFFERENCE: f"difference of recall@{k}[within the pool, sampled]",
        Estimand.PRECISION: f"P@{k}[sampled]",
        Estimand.PRECISION_DIFFERENCE: f"difference of P@{k}[sampled]",
        Estimand.RELEVANT: "relevant pairs outside the pool[sampled]",
    }
    return names[measure]
