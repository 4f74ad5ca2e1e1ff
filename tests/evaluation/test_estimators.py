from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from labeler.evaluation.estimators import (
    Auxiliary,
    StratifiedSample,
    Strength,
    design_effect,
    difference_ratio,
    difference_total,
    effective_size,
    horvitz_thompson,
    power_tuning,
    strength,
    variance_of_total,
)

# Two strata, 5 and 4 units; every sample of 3 and 2 units is equally likely.
VALUES = [np.array([1.0, 0.0, 1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0, 1.0])]
JUDGE = [np.array([0.9, 0.2, 0.6, 0.4, 0.1]), np.array([0.8, 0.7, 0.4, 0.5])]
SIZES = np.array([5, 4])


def _all_samples() -> Iterator[tuple[StratifiedSample, NDArray[np.float64]]]:
    strata = np.array([0, 0, 0, 1, 1])
    for first, second in product(combinations(range(5), 3), combinations(range(4), 2)):
        values = np.concatenate([VALUES[0][list(first)], VALUES[1][list(second)]])
        judge = np.concatenate([JUDGE[0][list(first)], JUDGE[1][list(second)]])
        yield StratifiedSample(SIZES, strata, values), judge


def test_horvitz_thompson_and_its_variance_are_right_over_all_samples() -> None:
    found = [horvitz_thompson(sample, known=7) for sample, _ in _all_samples()]
    values = np.array([one.value for one in found])
    assert values.mean() == pytest.approx(7 + 5)
    variances = [one.error**2 for one in found if one.error is not None]
    assert np.mean(variances) == pytest.approx(values.var())


def test_the_difference_estimator_with_a_fixed_lambda_is_right_over_all_samples() -> None:
    values, variances = [], []
    for sample, judge in _all_samples():
        residual = sample.with_values(sample.values - 0.8 * judge)
        whole = 0.8 * float(JUDGE[0].sum() + JUDGE[1].sum())
        one = horvitz_thompson(residual, known=whole)
        assert one.value is not None
        assert one.error is not None
        values.append(one.value)
        variances.append(one.error**2)
    assert np.mean(values) == pytest.approx(5)
    assert np.mean(variances) == pytest.approx(np.var(values))
    plain = np.var([(s.weights * s.values).sum() for s, _ in _all_samples()])
    assert np.var(values) < 0.6 * plain


def _population(seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    judge = rng.beta(0.6, 1.2, 1200)
    return (rng.random(1200) < judge).astype(np.float64), judge


def _draws(
    of: Callable[[StratifiedSample, NDArray[np.float64]], tuple[float, float]], count: int
) -> NDArray[np.float64]:
    values, judge = _population(4)
    rng = np.random.default_rng(5)
    strata = np.zeros(120, dtype=np.int64)
    found = []
    for _ in range(count):
        chosen = rng.choice(1200, 120, replace=False)
        sample = StratifiedSample(np.array([1200]), strata, values[chosen])
        found.append(of(sample, judge[chosen]))
    return np.array(found)


def test_a_good_judge_makes_the_estimate_sharper_and_leaves_it_unbiased() -> None:
    values, judge = _population(4)
    totals = np.array([judge.sum()])

    def both(sample: StratifiedSample, of: NDArray[np.float64]) -> tuple[float, float]:
        leaned = difference_total(sample, Auxiliary(of, totals))
        plain = horvitz_thompson(sample)
        assert leaned.value is not None
        assert plain.value is not None
        return leaned.value, plain.value

    found = _draws(both, 400)
    leaned, plain = found[:, 0], found[:, 1]
    assert leaned.mean() == pytest.approx(values.sum(), abs=3 * leaned.std() / 20)
    # The gain can't pass 1 / (1 - rho^2), and gets most of the way there.
    rho = np.corrcoef(values, judge)[0, 1]
    gain = plain.var() / leaned.var()
    assert 0.75 / (1 - rho**2) < gain < 1.25 / (1 - rho**2)


def test_a_judge_that_knows_nothing_is_not_leaned_on() -> None:
    rng = np.random.default_rng(0)
    sample = StratifiedSample(
        np.array([9000]), np.zeros(3000, dtype=np.int64), (rng.random(3000) < 0.4).astype(float)
    )
    assert power_tuning(sample, rng.random(3000)) < 0.1
    assert power_tuning(sample, sample.values) == pytest.approx(1.0)
    assert power_tuning(sample, 1 - sample.values) == 0.0
    assert power_tuning(sample, np.full(3000, 0.3)) == 0.0


def test_pooled_recall_when_everything_is_labelled_is_recall() -> None:
    strata = np.repeat([0, 1], [5, 4])
    sample = StratifiedSample(SIZES, strata, np.concatenate(VALUES))
    retrieved = np.array([1.0, 0.0])
    found = difference_ratio(sample, retrieved, known_numerator=3, known_total=4)
    assert found.value == pytest.approx((3 + 2) / (4 + 5))
    assert found.error == pytest.approx(0.0)
    judge = Auxiliary(np.concatenate(JUDGE), np.array([2.2, 2.4]))
    leaned = difference_ratio(sample, retrieved, known_numerator=3, known_total=4, auxiliary=judge)
    assert leaned.value == pytest.approx(found.value)


def test_the_linearised_error_of_recall_is_that_of_repeated_samples() -> None:
    values, judge = _population(4)
    parts = [np.flatnonzero(judge > 0.5), np.flatnonzero(judge <= 0.5)]
    sizes, counts = np.array([len(part) for part in parts]), (100, 200)
    strata = np.repeat([0, 1], counts)
    totals = np.array([judge[part].sum() for part in parts])
    rng = np.random.default_rng(6)
    plain, leaned = [], []
    for _ in range(400):
        chosen = np.concatenate(
            [rng.choice(part, n, replace=False) for part, n in zip(parts, counts, strict=True)]
        )
        sample = StratifiedSample(sizes, strata, values[chosen])
        plain.append(difference_ratio(sample, np.array([1.0, 0.0])))
        judged = Auxiliary(judge[chosen], totals)
        leaned.append(difference_ratio(sample, np.array([1.0, 0.0]), auxiliary=judged))
    truth = float(values[parts[0]].sum() / values.sum())
    for found in (plain, leaned):
        estimates = np.array([one.value for one in found])
        errors = np.array([one.error for one in found])
        assert estimates.mean() == pytest.approx(truth, abs=0.01)
        assert errors.mean() == pytest.approx(estimates.std(), rel=0.15)


def test_a_stratum_with_one_label_takes_the_spread_of_it_and_its_neighbour() -> None:
    sample = StratifiedSample(np.array([10, 10]), np.array([0, 1, 1]), np.array([1.0, 0.0, 0.0]))
    spread = np.var([1.0, 0.0, 0.0], ddof=1)
    assert variance_of_total(sample) == pytest.approx(100 * (1 - 0.1) * spread)


def test_a_stratum_without_a_label_is_refused() -> None:
    with pytest.raises(ValueError, match="collapse"):
        StratifiedSample(np.array([3, 3]), np.array([0]), np.array([1.0]))
    with pytest.raises(ValueError, match="more units"):
        StratifiedSample(np.array([1]), np.array([0, 0]), np.array([1.0, 1.0]))


@given(st.lists(st.floats(0.1, 100), min_size=1, max_size=30))
def test_unequal_weights_never_raise_the_effective_size(weights: list[float]) -> None:
    array = np.array(weights)
    assert effective_size(array) <= len(array) * (1 + 1e-9)
    assert effective_size(np.ones(len(array))) == pytest.approx(len(array))
    effect = design_effect(array)
    assert effect is not None
    assert effect >= 1 - 1e-9


def test_how_far_an_estimate_can_be_leaned_on() -> None:
    assert strength(np.ones(40), 12) is Strength.SOUND
    assert strength(np.ones(40), 9) is Strength.WEAK
    assert strength(np.ones(19), 12) is Strength.WEAK
    assert strength(np.array([50.0, *([1.0] * 39)]), 12) is Strength.WEAK
    assert strength(np.ones(40), 0) is Strength.NO_POSITIVES
    assert design_effect(np.array([])) is None
