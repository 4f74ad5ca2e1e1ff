"""What the embedded generator is shown."""

from __future__ import annotations

from typing import Any

import pytest

from labeler.providers.chat import AnswerMode
from labeler.records.questions import QuestionKind
from labeler.synthesis.pack import PackChunk, SafePack
from labeler.synthesis.rendering import Model, question_request
from labeler.synthesis.tasks import PASSES, QuestionTask

EMBEDDED = Model("embedded/m", AnswerMode.JSON_SCHEMA, {"logprobs": True}, weights="w")
FIRST = "A season ticket can be returned within 14 days of its purchase."
SECOND = "Whoever has lost a ticket asks for another one at the desk beside the gate."
SHORT = "Dogs are welcome."


def asked(text: str, view: int, title: str | None = "Tickets") -> tuple[str, dict[str, Any]]:
    """Give what is shown after the solved examples, and how the answer is drawn."""
    chunk = PackChunk("c", "d", 0, "train", text, title=title)
    pack = SafePack("v1", "root", "sealed", (chunk,), ())
    task = QuestionTask(QuestionKind.FACTUAL, ("c",), view)
    request = question_request(pack, task, EMBEDDED)
    return request.messages[0].content.split("\n\n")[-1], dict(request.parameters)


def test_the_first_view_is_of_the_whole_passage_on_one_line() -> None:
    shown, parameters = asked(f"{SHORT}\n{SECOND} {FIRST}", 0)
    assert shown == f"Title: Tickets\nPassage: {SHORT} {SECOND} {FIRST}\n"
    assert parameters["temperature"] == 0
    assert parameters["logprobs"] is True


def test_later_views_are_of_another_sentence_each_with_a_number_first() -> None:
    text = f"{SHORT} {SECOND} {FIRST}"
    assert asked(text, 1)[0] == f"Title: Tickets\nPassage: {FIRST}\n"
    assert asked(text, 2)[0] == f"Title: Tickets\nPassage: {SECOND}\n"
    assert asked(text, 2)[1]["temperature"] == 0
    shown, parameters = asked(text, 3)
    assert shown == asked(text, 0)[0]
    assert parameters["temperature"] > 0
    assert parameters["seed"] == 3


@pytest.mark.parametrize("text", [FIRST, f"{FIRST} {SECOND}", SHORT, "word " * 900])
def test_no_request_is_sent_twice_for_one_passage(text: str) -> None:
    """The same request has the same answer, so it would ask for the same question again."""
    views = [asked(text, view) for view in range(PASSES)]
    assert len({str(view) for view in views}) == PASSES
    assert all(len(shown) < 1_100 for shown, _ in views)


def test_a_passage_without_a_title_is_shown_without_one() -> None:
    assert asked(FIRST, 0, title=None)[0] == f"Passage: {FIRST}\n"
