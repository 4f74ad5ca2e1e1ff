"""A client that asks the fake provider, for the tests of what comes of it."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from labeler.judges.llm.answering import answer_shape
from labeler.judges.llm.prompts import find_prompt
from labeler.labels import NATIVE
from labeler.providers.budget import Price, Purse
from labeler.providers.chat import AnswerMode, ChatRequest, Message, Reply
from labeler.providers.client import ClientSettings, ModelClient
from labeler.providers.limits import Limiter
from labeler.providers.seam import provider_connections
from tests.fake_provider.running import Provider, running_provider

_T = TypeVar("_T")

SHAPE = answer_shape(find_prompt("direct"), NATIVE)
_TEXTS = itertools.count()


@dataclass
class Asking:
    """A running fake provider, an event loop, and clients on it."""

    provider: Provider
    runner: asyncio.Runner
    clients: dict[float, ModelClient] = field(default_factory=dict)

    def request(
        self,
        model: str,
        mode: AnswerMode = AnswerMode.JSON_SCHEMA,
        text: str | None = None,
        **parameters: Any,
    ) -> ChatRequest:
        """Make a request; its text is new unless it is given."""
        shown = f"item {next(_TEXTS)}" if text is None else text
        return ChatRequest(
            model=f"openai/{model}",
            messages=(Message("system", "Judge."), Message("user", shown)),
            shape=SHAPE,
            mode=mode,
            parameters={"max_tokens": 500, **parameters},
            endpoint=self.provider.address,
        )

    def client(
        self,
        *,
        attempts: int = 2,
        timeout: float = 10.0,
        most: int = 64,
        start: int = 20,
        rpm: float | None = None,
        purse: Purse | None = None,
        price: Price | None = None,
    ) -> ModelClient:
        """Make a client that hardly waits between attempts."""
        limiter = Limiter(most=most, start=start, requests_per_minute=rpm, monotonic=time.monotonic)
        return ModelClient(
            limiter=limiter,
            settings=ClientSettings(attempts=attempts, timeout=timeout, backoff=0.002),
            purse=purse,
            price=price,
            given_price=price is not None,
            clock=lambda: datetime.now(UTC),
            monotonic=time.monotonic,
            sleep=limiter.pause,
            jitter=random.Random(1),  # noqa: S311 - repeatable, not secret
        )

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine on the loop that all share."""
        return self.runner.run(work)

    def ask(self, request: ChatRequest, client: ModelClient | None = None) -> Reply:
        """Ask once; without a client by one that tries twice."""
        timeout = 0.3 if request.model.endswith("/hang") else 10.0
        if client is None:
            if timeout not in self.clients:
                self.clients[timeout] = self.client(timeout=timeout)
            client = self.clients[timeout]
        return self.run(client.ask(request))

    def ask_all(self, requests: list[ChatRequest], client: ModelClient) -> list[Reply]:
        """Ask all at once."""

        async def work() -> list[Reply]:
            return list(await asyncio.gather(*(client.ask(one) for one in requests)))

        return self.run(work())

    def count(self, model: str, name: str = "requests") -> int:
        """Give one of the provider's counts."""
        return self.provider.count(model, name)


@contextmanager
def asking() -> Iterator[Asking]:
    """Start a provider and a loop, and close all connections at the end."""

    async def close() -> None:
        async with provider_connections():
            pass

    with running_provider(codes=["0", "1", "2", "?"]) as provider, asyncio.Runner() as runner:
        try:
            yield Asking(provider, runner)
        finally:
            runner.run(close())
