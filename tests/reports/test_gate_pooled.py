"""Pooled recall: its bounds against every way to label, its value with every label known."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from labeler.assessment.label_states import LabelSource
from labeler.evaluation.gate_checks import Direction, Evidence, Requirement, Role
from labeler.reports.evaluated import EvaluatedRuns, read_evaluated
from labeler.reports.gate_pooled import evidence_of_pooled_recall
from labeler.store.database import Store
from tests.gated import fill_gated, graded, label

ASKED = Requirement(Role.AGGREGATE, 0.5, Direction.ABOVE)


def _evaluated(store: Store, folder: Path, unknown: list[str]) -> EvaluatedRuns:
    fill_gated(store, folder)
    grades = graded({"a": 6, "b": 15, "c": 9})
    label(store, folder, {name: grade for name, grade in grades.items() if name not in unknown})
    with store.read() as connection:
        return read_evaluated(connection, "p", ["new", "old"], LabelSource.HUMAN)


def _evidence(evaluated: EvaluatedRuns, second: str | None) -> Evidence:
    inside = np.ones(len(evaluated.queries), dtype=np.bool_)
    return evidence_of_pooled_recall(ASKED, evaluated, ("new", second), 2, inside, None, None)


def _ratio(evaluated: EvaluatedRuns, states: np.ndarray, second: str | None) -> float:
    worth = evaluated.top_items("new", 2).astype(float)
    if second is not None:
        worth -= evaluated.top_items(second, 2)
    return float(worth[states == 1].sum() / (states == 1).sum())


@pytest.mark.parametrize("second", [None, "old"])
@pytest.mark.parametrize(
    "unknown",
    [
        ["q01-a", "q02-a", "q03-b", "q04-c"],
        ["q01-c", "q02-c", "q07-b", "q08-b"],
        ["q01-a", "q02-b", "q02-c", "q09-a", "q09-b", "q20-c"],
    ],
)
def test_bounds_are_those_of_every_way_to_label(
    store: Store, own_folder: Path, unknown: list[str], second: str | None
) -> None:
    evaluated = _evaluated(store, own_folder, unknown)
    states = evaluated.labels.states
    open_ones = np.flatnonzero(states == -1)
    assert len(open_ones) == len(unknown)
    every = []
    for given in product((0, 1), repeat=len(open_ones)):
        filled = states.copy()
        filled[open_ones] = given
        every.append(_ratio(evaluated, filled, second))
    found = _evidence(evaluated, second)
    assert found.lowest == pytest.approx(min(every))
    assert found.highest == pytest.approx(max(every))
    assert found.interval is not None
    assert found.interval.low < min(every) < max(every) < found.interval.high


def test_a_flawless_run_has_no_interval_without_width(store: Store, own_folder: Path) -> None:
    evaluated = _evaluated(store, own_folder, [])
    perfect = evaluated.top_items("new", 2).astype(np.int8)
    known = replace(evaluated, labels=replace(evaluated.labels, states=perfect))
    found = _evidence(known, None)
    assert found.value == 1.0
    assert found.interval is not None
    assert 0.7 < found.interval.low < 0.9
