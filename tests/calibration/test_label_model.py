from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from labeler.calibration.features import FEATURES
from labeler.calibration.label_model import (
    GRADES,
    LabelModel,
    fit,
    loss_and_gradient,
    shipped_model,
)
from labeler.errors import InputError, UsageError
from labeler.labels import Grade

NAMES = ("a", "b", "c")


def drawn(seed: int, n: int) -> tuple[NDArray[np.float64], list[Grade], NDArray[np.float64]]:
    """Draw features and grades from a known model; its probabilities come third."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 3)) * [1, 5, 0.1] + [0, 20, -3]
    truth = LabelModel(
        "truth",
        NAMES,
        np.array([0, 20, -3.0]),
        np.array([1, 5, 0.1]),
        np.array([[-1, 0.5, 0], [0, 0, 0.3], [1, -0.5, -0.3]]),
        np.array([0.8, -0.3, -0.5]),
        "nothing",
    )
    probabilities = truth.probabilities(x)
    picked = (random.uniform(size=(n, 1)) > probabilities.cumsum(axis=1)).sum(axis=1)
    return x, [GRADES[min(column, 2)] for column in picked], probabilities


def refit(x: NDArray[np.float64], grades: list[Grade], l2: float = 1.0) -> LabelModel:
    return fit(x, grades, l2=l2, name="test", fitted_on="drawn labels", features=NAMES)


def test_a_fit_finds_the_probabilities_that_drew_the_labels() -> None:
    x, grades, probabilities = drawn(seed=1, n=20_000)
    assert np.abs(refit(x, grades).probabilities(x) - probabilities).max() < 0.04


@settings(max_examples=20)
@given(st.integers(0, 1000), st.sampled_from([0.01, 1, 50]))
def test_the_fit_is_the_optimum(seed: int, l2: float) -> None:
    x, grades, _ = drawn(seed, n=60)
    model = refit(x, grades, l2)
    design = np.column_stack([(x - model.mean) / model.scale, np.ones(len(x))])
    target = np.array([[grade is column for column in GRADES] for grade in grades], dtype=float)
    weights = np.column_stack([model.coefficients, model.intercepts])
    penalty = np.array([l2] * 3 + [1e-6])
    _, gradient = loss_and_gradient(weights, design, target, penalty)
    assert np.abs(gradient).max() < 1e-4
    assert model.coefficients.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-5)


def test_the_gradient_is_that_of_the_loss() -> None:
    random = np.random.default_rng(3)
    weights, design = random.normal(size=(3, 4)), random.normal(size=(9, 4))
    target = np.eye(3)[random.integers(3, size=9)]
    penalty = np.array([2.0, 2.0, 2.0, 0.1])
    _, gradient = loss_and_gradient(weights, design, target, penalty)
    for place in np.ndindex(weights.shape):
        step = np.zeros_like(weights)
        step[place] = 1e-6
        above, _ = loss_and_gradient(weights + step, design, target, penalty)
        below, _ = loss_and_gradient(weights - step, design, target, penalty)
        assert (above - below) / 2e-6 == pytest.approx(gradient[place], abs=1e-5)


def test_the_fit_agrees_with_another_optimiser() -> None:
    optimize = pytest.importorskip("scipy.optimize", reason="scipy is the other optimiser")
    x, grades, _ = drawn(seed=7, n=200)
    model = refit(x, grades, l2=2.0)
    design = np.column_stack([(x - model.mean) / model.scale, np.ones(len(x))])
    target = np.array([[grade is column for column in GRADES] for grade in grades], dtype=float)
    penalty = np.array([2.0, 2.0, 2.0, 1e-6])

    def flat(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        loss, gradient = loss_and_gradient(values.reshape(3, 4), design, target, penalty)
        return loss, gradient.ravel()

    found = optimize.minimize(flat, np.zeros(12), jac=True, method="L-BFGS-B", tol=1e-12)
    expected = np.column_stack([model.coefficients, model.intercepts])
    assert found.x.reshape(3, 4) == pytest.approx(expected, abs=1e-3)


def test_a_grade_without_labels_gets_hardly_any_probability() -> None:
    x, grades, _ = drawn(seed=2, n=200)
    kept = [place for place, grade in enumerate(grades) if grade is not Grade.PARTIALLY_RELEVANT]
    model = refit(x[kept], [grades[place] for place in kept])
    assert model.probabilities(x)[:, 1].max() < 1e-3


def test_separable_labels_and_a_constant_feature_stay_finite() -> None:
    x = np.column_stack([np.repeat([0.0, 1.0, 2.0], 5), np.full(15, 7.0), np.arange(15.0)])
    grades = [GRADES[place // 5] for place in range(15)]
    model = refit(x, grades, l2=0.1)
    assert [GRADES[column] for column in model.probabilities(x).argmax(axis=1)] == grades
    assert model.coefficients[:, 1] == pytest.approx(np.zeros(3))


finite = st.floats(-1e6, 1e6)


@given(st.lists(st.lists(finite, min_size=8, max_size=8), min_size=1, max_size=5))
def test_probabilities_add_to_one_whatever_the_features(rows: list[list[float]]) -> None:
    probabilities = shipped_model().probabilities(np.array(rows))
    assert (probabilities >= 0).all()
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(len(rows)))


def test_a_model_survives_its_file_with_its_digest() -> None:
    model = refit(*drawn(seed=4, n=50)[:2])
    again = LabelModel.from_json(model.to_json())
    assert again.digest == model.digest
    x = drawn(seed=5, n=20)[0]
    assert again.probabilities(x).tobytes() == model.probabilities(x).tobytes()
    assert dataclasses.replace(model, name="other").digest != model.digest
    moved = dataclasses.replace(model, intercepts=model.intercepts + np.array([1e-9, 0, 0]))
    assert moved.digest != model.digest


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-20],
        lambda text: text.replace("not_relevant", "maybe"),
        lambda text: text.replace('"intercepts"', '"other"'),
        lambda text: text.replace('"a",', ""),
        lambda text: f"[{text}]",
    ],
)
def test_a_damaged_file_is_refused(damage) -> None:  # type: ignore[no-untyped-def] # lambdas above
    text = refit(*drawn(seed=4, n=50)[:2]).to_json()
    with pytest.raises(InputError):
        LabelModel.from_json(damage(text))


def test_a_fit_needs_two_grades_and_finite_features() -> None:
    x, grades, _ = drawn(seed=4, n=10)
    with pytest.raises(UsageError, match="one grade"):
        refit(x, [Grade.NOT_RELEVANT] * 10)
    with pytest.raises(UsageError, match="penalty"):
        refit(x, grades, l2=0)
    with pytest.raises(UsageError, match="finite"):
        refit(np.where(x > 20, np.nan, x), grades)
    with pytest.raises(UsageError):
        refit(x[:9], grades)


def test_the_shipped_model_is_of_the_features_and_says_where_it_is_from() -> None:
    model = shipped_model()
    assert model.features == FEATURES
    assert "dbpedia-entity" in model.fitted_on
