"""Calibration through the store: votes in, frozen versions of scores out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from labeler.assessment.item_scores import latest_scores, scores_by_digest
from labeler.assessment.people_labels import read_people_labels
from labeler.assessment.pool_signals import read_pool_signals
from labeler.calibration.calibrate import calibrate_pool, fit_scores, read_healths
from labeler.calibration.health import Health
from labeler.calibration.label_fit import Way
from labeler.calibration.label_model import shipped_model
from labeler.calibration.policies import UNCALIBRATED, Policy
from labeler.errors import NotFoundError
from labeler.judges.embedded import EmbeddedJudge
from labeler.judges.run import judge_pool, read_pool_blocks
from labeler.labels import Grade
from labeler.queue.route import route_pool
from labeler.records import table
from labeler.records.scales import AssessorKind
from labeler.records.scores import Calibration, ScoreVersion
from labeler.search.lexical import TermStatistics
from labeler.store.database import Store
from tests.calibrated import TOPICS, TopicJudge, by_query, topic_pool
from tests.hash_embedder import HashEmbedder
from tests.scored import vote
from tests.small import pooled


def voted(store: Store, grades: dict[int, Grade], each: int) -> list[int]:
    """Have people vote on the first items of each query; give those items."""
    route_pool(store, "p", Policy("all go to people", 1.0))
    chosen = [item for items in by_query(grades) for item in items[:each]]
    vote(store, chosen, lambda item: grades[item])
    return chosen


def test_votes_make_a_calibrated_version(store: Store, own_folder: Path) -> None:
    grades = topic_pool(store, own_folder, [TopicJudge("one", 60), TopicJudge("two", 65)])
    first = calibrate_pool(store, "p")
    assert (first.calibration, first.way, first.labels) == (
        Calibration.UNCALIBRATED,
        Way.FIXED,
        0,
    )
    chosen = voted(store, grades, each=12)
    report = calibrate_pool(store, "p")
    assert (report.calibration, report.labels, report.queries) == (Calibration.CALIBRATED, 120, 10)
    assert report.way is Way.SMOOTHED
    assert report.losses[Way.SMOOTHED] < min(report.losses[Way.FIXED], report.losses[Way.REFIT])
    with store.read() as connection:
        scores = latest_scores(connection, 1)
        assert scores is not None
        assert scores_by_digest(connection, first.digest) is not None
    assert scores.digest == report.digest
    assert scores.probabilities.sum(axis=1) == pytest.approx(np.ones(240))
    with store.read() as connection:
        before = scores_by_digest(connection, first.digest)
    assert before is not None
    others = np.array([item not in chosen for item in scores.item_ids.tolist()])
    relevant = np.array([grades[item] is Grade.FULLY_RELEVANT for item in scores.item_ids.tolist()])
    shares = [
        ((one.probabilities.argmax(axis=1) > 0) == relevant)[others].mean()
        for one in (before, scores)
    ]
    # Of the items that nobody voted on more are right, by what was learned of their neighbours.
    assert shares[1] > shares[0] + 0.05


def test_a_fit_to_the_same_votes_is_the_same_version(sqlite_store: Store, own_folder: Path) -> None:
    grades = topic_pool(sqlite_store, own_folder, [TopicJudge("one", 60)])
    voted(sqlite_store, grades, each=11)
    first, second = calibrate_pool(sqlite_store, "p"), calibrate_pool(sqlite_store, "p")
    assert first.digest == second.digest
    assert (first.is_new, second.is_new) == (True, False)
    assert second.revision is None
    with sqlite_store.read() as connection:
        count = sa.select(sa.func.count()).select_from(table(ScoreVersion))
        assert connection.execute(count).scalar_one() == 1


def test_a_version_tells_what_it_was_made_of(sqlite_store: Store, own_folder: Path) -> None:
    grades = topic_pool(sqlite_store, own_folder, [TopicJudge("one", 60)])
    voted(sqlite_store, grades, each=11)
    calibrate_pool(sqlite_store, "p")
    with sqlite_store.read() as connection:
        scores = latest_scores(connection, 1)
        labels = read_people_labels(connection, 1)
        signals = read_pool_signals(connection, 1)
    assert scores is not None
    model = json.loads(scores.model)
    assert model["labels"] == labels.digest
    assert model["signals"] == signals.digest
    assert model["way"] == "smoothed"
    assert set(model["losses"]) == {"fixed", "refit", "smoothed"}
    # The stated confidence is the same column as the confidence, and stands there once.
    assert {"one: level", "one: confidence"} <= set(model["global"]["features"])
    # Nothing of a run: no rank, no score, no name.
    assert not any("rank" in name or "run" in name for name in model["global"]["features"])
    again, _ = fit_scores(signals, labels, read_healths(signals, labels))
    assert again.digest == scores.digest


def test_a_judge_that_guesses_is_told_and_leaves_routing(
    sqlite_store: Store, own_folder: Path
) -> None:
    judges = [TopicJudge("good", 90), TopicJudge("guess", 50)]
    grades = topic_pool(sqlite_store, own_folder, judges, queries=30)
    voted(sqlite_store, grades, each=4)
    report = calibrate_pool(sqlite_store, "p")
    found = {one.judge: one for one in report.judges}
    assert found["good"].health is Health.BETTER
    assert found["guess"].health is Health.AT_CHANCE
    before = route_pool(sqlite_store, "p", UNCALIBRATED)
    assert before.at_chance == ("guess",)
    assert "judges_disagree" not in before.reasons


def test_votes_that_doubt_picked_are_no_test_of_a_judge(
    sqlite_store: Store, own_folder: Path
) -> None:
    grades = topic_pool(sqlite_store, own_folder, [TopicJudge("one", 60)])
    chosen = voted(sqlite_store, grades, each=12)
    with sqlite_store.read() as connection:
        labels = read_people_labels(connection, 1)
    assert labels.grades.keys() == set(chosen)
    # The first four of each of ten queries; nothing was drawn beyond the audit.
    assert len(labels.unpicked) == 40
    report = calibrate_pool(sqlite_store, "p")
    assert [(one.labels, one.health) for one in report.judges] == [(40, Health.FEW_LABELS)]


def test_samples_of_a_judge_are_taken_together(sqlite_store: Store, own_folder: Path) -> None:
    topic_pool(sqlite_store, own_folder, [TopicJudge("one", 60)], queries=2)
    with sqlite_store.read() as connection:
        (judge,) = read_pool_signals(connection, 1).judges
    assert set(judge.signals) == {"confidence", "stated_confidence"}
    assert judge.signals["confidence"].tolist() == judge.signals["stated_confidence"].tolist()
    assert set(judge.level.tolist()) == {0.0, 2.0}
    assert np.isnan(judge.probabilities).all()


def test_the_embedded_judge_alone_is_enough(sqlite_store: Store, own_folder: Path) -> None:
    grades = topic_pool(sqlite_store, own_folder, [])
    statistics = TermStatistics.from_texts(TOPICS)
    embedded = EmbeddedJudge(HashEmbedder(), shipped_model(), statistics)
    with sqlite_store.read() as connection:
        blocks = read_pool_blocks(connection, "p")
    judge_pool(sqlite_store, blocks, embedded, AssessorKind.EMBEDDED, monotonic=lambda: 0.0)
    first = calibrate_pool(sqlite_store, "p")
    with sqlite_store.read() as connection:
        scores, signals = latest_scores(connection, 1), read_pool_signals(connection, 1)
    assert scores is not None
    # Without votes the judge is taken at its word.
    (own,) = signals.judges
    assert scores.probabilities == pytest.approx(own.probabilities, abs=0.01)
    voted(sqlite_store, grades, each=12)
    report = calibrate_pool(sqlite_store, "p")
    assert report.digest != first.digest
    assert report.calibration is Calibration.CALIBRATED
    assert report.losses[Way.SMOOTHED] < report.losses[Way.FIXED]


def test_a_pool_without_a_judge(sqlite_store: Store, own_folder: Path) -> None:
    pooled(sqlite_store, own_folder)
    with pytest.raises(NotFoundError, match="no judge has judged") as caught:
        calibrate_pool(sqlite_store, "p")
    assert caught.value.hint is not None
    assert "judge run" in caught.value.hint
    with pytest.raises(NotFoundError, match="no pool"):
        calibrate_pool(sqlite_store, "other")
