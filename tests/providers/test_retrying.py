"""The one layer of retries: how often, how long between, and what isn't tried again."""

from __future__ import annotations

import asyncio
import random

import pytest

from labeler.providers.chat import Ended
from labeler.providers.failures import Action, Failure
from labeler.providers.retrying import TransportError, retrying


def sleeps(
    attempts: int, *, action: Action = Action.RETRY, retry_after: float | None = None
) -> list[float]:
    """Give the waits of a call that fails each time."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    async def call() -> None:
        failure = Failure("throttled", action, Ended.FAILED, "busy", 429, retry_after)
        jitter = random.Random(1)  # noqa: S311 - repeatable, not secret
        async for attempt in retrying(attempts=attempts, backoff=1.0, sleep=sleep, jitter=jitter):
            with attempt:
                raise TransportError(failure)

    with pytest.raises(TransportError):
        asyncio.run(call())
    return waited


def test_waits_double_with_jitter_up_to_thirty_seconds() -> None:
    waits = sleeps(9)
    assert len(waits) == 8
    for number, wait in enumerate(waits):
        most = min(2.0**number, 30.0)
        assert most / 2 <= wait <= most
    assert len({wait / min(2.0**n, 30.0) for n, wait in enumerate(waits)}) == 8


def test_no_wait_is_shorter_than_the_provider_asks_for() -> None:
    for wait in sleeps(4, retry_after=7.0):
        assert 7.0 < wait <= 7.0 + 4.0


@pytest.mark.parametrize("action", [Action.FAIL, Action.ABORT])
def test_what_does_not_pass_is_not_tried_again(action: Action) -> None:
    assert sleeps(5, action=action) == []


def test_one_attempt_is_no_retry() -> None:
    assert sleeps(1) == []
