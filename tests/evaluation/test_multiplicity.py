import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.evaluation.multiplicity import holm, max_t


def test_holm_is_what_the_paper_says() -> None:
    # Holm 1979: .01 * 3, then .02 * 2; the third never falls below the one before it.
    assert holm([0.02, 0.01, 0.03]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


def test_a_comparison_without_a_p_value_was_declared_all_the_same() -> None:
    assert holm([0.01, None]) == [pytest.approx(0.02), None]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_lies_between_the_p_values_and_bonferroni(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    for p, one in zip(p_values, adjusted, strict=True):
        assert one is not None
        assert p <= one <= min(1.0, len(p_values) * p) + 1e-12
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    ordered = [adjusted[place] or 0.0 for place in order]
    assert ordered == sorted(ordered)


def test_equal_comparisons_cost_nothing_by_max_t_and_independent_ones_do() -> None:
    rng = np.random.default_rng(2)
    one = rng.normal(0.3, 1, 40)
    alone = max_t(one[None], np.arange(40))
    twice = max_t(np.stack([one, one]), np.arange(40))
    apart = max_t(np.stack([one, *rng.normal(0, 1, (4, 40))]), np.arange(40))
    assert alone is not None
    assert twice is not None
    assert apart is not None
    assert twice[0] == twice[1] == alone[0]
    assert apart[0].interval.width > alone[0].interval.width
    assert apart[0].p > alone[0].p


def test_max_t_holds_its_error_over_all_comparisons() -> None:
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(200):
        found = max_t(rng.normal(size=(4, 20)), np.arange(20), flips=199)
        assert found is not None
        wrong += any(not one.interval.low <= 0 <= one.interval.high for one in found)
    # 5% of 200 is 10; 21 or more have a probability below .001.
    assert 0 < wrong < 21


def test_max_t_needs_clusters_and_spread() -> None:
    values = np.random.default_rng(1).normal(size=(2, 14))
    assert max_t(values, np.repeat(np.arange(7), 2)) is None
    assert max_t(np.stack([values[0], np.ones(14)]), np.arange(14)) is None


def test_a_clear_difference_is_told_beside_one_that_is_none() -> None:
    rng = np.random.default_rng(3)
    found = max_t(np.stack([rng.normal(1, 0.5, 30), rng.normal(0, 0.5, 30)]), np.arange(30))
    assert found is not None
    assert found[0].interval.low > 0
    assert found[0].p < 0.01
    assert found[1].p > 0.05
