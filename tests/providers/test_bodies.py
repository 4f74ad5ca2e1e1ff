"""A body that is written: what instructor and litellm make of a request, without sending it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from labeler.errors import ProviderRefusedError
from labeler.judges.llm.answering import answer_shape
from labeler.judges.llm.prompts import find_prompt
from labeler.labels import NATIVE, TREC
from labeler.providers import bodies
from labeler.providers.bodies import BodyWriter
from labeler.providers.chat import AnswerMode, ChatRequest, Message
from labeler.providers.seam import strict_schema

SHAPES = (answer_shape(find_prompt("direct"), NATIVE), answer_shape(find_prompt("direct"), TREC))


def request(
    text: str,
    model: str = "openai/plain",
    mode: AnswerMode = AnswerMode.JSON_SCHEMA,
    shape: int = 0,
    **parameters: Any,
) -> ChatRequest:
    return ChatRequest(
        model,
        (Message("system", "Judge."), Message("user", text)),
        SHAPES[shape],
        mode,
        {"max_tokens": 100, **parameters},
        endpoint="http://127.0.0.1:9/v1",
    )


def written(writer: BodyWriter, *requests: ChatRequest) -> list[dict[str, Any]]:
    async def work() -> list[dict[str, Any]]:
        return [await writer.body(one) for one in requests]

    return asyncio.run(work())


def test_a_body() -> None:
    asked = request("an item", temperature=0.0)
    [body] = written(BodyWriter(), asked)
    assert body == {
        "model": "plain",
        "messages": [
            {"role": "system", "content": "Judge."},
            {"role": "user", "content": "an item"},
        ],
        "max_tokens": 100,
        "temperature": 0.0,
        "response_format": strict_schema(asked),
    }


def test_what_litellm_changes_for_a_model_is_changed() -> None:
    [body] = written(BodyWriter(), request("an item", "openai/o3-mini"))
    assert body["max_completion_tokens"] == 100
    assert "max_tokens" not in body
    assert [message["role"] for message in body["messages"]] == ["user", "user"]


def test_what_requests_share_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, write = [], bodies._written

    async def counting(one: ChatRequest) -> dict[str, Any]:
        asked.append(one)
        return await write(one)

    monkeypatch.setattr(bodies, "_written", counting)
    kinds: list[dict[str, Any]] = [
        {"mode": mode, "shape": shape, "model": model}
        for mode in AnswerMode
        for shape in (0, 1)
        for model in ("openai/plain", "openai/o3-mini")
    ]
    requests = [request(f"item {n}", **kind) for n in range(3) for kind in kinds]
    together = written(BodyWriter(), *requests)
    assert len(asked) == len(kinds)
    alone = [body for one in requests for body in written(BodyWriter(), one)]
    assert together == alone


def test_a_body_that_says_more_than_the_texts_is_not_shared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def changed(one: ChatRequest) -> dict[str, Any]:
        said = [{"role": "user", "content": f"<{part.content}>"} for part in one.messages]
        return {"model": "plain", "messages": said}

    monkeypatch.setattr(bodies, "_written", changed)
    found = written(BodyWriter(), request("a"), request("b"))
    assert [body["messages"][1]["content"] for body in found] == ["<a>", "<b>"]


def test_a_request_that_the_model_does_not_take() -> None:
    with pytest.raises(ProviderRefusedError, match="o3-mini takes no request") as refused:
        written(BodyWriter(), request("an item", "openai/o3-mini", temperature=0.0))
    assert "labeler doctor --model openai/o3-mini" in str(refused.value.hint)
