"""Where a sample stands: votes in, by stratum, and what it says so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.label_states import is_of_people
from labeler.assessment.labels_in_force import LabelInForce, items_of_pool, labels_in_force
from labeler.evaluation.posterior import LabelledStratum
from labeler.evaluation.sample_estimates import (
    DrawnStratum,
    Estimand,
    SampleEstimate,
    SampleFacts,
    estimate,
    facts_of,
)
from labeler.labels import Outcome, State
from labeler.records import table
from labeler.records.pools import PoolRun
from labeler.records.runs import Run
from labeler.records.sampling import Draw, Stratum
from labeler.sampling.plan import as_estimands, known_of, seed_number
from labeler.sampling.population import (
    Comparison,
    judgeable_items,
    ranks_of,
    sampled_queries,
)
from labeler.sampling.stored import OUTSIDE, StoredSample, StoredStratum, read_sample

__all__ = ["Answer", "NamedEstimate", "SampleStatus", "StratumStatus", "read_status"]


@dataclass(frozen=True, slots=True)
class StratumStatus:
    """Unweighted counts of a stratum.

    Attributes:
        name: What is in it.
        size: Its items.
        drawn: Items drawn from it.
        labelled: Those with a label of people.
        relevant: Those that are relevant.
        abstained: Those that people can't judge.
        waiting: Those that nobody settled yet.
    """

    name: str
    size: int
    drawn: int
    labelled: int
    relevant: int
    abstained: int
    waiting: int


@dataclass(frozen=True, slots=True)
class NamedEstimate:
    """An estimate with the runs and the frame that it is of.

    Attributes:
        metric: Its name, which says what it is within.
        first: The run.
        second: The run that it is compared with, or None.
        found: The estimate.
    """

    metric: str
    first: str
    second: str | None
    found: SampleEstimate


@dataclass(frozen=True, eq=False)
class SampleStatus:
    """Where a sample stands.

    Attributes:
        name: The sample.
        frame: The population in words.
        kind: ``pool`` or ``outside``.
        phases: How many items each phase drew.
        is_sequential: Whether a later phase was drawn after answers to an earlier one were in, so
            that its size may have followed from them.
        known: Items labelled apart from the sample, in the same pool.
        known_relevant: Those that are relevant.
        strata: Counts by stratum.
        facts: Counts over all strata.
        estimates: What it says so far; over answered items alone, while some wait.
        first_phase: The same by the first phase alone, where the sample is sequential.
        revision: The revision that was read.
    """

    name: str
    frame: str
    kind: str
    phases: Mapping[int, int]
    is_sequential: bool
    known: int
    known_relevant: int
    strata: tuple[StratumStatus, ...]
    facts: SampleFacts
    estimates: tuple[NamedEstimate, ...]
    first_phase: tuple[NamedEstimate, ...]
    revision: int | None

    @property
    def is_complete(self) -> bool:
        """Whether every drawn item is answered."""
        return self.facts.waiting == 0


class Answer(Counter[str]):
    """Drawn items by what people said: relevant, not_relevant, abstained, waiting."""

    @classmethod
    def of(
        cls, items: Iterable[int], labels: Mapping[int, LabelInForce], comparison: Comparison
    ) -> Answer:
        """Count the answers to some items."""
        return cls(_answer(labels.get(item), comparison) for item in items)

    @property
    def labelled(self) -> int:
        """How many have a label."""
        return self["relevant"] + self["not_relevant"]


def _answer(label: LabelInForce | None, comparison: Comparison) -> str:
    if label is None or not is_of_people(label):
        return "waiting"
    if label.outcome is not Outcome.JUDGED:
        return "abstained"
    return "relevant" if comparison.state(label.grade) is State.RELEVANT else "not_relevant"


def read_status(
    connection: Connection, name: str, *, as_of: int | None = None, veto: bool = False
) -> SampleStatus:
    """Tell where a sample stands, and what it says so far.

    Only drawn items count, with the labels that people gave them; what the queue brought in beside
    them improves labels and tells nothing of the frame.

    Args:
        connection: An open connection.
        name: The sample.
        as_of: The state after this revision; now by default.
        veto: Whether a veto hangs on it, which calls for exact limits.

    Raises:
        NotFoundError: When there is no such sample.
    """
    sample = read_sample(connection, name)
    labels = labels_in_force(connection, _drawn_items(sample), as_of)
    drawn = _drawn(sample, labels, sample.strata)
    known, relevant = _known(connection, sample, as_of)
    sequential = _is_sequential(connection, sample)
    first_phase: tuple[NamedEstimate, ...] = ()
    if sequential:
        alone = [replace(one, drawn={1: one.drawn.get(1, ())}) for one in sample.strata]
        first_phase = _estimates(sample, _drawn(sample, labels, alone), relevant, veto=veto)
    return SampleStatus(
        name=name,
        frame=sample.frame,
        kind=sample.design.kind,
        phases={
            phase: sum(len(one.drawn.get(phase, ())) for one in sample.strata)
            for phase in sorted(sample.phases)
        },
        is_sequential=sequential,
        known=sum(known.values()),
        known_relevant=sum(relevant.values()),
        strata=tuple(_counts(sample, one, labels) for one in sample.strata),
        facts=facts_of(drawn),
        estimates=_estimates(sample, drawn, relevant, veto=veto),
        first_phase=first_phase,
        revision=as_of,
    )


def _drawn_items(sample: StoredSample) -> sa.Select[Any]:
    draw, stratum = table(Draw), table(Stratum)
    return (
        sa.select(draw.c.item_id)
        .join(stratum, stratum.c.id == draw.c.stratum_id)
        .where(stratum.c.frame_id == sample.frame_id)
    )


def _counts(
    sample: StoredSample, stratum: StoredStratum, labels: Mapping[int, LabelInForce]
) -> StratumStatus:
    items = stratum.all_drawn
    answers = Answer.of(items, labels, sample.design.comparison)
    return StratumStatus(
        name=stratum.name,
        size=stratum.size,
        drawn=len(items),
        labelled=answers.labelled,
        relevant=answers["relevant"],
        abstained=answers["abstained"],
        waiting=answers["waiting"],
    )


def _drawn(
    sample: StoredSample,
    labels: Mapping[int, LabelInForce],
    strata: Sequence[StoredStratum],
) -> list[DrawnStratum]:
    found = []
    for stratum in strata:
        counts = _counts(sample, stratum, labels)
        part = LabelledStratum(counts.size, counts.labelled, counts.relevant)
        found.append(DrawnStratum(part, counts.abstained, counts.waiting))
    return found


def _known(
    connection: Connection, sample: StoredSample, as_of: int | None
) -> tuple[Counter[tuple[str, ...]], Counter[tuple[str, ...]]]:
    """Count labelled items of the pool that the sample's frame leaves out, by who retrieved them.

    They were labelled before the draw, or couldn't be judged then: they are known with certainty.
    """
    comparison = sample.design.comparison
    labels = labels_in_force(connection, items_of_pool(sample.pool_id), as_of)
    inside = {item for one in sample.strata for item in one.items}
    queries, _ = sampled_queries(connection, sample.pool_id)
    counted = judgeable_items(connection, sample.pool_id, queries)
    ranks = ranks_of(connection, sample.pool_id, _run_keys(connection, sample))
    known: Counter[tuple[str, ...]] = Counter()
    relevant: Counter[tuple[str, ...]] = Counter()
    for item, label in labels.items():
        answer = _answer(label, comparison)
        if item in inside or item not in counted or answer not in {"relevant", "not_relevant"}:
            continue
        by_run = ranks.get(item, {})
        who = tuple(run for run in comparison.runs if 0 < by_run.get(run, 0) <= comparison.k)
        known[who] += 1
        relevant[who] += answer == "relevant"
    return known, relevant


def _run_keys(connection: Connection, sample: StoredSample) -> dict[str, int]:
    run, part = table(Run), table(PoolRun)
    statement = (
        sa.select(run.c.name, run.c.id)
        .join(part, part.c.run_id == run.c.id)
        .where(part.c.pool_id == sample.pool_id, run.c.name.in_(sample.design.comparison.runs))
    )
    return {str(name): int(key) for name, key in connection.execute(statement)}


def _is_sequential(connection: Connection, sample: StoredSample) -> bool:
    """Tell whether a phase was drawn when people had answered something of an earlier one."""
    for phase, revision in sample.phases.items():
        if phase == 1:
            continue
        before = {
            item
            for one in sample.strata
            for earlier, items in one.drawn.items()
            if earlier < phase
            for item in items
        }
        labels = labels_in_force(connection, _drawn_items(sample), revision - 1)
        if any(is_of_people(labels.get(item)) for item in before):
            return True
    return False


def _estimates(
    sample: StoredSample,
    drawn: Sequence[DrawnStratum],
    relevant: Mapping[tuple[str, ...], int],
    *,
    veto: bool,
) -> tuple[NamedEstimate, ...]:
    design = sample.design
    if design.kind == OUTSIDE:
        return _outside(sample, drawn, relevant, veto=veto)
    k, seed = design.comparison.k, seed_number(sample.digest)
    found = []
    for measure, first, second in as_estimands(design.comparison.runs):
        parts = [
            _of_runs(one, design.retrieved[stratum.name], first, second)
            for one, stratum in zip(drawn, sample.strata, strict=True)
        ]
        value = estimate(
            measure,
            parts,
            known_of(relevant, first, second),
            seed=seed,
            places=design.queries * k,
            veto=veto,
        )
        found.append(NamedEstimate(_named(measure, k), first, second, value))
    return tuple(found)


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


def _outside(
    sample: StoredSample,
    drawn: Sequence[DrawnStratum],
    relevant: Mapping[tuple[str, ...], int],
    *,
    veto: bool,
) -> tuple[NamedEstimate, ...]:
    """Say how many relevant pairs the pool misses, and what share of all that is known it holds."""
    seed, pool = seed_number(sample.digest), sample.design.comparison.pool
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
