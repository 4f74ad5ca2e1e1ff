import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.evaluation.drift import (
    ShiftVerdict,
    bhapkar,
    marginal_shift,
    mcnemar_exact,
    stuart_maxwell,
)

# Unaided distance vision of 7,477 women, right against left eye: Stuart 1955, table 1.
VISION = np.array(
    [[1520, 266, 124, 66], [234, 1512, 432, 78], [117, 362, 1772, 205], [36, 82, 179, 492]],
    dtype=np.float64,
)

square = st.integers(2, 5).flatmap(
    lambda size: st.lists(st.integers(0, 30), min_size=size * size, max_size=size * size).map(
        lambda cells: np.array(cells, dtype=np.float64).reshape(size, size)
    )
)


def test_the_published_table_gives_the_published_statistics() -> None:
    found = stuart_maxwell(VISION)
    assert found.degrees == 3
    assert found.statistic == pytest.approx(11.957, abs=0.001)
    assert found.p == pytest.approx(0.00753, abs=0.00001)
    assert bhapkar(VISION).statistic == pytest.approx(11.976, abs=0.001)


def test_two_levels_give_mcnemar_without_correction() -> None:
    table = np.array([[50.0, 12.0], [4.0, 30.0]])
    assert stuart_maxwell(table).statistic == pytest.approx((12 - 4) ** 2 / (12 + 4))


@given(square)
def test_margins_that_are_equal_show_no_drift(table: np.ndarray) -> None:
    found = stuart_maxwell(table + table.T)
    assert found.statistic == pytest.approx(0.0, abs=1e-6)
    assert found.p == pytest.approx(1.0, abs=1e-6)


@given(square)
def test_the_order_of_occasions_and_unused_levels_change_nothing(table: np.ndarray) -> None:
    found = stuart_maxwell(table)
    turned = stuart_maxwell(table.T)
    assert turned.statistic == pytest.approx(found.statistic, rel=1e-6, abs=1e-9)
    wider = np.zeros((len(table) + 1, len(table) + 1))
    wider[:-1, :-1] = table
    assert stuart_maxwell(wider).statistic == pytest.approx(found.statistic, rel=1e-6, abs=1e-9)
    assert bhapkar(table).statistic >= found.statistic - 1e-9


def test_mcnemar_is_the_binomial() -> None:
    from scipy import stats

    for raised, lowered in ((9, 1), (3, 3), (0, 5), (20, 31)):
        expected = stats.binomtest(raised, raised + lowered).pvalue
        assert mcnemar_exact(raised, lowered) == pytest.approx(expected)
    assert mcnemar_exact(0, 0) == 1.0
    with pytest.raises(ValueError, match="0 or more"):
        mcnemar_exact(-1, 2)


def _occasions(raised: int, lowered: int, items: int) -> tuple[np.ndarray, np.ndarray]:
    first = np.array([0] * raised + [1] * lowered + [1] * (items - raised - lowered))
    second = np.array([1] * raised + [0] * lowered + [1] * (items - raised - lowered))
    return first, second


def test_steady_needs_a_narrow_interval_and_not_a_large_p() -> None:
    clusters = np.arange(400) % 40
    steady = marginal_shift(*_occasions(2, 2, 400), clusters, margin=0.05)
    assert steady.verdict is ShiftVerdict.STEADY
    few = marginal_shift(*_occasions(1, 1, 20), np.arange(20), margin=0.05)
    assert few.p == 1.0
    assert few.verdict is ShiftVerdict.UNDECIDED
    drifted = marginal_shift(*_occasions(80, 0, 400), np.arange(400), margin=0.05)
    assert drifted.verdict is ShiftVerdict.DRIFTED
    assert drifted.value == pytest.approx(0.2)


def test_nothing_moved_on_a_few_queries_is_not_steady() -> None:
    still = marginal_shift(*_occasions(0, 0, 10), np.arange(10), margin=0.05)
    assert still.verdict is ShiftVerdict.UNDECIDED
    many = marginal_shift(*_occasions(0, 0, 100), np.arange(100), margin=0.05)
    assert many.verdict is ShiftVerdict.STEADY
    two = marginal_shift(*_occasions(0, 0, 100), np.arange(100) % 2, margin=0.05)
    assert two.verdict is ShiftVerdict.FEW_QUERIES
