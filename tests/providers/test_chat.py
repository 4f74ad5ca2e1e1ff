"""The identity of a request: it changes with each part that is sent, and with nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from labeler.providers.chat import AnswerMode, AnswerShape, ChatRequest, Message, Try


class Answer(BaseModel):
    reason: str = ""
    level: Literal["0", "1"]


SHAPE = AnswerShape(Answer, codes=("0", "1"))
BASE = ChatRequest(
    model="openai/plain",
    messages=(Message("system", "judge"), Message("user", "a passage")),
    shape=SHAPE,
    mode=AnswerMode.JSON_SCHEMA,
    parameters={"max_tokens": 100, "temperature": 0.0},
    endpoint="http://one/v1",
)


def shape_of(name: str = "Answer", **fields: Any) -> AnswerShape:
    return AnswerShape(create_model(name, **fields))


REASON, LEVEL = (str, ""), (Literal["0", "1"], ...)
OTHERS = {
    "model": replace(BASE, model="openai/plain-2"),
    "endpoint": replace(BASE, endpoint="http://two/v1"),
    "no endpoint": replace(BASE, endpoint=None),
    "mode tools": replace(BASE, mode=AnswerMode.TOOLS),
    "mode text": replace(BASE, mode=AnswerMode.TEXT),
    "parameter's value": replace(BASE, parameters={"max_tokens": 100, "temperature": 1.0}),
    "parameter less": replace(BASE, parameters={"max_tokens": 100}),
    "parameter more": replace(BASE, parameters={**BASE.parameters, "logprobs": True}),
    "parameter renamed": replace(BASE, parameters={"max_tokens": 100, "top_p": 0.0}),
    "message's text": replace(BASE, messages=(BASE.messages[0], Message("user", "a passage "))),
    "message's role": replace(BASE, messages=(BASE.messages[0], Message("system", "a passage"))),
    "messages' order": replace(BASE, messages=BASE.messages[::-1]),
    "message more": replace(BASE, messages=(*BASE.messages, Message("user", ""))),
    "message less": replace(BASE, messages=BASE.messages[1:]),
    "border of messages": replace(
        BASE, messages=(Message("system", "judgea"), Message("user", " passage"))
    ),
    "field's name": replace(BASE, shape=shape_of(why=REASON, level=LEVEL)),
    "fields' order": replace(BASE, shape=shape_of(level=LEVEL, reason=REASON)),
    "field more": replace(BASE, shape=shape_of(reason=REASON, level=LEVEL, quote=(str, ""))),
    "field's values": replace(
        BASE, shape=shape_of(reason=REASON, level=(Literal["0", "1", "2"], ...))
    ),
    "field's description": replace(
        BASE, shape=shape_of(reason=(str, Field("", description="short")), level=LEVEL)
    ),
    "schema's name": replace(BASE, shape=shape_of("Verdict", reason=REASON, level=LEVEL)),
}


@pytest.mark.parametrize("part", OTHERS)
def test_the_digest_changes_with_each_part(part: str) -> None:
    assert OTHERS[part].digest != BASE.digest


def test_no_two_of_them_are_alike() -> None:
    digests = {request.digest for request in OTHERS.values()}
    assert len(digests) == len(OTHERS)


@pytest.mark.parametrize(
    "same",
    [
        replace(BASE),
        replace(BASE, parameters={"temperature": 0.0, "max_tokens": 100}),
        # What is only read from the answer isn't sent.
        replace(BASE, shape=AnswerShape(Answer, key="reason", codes=("x",), synonyms=("grade",))),
        replace(BASE, messages=tuple(replace(message) for message in BASE.messages)),
    ],
)
def test_the_digest_changes_with_nothing_else(same: ChatRequest) -> None:
    assert same.digest == BASE.digest


def test_the_digest_is_the_same_in_every_process() -> None:
    # Judgments of earlier versions are found by it: a change here means paying again.
    assert BASE.digest == "37798f1eb5122c98f03647ededf0e7bfaca73744f32e4ed91762547152b650d4"


TEXTS = st.text(st.characters(exclude_categories=()), max_size=20)
MESSAGES = st.lists(st.builds(Message, st.sampled_from(["system", "user"]), TEXTS), max_size=4)


@given(MESSAGES, MESSAGES)
def test_requests_are_the_same_when_their_messages_are(
    one: list[Message], other: list[Message]
) -> None:
    first, second = replace(BASE, messages=tuple(one)), replace(BASE, messages=tuple(other))
    assert (first.digest == second.digest) == (one == other)


@given(st.lists(TEXTS, max_size=5))
def test_lone_surrogates_are_no_obstacle(texts: list[str]) -> None:
    request = replace(BASE, messages=tuple(Message("user", text) for text in texts))
    assert len(request.digest) == 64
    assert request.most_prompt_tokens >= len("".join(texts))


def test_the_schema_is_closed_and_every_field_is_required() -> None:
    assert SHAPE.schema["required"] == ["reason", "level"]
    assert SHAPE.schema["additionalProperties"] is False
    assert list(SHAPE.schema["properties"]) == ["reason", "level"]


@pytest.mark.parametrize(("raw", "has"), [(None, False), ("", True), ("{}", True)])
def test_an_empty_answer_is_an_answer(raw: str | None, *, has: bool) -> None:
    at = datetime(2026, 7, 1, tzinfo=UTC)
    assert Try(at, "failed", raw=raw).has_response is has
