"""What people said of a sample's items, and what was known of its pool beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.item_scores import scores_by_digest
from labeler.assessment.label_states import is_of_people
from labeler.assessment.labels_in_force import LabelInForce, items_of_pool, labels_in_force
from labeler.evaluation.posterior import LabelledStratum
from labeler.evaluation.sample_estimates import DrawnStratum
from labeler.labels import Grade, Outcome, State
from labeler.records import table
from labeler.records.pools import Item, PoolRun
from labeler.records.runs import Run
from labeler.records.sampling import Draw, Stratum
from labeler.sampling.population import Comparison, judgeable_items, ranks_of, sampled_queries
from labeler.sampling.stored import StoredSample, StoredStratum

__all__ = [
    "Answer",
    "SampleAnswers",
    "StratumStatus",
    "answer_to",
    "drawn_items",
    "read_answers",
]


class Answer(Counter[str]):
    """Drawn items by what people said: relevant, not_relevant, abstained, waiting."""

    @classmethod
    def of(
        cls, items: Iterable[int], labels: Mapping[int, LabelInForce], comparison: Comparison
    ) -> Answer:
        """Count the answers to some items."""
        return cls(answer_to(labels.get(item), comparison) for item in items)

    @property
    def labelled(self) -> int:
        """How many have a label."""
        return self["relevant"] + self["not_relevant"]


def answer_to(label: LabelInForce | None, comparison: Comparison) -> str:
    """Say what people answered."""
    if label is None or not is_of_people(label):
        return "waiting"
    if label.outcome is not Outcome.JUDGED:
        return "abstained"
    return "relevant" if comparison.state(label.grade) is State.RELEVANT else "not_relevant"


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

    @property
    def share_relevant(self) -> float:
        """The share of relevant items that its labels suggest, with the prior 1/3, 1/3."""
        return (self.relevant + 1 / 3) / (self.labelled + 2 / 3)


@dataclass(frozen=True, eq=False)
class SampleAnswers:
    """A sample with what people said.

    Attributes:
        sample: The sample.
        labels: The labels in force of its drawn items.
        known: For each item that was labelled apart from the sample, the runs that have it in their
            top k, in their order, and whether it is relevant.
        queries: The query of each item of the pool and of the sample.
        chances: The calibrated probability that each item of the frame is relevant, by the scores
            that the strata were made of; None where these aren't calibrated on people's labels.
    """

    sample: StoredSample
    labels: Mapping[int, LabelInForce]
    known: Mapping[int, tuple[tuple[str, ...], str]]
    queries: Mapping[int, int]
    chances: Mapping[int, float] | None

    def counts(self, stratum: StoredStratum, keep: Collection[int] | None = None) -> StratumStatus:
        """Count a stratum, or that part of it that belongs to some queries."""
        drawn = self._kept(stratum.all_drawn, keep)
        answers = Answer.of(drawn, self.labels, self.sample.design.comparison)
        return StratumStatus(
            name=stratum.name,
            size=stratum.size if keep is None else len(self._kept(stratum.items, keep)),
            drawn=len(drawn),
            labelled=answers.labelled,
            relevant=answers["relevant"],
            abstained=answers["abstained"],
            waiting=answers["waiting"],
        )

    def drawn(self, stratum: StoredStratum, keep: Collection[int] | None = None) -> DrawnStratum:
        """Give the same for an estimate.

        A part of a stratum was drawn at random, too, given how many of it were drawn
        (post-stratification: Cochran 1977, section 5A.9). Its prior leans on what was found in the
        whole stratum, where no calibrated probabilities tell more.
        """
        counts = self.counts(stratum, keep)
        part = LabelledStratum(
            counts.size, counts.labelled, counts.relevant, rate=self._rate(stratum, keep)
        )
        return DrawnStratum(part, counts.abstained, counts.waiting)

    def known_relevant(self, keep: Collection[int] | None = None) -> Counter[tuple[str, ...]]:
        """Count the relevant items labelled apart from it, by who retrieved them."""
        return Counter(
            who
            for item, (who, answer) in self.known.items()
            if answer == "relevant" and (keep is None or self.queries[item] in keep)
        )

    def _rate(self, stratum: StoredStratum, keep: Collection[int] | None) -> float | None:
        items = self._kept(stratum.items, keep)
        if self.chances is None or not items or not self.chances.keys() >= set(items):
            return None if keep is None else self.counts(stratum).share_relevant
        return sum(self.chances[item] for item in items) / len(items)

    def _kept(self, items: Iterable[int], keep: Collection[int] | None) -> list[int]:
        return [item for item in items if keep is None or self.queries[item] in keep]


def read_answers(connection: Connection, sample: StoredSample, as_of: int | None) -> SampleAnswers:
    """Read what people said of a sample, at a revision."""
    drawn = drawn_items(sample)
    return SampleAnswers(
        sample=sample,
        labels=labels_in_force(connection, drawn, as_of),
        known=_known(connection, sample, as_of),
        queries=_queries(connection, sample, drawn),
        chances=_chances(connection, sample),
    )


def drawn_items(sample: StoredSample) -> sa.Select[Any]:
    """Select the items that were drawn, in any phase."""
    draw, stratum = table(Draw), table(Stratum)
    return (
        sa.select(draw.c.item_id)
        .join(stratum, stratum.c.id == draw.c.stratum_id)
        .where(stratum.c.frame_id == sample.frame_id)
    )


def _known(
    connection: Connection, sample: StoredSample, as_of: int | None
) -> dict[int, tuple[tuple[str, ...], str]]:
    """Find labelled items of the pool that the sample's frame leaves out.

    They were labelled before the draw, or couldn't be judged then: they are known with certainty.
    """
    comparison = sample.design.comparison
    labels = labels_in_force(connection, items_of_pool(sample.pool_id), as_of)
    inside = {item for one in sample.strata for item in one.items}
    queries, _ = sampled_queries(connection, sample.pool_id)
    counted = judgeable_items(connection, sample.pool_id, queries)
    ranks = ranks_of(connection, sample.pool_id, _run_keys(connection, sample))
    found: dict[int, tuple[tuple[str, ...], str]] = {}
    for item, label in labels.items():
        answer = answer_to(label, comparison)
        if item in inside or item not in counted or answer not in {"relevant", "not_relevant"}:
            continue
        by_run = ranks.get(item, {})
        who = tuple(run for run in comparison.runs if 0 < by_run.get(run, 0) <= comparison.k)
        found[item] = who, answer
    return found


def _run_keys(connection: Connection, sample: StoredSample) -> dict[str, int]:
    run, part = table(Run), table(PoolRun)
    statement = (
        sa.select(run.c.name, run.c.id)
        .join(part, part.c.run_id == run.c.id)
        .where(part.c.pool_id == sample.pool_id, run.c.name.in_(sample.design.comparison.runs))
    )
    return {str(name): int(key) for name, key in connection.execute(statement)}


def _queries(connection: Connection, sample: StoredSample, drawn: sa.Select[Any]) -> dict[int, int]:
    item = table(Item)
    wanted = sa.or_(item.c.id.in_(items_of_pool(sample.pool_id)), item.c.id.in_(drawn))
    rows = connection.execute(sa.select(item.c.id, item.c.query_id).where(wanted))
    return {int(key): int(query) for key, query in rows}


def _chances(connection: Connection, sample: StoredSample) -> dict[int, float] | None:
    if sample.score_version is None:
        return None
    scores = scores_by_digest(connection, sample.score_version)
    if scores is None or not scores.is_calibrated:
        return None
    fully = sample.design.comparison.least is Grade.FULLY_RELEVANT
    return {item: row[2] if fully else row[1] + row[2] for item, row in scores.by_item().items()}
