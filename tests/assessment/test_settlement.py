"""What people's votes on one item settle."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from labeler.assessment.settlement import Dispute, Settlement, Vote, settle_votes
from labeler.labels import Grade, Outcome
from labeler.records.judgments import Basis

FULLY, PARTIALLY, NOT = Grade
ORDERS = {NOT: 0, PARTIALLY: 1, FULLY: 2}
START = datetime(2026, 7, 1, tzinfo=UTC)


def vote(
    key: int, person: int, grade: Grade | None, *, day: int | None = None, adjudicates: bool = False
) -> Vote:
    return Vote(
        judgment_id=key,
        assessor_id=person,
        outcome=Outcome.ABSTAINED if grade is None else Outcome.JUDGED,
        grade=grade,
        level_id=None if grade is None else ORDERS[grade] + 1,
        order=-1 if grade is None else ORDERS[grade],
        at=None if day is None else START + timedelta(days=day),
        adjudicates=adjudicates,
    )


def test_no_vote_settles_nothing() -> None:
    assert settle_votes([]) is None


def test_one_reviewer_settles_an_item() -> None:
    result = settle_votes([vote(1, 7, FULLY)])
    assert result == Settlement(Outcome.JUDGED, FULLY, 3, Basis.ONE_REVIEWER, (1,))


def test_two_who_agree_are_a_consensus() -> None:
    result = settle_votes([vote(1, 7, NOT), vote(2, 8, NOT)])
    assert result == Settlement(Outcome.JUDGED, NOT, 1, Basis.CONSENSUS, (1, 2))


def test_two_who_contradict_each_other_are_a_dispute() -> None:
    assert settle_votes([vote(1, 7, NOT), vote(2, 8, PARTIALLY)]) == Dispute((1, 2))


def test_an_adjudication_settles_a_dispute() -> None:
    votes = [vote(1, 7, NOT), vote(2, 8, FULLY), vote(3, 9, FULLY, adjudicates=True)]
    assert settle_votes(votes) == Settlement(Outcome.JUDGED, FULLY, 3, Basis.ADJUDICATION, (3,))


def test_a_later_vote_of_the_same_person_takes_the_place_of_the_earlier() -> None:
    votes = [vote(1, 7, NOT, day=1), vote(2, 7, FULLY, day=2), vote(3, 8, FULLY, day=1)]
    assert settle_votes(votes) == Settlement(Outcome.JUDGED, FULLY, 3, Basis.CONSENSUS, (2, 3))
    # The order of the rows tells nothing: the times do.
    votes = [vote(1, 7, FULLY, day=2), vote(2, 7, NOT, day=1)]
    assert settle_votes(votes) == Settlement(Outcome.JUDGED, FULLY, 3, Basis.ONE_REVIEWER, (1,))


def test_a_person_who_contradicts_himself_without_times_is_a_dispute() -> None:
    assert settle_votes([vote(1, 7, NOT), vote(2, 7, FULLY)]) == Dispute((1, 2))


def test_a_second_look_takes_the_place_of_nothing() -> None:
    first = vote(1, 7, FULLY, day=1)
    other = replace(vote(2, 7, NOT, day=2), looks_again=True)
    assert settle_votes([first, other]) == Dispute((1, 2))
    same = replace(vote(2, 7, FULLY, day=2), looks_again=True)
    # One person twice is still one person.
    assert settle_votes([first, same]) == Settlement(
        Outcome.JUDGED, FULLY, 3, Basis.ONE_REVIEWER, (1, 2)
    )
    # A vote of their own since, such as a correction, is a later word on the item.
    assert settle_votes([vote(3, 7, FULLY, day=3), other]) == Settlement(
        Outcome.JUDGED, FULLY, 3, Basis.ONE_REVIEWER, (3,)
    )


def test_who_abstains_says_nothing_against_the_others() -> None:
    result = settle_votes([vote(1, 7, None), vote(2, 8, FULLY)])
    assert result == Settlement(Outcome.JUDGED, FULLY, 3, Basis.ONE_REVIEWER, (2,))


def test_abstentions_alone_leave_the_item_unknown() -> None:
    result = settle_votes([vote(1, 7, None), vote(2, 8, None)])
    assert result == Settlement(Outcome.ABSTAINED, None, None, Basis.CONSENSUS, (1, 2))


def test_levels_of_one_grade_agree_and_the_lowest_counts() -> None:
    related = Vote(1, 7, Outcome.JUDGED, NOT, level_id=11, order=1)
    irrelevant = Vote(2, 8, Outcome.JUDGED, NOT, level_id=10, order=0)
    assert settle_votes([related, irrelevant]) == Settlement(
        Outcome.JUDGED, NOT, 10, Basis.CONSENSUS, (1, 2)
    )


GRADES = st.sampled_from([FULLY, PARTIALLY, NOT, None])


@given(st.lists(GRADES, max_size=6), st.randoms())
def test_the_order_in_which_people_are_read_changes_nothing(
    grades: list[Grade | None], chance: Random
) -> None:
    votes = [vote(key, key, grade) for key, grade in enumerate(grades, 1)]
    shuffled = list(votes)
    chance.shuffle(shuffled)
    assert settle_votes(shuffled) == settle_votes(votes)


@given(st.lists(GRADES, min_size=1, max_size=6))
def test_a_settled_grade_was_given_by_somebody_and_contradicted_by_nobody(
    grades: list[Grade | None],
) -> None:
    result = settle_votes([vote(key, key, grade) for key, grade in enumerate(grades, 1)])
    given_grades = {grade for grade in grades if grade is not None}
    if isinstance(result, Settlement):
        assert given_grades == ({result.grade} if result.grade else set())
    else:
        assert isinstance(result, Dispute)
        assert len(given_grades) > 1
