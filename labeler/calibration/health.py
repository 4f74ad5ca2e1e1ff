"""Whether a judge knows anything: its labels against people's, and chance.

A judge at chance stops counting in panels, and disagreement with it is no dispute. Votes that the
queue brought forward because an item looked doubtful are no test of a judge: where all signals
together leave an item open, each of them is near chance. So only labels count here that no doubt
picked (`labeler.assessment.people_labels.PeopleLabels.unpicked`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from labeler.assessment.item_scores import ItemScores
from labeler.assessment.pool_signals import JudgeSignals
from labeler.evaluation.agreement import Estimate, cohen_kappa, confusion_tables, estimate
from labeler.evaluation.calibration import clustered
from labeler.evaluation.skill import auc

__all__ = [
    "Health",
    "JudgeHealth",
    "at_chance_in",
    "health_of",
    "judges_at_chance",
]

CHANCE = 0.5
"""The AUC of a judge that knows nothing."""

LEAST_LABELS = 100
"""With fewer labels of people nothing is said of a judge."""

_LITTLE = 0.65
"""An interval that holds chance tells of a judge at chance when it ends below this; a wider one
tells only that labels are few."""


class Health(StrEnum):
    """What is known of a judge's labels against people's."""

    BETTER = "better than chance"
    AT_CHANCE = "at chance"
    OPEN = "not told apart from chance yet"
    FEW_LABELS = "too few labels"


@dataclass(frozen=True, slots=True)
class JudgeHealth:
    """How one judge does on items that no doubt picked.

    Attributes:
        judge: Its name.
        labels: Items that both it and people labelled.
        queries: Their queries.
        auc: The chance that it puts a relevant item above one that isn't.
        kappa: Agreement on relevant or not beyond chance.
        health: What follows.
    """

    judge: str
    labels: int
    queries: int
    auc: Estimate
    kappa: Estimate
    health: Health


def health_of(
    judge: JudgeSignals,
    places: NDArray[np.int64],
    relevant: NDArray[np.bool_],
    queries: NDArray[np.int64],
) -> JudgeHealth:
    """Compare a judge with people.

    Args:
        judge: The judge's signals on the items of a pool.
        places: Shape (labels,): the places of the items that people labelled.
        relevant: Shape (labels,): whether people say that the item is relevant.
        queries: Shape (labels,): the query of each.
    """
    score = _scores(judge)[places]
    there = ~np.isnan(score)
    score, truth, clusters = score[there], relevant[there], queries[there]
    grades = judge.grade[places][there]
    tables = confusion_tables(
        truth.astype(np.int64), (grades > 0).astype(np.int64), clusters, levels=2
    )
    found = clustered(lambda rows: auc(score[rows], truth[rows]), clusters, least=0.0, most=1.0)
    return JudgeHealth(
        judge=judge.name,
        labels=len(score),
        queries=len(np.unique(clusters)),
        auc=found,
        kappa=estimate(tables, cohen_kappa) if len(score) else Estimate(None),
        health=_health(len(score), found),
    )


def judges_at_chance(healths: Iterable[JudgeHealth]) -> frozenset[str]:
    """Name the judges that don't count in panels: they are at chance, on labels enough."""
    return frozenset(one.judge for one in healths if one.health is Health.AT_CHANCE)


def at_chance_in(scores: ItemScores | None) -> frozenset[str]:
    """Name the judges at chance as a score version has them; none where there is none."""
    if scores is None:
        return frozenset()
    judges = json.loads(scores.model).get("judges", [])
    return frozenset(one["judge"] for one in judges if one["health"] == Health.AT_CHANCE)


def as_plain(health: JudgeHealth) -> dict[str, object]:
    """Give it as it is stored with a score version."""
    return asdict(health)


def _health(labels: int, found: Estimate) -> Health:
    if labels < LEAST_LABELS or found.value is None or found.low is None or found.high is None:
        return Health.FEW_LABELS
    if found.low > CHANCE:
        return Health.BETTER
    return Health.AT_CHANCE if found.high < _LITTLE else Health.OPEN


def _scores(judge: JudgeSignals) -> NDArray[np.float64]:
    """Give what orders items: probabilities where the judge gives them, else its levels."""
    relevant = 1.0 - judge.probabilities[:, 0]
    return judge.level if np.isnan(relevant).all() else relevant
