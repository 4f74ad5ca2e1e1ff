from __future__ import annotations

import math
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import UsageError
from labeler.evaluation.skill import (
    accuracy_at_coverage,
    auc,
    expected_calibration_error,
    log_loss,
)

PAIRS = st.lists(st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.9]), st.booleans()), min_size=1)


@given(PAIRS)
def test_auc_counts_pairs(pairs: list[tuple[float, bool]]) -> None:
    scores = np.array([score for score, _ in pairs])
    positive = np.array([kind for _, kind in pairs])
    wins = [
        1.0 if high > low else 0.5 if high == low else 0.0
        for high in scores[positive]
        for low in scores[~positive]
    ]
    expected = sum(wins) / len(wins) if wins else None
    assert auc(scores, positive) == (None if expected is None else pytest.approx(expected))


def test_auc_of_hanley_and_mcneil() -> None:
    # Table I of Hanley and McNeil 1982: ratings 1 to 5 of 58 normal and 51 abnormal images;
    # the area they give is 0.893.
    normal, abnormal = [33, 6, 6, 11, 2], [3, 2, 2, 11, 33]
    scores = np.repeat(np.tile(np.arange(1.0, 6.0), 2), normal + abnormal)
    positive = np.repeat([False, True], [58, 51])
    assert auc(scores, positive) == pytest.approx(0.893, abs=0.0005)


def test_log_loss_by_hand() -> None:
    probabilities = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [1.0, 0.0, 0.0]])
    loss = log_loss(probabilities, np.array([0, 2, 1]))
    assert loss == pytest.approx(-(math.log(0.5) + math.log(0.8) + math.log(1e-15)) / 3)


def test_calibration_error_by_hand() -> None:
    # One bin (0.6, 0.7]: mean confidence 0.65, accuracy 0.5. One bin (0.9, 1]: 1.0 and 1.0.
    confidence = np.array([0.62, 0.68, 1.0, 1.0])
    correct = np.array([True, False, True, True])
    assert expected_calibration_error(confidence, correct) == pytest.approx(0.15 * 2 / 4)


def test_a_bin_holds_its_upper_edge() -> None:
    # 0.5 and 0.45 share the bin (0.4, 0.5], so their gaps of +0.5 and -0.45 nearly cancel out.
    error = expected_calibration_error(np.array([0.5, 0.45]), np.array([True, False]))
    assert error == pytest.approx(0.05 / 2)
    assert expected_calibration_error(np.array([0.0]), np.array([False])) == 0


def test_calibration_error_of_true_probabilities_vanishes() -> None:
    random = np.random.default_rng(5)
    confidence = random.uniform(0.3, 1.0, size=200_000)
    correct = random.uniform(size=confidence.size) < confidence
    assert expected_calibration_error(confidence, correct) < 0.006
    assert expected_calibration_error(confidence, random.uniform(size=confidence.size) < 0.3) > 0.3


@given(st.lists(st.tuples(st.sampled_from([0.4, 0.6, 0.8]), st.booleans()), min_size=1, max_size=6))
def test_accuracy_at_coverage_is_the_mean_over_orders_of_equals(
    pairs: list[tuple[float, bool]],
) -> None:
    shares = (0.2, 0.5, 1.0)
    expected = []
    for share in shares:
        count = math.ceil(share * len(pairs))
        orders = [
            order for order in permutations(pairs) if all(a[0] >= b[0] for a, b in pairwise(order))
        ]
        expected.append(
            np.mean([np.mean([right for _, right in order[:count]]) for order in orders])
        )
    found = accuracy_at_coverage(
        np.array([confidence for confidence, _ in pairs]),
        np.array([right for _, right in pairs]),
        shares,
    )
    assert found == pytest.approx(expected)


def test_nothing_to_measure_is_refused() -> None:
    nothing, no_labels = np.array([]), np.array([], dtype=bool)
    with pytest.raises(UsageError):
        auc(nothing, no_labels)
    with pytest.raises(UsageError):
        expected_calibration_error(nothing, no_labels)
    with pytest.raises(UsageError):
        log_loss(np.ones((2, 3)), np.array([0]))
    with pytest.raises(UsageError):
        accuracy_at_coverage(np.array([0.5]), np.array([True]), [0.0])
