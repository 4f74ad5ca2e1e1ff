"""Which words of a question are pointed out."""

from __future__ import annotations

import pytest

from labeler.search.function_words import FUNCTION_WORDS, telling
from labeler.search.words import tokens


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("Can a contractor carry unused leave into next year?", "en-GB",
         {"contractor", "carry", "unused", "leave", "next", "year"}),
        ("what happens when you die", None, {"happens", "when", "die"}),
        ("qual é o prazo para devolução", None, {"prazo", "devolução"}),
        ("ما هي عاصمة فرنسا", "ar", {"عاصمة", "فرنسا"}),
        ("年次休暇は", "ja", {"年次", "次休", "休暇", "暇は"}),
        ("the who", "en", {"the", "who"}),
        ("", None, set()),
    ],
)  # fmt: skip
def test_what_tells_something(question: str, language: str | None, expected: set[str]) -> None:
    assert telling(tokens(question), language) == expected


def test_each_word_of_a_list_is_a_search_term() -> None:
    for words in FUNCTION_WORDS.values():
        assert {word for word in words if tokens(word) != [word]} == set()
