from __future__ import annotations

import asyncio
import http.client
import math
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from enum import StrEnum
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from pydantic import BaseModel, ConfigDict

from labeler.errors import JudgeError, MissingExtraError
from labeler.providers import embedded_engine, embedded_language_model, embedded_weights
from labeler.providers.embedded_language_model import (
    MODEL_NAMES,
    WEIGHTS_SHA256,
    context_length,
    digest,
    is_embedded,
    register,
    weights_path,
)
from labeler.providers.seam import load_litellm

(MODEL,) = MODEL_NAMES
PROMPT = "Query: torque of the wheel bolts\nPassage: Tighten them to 45 Nm.\nAnswer in JSON:\n"


class Level(StrEnum):
    RELEVANT = "R"
    NOT_RELEVANT = "N"


class Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    level: Level
    quote: Literal["", "45 Nm"]


@pytest.fixture(scope="module")
def litellm() -> Iterator[Any]:
    """litellm with the real model, whose weights are joined in a folder that goes away."""
    for package in ("xllamacpp", *(name for name, _ in embedded_weights._PARTS)):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed (extra 'language-model')")
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(embedded_weights, "_cache_folder", lambda: Path(folder))
        register()
        yield load_litellm()


def test_an_answer_has_the_form_of_the_schema(litellm: Any) -> None:
    response = _ask(litellm, PROMPT, response_format=Answer, max_tokens=60)
    (choice,) = response.choices
    Answer.model_validate_json(choice.message.content)
    assert choice.finish_reason == "stop"
    assert response.model == MODEL
    assert response.system_fingerprint == WEIGHTS_SHA256
    assert response.usage.prompt_tokens > 20
    assert 0 < response.usage.completion_tokens < 60


def test_an_answer_costs_nothing_which_is_known(litellm: Any) -> None:
    response = _ask(litellm, "The", max_tokens=1)
    assert response._hidden_params["response_cost"] == 0.0
    assert litellm.completion_cost(response) == 0.0


def test_instructor_reads_its_answers(litellm: Any) -> None:
    import instructor

    async def create() -> tuple[Answer, Any]:
        client: Any = instructor.from_litellm(
            litellm.acompletion, mode=instructor.Mode.JSON_SCHEMA, async_client=True
        )
        messages = [{"role": "user", "content": PROMPT}]
        parameters = {"model": MODEL, "temperature": 0, "max_tokens": 60, "logprobs": True}
        answer: tuple[Answer, Any] = await client.chat.completions.create_with_completion(
            response_model=Answer, max_retries=0, messages=messages, **parameters
        )
        await litellm.close_litellm_async_clients()
        return answer

    answer, raw = asyncio.run(create())
    assert answer.level in set(Level)
    assert raw.choices[0].logprobs.content


def test_log_probabilities_are_those_of_the_model(litellm: Any) -> None:
    response = _ask(litellm, "One, two, three,", max_tokens=6, logprobs=True, top_logprobs=5)
    tokens = response.choices[0].logprobs.content
    assert len(tokens) == 6
    assert "".join(token.token for token in tokens) == response.choices[0].message.content
    assert len({token.logprob for token in tokens}) == 6
    for token in tokens:
        alternatives = [one.logprob for one in token.top_logprobs]
        assert len(alternatives) == 5
        assert alternatives == sorted(alternatives, reverse=True)
        assert all(math.isfinite(value) and value <= 0 for value in alternatives)
        assert sum(math.exp(value) for value in alternatives) <= 1 + 1e-5
        assert token.logprob == alternatives[0]  # greedy


def test_the_same_request_has_the_same_answer_whatever_was_asked_before(litellm: Any) -> None:
    def ask(prompt: str) -> tuple[str, list[float]]:
        response = _ask(litellm, prompt, max_tokens=8, logprobs=True)
        (choice,) = response.choices
        return choice.message.content, [token.logprob for token in choice.logprobs.content]

    # Short prompts have the same answer even where the engine keeps what it has read.
    prompt = PROMPT * 3
    first = ask(prompt)
    assert ask(prompt) == first
    ask(PROMPT)
    assert ask(prompt) == first


def test_messages_are_read_in_their_order(litellm: Any) -> None:
    apart = [{"role": "system", "content": "One, two,"}, {"role": "user", "content": "three,"}]
    one = [{"role": "user", "content": "One, two,\n\nthree,"}]
    answers = [_ask(litellm, messages, max_tokens=4) for messages in (apart, one)]
    assert answers[0].choices[0].message.content == answers[1].choices[0].message.content


def test_parameters_reach_the_model(litellm: Any) -> None:
    response = _ask(litellm, "Well, yes or no?", grammar='root ::= "yes" | "no"')
    assert response.choices[0].message.content in {"yes", "no"}
    assert _ask(litellm, "One, two,", max_tokens=2).choices[0].finish_reason == "length"
    stopped = _ask(litellm, "One, two,", max_tokens=8, stop=[","])
    assert stopped.choices[0].finish_reason == "stop"
    assert "," not in stopped.choices[0].message.content

    def sampled(seed: int) -> str:
        response = _ask(litellm, "A list of names:", temperature=1.5, seed=seed, max_tokens=8)
        return str(response.choices[0].message.content)

    assert sampled(1) == sampled(1) != sampled(2)


def test_a_prompt_that_is_too_long_is_told_as_such(litellm: Any) -> None:
    with pytest.raises(litellm.ContextWindowExceededError) as caught:
        _ask(litellm, "word " * (context_length() + 10), max_tokens=1)
    assert caught.value.status_code == 400
    assert caught.value.code == "context_length_exceeded"
    assert f"context holds {context_length()}" in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"response_format": {"type": "json_schema", "json_schema": {}}}, "no JSON schema"),
        (
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "a", "schema": {"$ref": "#/$defs/none"}},
                }
            },
            "cannot resolve",
        ),
        ({"grammar": "root ::= ("}, "grammar"),
        ({"top_logprobs": 3}, "logprobs"),
        ({"messages": [{"role": "user", "content": "\ud800"}]}, "surrogate"),
    ],
)
def test_a_request_that_it_cant_serve_is_refused(
    litellm: Any, parameters: Mapping[str, Any], message: str
) -> None:
    with pytest.raises(litellm.BadRequestError, match=message) as caught:
        _ask(litellm, "The", max_tokens=2, **parameters)
    assert caught.value.status_code == 400


@pytest.mark.parametrize(
    "parameters",
    [
        {"tools": [{"type": "function", "function": {"name": "judge", "parameters": {}}}]},
        {"n": 2},
        {"typo": 1},
    ],
)
def test_what_it_would_ignore_is_refused(litellm: Any, parameters: Mapping[str, Any]) -> None:
    with pytest.raises(litellm.UnsupportedParamsError, match="does not support parameters"):
        _ask(litellm, "The", max_tokens=2, **parameters)


def test_an_unknown_model_is_not_found(litellm: Any) -> None:
    assert is_embedded("embedded/llama")
    with pytest.raises(litellm.NotFoundError, match=MODEL) as caught:
        _ask(litellm, "The", model="embedded/llama")
    assert caught.value.status_code == 404


def test_a_model_that_cant_be_loaded_ends_the_run(
    litellm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise JudgeError("other weights")

    monkeypatch.setattr(embedded_language_model, "engine", fail)
    with pytest.raises(litellm.NotFoundError, match="can't be loaded: other weights"):
        _ask(litellm, "The")


def test_the_loop_runs_on_and_a_cancelled_request_that_waits_is_never_asked(
    litellm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on = [], threading.Event()

    def answer(model: str, request: Mapping[str, Any]) -> dict[str, Any]:
        asked.append(request["messages"][0]["content"])
        assert go_on.wait(timeout=60)
        return {"id": "1", "created": 1, "choices": [], "usage": {}}

    monkeypatch.setattr(embedded_language_model, "_answer", answer)

    async def run() -> None:
        one, two, three = (
            asyncio.create_task(_completion(litellm, [{"role": "user", "content": text}]))
            for text in ("one", "two", "three")
        )
        while not asked:  # the loop runs while the engine works
            await asyncio.sleep(0.001)
        two.cancel()
        await asyncio.wait([two])
        go_on.set()
        await asyncio.gather(one, three)
        await litellm.close_litellm_async_clients()

    asyncio.run(run())
    assert asked == ["one", "three"]


def test_nobody_else_can_ask_the_engine(litellm: Any) -> None:
    _ask(litellm, "The", max_tokens=1)
    address = urlsplit(embedded_engine.engine().listening_address)
    assert address.hostname == "127.0.0.1"
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=10)
    connection.request("POST", "/v1/chat/completions", body='{"messages": []}')
    assert connection.getresponse().status == http.HTTPStatus.UNAUTHORIZED
    connection.close()


def test_registering_again_changes_nothing(litellm: Any) -> None:
    before = list(litellm.custom_provider_map)
    register()
    assert litellm.custom_provider_map == before
    assert len([one for one in before if one["provider"] == "embedded"]) == 1


def test_the_digest_follows_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xllamacpp", reason="extra 'language-model' is not installed")
    before = digest()
    assert len(bytes.fromhex(before)) == 32
    assert digest() == before
    monkeypatch.setattr(
        embedded_engine, "_SETTINGS", {**embedded_engine._SETTINGS, "swa_full": False}
    )
    assert digest() != before


def test_without_the_packages_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", absent)
    monkeypatch.setattr(embedded_weights, "find_spec", lambda _: None)
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    for function in (digest, register, weights_path):
        with pytest.raises(MissingExtraError, match="'language-model'"):
            function()


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    code = (
        "import sys, labeler.providers.embedded_language_model as model;"
        "assert model.is_embedded('embedded/x') and not model.is_embedded('openai/embedded');"
        "print(sorted({'litellm', 'xllamacpp', 'instructor', 'numpy'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    assert done.stdout.strip() == "[]"


def _ask(litellm: Any, prompt: str | list[dict[str, str]], **parameters: Any) -> Any:
    """Ask in an event loop of its own, as a command does."""
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt

    async def ask() -> Any:
        try:
            return await _completion(litellm, **{"messages": messages, **parameters})
        finally:
            await litellm.close_litellm_async_clients()

    return asyncio.run(ask())


async def _completion(litellm: Any, messages: list[dict[str, str]], **parameters: Any) -> Any:
    asked = {"model": MODEL, "temperature": 0, "max_retries": 0, "num_retries": 0, "timeout": 60}
    return await litellm.acompletion(messages=messages, **{**asked, **parameters})
