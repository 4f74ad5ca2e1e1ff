"""litellm takes the fake provider for OpenAI: chat completions, files, batches."""

from __future__ import annotations

import importlib
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio

from tests.fake_provider.running import Provider, running_provider

pytestmark = [
    # litellm's own classes make pydantic warn when they are first used.
    pytest.mark.filterwarnings("ignore:.*using the `ReadOnly` qualifier:UserWarning"),
    pytest.mark.filterwarnings("ignore:Accessing the 'model_"),
]


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    """One server for the tests of this file."""
    with running_provider(batch_polls=1) as provider:
        yield provider


@pytest.fixture
def provider(running: Provider) -> Provider:
    """The server without what earlier tests left."""
    running.reset()
    return running


@pytest_asyncio.fixture
async def litellm(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    """litellm without its network and without what it reads beside the tests."""
    monkeypatch.setenv("LITELLM_MODE", "PRODUCTION")
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    pytest.importorskip("litellm")
    module: Any = importlib.import_module("litellm")
    module.suppress_debug_info = True
    # For each call about a file or batch it builds a client that it never closes.
    openai = importlib.import_module("litellm.llms.openai.openai")
    build, built = openai.build_async_openai_client, []

    def build_and_note(**options: Any) -> Any:
        built.append(build(**options))
        return built[-1]

    monkeypatch.setattr(openai, "build_async_openai_client", build_and_note)
    yield module
    for client in built:
        await client.close()
    await module.close_litellm_async_clients()


def where(provider: Provider) -> dict[str, Any]:
    return {"api_base": provider.address, "api_key": "sk-fake-tail", "max_retries": 0}


async def complete(litellm: Any, provider: Provider, model: str) -> Any:
    return await litellm.acompletion(
        model=f"openai/{model}",
        messages=[{"role": "user", "content": "a passage"}],
        num_retries=0,
        **where(provider),
    )


@pytest.mark.asyncio
async def test_chat_completions(litellm: Any, provider: Provider) -> None:
    found = await complete(litellm, provider, "plain")
    assert json.loads(found.choices[0].message.content)["level"] in ("0", "1", "2")
    assert found.usage.total_tokens > 0
    assert found.system_fingerprint == "fp_fake"
    with pytest.raises(litellm.RateLimitError) as refused:
        await complete(litellm, provider, "flaky:1:429")
    assert refused.value.response.headers["retry-after"] == "0"
    await complete(litellm, provider, "flaky:1:429")
    with pytest.raises(litellm.InternalServerError):
        await complete(litellm, provider, "drop")
    with pytest.raises(litellm.ContextWindowExceededError):
        await complete(litellm, provider, "too-long")
    with pytest.raises(litellm.AuthenticationError):
        await complete(litellm, provider, "unauthorised")
    requests = {model: counts["requests"] for model, counts in provider.counts().items()}
    assert requests == {"plain": 1, "flaky:1:429": 2, "drop": 1, "too-long": 1, "unauthorised": 1}


def input_file(model: str, texts: list[str], prefix: str = "item") -> bytes:
    lines = [
        {
            "custom_id": f"{prefix}-{number}",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {"model": model, "messages": [{"role": "user", "content": text}]},
        }
        for number, text in enumerate(texts)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


class Batches:
    """litellm's batches at one provider."""

    def __init__(self, litellm: Any, provider: Provider) -> None:
        self.litellm = litellm
        self.common = {"custom_llm_provider": "openai", **where(provider)}

    async def submit(self, content: bytes, name: str = "one") -> Any:
        uploaded = await self.litellm.acreate_file(
            file=("requests.jsonl", content), purpose="batch", **self.common
        )
        return await self.litellm.acreate_batch(
            completion_window="24h",
            endpoint="/v1/chat/completions",
            input_file_id=uploaded.id,
            metadata={"job": name},
            **self.common,
        )

    async def poll(self, batch: Any) -> Any:
        # Without this litellm reads an ended batch's output in the background, for its price.
        quietly = {"batch_ignore_default_logging": True}
        return await self.litellm.aretrieve_batch(
            batch_id=batch.id, litellm_metadata=quietly, **self.common
        )

    async def ended(self, batch: Any) -> Any:
        while (found := await self.poll(batch)).status == "in_progress":
            pass
        return found

    async def read(self, name: str | None) -> dict[str, Any]:
        if name is None:
            return {}
        found = await self.litellm.afile_content(file_id=name, **self.common)
        lines = [json.loads(line) for line in found.content.splitlines()]
        return {line["custom_id"]: line for line in lines}


@pytest.fixture
def batches(litellm: Any, provider: Provider) -> Batches:
    return Batches(litellm, provider)


@pytest.mark.asyncio
async def test_a_batch_is_answered_after_its_polls(batches: Batches, provider: Provider) -> None:
    batch = await batches.submit(input_file("plain", ["a", "b", "c"]))
    assert batch.status == "validating"
    assert [(await batches.poll(batch)).status for _ in range(2)] == ["in_progress", "completed"]
    ended = await batches.poll(batch)
    answers = await batches.read(ended.output_file_id)
    assert sorted(answers) == ["item-0", "item-1", "item-2"]
    body = answers["item-0"]["response"]["body"]
    assert "level" in json.loads(body["choices"][0]["message"]["content"])
    assert (ended.request_counts.completed, ended.error_file_id) == (3, None)
    counts = provider.counts()["plain"]
    assert (counts["requests"], counts["batch_lines"], counts["paid_total"]) == (0, 3, 3)
    read = f"GET /v1/files/{ended.output_file_id}/content"
    assert provider.endpoints()[read] == 1


@pytest.mark.asyncio
async def test_lines_that_fail_are_in_the_error_file(batches: Batches) -> None:
    texts = ["a", "[[scenario=too-long]]", "[[scenario=drop]]"]
    ended = await batches.ended(await batches.submit(input_file("marked", texts)))
    assert list(await batches.read(ended.output_file_id)) == ["item-0"]
    errors = await batches.read(ended.error_file_id)
    assert errors["item-1"]["response"]["status_code"] == 400
    assert errors["item-2"]["error"]["code"] == "request_failed"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("model", "status", "answered", "failed"),
    [
        ("batch-expired", "expired", 2, 2),
        ("batch-partial", "completed", 3, 0),
        ("status-500", "completed", 0, 4),
        ("batch-failed", "failed", 0, 0),
    ],
)
async def test_other_ends(
    batches: Batches, model: str, status: str, answered: int, failed: int
) -> None:
    batch = await batches.submit(input_file(model, ["a", "b", "c", "d"]))
    ended = await batches.ended(batch)
    assert ended.status == status
    assert len(await batches.read(ended.output_file_id)) == answered
    assert len(await batches.read(ended.error_file_id)) == failed


@pytest.mark.asyncio
async def test_a_cancelled_batch_keeps_what_was_answered(batches: Batches) -> None:
    batch = await batches.submit(input_file("batch-stuck", ["a", "b"]))
    assert (await batches.poll(batch)).status == "in_progress"
    await batches.litellm.acancel_batch(batch_id=batch.id, **batches.common)
    ended = await batches.poll(batch)
    assert ended.status == "cancelled"
    assert list(await batches.read(ended.output_file_id)) == ["item-0"]
    errors = await batches.read(ended.error_file_id)
    assert errors["item-1"]["error"]["code"] == "batch_cancelled"


@pytest.mark.asyncio
async def test_a_batch_whose_id_was_lost_is_found_by_its_metadata(batches: Batches) -> None:
    openai = pytest.importorskip("openai")
    with pytest.raises(openai.APIConnectionError):
        await batches.submit(input_file("batch-lost", ["a"]), "lost")
    await batches.submit(input_file("plain", ["a"]), "other")
    listed = await batches.litellm.alist_batches(**batches.common)
    assert [batch.metadata["job"] for batch in listed.data] == ["other", "lost"]
    ended = await batches.ended(listed.data[1])
    assert ended.status == "completed"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (input_file("plain", ["a"]) * 2, "duplicate_custom_id"),
        (input_file("plain", ["a"]) + input_file("noisy:1", ["b"], "other"), "mismatched_model"),
        (b"{]\n", "invalid_json_line"),
        (b"", "empty_file"),
    ],
)
async def test_an_input_file_that_is_wrong(batches: Batches, content: bytes, code: str) -> None:
    ended = await batches.poll(await batches.submit(content))
    assert ended.status == "failed"
    assert ended.errors.data[0].code == code
