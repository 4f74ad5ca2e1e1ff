from __future__ import annotations

import numpy as np
import pytest

from labeler.assessment.item_scores import ItemScores
from labeler.assessment.people_labels import PeopleLabels
from labeler.calibration.calibrate import fit_scores
from labeler.calibration.health import (
    Health,
    JudgeHealth,
    at_chance_in,
    health_of,
    judges_at_chance,
)
from labeler.labels import Grade
from tests.calibration.signals_by_hand import judge_signals, pool_signals

QUERIES = np.repeat(np.arange(30), 20)


def health(right: float, labels: int = 600, seed: int = 1) -> JudgeHealth:
    """Tell the health of a judge that is right with this probability."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, size=600)
    said = 2 * np.where(random.uniform(size=600) < right, truth, 1 - truth)
    places = np.arange(labels)
    one = judge_signals("one", said.astype(np.float64))
    return health_of(one, places, truth[:labels] > 0, QUERIES[:labels])


def test_a_judge_that_guesses_is_at_chance() -> None:
    found = health(0.5)
    assert found.health is Health.AT_CHANCE
    assert found.auc.low is not None
    assert found.auc.high is not None
    assert found.auc.low <= 0.5 <= found.auc.high
    assert judges_at_chance([found, health(0.9)]) == {"one"}


@pytest.mark.parametrize("seed", range(5))
def test_a_judge_that_knows_something_is_not(seed: int) -> None:
    assert health(0.65, seed=seed).health is Health.BETTER


def test_a_judge_that_is_worse_than_chance_does_not_count_either() -> None:
    assert health(0.3).health is Health.AT_CHANCE


def test_few_labels_tell_nothing() -> None:
    assert health(0.5, labels=99).health is Health.FEW_LABELS
    assert judges_at_chance([health(0.5, labels=99)]) == frozenset()


def test_too_few_queries_for_an_interval_tell_nothing() -> None:
    assert health(0.5, labels=120).health is Health.FEW_LABELS


def test_a_wide_interval_is_no_verdict() -> None:
    """Right on six queries and wrong on four: it may know much or nothing."""
    truth = np.tile([0, 1], 60)
    said = 2 * np.where(np.repeat(np.arange(10) < 6, 12), truth, 1 - truth)
    found = health_of(
        judge_signals("one", said.astype(np.float64)),
        np.arange(120),
        truth > 0,
        np.repeat(np.arange(10), 12),
    )
    assert found.auc.value == pytest.approx(0.6)
    assert found.health is Health.OPEN


def test_the_verdict_is_stored_with_the_scores() -> None:
    random = np.random.default_rng(3)
    truth = random.integers(0, 2, size=600) * 2
    good = np.where(random.uniform(size=600) < 0.9, truth, 2 - truth)
    judges = (
        judge_signals("good", good.astype(np.float64)),
        judge_signals("noise", random.integers(0, 3, size=600).astype(np.float64)),
    )
    signals = pool_signals(judges, QUERIES)
    grades = (Grade.NOT_RELEVANT, Grade.PARTIALLY_RELEVANT, Grade.FULLY_RELEVANT)
    labels = PeopleLabels(
        {item: grades[truth[item - 1]] for item in range(1, 601)}, frozenset(range(1, 601)), 0
    )
    places = np.arange(600)
    found = tuple(health_of(one, places, truth > 0, QUERIES) for one in judges)
    scores: ItemScores = fit_scores(signals, labels, found)[0]
    assert at_chance_in(scores) == {"noise"}
    assert at_chance_in(None) == frozenset()
