"""The plan of a sample: its frame, its strata, and what it will tell, before anybody votes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from labeler.draws.frames import item_keys
from labeler.errors import NotFoundError, UsageError
from labeler.evaluation.allocation import LEAST_VARIANCE, LEAST_VARIANCE_CALIBRATED, next_units
from labeler.evaluation.estimators import Known
from labeler.evaluation.sample_estimates import Estimand
from labeler.evaluation.sample_planning import PlannedStratum, expected_width, votes_for_width
from labeler.sampling.population import Comparison, Population, read_population
from labeler.sampling.strata import PlannedPart, make_strata

__all__ = [
    "DEFAULT_VOTES",
    "Expected",
    "PlannedSample",
    "SampleOptions",
    "as_estimands",
    "known_of",
    "plan_sample",
    "seed_number",
    "strata_and_counts",
]

DEFAULT_VOTES = 60

_ROUNDS = 4
_DIFFERENCES = {Estimand.RECALL_DIFFERENCE, Estimand.PRECISION_DIFFERENCE}


@dataclass(frozen=True, slots=True)
class SampleOptions:
    """How a sample is to be made.

    Attributes:
        comparison: What it is to tell.
        votes: How many items to draw; None is decided by the target, or 60.
        measure: What the sample is to tell best, and what the target width is of: of the first
            run, or of the first less each other one. None is recall and its differences for all.
        target_width: How wide the 95% interval may be, from end to end, above 0, or None.
        seed: Decides what is drawn; the frame's digest by default.
    """

    comparison: Comparison
    votes: int | None = None
    measure: Estimand | None = None
    target_width: float | None = None
    seed: str | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """How wide an interval is expected to be.

    Attributes:
        measure: What is estimated.
        first: The run that it is of.
        second: The run that it is compared with, or None.
        width: The width of the 95% interval, from end to end, if the rates of the strata hold.
    """

    measure: Estimand
    first: str
    second: str | None
    width: float


@dataclass(frozen=True, eq=False)
class PlannedSample:
    """A sample that can be drawn.

    Attributes:
        population: What it is drawn from.
        frame: The population in words.
        digest: Names the frame: its items, and what it is to tell.
        seed: Decides what is drawn.
        strata: The strata, with the share of relevant items that is expected.
        counts: How many items to draw of each.
        measure: What the votes are shared for; None is recall and its differences for all runs.
        expected: How wide the intervals will be.
        rates_from: Where the expected shares come from: an assumption.
    """

    population: Population
    frame: str
    digest: str
    seed: str
    strata: tuple[PlannedPart, ...]
    counts: tuple[int, ...]
    measure: Estimand | None
    expected: tuple[Expected, ...]
    rates_from: str

    @property
    def votes(self) -> int:
        """How many items will be drawn."""
        return sum(self.counts)


def plan_sample(connection: Connection, options: SampleOptions) -> PlannedSample:
    """Plan a sample of a pool's unknown items.

    Raises:
        NotFoundError: When there is no such pool or run, or nothing is unknown.
        UsageError: When the runs can't be compared, or no sample gives so narrow an interval.
    """
    population = read_population(connection, options.comparison)
    if not population.units:
        raise NotFoundError(
            f"nothing that people can judge is unknown in the pool '{options.comparison.pool}'",
            hint=f"{population.without_text} of its items have no text: `labeler import corpus`"
            if population.without_text
            else "`labeler sample draw POOL --outside` looks beyond it",
        )
    votes = DEFAULT_VOTES if options.votes is None else options.votes
    if votes < 1:
        raise UsageError("--votes is 1 or more")
    if options.measure in _DIFFERENCES and len(population.comparison.runs) == 1:
        raise UsageError("a difference needs a second run: --runs A --runs B")
    if options.target_width is not None and options.votes is None:
        votes = _votes_for(population, options, votes)
    strata, counts = strata_and_counts(population, votes, options.measure)
    digest = _digest(connection, population)
    return PlannedSample(
        population=population,
        frame=_words(population),
        digest=digest,
        seed=options.seed or digest,
        strata=tuple(strata),
        counts=tuple(counts),
        measure=options.measure,
        expected=_expected(population, strata, counts),
        rates_from=_rates_from(population),
    )


def strata_and_counts(
    population: Population, votes: int, measure: Estimand | None = None
) -> tuple[list[PlannedPart], list[int]]:
    """Part a population into strata, and share votes among them.

    Args:
        population: What is drawn from.
        votes: How many items to draw, 1 or more.
        measure: What the sample is to tell best; None is recall and its differences for all runs.
    """
    strata = _strata(population, votes, measure)
    counts = next_units(
        [len(one.items) for one in strata],
        [one.rate for one in strata],
        votes,
        worth=[one.worth for one in strata],
        least_variance=_least_variance(population),
    )
    return strata, counts


def as_estimands(runs: Sequence[str]) -> list[tuple[Estimand, str, str | None]]:
    """List what a sample tells: recall and precision of each run, and of the first less others."""
    alone = [
        (measure, run, None) for measure in (Estimand.RECALL, Estimand.PRECISION) for run in runs
    ]
    paired = [
        (measure, runs[0], other)
        for measure in (Estimand.RECALL_DIFFERENCE, Estimand.PRECISION_DIFFERENCE)
        for other in runs[1:]
    ]
    return [*alone, *paired]


def known_of(relevant: Mapping[tuple[str, ...], int], first: str, second: str | None) -> Known:
    """Count known relevant items for two runs."""
    return Known(
        total=sum(relevant.values()),
        first=sum(count for who, count in relevant.items() if first in who),
        second=sum(count for who, count in relevant.items() if second in who),
    )


def seed_number(seed: str) -> int:
    """Turn a seed into the whole number that generators take."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")


def _least_variance(population: Population) -> float:
    return LEAST_VARIANCE_CALIBRATED if population.is_calibrated else LEAST_VARIANCE


def _strata(population: Population, votes: int, measure: Estimand | None) -> list[PlannedPart]:
    return make_strata(
        population.units,
        votes,
        population.rates,
        population.comparison.runs,
        population.known_relevant,
        measure,
    )


def _planned(
    population: Population, strata: Sequence[PlannedPart], first: str, second: str | None
) -> list[PlannedStratum]:
    return [
        PlannedStratum(
            len(one.items),
            one.rate,
            first in one.retrieved,
            second in one.retrieved,
            one.worth,
            population.is_calibrated,
        )
        for one in strata
    ]


def _votes_for(population: Population, options: SampleOptions, votes: int) -> int:
    """Find how many votes a target needs; strata follow from the votes, and these from strata."""
    runs = population.comparison.runs
    target, measure = options.target_width or 0.0, options.measure
    if target <= 0:
        raise UsageError("--target-width is above 0")
    if measure is None:
        measure = Estimand.RECALL_DIFFERENCE if len(runs) > 1 else Estimand.RECALL
    second = runs[1] if measure in _DIFFERENCES else None
    for _ in range(_ROUNDS):
        strata = _strata(population, votes, options.measure)
        found = votes_for_width(
            measure,
            _planned(population, strata, runs[0], second),
            known_of(population.known_relevant, runs[0], second),
            target,
            seed=seed_number(population.comparison.pool),
            places=population.queries * population.comparison.k,
            least_variance=_least_variance(population),
        )
        if found is None:
            raise UsageError(
                f"no sample of this pool gives an interval of {measure} that is {target:g} wide",
                hint="nothing relevant may be there: a wider pool, or more queries",
            )
        if found == votes:
            break
        votes = found
    return votes


def _expected(
    population: Population, strata: Sequence[PlannedPart], counts: Sequence[int]
) -> tuple[Expected, ...]:
    places = population.queries * population.comparison.k
    return tuple(
        Expected(
            measure,
            first,
            second,
            expected_width(
                measure,
                _planned(population, strata, first, second),
                counts,
                known_of(population.known_relevant, first, second),
                seed=seed_number(population.comparison.pool),
                places=places,
            ),
        )
        for measure, first, second in as_estimands(population.comparison.runs)
    )


def _words(population: Population) -> str:
    comparison = population.comparison
    others = population.other_queries
    left_out = f", {others} of another origin left out" if others else ""
    return (
        f"{len(population.units)} items of the pool '{comparison.pool}' (top {population.depth} of "
        f"its runs, {population.queries} queries{left_out}) that nobody had labelled and people "
        f"can judge; {', '.join(comparison.runs)} at k = {comparison.k}; relevant from "
        f"{comparison.least} on"
    )


def _digest(connection: Connection, population: Population) -> str:
    keys = item_keys(connection, [unit.item_id for unit in population.units])
    comparison = population.comparison
    head = [comparison.pool, *comparison.runs, comparison.k, comparison.least.value]
    content = "\n".join([json.dumps(head), population.score_version or "", *sorted(keys.values())])
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


def _rates_from(population: Population) -> str:
    if population.score_version is None and not sum(population.known.values()):
        return "nothing: one half, as long as nothing is labelled"
    if population.score_version is None:
        return "the share of relevant items among those labelled already, by who retrieved them"
    kind = "calibrated" if population.is_calibrated else "uncalibrated"
    return f"the {kind} probabilities of the latest scores, {population.score_version[:12]}"
