"""The one layer of retries: what passes is tried again, after a while that grows."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from labeler.providers.failures import Action, Failure

if TYPE_CHECKING:
    from tenacity import AsyncRetrying

__all__ = ["TransportError", "retrying"]

_LONGEST_BACKOFF = 30.0


class TransportError(Exception):
    """One HTTP request failed."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.name)
        self.failure = failure


def retrying(
    *,
    attempts: int,
    backoff: float,
    sleep: Callable[[float], Awaitable[None]],
    jitter: random.Random,
) -> AsyncRetrying:
    """Make a retry loop for one call; a shared one loses count between tasks.

    Args:
        attempts: HTTP requests, while failures are of a kind that passes.
        backoff: Seconds before the second attempt; doubled each time, with jitter, 30 at most,
            and never less than the provider asks for.
        sleep: Waits.
        jitter: Spreads the waiting of many requests.
    """
    from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.failure.retry_after if isinstance(error, TransportError) else None
        doubled: float = backoff * 2 ** (state.attempt_number - 1)
        return (asked or 0.0) + min(doubled, _LONGEST_BACKOFF) * jitter.uniform(0.5, 1.0)

    def passes(error: BaseException) -> bool:
        return isinstance(error, TransportError) and error.failure.action is Action.RETRY

    return AsyncRetrying(
        stop=stop_after_attempt(attempts),
        retry=retry_if_exception(passes),
        wait=wait,
        sleep=sleep,
        reraise=True,
    )
