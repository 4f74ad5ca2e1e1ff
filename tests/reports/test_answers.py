from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from labeler.assessment.blind_judgments import BlindJudgment
from labeler.labels import Outcome
from labeler.reports.answers import NoLabel, Repeats, answer_of

JUDGED, ABSTAINED, FAILED = Outcome.JUDGED, Outcome.ABSTAINED, Outcome.FAILED
ABSENT = None

Said = Sequence[tuple[Outcome, int | None, int | None]]
"""Outcome, level and hour of each judgment."""


def judgments(said: Said) -> list[BlindJudgment]:
    return [
        BlindJudgment(
            judgment_id=place,
            item_id=1,
            assessor_id=1,
            outcome=outcome,
            level_id=level,
            at=None if hour is None else datetime(2026, 7, 1, hour, tzinfo=UTC),
            revision=place,
        )
        for place, (outcome, level, hour) in enumerate(said, 1)
    ]


@pytest.mark.parametrize(
    ("said", "person", "judge"),
    [
        ([(JUDGED, 7, ABSENT)], 7, 7),
        ([(JUDGED, 7, 9), (JUDGED, 8, 10)], 8, 8),
        # An earlier label that was stored later doesn't win.
        ([(JUDGED, 8, 10), (JUDGED, 7, 9)], 8, 8),
        # Without times, the order is that of a file: it counts for a judge and not for a person.
        ([(JUDGED, 7, ABSENT), (JUDGED, 8, ABSENT)], NoLabel.UNDECIDED, 8),
        ([(JUDGED, 7, 9), (JUDGED, 8, ABSENT)], NoLabel.UNDECIDED, 8),
        ([(JUDGED, 7, 9), (JUDGED, 8, 9)], NoLabel.UNDECIDED, 8),
        ([(JUDGED, 7, ABSENT), (JUDGED, 7, ABSENT)], 7, 7),
        ([(ABSTAINED, None, 9)], NoLabel.ABSTAINED, NoLabel.ABSTAINED),
        ([(JUDGED, 7, 9), (ABSTAINED, None, 10)], NoLabel.ABSTAINED, NoLabel.ABSTAINED),
        ([(ABSTAINED, None, 9), (JUDGED, 7, 10)], 7, 7),
        ([(JUDGED, 7, ABSENT), (ABSTAINED, None, ABSENT)], 7, NoLabel.ABSTAINED),
        ([(FAILED, None, 9)], NoLabel.FAILED, NoLabel.FAILED),
        ([(Outcome.REFUSED, None, 9), (Outcome.TRUNCATED, None, 9)], *[NoLabel.FAILED] * 2),
        ([(JUDGED, 7, 9), (FAILED, None, 10)], 7, 7),
        ([(FAILED, None, 9), (JUDGED, 7, 10)], 7, 7),
    ],
)
def test_what_several_judgments_come_to(said: Said, person: int, judge: int) -> None:
    assert answer_of(judgments(said), person=True) == person
    assert answer_of(judgments(said), person=False) == judge


def test_the_first_of_a_judge_may_count_and_never_that_of_a_person() -> None:
    said = judgments([(FAILED, None, 8), (JUDGED, 8, 10), (JUDGED, 7, 9)])
    assert answer_of(said, person=False, repeats=Repeats.FIRST) == 7
    assert answer_of(said, person=True, repeats=Repeats.FIRST) == 8
    untimed = judgments([(JUDGED, 8, ABSENT), (JUDGED, 7, ABSENT)])
    assert answer_of(untimed, person=False, repeats=Repeats.FIRST) == 8
