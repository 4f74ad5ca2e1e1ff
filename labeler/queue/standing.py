"""What routing reads of a pool: its items, labels, votes, judges' answers and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.decisions import votes_on
from labeler.assessment.item_scores import ItemScores, latest_scores
from labeler.assessment.labels_in_force import LabelInForce, items_of_pool, labels_in_force
from labeler.assessment.samples import JudgeAnswer, latest_answers
from labeler.assessment.settlement import Dispute, Vote, settle_votes
from labeler.calibration.health import at_chance_in
from labeler.calibration.label_model import GRADES
from labeler.calibration.policies import AnyPolicy
from labeler.labels import Grade
from labeler.queue.audit_plan import ScoredLabel
from labeler.queue.proposals import found_by_people
from labeler.queue.reasons import ItemSignals, Standing, objections
from labeler.records import table
from labeler.records.judgments import Basis
from labeler.records.pools import Candidate, Item
from labeler.records.queries import QueryVersion

__all__ = ["PoolStanding", "judgeable", "queries_of", "read_standing"]


@dataclass(frozen=True, slots=True)
class PoolStanding:
    """What is known of a pool when it is routed.

    Attributes:
        pool_id: The pool.
        name: Its name.
        items: Whether each of its items can be judged: passage and query have texts.
        labels: The label in force of each item that has one.
        answers: The latest answers of its judges on each item; judges at chance are left out.
        votes: People's votes in force on each item.
        found: Items that people found.
        scores: The latest scores, or None.
        at_chance: The judges that are left out, by name.
    """

    pool_id: int
    name: str
    items: Mapping[int, bool]
    labels: Mapping[int, LabelInForce]
    answers: Mapping[int, Sequence[JudgeAnswer]]
    votes: Mapping[int, Sequence[Vote]]
    found: frozenset[int]
    scores: ItemScores | None
    at_chance: frozenset[str] = frozenset()

    @property
    def people(self) -> dict[int, Grade | None]:
        """The grade that people gave each item they judged; None where they couldn't."""
        return {
            item: label.grade
            for item, label in self.labels.items()
            if label.basis is not Basis.ACCEPTED
        }

    @property
    def disputed(self) -> frozenset[int]:
        """The items on which people contradict each other, or one person themself."""
        return frozenset(
            item for item, votes in self.votes.items() if isinstance(settle_votes(votes), Dispute)
        )

    @property
    def open_items(self) -> list[int]:
        """The items that people haven't settled and that can be judged."""
        people = self.people
        return [item for item, can_be in self.items.items() if can_be and item not in people]

    def signals(self, item: int, standing: Standing = Standing.BEYOND) -> ItemSignals:
        """Give what the reasons of an item go by."""
        return ItemSignals(
            answers=self.answers.get(item, ()),
            disputed=isinstance(settle_votes(self.votes.get(item, ())), Dispute),
            found=item in self.found,
            standing=standing,
        )

    def scored_labels(self, policy: AnyPolicy, without: frozenset[int]) -> list[ScoredLabel]:
        """Give the label that the scores have for each open item; unscored ones are left out.

        Args:
            policy: What decides whether a label may be accepted.
            without: Items to leave out.
        """
        if self.scores is None:
            return []
        best = np.argmax(self.scores.probabilities, axis=1)
        sure = self.scores.probabilities.max(axis=1)
        places = {item: place for place, item in enumerate(self.scores.item_ids.tolist())}
        return [
            ScoredLabel(
                item_id=item,
                grade=GRADES[int(best[places[item]])],
                confidence=float(sure[places[item]]),
                may_be_accepted=not objections(self.signals(item), policy),
            )
            for item in self.open_items
            if item in places and item not in without
        ]


def read_standing(connection: Connection, pool: sa.Row[Any]) -> PoolStanding:
    """Read what routing goes by.

    Args:
        connection: A transaction's connection.
        pool: The pool's row.
    """
    items = judgeable(connection, pool.id)
    scores = latest_scores(connection, pool.id)
    at_chance = at_chance_in(scores)
    answers = latest_answers(connection, pool.id)
    return PoolStanding(
        pool_id=int(pool.id),
        name=str(pool.name),
        items=items,
        labels=labels_in_force(connection, items_of_pool(pool.id)),
        answers={
            item: [answer for answer in given if answer.judge not in at_chance]
            for item, given in answers.items()
        },
        votes=votes_on(connection, list(items)),
        found=frozenset(found_by_people(connection, list(items))),
        scores=scores,
        at_chance=at_chance,
    )


def judgeable(connection: Connection, pool_id: int) -> dict[int, bool]:
    """Tell for each item of a pool whether it can be judged: its passage and query have texts."""
    item, candidate, version = table(Item), table(Candidate), table(QueryVersion)
    with_text = sa.select(version.c.query_id)
    statement = (
        sa.select(item.c.id, item.c.text_id.is_not(None) & item.c.query_id.in_(with_text))
        .join(candidate, candidate.c.item_id == item.c.id)
        .where(candidate.c.pool_id == pool_id)
        .order_by(item.c.id)
    )
    return {int(key): bool(available) for key, available in connection.execute(statement)}


def queries_of(connection: Connection, pool_id: int) -> dict[int, int]:
    """Give the query of each item of a pool."""
    item, candidate = table(Item), table(Candidate)
    statement = (
        sa.select(item.c.id, item.c.query_id)
        .join(candidate, candidate.c.item_id == item.c.id)
        .where(candidate.c.pool_id == pool_id)
    )
    return {int(key): int(query) for key, query in connection.execute(statement)}
