"""What the embedded generator is shown, and how its question begins."""

from __future__ import annotations

from typing import Any

import pytest

from labeler.providers.chat import AnswerMode
from labeler.records.questions import QuestionKind
from labeler.synthesis.pack import PackChunk, SafePack
from labeler.synthesis.rendering import Model, question_request
from labeler.synthesis.tasks import QuestionTask

EMBEDDED = Model("embedded/m", AnswerMode.JSON_SCHEMA, {"logprobs": True}, weights="w")
FIRST = "A season ticket can be returned within 14 days of its purchase."
SECOND = "Whoever has lost a ticket asks for another one at the desk beside the gate."
SHORT = "Dogs are welcome."
VIEWS = 8


def asked(text: str, view: int, title: str | None = "Tickets") -> tuple[str, str, dict[str, Any]]:
    """Give what is shown after the solved examples, how the answer begins, how it is drawn."""
    chunk = PackChunk("c", "d", 0, "train", text, title=title, language="en")
    pack = SafePack("v1", "root", "sealed", (chunk,), ())
    task = QuestionTask(QuestionKind.FACTUAL, ("c",), view)
    request = question_request(pack, task, EMBEDDED)
    assert request.mode is AnswerMode.TEXT  # a second constraint would be refused
    parameters = dict(request.parameters)
    return request.messages[0].content.split("\n\n")[-1], parameters["grammar"], parameters


def test_first_comes_what_a_sentence_says_then_its_other_facts_then_the_whole() -> None:
    text = f"{SHORT}\n{SECOND} {FIRST}"
    shown, grammar, parameters = asked(text, 0)
    assert shown == f"Title: Tickets\nPassage: {FIRST}\n"
    assert "Within how many days can a season ticket be returned" in grammar
    assert parameters["temperature"] == 0
    assert parameters["logprobs"] is True
    shown, grammar, _ = asked(text, 1)
    assert shown == f"Title: Tickets\nPassage: {FIRST}\n"
    assert "Can a season ticket be returned within 14 days" in grammar
    shown, grammar, _ = asked(text, 2)
    assert shown == f"Title: Tickets\nPassage: {SHORT} {SECOND} {FIRST}\n"
    assert "season ticket" not in grammar


def test_a_beginning_that_is_the_whole_question_is_not_gone_on_with() -> None:
    grammar = asked("Dogs can be brought along to every hall.", 0)[1]
    assert "Can dogs be brought along to every hall?" in grammar
    assert "[" not in grammar


def test_where_the_views_end_they_begin_anew_drawn_with_a_seed() -> None:
    again, _, parameters = asked(FIRST, 3)
    assert again == asked(FIRST, 0)[0]
    assert parameters["temperature"] > 0
    assert parameters["seed"] == 3


def test_a_beginning_is_given_to_english_alone() -> None:
    chunk = PackChunk(
        "c", "d", 0, "train", "Das Billett will Geld, es kostet 4 euros.", language="de"
    )
    pack = SafePack("v1", "root", "sealed", (chunk,), ())
    task = QuestionTask(QuestionKind.FACTUAL, ("c",))
    assert "Billett" not in question_request(pack, task, EMBEDDED).parameters["grammar"]


@pytest.mark.parametrize("text", [FIRST, f"{FIRST} {SECOND}", SHORT, "word " * 900])
def test_no_request_is_sent_twice_for_one_passage(text: str) -> None:
    """The same request has the same answer, so it would ask for the same question again."""
    views = [asked(text, view) for view in range(VIEWS)]
    assert len({str(view) for view in views}) == VIEWS
    assert all(len(shown) < 1_100 for shown, _, _ in views)


def test_a_passage_without_a_title_is_shown_without_one() -> None:
    assert asked(FIRST, 0, title=None)[0] == f"Passage: {FIRST}\n"
