"""The shapes of what models answer, and a draft of a question read from an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import BeforeValidator, StringConstraints, WithJsonSchema, create_model

from labeler.providers.chat import AnswerShape
from labeler.providers.reading import clean_text

__all__ = ["Draft", "answer_fields", "draft_of", "shape_of"]

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "question": ("question",),
    "spans": ("question", "answer"),
    "two_spans": ("question", "answer", "second_answer"),
    "none": ("question",),
    "answerable": ("quote", "verdict"),
}
_MEANINGS = {
    "question": "the question",
    "answer": "the words of the passage that answer it, copied exactly; as few as are needed",
    "second_answer": "the words of the second passage that are needed too, copied exactly",
    "quote": "the words of the passages that answer it, copied exactly; empty when none do",
    "verdict": '"yes" or "no"',
}


@dataclass(frozen=True, slots=True)
class Draft:
    """A question as a model wrote it, before any filter.

    Attributes:
        question: The question, as it stands in the answer.
        spans: What the model says are the words that answer it, one for each chunk; empty where
            none were asked for.
    """

    question: str
    spans: tuple[str, ...] = ()


def answer_fields(answer: str) -> list[str]:
    """Say for a prompt what each field of the answer holds."""
    return [f'"{name}": {_MEANINGS[name]}' for name in _FIELDS[answer]]


@cache
def shape_of(answer: str) -> AnswerShape:
    """Give the shape of the answers to a prompt.

    Args:
        answer: The prompt's ``answer``.
    """
    text = Annotated[str, BeforeValidator(_text), WithJsonSchema({"type": "string"})]
    needed = Annotated[
        str,
        BeforeValidator(_text),
        StringConstraints(min_length=1),
        WithJsonSchema({"type": "string"}),
    ]
    yes_or_no = Annotated[
        str,
        BeforeValidator(_yes_or_no),
        WithJsonSchema({"type": "string", "enum": ["yes", "no"]}),
    ]
    kinds: dict[str, Any] = {"question": needed, "verdict": yes_or_no}
    fields: dict[str, Any] = {
        name: (kinds[name], ...) if name in kinds else (text, "") for name in _FIELDS[answer]
    }
    if answer == "answerable":
        return AnswerShape(create_model("Answerable", **fields), key="verdict", codes=("yes", "no"))
    return AnswerShape(create_model("Question", **fields), key="question")


def draft_of(fields: Mapping[str, Any]) -> Draft:
    """Read a draft from the fields of an answer that fits its shape."""
    spans = [str(fields[name]) for name in ("answer", "second_answer") if name in fields]
    return Draft(str(fields["question"]), tuple(spans))


def _text(value: object) -> str:
    return "" if value is None else clean_text(str(value)).strip()


def _yes_or_no(value: object) -> str:
    word = "yes" if value is True else "no" if value is False else str(value)
    word = word.strip().strip(".\"'").casefold()
    if word not in {"yes", "no"}:
        raise ValueError("verdict is yes or no")
    return word
