from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labeler.errors import UsageError
from labeler.evaluation.intervals import jackknife_interval, student_t_quantile

VALUES = st.lists(st.floats(-5, 5), min_size=8, max_size=60)


@given(st.floats(0.5, 0.9995), st.integers(1, 3000))
def test_the_quantile_is_that_of_scipy(probability: float, degrees: int) -> None:
    expected = stats.t.ppf(probability, degrees)
    assert student_t_quantile(probability, degrees) == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_the_printed_table_of_student() -> None:
    # Table 26.10 of Abramowitz and Stegun: A = 0.95 for 1, 4, 9 and 30 degrees of freedom.
    found = [student_t_quantile(0.975, degrees) for degrees in (1, 4, 9, 30)]
    assert found == pytest.approx([12.706, 2.776, 2.262, 2.042], abs=0.0005)


@pytest.mark.parametrize(("probability", "degrees"), [(0.4, 5), (1.0, 5), (0.9, 0)])
def test_what_has_no_quantile_is_refused(probability: float, degrees: int) -> None:
    with pytest.raises(UsageError):
        student_t_quantile(probability, degrees)


@given(VALUES)
def test_the_jackknife_of_a_mean_is_the_t_interval(values: list[float]) -> None:
    sample = np.array(values)
    without = (sample.sum() - sample) / (len(sample) - 1)
    low, high = jackknife_interval(float(sample.mean()), without)
    error = sample.std(ddof=1) / np.sqrt(len(sample))
    reach = stats.t.ppf(0.975, len(sample) - 1) * error
    assert (high - low) / 2 == pytest.approx(reach, rel=1e-6, abs=1e-9)
    assert (high + low) / 2 == pytest.approx(sample.mean(), abs=1e-9)


def test_too_few_clusters_are_refused() -> None:
    with pytest.raises(UsageError, match="8 clusters"):
        jackknife_interval(0.5, np.full(7, 0.5))
