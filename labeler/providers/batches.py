"""Batches of requests at a provider: upload, submit, look, collect.

Offered where litellm offers them and the provider takes and gives OpenAI's own form, which alone
can be found again by its mark after a crash. litellm's functions for them build a client for each
call and never close it (1.110.2), and read a whole batch again to price it, so the client
underneath is used by itself: one for all calls, with the address and the key that litellm takes.
"""

from __future__ import annotations

import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

from labeler.errors import LabelerError, ProviderDownError, ProviderRefusedError, UsageError
from labeler.providers.failures import Action, Failure, classify
from labeler.providers.redaction import redacted
from labeler.providers.retrying import TransportError, retrying
from labeler.providers.seam import load_litellm

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["BATCH_URL", "BatchDesk", "BatchStanding", "batch_desk", "provider_with_batches"]

BATCH_URL: Final = "/v1/chat/completions"
"""Where each line of a batch is sent, whatever the provider's address."""

_MARK = "labeler"
_MOST_LISTED = 1_000
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_GONE = 404
_VARIABLES = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "azure": ("AZURE_API_BASE", "AZURE_API_KEY"),
    "hosted_vllm": ("HOSTED_VLLM_API_BASE", "HOSTED_VLLM_API_KEY"),
    "litellm_proxy": ("LITELLM_PROXY_API_BASE", "LITELLM_PROXY_API_KEY"),
}

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class BatchStanding:
    """How far a batch is.

    Attributes:
        id: The provider's name for it.
        status: As the provider says it, such as ``in_progress`` or ``expired``.
        done: Lines that have an answer or an error.
        total: Lines, as far as the provider has counted them.
        files: The files that hold answers and errors.
        problem: Why it failed as a whole, redacted.
    """

    id: str
    status: str
    done: int = 0
    total: int = 0
    files: tuple[str, ...] = ()
    problem: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more comes."""
        return self.status in _ENDED


def provider_with_batches(model: str) -> str:
    """Name the provider of a model, if it takes batches.

    Raises:
        UsageError: When it doesn't.
    """
    try:
        provider = str(load_litellm().get_llm_provider(model)[1])
    except Exception:  # noqa: BLE001 - litellm raises anything for a name that it doesn't know
        provider = model.partition("/")[0]
    if provider not in _VARIABLES:
        raise UsageError(
            f"--batch doesn't go with {model}: batches are offered for the providers "
            f"{', '.join(sorted(_VARIABLES))}",
            hint="leave --batch out to ask one by one",
        )
    return provider


@asynccontextmanager
async def batch_desk(
    model: str,
    endpoint: str | None,
    *,
    timeout: float,
    attempts: int,
    sleep: Callable[[float], Awaitable[None]],
    jitter: random.Random,
    backoff: float = 0.5,
) -> AsyncIterator[BatchDesk]:
    """Open a desk at a model's provider, and close its connections at the end.

    Args:
        model: The model as litellm names it.
        endpoint: The provider's address where it isn't the usual one.
        timeout: Seconds for one HTTP request.
        attempts: HTTP requests for one step, while failures are of a kind that passes.
        sleep: Waits between attempts.
        jitter: Spreads the waiting.
        backoff: Seconds before the second attempt, doubled each time.

    Raises:
        UsageError: When the provider takes no batches.
        ProviderRefusedError: When its key isn't there.
    """
    provider = provider_with_batches(model)
    client = _client(provider, endpoint, timeout)
    try:
        yield BatchDesk(
            client,
            provider,
            lambda: retrying(attempts=attempts, backoff=backoff, sleep=sleep, jitter=jitter),
        )
    finally:
        await client.close()


class BatchDesk:
    """Hands batches in and fetches them.

    Args:
        client: The client.
        provider: Its name.
        patience: Makes a retry loop for one step.
    """

    def __init__(self, client: AsyncOpenAI, provider: str, patience: Callable[[], Any]) -> None:
        self.provider = provider
        self._client = client
        self._patience = patience

    async def upload(self, file: IO[bytes]) -> str:
        """Upload the lines of a batch and give the provider's name for the file."""

        async def once() -> str:
            file.seek(0)
            found = await self._client.files.create(file=("labeler.jsonl", file), purpose="batch")
            return found.id

        return await self._step("takes no file of a batch", once)

    async def submit(self, file_id: str, key: str) -> BatchStanding:
        """Submit a batch once, however often the connection is lost on the way.

        Args:
            file_id: The file of its lines.
            key: Marks it; no other batch has it.
        """
        asked = 0

        async def once() -> BatchStanding:
            nonlocal asked
            asked += 1
            # What was lost on the way may have arrived, and would be paid for twice.
            if asked > 1 and (found := await self._marked(key)) is not None:
                return found
            made = await self._client.batches.create(
                completion_window="24h",
                endpoint=BATCH_URL,
                input_file_id=file_id,
                metadata={_MARK: key},
            )
            return _standing(made)

        return await self._step("takes no batch", once)

    async def find(self, key: str) -> BatchStanding | None:
        """Look for a batch by its mark among the thousand latest of the account."""
        return await self._step("doesn't list its batches", lambda: self._marked(key))

    async def look(self, batch_id: str) -> BatchStanding:
        """Look how far a batch is."""

        async def once() -> BatchStanding:
            return _standing(await self._client.batches.retrieve(batch_id))

        return await self._step(
            f"doesn't tell of batch {batch_id}",
            once,
            gone="is the key that of the account which submitted it?",
        )

    async def download(self, file_id: str, into: IO[bytes]) -> bool:
        """Append a file to another; False when the provider doesn't hold it any more."""
        start = into.seek(0, os.SEEK_END)

        async def once() -> bool:
            into.seek(start)
            into.truncate()
            try:
                async with self._client.files.with_streaming_response.content(file_id) as response:
                    async for part in response.iter_bytes():
                        into.write(part)
            except Exception as error:
                if getattr(error, "status_code", None) == _GONE:
                    return False
                raise
            return True

        return await self._step("doesn't give the answers", once)

    async def _marked(self, key: str) -> BatchStanding | None:
        listed = 0
        async for batch in self._client.batches.list(limit=100):
            if (batch.metadata or {}).get(_MARK) == key:
                return _standing(batch)
            listed += 1
            if listed >= _MOST_LISTED:
                break
        return None

    async def _step(
        self, what: str, once: Callable[[], Awaitable[_Result]], gone: str | None = None
    ) -> _Result:
        """Take one step, again while its failures are of a kind that passes."""
        try:
            async for attempt in self._patience():
                with attempt:
                    try:
                        return await once()
                    except Exception as error:  # noqa: BLE001 - classified: clients raise anything
                        raise TransportError(classify(error)) from None
        except TransportError as error:
            raise _as_told(f"{self.provider} {what}", error.failure, gone) from None
        raise AssertionError  # the retry loop either returns or raises


def _as_told(what: str, failure: Failure, gone: str | None) -> LabelerError:
    message = f"{what}: {failure}"
    if failure.action is Action.RETRY:
        return ProviderDownError(message, hint="the same command goes on from here")
    if failure.status == _GONE:
        hint = gone or "a server that offers no batches is asked without --batch"
    elif failure.name == "unauthorised":
        hint = "check the key in the provider's environment variable"
    else:
        hint = "the same command goes on from here"
    return ProviderRefusedError(message, hint=hint)


def _standing(batch: Any) -> BatchStanding:
    counts = batch.request_counts
    problems = (batch.errors.data or []) if batch.errors is not None else []
    said = "; ".join(": ".join(filter(None, (one.code, one.message))) for one in problems[:3])
    return BatchStanding(
        id=batch.id,
        status=batch.status,
        done=(counts.completed + counts.failed) if counts is not None else 0,
        total=counts.total if counts is not None else 0,
        files=tuple(name for name in (batch.output_file_id, batch.error_file_id) if name),
        problem=redacted(said)[:300],
    )


def _client(provider: str, endpoint: str | None, timeout: float) -> AsyncOpenAI:
    base_name, key_name = _VARIABLES[provider]
    base = endpoint or os.environ.get(base_name)
    key = os.environ.get(key_name)
    if provider == "azure":
        return _azure_client(base, key, timeout)
    if provider == "openai":
        base = base or os.environ.get("OPENAI_API_BASE")
    elif base is None:
        raise UsageError(f"{provider} has no usual address", hint=f"give --endpoint or {base_name}")
    if key is None and base is None:
        raise ProviderRefusedError(f"there is no key for {provider}", hint=f"set {key_name}")
    from openai import AsyncOpenAI

    # A server of one's own needs no key, but the client refuses to start without one.
    return AsyncOpenAI(
        api_key=key or "none",
        base_url=base,
        organization=os.environ.get("OPENAI_ORGANIZATION") if provider == "openai" else None,
        timeout=timeout,
        max_retries=0,
    )


def _azure_client(base: str | None, key: str | None, timeout: float) -> AsyncOpenAI:
    """Make a client for Azure with the credentials that litellm finds for it."""
    if base is None:
        raise UsageError("azure has no usual address", hint="give --endpoint or AZURE_API_BASE")
    load_litellm()
    from litellm.llms.azure.common_utils import BaseAzureLLM
    from openai import AsyncAzureOpenAI, AsyncOpenAI

    version = os.environ.get("AZURE_API_VERSION")
    parameters = BaseAzureLLM().initialize_azure_sdk_client(
        litellm_params={"timeout": timeout, "max_retries": 0},
        api_key=key,
        api_base=base,
        model_name=None,
        api_version=version,
        is_async=True,
    )
    if key is not None and BaseAzureLLM.is_azure_v1_api_version(version):
        address = f"{base.rstrip('/').removesuffix('/openai/v1')}/openai/v1/"
        return AsyncOpenAI(api_key=key, base_url=address, timeout=timeout, max_retries=0)
    return AsyncAzureOpenAI(**parameters)
