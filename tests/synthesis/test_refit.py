"""Thresholds fitted on what people said."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labeler.synthesis.refit import Judged, fit_thresholds
from labeler.synthesis.thresholds import SHIPPED, Thresholds


def judged(pairs: list[tuple[bool, float]], weight: float = 1.0) -> list[Judged]:
    return [Judged(good, {"log_probability": value}, weight) for good, value in pairs]


def test_the_threshold_that_parts_good_from_bad_is_found() -> None:
    said = judged([(True, -0.3 - n / 100) for n in range(20)])
    said += judged([(False, -0.8 - n / 100) for n in range(20)])
    fit = fit_thresholds(said, Thresholds(log_probability=-0.1), 0.9)
    assert fit.is_reached
    assert -0.8 < fit.thresholds.log_probability <= -0.49
    assert (fit.good, fit.before_good) == (1.0, None)
    assert fit.thresholds.origin == "fitted on 40 answers"
    assert fit.thresholds.window_similarity == SHIPPED.window_similarity


def test_a_target_that_nothing_reaches_is_said_so() -> None:
    said = judged([(n % 2 == 0, -n / 20) for n in range(30)])
    assert not fit_thresholds(said, SHIPPED, 0.95).is_reached


def test_rare_draws_count_for_more() -> None:
    # One bad question in forty that was drawn with probability 1/40 stands for forty.
    said = judged([(True, -0.5)] * 40) + judged([(False, -0.5)], weight=40.0)
    fit = fit_thresholds(said, SHIPPED, 0.8)
    assert fit.good is not None
    assert abs(fit.good - 0.5) < 1e-9


@given(
    st.lists(st.tuples(st.booleans(), st.floats(-2, 0)), min_size=1, max_size=40),
    st.floats(0.1, 0.95),
)
def test_what_is_said_of_a_fit_is_what_its_thresholds_do(
    pairs: list[tuple[bool, float]], target: float
) -> None:
    fit = fit_thresholds(judged(pairs), SHIPPED, target)
    kept = [good for good, value in pairs if value >= fit.thresholds.log_probability]
    assert abs(fit.kept - len(kept) / len(pairs)) < 1e-9
    assert fit.good is not None
    assert abs(fit.good - sum(kept) / len(kept)) < 1e-9
    if fit.is_reached:
        assert fit.good >= target
