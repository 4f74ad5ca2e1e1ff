"""The desk where batches are handed in: who takes them, and what it does when things go wrong."""

from __future__ import annotations

import asyncio
import io
import json
import random
from collections.abc import Awaitable, Callable, Iterator
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from labeler.errors import LabelerError, ProviderDownError, ProviderRefusedError, UsageError
from labeler.providers.batch_lines import line_of
from labeler.providers.batches import BatchDesk, batch_desk, provider_with_batches
from labeler.providers.retrying import retrying
from tests.fake_provider.running import Provider, running_provider

KEY = "sk-desk-0123456789abcdef"
BODY = {"model": "plain", "messages": [{"role": "user", "content": "a\u2028b"}]}

_T = TypeVar("_T")


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with running_provider(batch_polls=0) as provider:
        yield provider


@pytest.fixture
def provider(running: Provider, monkeypatch: pytest.MonkeyPatch) -> Provider:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    running.reset()
    return running


async def no_sleep(_: float) -> None:
    await asyncio.sleep(0)


def at_desk(
    endpoint: str | None, work: Callable[[BatchDesk], Awaitable[_T]], model: str = "openai/plain"
) -> _T:
    async def run() -> _T:
        async with batch_desk(
            model,
            endpoint,
            timeout=10.0,
            attempts=3,
            sleep=no_sleep,
            jitter=random.Random(1),  # noqa: S311 - repeatable, not secret
        ) as desk:
            return await work(desk)

    return asyncio.run(run())


def lines(*names: str) -> io.BytesIO:
    return io.BytesIO(b"".join(line_of(name, 0, BODY) for name in names))


# --- who takes batches ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "provider_name"),
    [
        ("openai/plain", "openai"),
        ("gpt-4o-mini", "openai"),
        ("azure/deployment", "azure"),
        ("hosted_vllm/any", "hosted_vllm"),
        ("litellm_proxy/any", "litellm_proxy"),
    ],
)
def test_providers_with_batches(model: str, provider_name: str) -> None:
    assert provider_with_batches(model) == provider_name


@pytest.mark.parametrize(
    "model",
    ["anthropic/claude-3-5-haiku-latest", "ollama_chat/llama3.2", "embedded/gemma-3-270m", "x"],
)
def test_providers_without_batches_are_refused_with_the_list(model: str) -> None:
    with pytest.raises(UsageError, match="azure, hosted_vllm, litellm_proxy, openai"):
        provider_with_batches(model)


def seen_by(desk: BatchDesk) -> tuple[str, str, str]:
    client: Any = desk._client
    return type(client).__name__, str(client.base_url), client.api_key


async def see(desk: BatchDesk) -> tuple[str, str, str]:
    return seen_by(desk)


def test_a_key_goes_to_its_own_provider_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "HOSTED_VLLM_API_KEY", "AZURE_API_VERSION"):
        monkeypatch.delenv(name, raising=False)
    assert at_desk(None, see) == ("AsyncOpenAI", "https://api.openai.com/v1/", KEY)
    found = at_desk("http://127.0.0.1:9/v1", see, "hosted_vllm/any")
    assert found == ("AsyncOpenAI", "http://127.0.0.1:9/v1/", "none")
    monkeypatch.setenv("LITELLM_PROXY_API_BASE", "http://127.0.0.1:8/v1")
    monkeypatch.setenv("LITELLM_PROXY_API_KEY", "proxy-key-1")
    found = at_desk(None, see, "litellm_proxy/any")
    assert found == ("AsyncOpenAI", "http://127.0.0.1:8/v1/", "proxy-key-1")
    monkeypatch.setenv("AZURE_API_KEY", "azure-key-1")
    found = at_desk("https://r.openai.azure.com", see, "azure/d")
    assert found == ("AsyncAzureOpenAI", "https://r.openai.azure.com/openai/", "azure-key-1")
    monkeypatch.setenv("AZURE_API_VERSION", "v1")
    found = at_desk("https://r.openai.azure.com/openai/v1", see, "azure/d")
    assert found == ("AsyncOpenAI", "https://r.openai.azure.com/openai/v1/", "azure-key-1")


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "AZURE_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ProviderRefusedError) as refused:
        at_desk(None, see)
    assert refused.value.hint == "set OPENAI_API_KEY"
    with pytest.raises(UsageError) as unknown:
        at_desk(None, see, "azure/d")
    assert "AZURE_API_BASE" in str(unknown.value.hint)


# --- at the desk ------------------------------------------------------------------------------


def test_from_upload_to_download(provider: Provider) -> None:
    async def work(desk: BatchDesk) -> tuple[Any, bytes]:
        submitted = await desk.submit(await desk.upload(lines("a", "b")), "k1")
        standing = await desk.look(submitted.id)
        into = io.BytesIO()
        for name in standing.files * 2:
            assert await desk.download(name, into)
        return standing, into.getvalue()

    standing, content = at_desk(provider.address, work)
    assert (standing.status, standing.done, standing.total) == ("completed", 2, 2)
    assert standing.has_ended
    read = [json.loads(line) for line in content.splitlines()]
    assert sorted(line["custom_id"] for line in read) == ["a-0", "a-0", "b-0", "b-0"]
    assert provider.authorizations() == {f"Bearer {KEY}": sum(provider.endpoints().values())}


def test_connections_are_closed(provider: Provider) -> None:
    async def work(desk: BatchDesk) -> Any:
        await desk.find("nothing")
        return desk._client

    assert at_desk(provider.address, work).is_closed()


def test_a_mark_is_found_on_a_later_page(provider: Provider) -> None:
    async def work(desk: BatchDesk) -> tuple[Any, Any]:
        file = await desk.upload(lines("a"))
        for number in range(102):
            await desk.submit(file, f"k{number}")
        return await desk.find("k0"), await desk.find("k102")

    found, absent = at_desk(provider.address, work)
    assert found.id == "batch_00000001"
    assert absent is None


def test_a_file_that_is_gone(provider: Provider) -> None:
    async def work(desk: BatchDesk) -> bool:
        return await desk.download("file-00000009", io.BytesIO())

    assert at_desk(provider.address, work) is False


def test_a_batch_that_is_unknown_is_no_lost_batch(provider: Provider) -> None:
    async def work(desk: BatchDesk) -> Any:
        return await desk.look("batch_9")

    with pytest.raises(ProviderRefusedError, match="doesn't tell of batch batch_9") as refused:
        at_desk(provider.address, work)
    assert "is the key that of the account" in str(refused.value.hint)


# --- failures on the way ----------------------------------------------------------------------


class StatusError(Exception):
    """An error as clients raise it, with a key in its message."""

    def __init__(self, status: int | None) -> None:
        super().__init__(f"refused Bearer {KEY}")
        self.status_code = status


class Scripted:
    """A client whose batches fail as told, and are made all the same where they were lost."""

    def __init__(self, *statuses: int | None) -> None:
        self.left = list(statuses)
        self.made: list[Any] = []
        self.asked = 0
        self.batches = SimpleNamespace(create=self.create, list=self.list, retrieve=self.retrieve)

    async def create(self, *, metadata: dict[str, str], **_: Any) -> Any:
        self.asked += 1
        status = self.left.pop(0) if self.left else 200
        if status in {None, 200}:  # a lost connection comes after the work was done
            made = SimpleNamespace(id=f"batch_{len(self.made)}", status="validating")
            made.metadata, made.errors, made.request_counts = metadata, None, None
            made.output_file_id = made.error_file_id = None
            self.made.append(made)
        if status != 200:
            raise StatusError(status)
        return self.made[-1]

    async def list(self, **_: Any) -> Any:
        for one in reversed(self.made):
            yield one

    async def retrieve(self, _: str) -> Any:
        raise StatusError(self.left.pop(0))


def desk_of(client: Any, attempts: int = 3) -> BatchDesk:
    jitter = random.Random(1)  # noqa: S311 - repeatable, not secret
    return BatchDesk(
        client,
        "openai",
        lambda: retrying(attempts=attempts, backoff=0.1, sleep=no_sleep, jitter=jitter),
    )


@pytest.mark.parametrize(
    ("statuses", "asked"),
    [((), 1), ((None,), 1), ((500,), 2), ((429, 503), 3), ((500, None), 2)],
)
def test_a_batch_is_made_once(statuses: tuple[int | None, ...], asked: int) -> None:
    client = Scripted(*statuses)
    standing = asyncio.run(desk_of(client).submit("file", "k"))
    assert standing.id == "batch_0"
    assert len(client.made) == 1
    assert client.asked == asked


@pytest.mark.parametrize(
    ("status", "attempts", "error", "hint"),
    [
        (500, 3, ProviderDownError, "goes on from here"),
        (None, 3, ProviderDownError, "goes on from here"),
        (429, 3, ProviderDownError, "goes on from here"),
        (401, 1, ProviderRefusedError, "check the key"),
        (402, 1, ProviderRefusedError, "goes on from here"),
        (400, 1, ProviderRefusedError, "goes on from here"),
    ],
)
def test_what_a_failure_comes_to(
    status: int | None, attempts: int, error: type[LabelerError], hint: str
) -> None:
    client = Scripted(status, status, status)
    with pytest.raises(error) as raised:
        asyncio.run(desk_of(client).look("batch_0"))
    assert 3 - len(client.left) == attempts
    assert hint in str(raised.value.hint)
    assert KEY not in raised.value.message
    assert raised.value.__cause__ is None
