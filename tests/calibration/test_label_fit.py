from __future__ import annotations

import json

import numpy as np
import pytest

from labeler.calibration.design import make_design
from labeler.calibration.label_fit import LEAST_FOR_CALIBRATED, Way, fit_labels
from labeler.evaluation.skill import log_loss
from tests.calibration.signals_by_hand import judge_signals, peculiar_queries, pool_signals


def test_smoothing_finds_what_is_peculiar_to_each_query() -> None:
    signals, truth = peculiar_queries(seed=1)
    places = np.flatnonzero(np.random.default_rng(2).uniform(size=len(truth)) < 0.5)
    fitted = fit_labels(make_design(signals), places, truth[places])
    assert fitted.way is Way.SMOOTHED
    assert fitted.losses[Way.SMOOTHED] < fitted.losses[Way.REFIT] - 0.1
    others = np.setdiff1d(np.arange(len(truth)), places)
    said = fitted.probabilities[others].argmax(axis=1)
    judge = make_design(signals).fixed[others].argmax(axis=1)
    assert (said == truth[others]).mean() > (judge == truth[others]).mean() + 0.15


def test_a_labelled_item_never_sees_its_own_label() -> None:
    """Turn one label round: its own probabilities stay, those of its neighbours move."""
    signals, truth = peculiar_queries(seed=3)
    design = make_design(signals)
    places = np.arange(0, len(truth), 2)
    fitted = fit_labels(design, places, truth[places])
    assert fitted.kernel is not None
    turned = truth.copy()
    turned[places[0]] = 2 - truth[places[0]]
    again = fit_labels(design, places, turned[places])
    if again.kernel == fitted.kernel:
        assert again.probabilities[places[0]] == pytest.approx(fitted.probabilities[places[0]])
    assert again.kernel == fitted.kernel
    assert not np.allclose(again.probabilities[1], fitted.probabilities[1])


def test_below_a_hundred_labels_the_judges_own_labels_stay() -> None:
    signals, truth = peculiar_queries(seed=1)
    places = np.arange(LEAST_FOR_CALIBRATED - 1) * 8
    few = fit_labels(make_design(signals), places, truth[places])
    assert not few.is_calibrated
    assert few.way is Way.FIXED
    assert list(few.losses) == [Way.FIXED]
    more = np.arange(LEAST_FOR_CALIBRATED) * 8
    enough = fit_labels(make_design(signals), more, truth[more])
    assert enough.is_calibrated
    assert Way.SMOOTHED in enough.losses


def test_labels_of_relevant_items_alone_calibrate_nothing() -> None:
    signals, truth = peculiar_queries(seed=1)
    places = np.flatnonzero(truth > 0)[: 2 * LEAST_FOR_CALIBRATED]
    assert len(places) == 2 * LEAST_FOR_CALIBRATED
    assert not fit_labels(make_design(signals), places, truth[places]).is_calibrated
    with_one = np.sort(np.append(places, np.flatnonzero(truth == 0)[0]))
    assert fit_labels(make_design(signals), with_one, truth[with_one]).is_calibrated


def test_one_label_a_query_is_no_ground_for_smoothing() -> None:
    signals, truth = peculiar_queries(seed=4, queries=120, items=10)
    design = make_design(signals)
    places = np.array([part[0] for part in design.parts])
    fitted = fit_labels(design, places, truth[places])
    assert fitted.is_calibrated
    assert Way.SMOOTHED not in fitted.losses
    assert (fitted.smoothed, fitted.kernel) == (0, None)


def test_a_query_with_one_label_is_left_as_the_global_model_has_it() -> None:
    signals, truth = peculiar_queries(seed=5)
    design = make_design(signals)
    places = np.concatenate([[0], np.arange(40, len(truth), 3)])
    smoothed = fit_labels(design, places, truth[places])
    assert smoothed.way is Way.SMOOTHED
    assert smoothed.smoothed == 19
    first = design.parts[0]
    turned = np.concatenate([[2 - truth[0]], truth[places[1:]]])
    again = fit_labels(design, places, turned)
    # The fit that answers the first query has none of its labels, and nothing was smoothed there.
    assert again.probabilities[first] == pytest.approx(smoothed.probabilities[first])


def test_a_refit_that_does_worse_than_the_judges_is_not_in_force() -> None:
    """A judge that is always right: labels of other queries can only blur what it says."""
    random = np.random.default_rng(1)
    truth = random.integers(0, 3, size=300)
    signals = pool_signals(
        (judge_signals("right", truth.astype(np.float64)),), np.repeat(np.arange(30), 10)
    )
    places = np.arange(0, 300, 2)
    fitted = fit_labels(make_design(signals), places, truth[places])
    assert fitted.losses[Way.FIXED] < fitted.losses[Way.REFIT]
    assert fitted.way is Way.FIXED
    assert fitted.probabilities.argmax(axis=1).tolist() == truth.tolist()


def test_labels_of_one_grade_are_no_ground_for_a_refit() -> None:
    signals, truth = peculiar_queries(seed=6)
    places = np.flatnonzero(truth == 0)[:150]
    assert fit_labels(make_design(signals), places, truth[places]).way is Way.FIXED


def test_the_same_labels_give_the_same_fit() -> None:
    signals, truth = peculiar_queries(seed=7)
    places = np.arange(0, len(truth), 3)
    first, second = (fit_labels(make_design(signals), places, truth[places]) for _ in range(2))
    assert first.probabilities.tobytes() == second.probabilities.tobytes()
    assert first.to_json() == second.to_json()
    assert json.loads(first.to_json())["way"] == "smoothed"


def test_losses_are_those_of_labels_that_were_not_seen() -> None:
    signals, truth = peculiar_queries(seed=8)
    places = np.arange(0, len(truth), 2)
    fitted = fit_labels(make_design(signals), places, truth[places])
    assert fitted.losses[fitted.way] == log_loss(fitted.probabilities[places], truth[places])
    others = np.setdiff1d(np.arange(len(truth)), places)
    unseen = log_loss(fitted.probabilities[others], truth[others])
    assert fitted.losses[fitted.way] == pytest.approx(unseen, abs=0.05)
