"""What a run is refused before anything is asked, and how often a plan asks about a chunk."""

from __future__ import annotations

from typing import Any

import pytest

from labeler.errors import UsageError
from labeler.providers.chat import AnswerMode
from labeler.records.questions import QuestionKind
from labeler.synthesis.rendering import Model
from labeler.synthesis.setup import GenerateOptions

EMBEDDED = Model("embedded/m", AnswerMode.JSON_SCHEMA, {}, weights="w")
ASKED = Model("openai/m", AnswerMode.JSON_SCHEMA)


@pytest.mark.parametrize(
    ("change", "told", "hint"),
    [
        (
            {"kinds": (QuestionKind.FACTUAL, QuestionKind.CONDITIONAL)},
            "can't write conditional questions",
            "--kinds factual",
        ),
        ({"personas": ("a guest",)}, "--persona", "--model"),
        ({"judge": EMBEDDED}, "its own work", "--judge"),
        ({"per_domain": 0}, "--per-domain", ""),
        ({"review_share": 1.5}, "--review-share", ""),
        ({"kinds": ()}, "--kinds", ""),
    ],
)
def test_what_the_embedded_generator_cannot_do_is_said_with_what_can(
    change: dict[str, Any], told: str, hint: str
) -> None:
    with pytest.raises(UsageError) as error:
        GenerateOptions(EMBEDDED, **change)
    assert told in error.value.message
    assert hint in (error.value.hint or "")


def test_a_model_that_follows_instructions_writes_every_kind() -> None:
    assert GenerateOptions(ASKED, kinds=tuple(QuestionKind)).prompt_digests.keys() == set(
        QuestionKind
    )


def test_the_embedded_generator_is_asked_more_often_about_a_chunk() -> None:
    assert GenerateOptions(EMBEDDED).plan("d").passes > GenerateOptions(ASKED).plan("d").passes
