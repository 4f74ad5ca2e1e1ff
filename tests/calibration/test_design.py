from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.calibration.design import make_design, panel_grades
from tests.calibration.signals_by_hand import SCALE, judge_signals, pool_signals

GAP = float("nan")


def test_what_is_absent_is_a_column_of_its_own() -> None:
    stated = np.array([0.9, GAP, 0.2, GAP])
    one = judge_signals("one", np.array([0.0, 1.0, 2.0, GAP]), signals={"stated": stated})
    design = make_design(pool_signals((one,), np.array([1, 1, 2, 2])))
    assert "one: stated is absent" in design.names
    absent = design.x[:, design.names.index("one: stated is absent")]
    assert absent[1] == absent[3] > 0 > absent[0] == absent[2]
    # In the place of an absent signal stands the mean, which says nothing.
    assert design.x[1, design.names.index("one: stated")] == pytest.approx(0)
    assert np.isfinite(design.x).all()


def test_signals_that_are_absent_together_say_so_once() -> None:
    gaps = np.array([0.1, GAP, 0.7, GAP])
    one = judge_signals("one", np.array([0.0, 1.0, 2.0, 0.0]), signals={"a": gaps, "b": gaps**2})
    names = make_design(pool_signals((one,), np.array([1, 1, 2, 2]))).names
    assert [name for name in names if name.endswith("is absent")] == ["one: a is absent"]


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 1.0, 2.0, GAP])] * 2), min_size=2, max_size=20))
def test_columns_are_standardised_whatever_judges_say(said: list[tuple[float, float]]) -> None:
    levels = np.array(said)
    judges = tuple(judge_signals(str(k), levels[:, k]) for k in range(2))
    design = make_design(pool_signals(judges, np.arange(len(said)) // 3))
    assert len(design.names) == len(set(design.names)) == design.x.shape[1]
    assert np.abs(design.x.mean(axis=0)).max(initial=0) < 1e-9
    assert np.abs(design.x.std(axis=0) - 1).max(initial=0) < 1e-9
    assert design.fixed.sum(axis=1) == pytest.approx(np.ones(len(said)))


def test_the_panel_claims_no_more_than_it_can_hold() -> None:
    judges = tuple(
        judge_signals(name, np.array(levels))
        for name, levels in (("a", [0.0, 2.0, 2.0, GAP]), ("b", [1.0, 1.0, 2.0, GAP]))
    )
    assert panel_grades(judges, SCALE).tolist() == [0, 1, 2, -1]


def test_levels_of_different_scales_meet_as_grades() -> None:
    fine = judge_signals("fine", np.array([2.0, 0.0]))
    coarse = judge_signals("coarse", np.array([1.0, 0.0]), scale_id=2)
    scales = {1: (0, 1, 2), 2: (0, 2)}
    # 'coarse' knows two levels, so its 1 is as much as the 2 of 'fine'; the grades here are given.
    assert panel_grades((fine, coarse), scales).tolist() == [1, 0]


def test_a_judge_at_chance_leaves_the_panel_and_keeps_its_signals() -> None:
    good = judge_signals("good", np.array([0.0, 2.0, 0.0, 2.0]))
    noise = judge_signals("noise", np.array([2.0, 0.0, 0.0, 2.0]))
    signals = pool_signals((good, noise), np.array([1, 1, 2, 2]))
    design = make_design(signals, frozenset({"noise"}))
    assert design.fixed.argmax(axis=1).tolist() == [0, 2, 0, 2]
    assert "noise: level" in design.names
    assert "panel: spread" not in design.names
    assert "panel: spread" in make_design(signals).names


def test_judges_labels_stay_theirs_in_the_fixed_probabilities() -> None:
    judges = tuple(
        judge_signals(str(k), np.array(levels)) for k, levels in enumerate([[0.0], [2.0], [2.0]])
    )
    fixed = make_design(pool_signals(judges, np.array([1]))).fixed
    assert panel_grades(judges, SCALE).tolist() == [1]
    assert fixed[0, 1] >= 0.5
    assert fixed[0, 2] > fixed[0, 0]
