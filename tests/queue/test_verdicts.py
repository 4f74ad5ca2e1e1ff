"""What an audit has shown, where people contradict each other on some of its items."""

from __future__ import annotations

import pytest

from labeler.calibration.policies import TargetPolicy
from labeler.draws.audit_frames import AuditFrame, FrozenStratum, StratumName
from labeler.labels import Grade
from labeler.queue.verdicts import judge_frame

NOT = Grade.NOT_RELEVANT
POLICY = TargetPolicy("nine-of-ten", accept=(NOT,))
ITEMS, DRAWN = frozenset(range(200)), frozenset(range(60))


def frame() -> AuditFrame:
    part = FrozenStratum(StratumName(NOT, 1, 1, ends_set=True), ITEMS, (DRAWN,))
    return AuditFrame(1, "a part", "s", "seed", (part,))


def answers(wrong: int) -> dict[int, Grade | None]:
    return {item: Grade.FULLY_RELEVANT if item < wrong else NOT for item in DRAWN}


def test_a_drawn_item_in_dispute_has_no_answer() -> None:
    people = answers(0)
    del people[7]
    (told,) = judge_frame(frame(), POLICY, people, disputed=[7]).grades
    assert (told.accepted, told.pending, told.strata[0].answered) == (0, 1, 59)
    (settled,) = judge_frame(frame(), POLICY, answers(0)).grades
    assert (settled.accepted, settled.pending) == (1, 0)


@pytest.mark.parametrize("taken", [0, 40, 120])
def test_labels_in_dispute_are_not_among_what_is_left_as_little_as_judged_ones(taken: int) -> None:
    """Else the share of wrong labels would be promised of more labels than are accepted."""
    undrawn = sorted(ITEMS - DRAWN)[:taken]
    found = judge_frame(frame(), POLICY, answers(0), disputed=undrawn).grades[0]
    judged = judge_frame(frame(), POLICY, answers(0) | dict.fromkeys(undrawn, NOT)).grades[0]
    assert found.strata[0].left == 140 - taken
    assert found.steps == judged.steps
    assert (found.accepted == 0) is (taken == 120)
