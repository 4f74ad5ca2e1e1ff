"""One process that judges: an event loop, a client within limits, a Ctrl-C that loses nothing."""

from __future__ import annotations

import asyncio
import gc
import math
import random
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from labeler.errors import InterruptedRunError, UsageError
from labeler.judges.llm.judge import LlmJudge
from labeler.judges.llm.pool import PoolToJudge
from labeler.judges.llm.report import LlmReport
from labeler.judges.llm.run import RunOptions, judge_items
from labeler.labels import Outcome
from labeler.providers.budget import Counter, Price, Purse
from labeler.providers.client import ClientSettings, ModelClient
from labeler.providers.limits import Limiter
from labeler.providers.seam import load_litellm, provider_connections
from labeler.store.database import Store

__all__ = [
    "JudgeLimits",
    "Tick",
    "judge_in_this_process",
    "model_client",
    "run_interruptible",
    "stop_on_interrupt",
    "stopped_by",
]

_SEED = 0x1ABE1
_LOOK_SECONDS = 0.1

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class JudgeLimits:
    """What a run may take.

    Attributes:
        max_concurrency: The most requests in flight.
        requests_per_minute: None for no limit.
        tokens_per_minute: None for no limit.
        max_cost: US dollars, or None.
        price: The price of a token, where known.
        price_is_given: Whether the user stated it.
        timeout: Seconds for one HTTP request.
        attempts: HTTP requests for one answer, while failures pass.
        retry: Take up only items that ended so.
    """

    max_concurrency: int = 64
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    max_cost: float | None = None
    price: Price | None = None
    price_is_given: bool = False
    timeout: float = 60.0
    attempts: int = 5
    retry: frozenset[Outcome] = frozenset()

    def __post_init__(self) -> None:
        if self.max_cost is not None and self.price is None:
            raise UsageError(
                "the price of this model is unknown, so --max-cost can't be kept",
                hint="state it in US dollars for a million tokens in and out: --price 0.15,0.60",
            )
        if self.max_cost is not None and not 0 <= self.max_cost < math.inf:
            raise UsageError("--max-cost is a number of US dollars, 0 or more")
        rates = {"--rpm": self.requests_per_minute, "--tpm": self.tokens_per_minute}
        positive = {
            "--max-concurrency": self.max_concurrency,
            "--attempts": self.attempts,
            "--timeout": self.timeout,
            **{name: rate for name, rate in rates.items() if rate is not None},
        }
        wrong = [name for name, value in positive.items() if not 0 < value < math.inf]
        if wrong:
            raise UsageError(f"{' and '.join(wrong)}: a number above 0 is needed")

    def part(self, shares: int) -> JudgeLimits:
        """Give one of several processes its part; the limit on cost is shared, not parted."""

        def each(rate: float | None) -> float | None:
            return None if rate is None else rate / shares

        return replace(
            self,
            max_concurrency=max(self.max_concurrency // shares, 1),
            requests_per_minute=each(self.requests_per_minute),
            tokens_per_minute=each(self.tokens_per_minute),
        )


@dataclass(frozen=True, slots=True)
class Tick:
    """What a progress line shows."""

    done: int
    in_flight: int
    limit: int
    retries: int
    cost: float
    throttled: int
    stopping: bool = False


def model_client(
    limits: JudgeLimits,
    *,
    clock: Callable[[], datetime],
    counter: Counter | None = None,
    seed: int = 0,
) -> ModelClient:
    """Make a client that keeps to limits.

    Args:
        limits: What it may take.
        clock: Tells the time of each try.
        counter: Where spent money is counted, when several processes share a limit.
        seed: Spreads the waiting of retries, each process in its own way.
    """
    limiter = Limiter(
        most=limits.max_concurrency,
        requests_per_minute=limits.requests_per_minute,
        tokens_per_minute=limits.tokens_per_minute,
        monotonic=time.monotonic,
    )
    return ModelClient(
        limiter=limiter,
        settings=ClientSettings(attempts=limits.attempts, timeout=limits.timeout),
        purse=None if limits.max_cost is None else Purse(limits.max_cost, counter),
        price=limits.price,
        given_price=limits.price_is_given,
        clock=clock,
        monotonic=time.monotonic,
        sleep=limiter.pause,
        jitter=random.Random(_SEED + seed),  # noqa: S311 - spreads retries, hides nothing
    )


def judge_in_this_process(
    store: Store,
    pool: PoolToJudge,
    judge: LlmJudge,
    limits: JudgeLimits,
    *,
    circular: bool = False,
    share: tuple[int, int] = (0, 1),
    counter: Counter | None = None,
    interrupts: Callable[[], int] | None = None,
    observe: Callable[[Tick], None] = lambda _: None,
) -> LlmReport:
    """Judge a pool, or one share of it, with an event loop of its own.

    The first Ctrl-C begins no further request and waits for those under way, which are paid for;
    the second drops them.

    Args:
        store: The project.
        pool: The pool.
        judge: The judge.
        limits: What the run may take.
        circular: Whether the judge shares a model with a pooled run.
        share: Which share of how many.
        counter: Where spent money is counted, when several processes share a limit.
        interrupts: Tells how often a person asked to stop, where another process hears it.
        observe: Told how it goes.
    """
    client = model_client(limits, clock=store.clock, counter=counter, seed=share[0])
    limiter = client.limiter
    options = RunOptions(
        in_flight=limits.max_concurrency, retry=limits.retry, share=share, circular=circular
    )

    async def work() -> LlmReport:
        stopping = asyncio.Event()

        def tell(report: LlmReport) -> None:
            observe(
                Tick(
                    done=report.finished,
                    in_flight=limiter.in_flight,
                    limit=limiter.limit,
                    retries=client.retries,
                    cost=report.cost,
                    throttled=limiter.throttled_count,
                    stopping=stopping.is_set(),
                )
            )

        stop_on_interrupt(stopping, interrupts)
        async with provider_connections(), stopped_by(stopping, limiter):
            _leave_what_is_loaded_to_itself()
            return await judge_items(
                store, pool, judge, client.ask, options, observe=tell, stopping=stopping
            )

    return run_interruptible(work())


def _leave_what_is_loaded_to_itself() -> None:
    """Take litellm's million objects, which stay, out of what the garbage collector looks at.

    Each of its full rounds would look at all of them and hold up every request for 0.3 s, once in
    a few hundred requests.
    """
    load_litellm()
    gc.collect()
    gc.freeze()


@asynccontextmanager
async def stopped_by(stopping: asyncio.Event, limiter: Limiter) -> AsyncIterator[None]:
    """Stop a limiter when the event is set, so that no request waits to be sent any more."""

    async def stop() -> None:
        await stopping.wait()
        limiter.stop()

    watching = asyncio.create_task(stop())
    try:
        yield
    finally:
        watching.cancel()


def run_interruptible(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a task that `stop_on_interrupt` may cancel.

    Raises:
        InterruptedRunError: When it was cancelled.
    """
    try:
        return asyncio.run(work)
    except asyncio.CancelledError:
        raise InterruptedRunError(
            "stopped at once; what was answered before is kept",
            hint="the same command goes on from here",
        ) from None


def stop_on_interrupt(stopping: asyncio.Event, interrupts: Callable[[], int] | None = None) -> None:
    """Set the event at the first Ctrl-C, and cancel this task at the second.

    `run_interruptible` tells what comes of the second.

    Args:
        stopping: The event.
        interrupts: Tells how often Ctrl-C was pressed, where another process hears it.
    """
    loop = asyncio.get_running_loop()
    this = asyncio.current_task()
    pressed = 0

    def interrupted() -> None:
        nonlocal pressed
        pressed += 1
        if pressed > 1 and this is not None:
            this.cancel()
        stopping.set()

    def look(seen: int) -> None:
        now = interrupts() if interrupts is not None else 0
        for _ in range(seen, now):
            interrupted()
        loop.call_later(_LOOK_SECONDS, look, max(seen, now))

    if interrupts is not None:
        look(0)
        return
    try:
        loop.add_signal_handler(signal.SIGINT, interrupted)
    except (NotImplementedError, RuntimeError, ValueError):
        return  # no such handlers here (Windows, a thread): Ctrl-C ends the run at once
