from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import UsageError
from labeler.evaluation.proportions import clopper_pearson
from labeler.evaluation.reliability import ReliabilityBin, reliability_bins
from labeler.evaluation.skill import expected_calibration_error


def bins_of(pairs: list[tuple[float, bool]], bins: int = 10) -> tuple[ReliabilityBin, ...]:
    confidence = np.array([one for one, _ in pairs], dtype=np.float64)
    agreed = np.array([one for _, one in pairs], dtype=np.bool_)
    return reliability_bins(confidence, agreed, bins=bins)


def test_a_bin_holds_its_upper_edge_and_the_first_holds_zero() -> None:
    found = bins_of([(0.0, True), (0.1, False), (0.11, True), (1.0, True)])
    assert [(one.low, round(one.high, 1), one.count, one.agreed) for one in found] == [
        (0.0, 0.1, 2, 1),
        (0.1, 0.2, 1, 1),
        (0.9, 1.0, 1, 1),
    ]
    assert found[0].mean_confidence == pytest.approx(0.05)
    assert (found[0].share_low, found[0].share_high) == clopper_pearson(1, 2)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1), st.integers(1, 20))
def test_the_bins_add_up_to_the_calibration_error(
    pairs: list[tuple[float, bool]], bins: int
) -> None:
    found = bins_of(pairs, bins)
    assert sum(one.count for one in found) == len(pairs)
    assert sum(one.agreed for one in found) == sum(agreed for _, agreed in pairs)
    for one in found:
        assert one.share_low <= one.share <= one.share_high
        assert one.low <= one.mean_confidence <= one.high + 1e-12
    gap = sum(one.count * abs(one.share - one.mean_confidence) for one in found) / len(pairs)
    confidence = np.array([one for one, _ in pairs], dtype=np.float64)
    agreed = np.array([one for _, one in pairs], dtype=np.bool_)
    assert gap == pytest.approx(expected_calibration_error(confidence, agreed, bins=bins))


def test_nothing_gives_no_bins() -> None:
    assert bins_of([]) == ()


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan")])
def test_what_is_no_confidence_is_refused(confidence: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        bins_of([(confidence, True)])


def test_no_bin_and_other_shapes_are_refused() -> None:
    with pytest.raises(UsageError, match="at least one bin"):
        bins_of([(0.5, True)], 0)
    with pytest.raises(UsageError, match="don't match"):
        reliability_bins(np.array([0.5]), np.array([], dtype=np.bool_))
