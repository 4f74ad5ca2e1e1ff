"""How many requests may be in flight, and how fast new ones may start.

The number in flight finds its own level, as TCP's congestion window does (Jacobson and Karels,
"Congestion Avoidance and Control", 1988): it doubles each round until a provider throttles, is
cut then, and grows by one a round afterwards.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

__all__ = ["Limiter", "Pace", "StoppedError"]

_CUT = 0.7
_DEFAULT_START = 20


class StoppedError(Exception):
    """The limiter was stopped: no request starts any more."""


@dataclass(slots=True)
class Pace:
    """At most so many units a minute, spread evenly; what wasn't used isn't saved up."""

    per_minute: float
    _free_at: float = 0.0

    def delay(self, units: float, now: float) -> float:
        """Book units and tell how many seconds from now they may start."""
        start = max(now, self._free_at)
        self._free_at = start + units * 60.0 / self.per_minute
        return start - now


class Limiter:
    """Grants slots for requests.

    Args:
        most: The most requests in flight.
        start: How many to begin with.
        requests_per_minute: None for no limit.
        tokens_per_minute: None for no limit.
        monotonic: A clock, in seconds.
    """

    def __init__(
        self,
        *,
        most: int,
        start: int = _DEFAULT_START,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        monotonic: Callable[[], float],
    ) -> None:
        self.most = most
        self.in_flight = 0
        self.throttled_count = 0
        self.is_stopped = False
        self._monotonic = monotonic
        self._limit = float(min(start, most))
        self._growing_fast = True
        self._cut_at = -1.0
        self._paused_until = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._sleeping: set[asyncio.Future[None]] = set()
        self._paces = [
            (Pace(rate), counts_tokens)
            for rate, counts_tokens in ((requests_per_minute, False), (tokens_per_minute, True))
            if rate is not None
        ]

    @property
    def limit(self) -> int:
        """How many requests may be in flight now."""
        return max(int(self._limit), 1)

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[float]:
        """Wait for a slot, hold it, and give it back; yields the time at which it was granted.

        Raises:
            StoppedError: When the limiter is stopped before there is one.
        """
        await self._enter()
        try:
            await self._keep_pace(tokens)
            yield self._monotonic()
        finally:
            self.in_flight -= 1
            self._wake()

    async def pause(self, seconds: float) -> None:
        """Wait so many seconds, unless the limiter is stopped meanwhile.

        Raises:
            StoppedError: When it is.
        """
        self._refuse_if_stopped()
        loop = asyncio.get_running_loop()
        place: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(seconds, _resolve, place)
        self._sleeping.add(place)
        try:
            await place
        finally:
            self._sleeping.discard(place)
            timer.cancel()

    def stop(self) -> None:
        """Let no request start any more: whoever waits is turned away, whoever works goes on."""
        self.is_stopped = True
        for place in (*self._waiting, *self._sleeping):
            if not place.done():
                place.set_exception(StoppedError)
        self._waiting.clear()

    def _refuse_if_stopped(self) -> None:
        if self.is_stopped:
            raise StoppedError

    async def _enter(self) -> None:
        self._refuse_if_stopped()
        if self.in_flight < self.limit and not self._waiting:
            self.in_flight += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.exception() is None:
                self.in_flight -= 1
                self._wake()
            raise

    async def _keep_pace(self, tokens: int) -> None:
        while True:
            while (pause := self._paused_until - self._monotonic()) > 0:
                await self.pause(pause)
            now = self._monotonic()
            delay = max(
                (pace.delay(tokens if by_token else 1, now) for pace, by_token in self._paces),
                default=0.0,
            )
            if delay > 0:
                await self.pause(delay)
            self._refuse_if_stopped()
            # Where a pause was called meanwhile, its end is no time for all who slept to start.
            if self._paused_until <= self._monotonic():
                return

    def _wake(self) -> None:
        while self._waiting and self.in_flight < self.limit:
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)

    def succeeded(self) -> None:
        """A request was answered: allow more."""
        step = 1.0 if self._growing_fast else 1.0 / self._limit
        self._limit = min(self._limit + step, float(self.most))
        self._wake()

    def throttled(self, granted_at: float, retry_after: float | None) -> None:
        """A request was told to come back later: allow fewer, and let all wait if asked to.

        Of the requests that were under way together only the first makes a cut.

        Args:
            granted_at: When the request got its slot.
            retry_after: Seconds that the provider asks to wait.
        """
        now = self._monotonic()
        self.throttled_count += 1
        self._growing_fast = False
        if granted_at >= self._cut_at:
            self._cut_at = now
            self._limit = max(self._limit * _CUT, 1.0)
        if retry_after:
            self._paused_until = max(self._paused_until, now + retry_after)


def _resolve(place: asyncio.Future[None]) -> None:
    if not place.done():
        place.set_result(None)
