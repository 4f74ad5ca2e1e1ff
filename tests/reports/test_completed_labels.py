"""Label sets that a sample completes: what counts as answered, and what stays open."""

from __future__ import annotations

import numpy as np

from labeler.assessment.label_states import LabelSource, LabelStates
from labeler.draws.drawn_samples import DrawnSample, DrawnStratumItems
from labeler.labels import Grade
from labeler.reports.completed_labels import AnsweredSample, complete_labels


def _labels(states: list[int]) -> LabelStates:
    count = len(states)
    return LabelStates(
        source=LabelSource.HUMAN_AUTO,
        least=Grade.PARTIALLY_RELEVANT,
        items=np.arange(1, count + 1),
        queries=np.ones(count, dtype=np.int64),
        evidence=np.arange(1, count + 1),
        states=np.array(states, dtype=np.int8),
        gains=np.where(np.array(states) == -1, np.nan, states),
        abstained=np.zeros(0, dtype=np.int64),
        scales=(),
        gain_rule="of grades",
        top_gain=1.0,
    )


SAMPLE = DrawnSample(
    "s",
    ("a",),
    "ten items",
    (DrawnStratumItems("all", frozenset(range(1, 11)), frozenset({1, 2})),),
)


def test_a_drawn_item_that_only_a_policy_accepted_is_not_answered() -> None:
    """Else the judge's own labels would stand for those of people."""
    labels = _labels([1, 1, 1, 1, 1, 0, -1, -1, -1, -1])
    found = complete_labels(labels, SAMPLE, answered={1}, seed=1)
    assert found is not None
    assert (found.labelled, found.positives, found.drawn) == (1, 1, 2)
    assert found.states.tolist() == [1] + [-1] * 9
    assert complete_labels(labels, SAMPLE, answered=(), seed=1) is None


def test_what_waits_and_what_is_left_are_counted_apart() -> None:
    answered = AnsweredSample(SAMPLE, frozenset({1}))
    assert (answered.waiting, answered.left) == (1, 8)
