"""Drawing a sample, and drawing more of it: recorded first, then people are asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from labeler.draws.frames import NewStratum, add_frame, draw_from, item_keys
from labeler.errors import UsageError
from labeler.evaluation.allocation import LEAST_VARIANCE, LEAST_VARIANCE_CALIBRATED, next_units
from labeler.sampling.plan import PlannedSample, SampleOptions, plan_sample
from labeler.sampling.stored import OUTSIDE, Design, StoredSample, add_design, read_sample
from labeler.store.database import Store, WriteTransaction

__all__ = ["AskPeople", "DrawReport", "continue_sample", "draw_sample"]

AskPeople = Callable[[WriteTransaction, Sequence[int]], None]
"""Puts items in front of people; given by the queue."""


@dataclass(frozen=True, slots=True)
class DrawReport:
    """What was drawn.

    Attributes:
        name: The sample.
        frame: Its population in words.
        phase: Which draw of it this is, from 1.
        strata: For each stratum its name, its size, how many are drawn now and were before.
        drawn: How many are drawn now.
        revision: The revision that was made.
    """

    name: str
    frame: str
    phase: int
    strata: tuple[tuple[str, int, int, int], ...]
    drawn: int
    revision: int | None


def draw_sample(
    store: Store, name: str, options: SampleOptions, ask_people: AskPeople
) -> tuple[DrawReport, PlannedSample]:
    """Draw a sample of a pool's unknown items, all of it or nothing.

    Raises:
        ConflictError: When there is a sample of that name.
        NotFoundError: When there is no such pool or run, or nothing is unknown.
        UsageError: When the runs can't be compared, or no sample is as good as wanted.
    """
    if not name.strip() or not name.isprintable():
        raise UsageError(f"'{name}' can't be the name of a sample")
    with store.write(f"sample draw {options.comparison.pool} --name {name}") as tx:
        plan = plan_sample(tx.connection, options)
        population = plan.population
        content = f"{name}\n{plan.seed}\n{plan.digest}"
        frame_id = add_frame(tx, plan.frame, content, pool_id=population.pool_id)
        design = Design(
            kind="pool",
            comparison=population.comparison,
            queries=population.queries,
            retrieved={one.name: one.retrieved for one in plan.strata},
            rates={one.name: one.rate for one in plan.strata},
            worth={one.name: one.worth for one in plan.strata},
            least_variance=(
                LEAST_VARIANCE_CALIBRATED if population.is_calibrated else LEAST_VARIANCE
            ),
        )
        add_design(tx, name, frame_id, design)
        keys = item_keys(tx.connection, [unit.item_id for unit in population.units])
        drawn: set[int] = set()
        for part, count in zip(plan.strata, plan.counts, strict=True):
            stratum = NewStratum(frame_id, part.name, 1, plan.seed, population.score_version)
            drawn |= draw_from(tx, stratum, {item: keys[item] for item in part.items}, count)
        ask_people(tx, sorted(drawn))
        rows = tuple(
            (part.name, len(part.items), count, 0)
            for part, count in zip(plan.strata, plan.counts, strict=True)
        )
        return DrawReport(name, plan.frame, 1, rows, len(drawn), tx.revision_id), plan


def continue_sample(store: Store, name: str, votes: int, ask_people: AskPeople) -> DrawReport:
    """Draw more of a sample as its next phase.

    Each stratum goes on in the order of the same keys, so that all phases together are one draw
    without replacement. How many come from which stratum follows from sizes, from the rates that
    were expected at first, and from what was drawn: never from the answers.

    Raises:
        NotFoundError: When there is no such sample.
        UsageError: When it looks outside the pool, or nothing is left to draw.
    """
    if votes < 1:
        raise UsageError("--votes is 1 or more")
    with store.write(f"sample draw --continue {name} --votes {votes}") as tx:
        sample = read_sample(tx.connection, name)
        if sample.design.kind == OUTSIDE:
            raise UsageError(
                f"the sample '{name}' looks outside the pool, and is drawn at once",
                hint="draw another one, with another --name and --seed",
            )
        counts = _next_counts(sample, votes)
        if not sum(counts):
            raise UsageError(f"every item of the sample '{name}' is drawn already")
        phase = max(sample.phases) + 1
        drawn = _draw_phase(tx, sample, phase, counts)
        ask_people(tx, sorted(drawn))
        rows = tuple(
            (one.name, one.size, count, len(one.all_drawn))
            for one, count in zip(sample.strata, counts, strict=True)
        )
        return DrawReport(name, sample.frame, phase, rows, len(drawn), tx.revision_id)


def _next_counts(sample: StoredSample, votes: int) -> list[int]:
    design = sample.design
    return next_units(
        [one.size for one in sample.strata],
        [design.rates[one.name] for one in sample.strata],
        votes,
        drawn=[len(one.all_drawn) for one in sample.strata],
        worth=[design.worth[one.name] for one in sample.strata],
        least_variance=design.least_variance,
    )


def _draw_phase(
    tx: WriteTransaction, sample: StoredSample, phase: int, counts: Sequence[int]
) -> set[int]:
    keys: Mapping[int, str] = item_keys(
        tx.connection, [item for one in sample.strata for item in one.items]
    )
    drawn: set[int] = set()
    for one, count in zip(sample.strata, counts, strict=True):
        before = set(one.all_drawn)
        left = {item: keys[item] for item in one.items if item not in before}
        if left:
            stratum = NewStratum(
                sample.frame_id, one.name, phase, sample.seed, sample.score_version
            )
            drawn |= draw_from(tx, stratum, left, count)
    return drawn
