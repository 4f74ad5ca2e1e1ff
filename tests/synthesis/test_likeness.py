"""Which questions count as the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labeler.synthesis.likeness import KnownQuestions, marks_of
from tests.hash_embedder import HashEmbedder

QUERIES = {
    "q1": "How do I return a gift card?",
    "q2": "What does Part A cost in 2025?",
    "q3": "Where can I park a lorry?",
}


def known() -> KnownQuestions:
    return KnownQuestions.of(QUERIES, HashEmbedder().queries(list(QUERIES.values())))


def vector(text: str):  # type: ignore[no-untyped-def]  # an array
    return HashEmbedder().queries([text])[0]


def test_case_and_marks_are_no_difference() -> None:
    found = known().likest("HOW do I return a gift-card", None)
    assert found is not None
    assert (found.name, found.is_equal, found.is_same) == ("q1", True, True)


def test_the_same_words_in_another_order_are_the_same() -> None:
    found = known().likest("A gift card: how do I return?", None)
    assert found is not None
    assert (found.name, found.is_same) == ("q1", True)


def test_another_part_or_year_is_another_question() -> None:
    for text in ("What does Part B cost in 2025?", "What does Part A cost in 2026?"):
        found = known().likest(text, vector(text))
        assert found is not None
        assert found.name == "q2"
        assert not found.is_same


def test_nothing_is_like_a_question_when_none_is_known() -> None:
    assert KnownQuestions().likest("anything", None) is None


def test_what_is_forgotten_is_no_longer_found_and_vectors_stay_in_step() -> None:
    questions = known()
    questions.forget("q1")
    questions.forget("unknown")
    questions.add("q4", "How do I fold a map?", vector("How do I fold a map?"))
    assert questions.vectors is not None
    assert len(questions.vectors) == len(questions.texts) == 3
    found = questions.likest("Fold a map, how do I?", vector("Fold a map, how do I?"))
    assert found is not None
    assert found.name == "q4"


def test_marks_are_numbers_names_and_lone_letters() -> None:
    assert marks_of("Can I use the Rill 3 with Plan B before 2025-01-01?") == {
        *("rill", "3", "plan", "b", "2025-01-01")
    }
    assert marks_of("What is a window?") == frozenset()


@given(st.sampled_from(list(QUERIES.values())))
def test_every_known_question_is_found_as_itself(text: str) -> None:
    found = known().likest(text, vector(text))
    assert found is not None
    assert QUERIES[found.name] == text
    assert found.is_same
