"""The vote gate: which key presses count."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labeler.queue.sitting.gate import (
    MIN_SHOWN,
    REPEAT_GAP,
    UNSAVED_LIMIT,
    Gate,
    Press,
    is_repeat,
    refusal,
)

times = st.floats(min_value=0, max_value=1e6)


def test_a_press_counts_from_250_ms_after_the_paint() -> None:
    assert refusal(Press("a", 10.25), None, painted_at=10.0, unsaved=0) is None
    told = refusal(Press("a", 10.2), None, painted_at=10.0, unsaved=0)
    assert told == "not counted: the item had been shown for less than 250 ms"


@given(times)
def test_nothing_counts_for_what_was_not_painted(at: float) -> None:
    told = refusal(Press("a", at), None, painted_at=None, unsaved=0)
    assert told == "not counted: the item wasn't on the screen yet"


@given(times, times, st.integers(0, 9))
def test_a_press_counts_only_where_every_rule_lets_it(
    at: float, painted_at: float, unsaved: int
) -> None:
    counts = refusal(Press("a", at), None, painted_at=painted_at, unsaved=unsaved) is None
    assert counts == (at - painted_at >= MIN_SHOWN and unsaved < UNSAVED_LIMIT)


def test_a_key_that_is_held_down_is_told_from_two_keys_and_from_two_presses() -> None:
    before = Press("a", 10.0)
    assert is_repeat(Press("a", 10.0 + REPEAT_GAP / 2), before)
    assert not is_repeat(Press("s", 10.0 + REPEAT_GAP / 2), before)
    assert not is_repeat(Press("a", 10.0 + REPEAT_GAP * 2), before)
    assert not is_repeat(Press("a", 10.0), None)


def test_dwell_is_from_the_first_paint_also_when_something_lay_on_top() -> None:
    gate = Gate()
    gate.painted(10.0)
    gate.hidden()
    gate.pressed(Press("a", 11.0))
    assert gate.refusal(0) == "not counted: the item wasn't on the screen yet"
    gate.painted(12.0)
    gate.pressed(Press("a", 12.5))
    assert gate.refusal(0) is None
    assert gate.dwell_ms == 2500
    gate.next_item()
    assert gate.dwell_ms == 0
    assert gate.refusal(0) is not None
