"""Several answers of one judge are one answer; its share says how far they agree."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labeler.assessment.samples import JudgeAnswer, combined
from labeler.labels import Grade, Outcome


def judged(number: int, level: int, flags: tuple[str, ...] = ()) -> JudgeAnswer:
    grade = Grade.NOT_RELEVANT if level == 0 else Grade.FULLY_RELEVANT
    return JudgeAnswer(number, Outcome.JUDGED, grade, level, 0.5, flags)


def ended(number: int, outcome: Outcome) -> JudgeAnswer:
    return JudgeAnswer(number, outcome, None, None, None)


def test_one_answer_keeps_its_confidence() -> None:
    assert combined([judged(1, 2)]).confidence == 0.5


def test_the_majority_stands_with_its_share() -> None:
    answer = combined([judged(1, 2), judged(2, 0), judged(3, 2)])
    assert (answer.level_id, answer.confidence) == (2, 2 / 3)


def test_of_two_that_differ_the_later_stands_with_a_half() -> None:
    answer = combined([judged(1, 2), judged(2, 0)])
    assert (answer.judgment_id, answer.confidence) == (2, 0.5)


def test_an_abstention_is_an_answer() -> None:
    answer = combined([ended(1, Outcome.ABSTAINED), judged(2, 2), ended(3, Outcome.ABSTAINED)])
    assert (answer.outcome, answer.confidence) == (Outcome.ABSTAINED, None)


def test_a_failure_counts_only_where_nothing_else_is_there() -> None:
    assert combined([ended(1, Outcome.FAILED), judged(2, 2)]).outcome is Outcome.JUDGED
    assert combined([judged(1, 2), ended(2, Outcome.REFUSED)]).judgment_id == 1
    assert combined([ended(1, Outcome.FAILED), ended(2, Outcome.REFUSED)]).judgment_id == 2


def test_the_flags_of_all_samples_count() -> None:
    answer = combined([judged(1, 2, ("stuffs_query",)), judged(2, 2)])
    assert answer.flags == ("stuffs_query",)


@given(st.lists(st.sampled_from([0, 1, 2, None]), min_size=1, max_size=9))
def test_what_stands_is_one_of_the_most_frequent(levels: list[int | None]) -> None:
    samples = [
        ended(number, Outcome.ABSTAINED) if level is None else judged(number, level)
        for number, level in enumerate(levels)
    ]
    answer = combined(samples)
    assert levels.count(answer.level_id) == max(levels.count(level) for level in set(levels))
