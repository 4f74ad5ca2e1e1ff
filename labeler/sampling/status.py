"""Where a sample stands: votes in, by stratum, and what it says so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from labeler.assessment.label_states import is_of_people
from labeler.assessment.labels_in_force import labels_in_force
from labeler.evaluation.sample_estimates import SampleFacts, facts_of
from labeler.retrieval.query_facts import read_query_facts
from labeler.sampling.answers import SampleAnswers, StratumStatus, drawn_items, read_answers
from labeler.sampling.estimates import (
    NamedEstimate,
    SliceEstimates,
    estimates_of,
    outside_estimates,
    slice_estimates,
)
from labeler.sampling.population import sampled_queries
from labeler.sampling.stored import OUTSIDE, StoredSample, read_sample

__all__ = ["SampleStatus", "read_status"]


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
        slices: The same for the queries of each slice, from the same draws.
        prior: What the intervals lean on besides the draws, in words.
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
    slices: tuple[SliceEstimates, ...]
    prior: str
    revision: int | None

    @property
    def is_complete(self) -> bool:
        """Whether every drawn item is answered."""
        return self.facts.waiting == 0


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
    answers = read_answers(connection, sample, as_of)
    sequential = _is_sequential(connection, sample)
    first_phase: tuple[NamedEstimate, ...] = ()
    slices: tuple[SliceEstimates, ...] = ()
    if sample.design.kind == OUTSIDE:
        estimates = outside_estimates(answers, veto=veto)
    else:
        queries = sample.design.queries
        estimates = estimates_of(answers, sample.strata, queries, veto=veto)
        slices = slice_estimates(answers, _slices(connection, sample, as_of), veto=veto)
        if sequential:
            alone = [replace(one, drawn={1: one.drawn.get(1, ())}) for one in sample.strata]
            first_phase = estimates_of(answers, alone, queries, veto=veto)
    return SampleStatus(
        name=name,
        frame=sample.frame,
        kind=sample.design.kind,
        phases={
            phase: sum(len(one.drawn.get(phase, ())) for one in sample.strata)
            for phase in sorted(sample.phases)
        },
        is_sequential=sequential,
        known=len(answers.known),
        known_relevant=answers.known_relevant().total(),
        strata=tuple(answers.counts(one) for one in sample.strata),
        facts=facts_of([answers.drawn(one) for one in sample.strata]),
        estimates=estimates,
        first_phase=first_phase,
        slices=slices,
        prior=_prior(answers),
        revision=as_of,
    )


def _slices(
    connection: Connection, sample: StoredSample, as_of: int | None
) -> dict[str, frozenset[int]]:
    """Give the queries of each slice that a sample speaks of; one that holds all is none."""
    queries, _ = sampled_queries(connection, sample.pool_id)
    facts = read_query_facts(connection, as_of)
    found: dict[str, set[int]] = defaultdict(set)
    for key in queries:
        for name in facts[key].all_slices:
            found[name].add(key)
    return {name: frozenset(inside) for name, inside in found.items() if inside != queries}


def _prior(answers: SampleAnswers) -> str:
    if answers.chances is None:
        return "neutral: beta(1/3, 1/3) in each stratum"
    digest = (answers.sample.score_version or "")[:12]
    return f"the scores {digest}, which count as 2.5 answers in each stratum"


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
        labels = labels_in_force(connection, drawn_items(sample), revision - 1)
        if any(is_of_people(labels.get(item)) for item in before):
            return True
    return False
