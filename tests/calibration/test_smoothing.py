from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from labeler.calibration.smoothing import Kernel, QueryPart, smooth, tune
from labeler.search.tfidf import TfIdf

WORDS = ["amber apple", "amber apricot", "brick bread", "brick bridge", "coral crane", "coral cake"]


def part(labelled: list[int], seed: int = 0) -> QueryPart:
    random = np.random.default_rng(seed)
    x, z = random.normal(size=(len(WORDS), 3)), random.normal(size=len(WORDS))
    return QueryPart(np.arange(len(WORDS)), np.array(labelled), TfIdf(WORDS), x, z)


def residuals(count: int, seed: int = 1) -> NDArray[np.float64]:
    drawn = np.random.default_rng(seed).normal(size=(count, 3))
    centred: NDArray[np.float64] = drawn - drawn.mean(axis=1, keepdims=True)
    return centred


@settings(max_examples=25)
@given(st.integers(0, 500), st.integers(2, 6))
def test_leaving_one_out_is_what_refitting_without_it_gives(seed: int, count: int) -> None:
    kernel = Kernel(level=0.3, words=1.5, reach_of_words=0.4, slope=0.2, signals=0.7)
    places = np.random.default_rng(seed).permutation(len(WORDS))[:count]
    labelled = sorted(places.tolist())
    given_residuals = residuals(count, seed)
    _, without = smooth(part(labelled, seed), kernel, given_residuals)
    for place, item in enumerate(labelled):
        rest = [one for one in labelled if one != item]
        keep = [k for k in range(count) if k != place]
        correction, _ = smooth(part(rest, seed), kernel, given_residuals[keep])
        assert without[place] == pytest.approx(correction[item])


@given(st.integers(0, 500))
def test_corrections_of_the_grades_cancel(seed: int) -> None:
    correction, without = smooth(part([0, 2, 5], seed), Kernel(), residuals(3, seed))
    assert np.abs(correction.sum(axis=1)).max() < 1e-12
    assert np.abs(without.sum(axis=1)).max() < 1e-12


def test_what_was_learned_reaches_the_alike_and_not_the_unlike() -> None:
    kernel = Kernel(level=0, words=4, reach_of_words=0.5, slope=0, signals=0)
    correction, _ = smooth(part([0, 2]), kernel, np.array([[-1, 0, 1.0], [0, 0, 0]]))
    assert correction[1, 2] > 0.1
    assert abs(correction[3, 2]) < 0.7 * correction[1, 2]


def test_the_kernel_that_is_chosen_errs_no_more_than_the_start() -> None:
    parts = [part([0, 1, 2, 3, 4], seed) for seed in range(4)]
    given_residuals = [residuals(5, seed) for seed in range(4)]

    def error(kernel: Kernel) -> float:
        pairs = zip(parts, given_residuals, strict=True)
        return sum(float(np.square(own - smooth(one, kernel, own)[1]).sum()) for one, own in pairs)

    start = Kernel()
    chosen = tune(parts, given_residuals, start)
    assert error(chosen) < error(start)
    assert tune(parts, given_residuals, start) == chosen


def test_noise_teaches_nothing() -> None:
    """Where residuals are independent of everything, next to nothing is corrected."""
    parts = [part([0, 1, 2, 3, 4, 5], seed) for seed in range(60)]
    noise = [residuals(6, 100 + seed) for seed in range(60)]
    chosen = tune(parts, noise)
    corrected = [smooth(one, chosen, own)[1] for one, own in zip(parts, noise, strict=True)]
    assert np.square(corrected).mean() < 0.05 * np.square(noise).mean()
