from __future__ import annotations

import pytest

from labeler.providers.prose import lone_label, refuse_second_prompt, statements
from labeler.providers.unreadable import UnreadableAnswer


@pytest.mark.parametrize(
    "text", ["not", "?", "2", "Fully relevant.", "highly_relevant", "very much so"]
)
def test_a_few_words_may_be_a_label(text: str) -> None:
    assert lone_label(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I can not judge this.",
        "Relevant? No.",
        "not; fully",
        "not\nfully",
        "不" * 61,
    ],
)
def test_sentences_are_no_labels(text: str) -> None:
    assert lone_label(text) is None


def test_statements_of_lines_and_tags() -> None:
    text = (
        "<reason>so it is</reason>\n"
        "Okay, first: nothing\n"
        "1) **Contextual fit**: 2\n"
        '- quote: "a: b"\n'
        "> label: quoted\n"
        "a == b\n"
        "Final answer: \\boxed{\\text{not}}"
    )
    assert statements(text) == [
        ("reason", "so it is"),
        ("contextual_fit", "2"),
        ("quote", "a: b"),
        ("final_answer", "not"),
    ]


def test_a_prompt_behind_an_answer_is_refused_and_one_in_front_is_not() -> None:
    with pytest.raises(UnreadableAnswer, match="a prompt behind"):
        refuse_second_prompt("not\n\nQuery: another\nLabel: fully")
    refuse_second_prompt("Query: as it stands\nPassage: as it stands\nLabel: fully")
    refuse_second_prompt("I shall go through it step by step.\nQuery: this\nLabel: fully")
