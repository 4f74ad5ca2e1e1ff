"""One process that judges: an event loop, a client within limits, a Ctrl-C that loses nothing."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from labeler.errors import UsageError
from labeler.judges.llm.judge import LlmJudge
from labeler.judges.llm.pool import PoolToJudge
from labeler.judges.llm.report import LlmReport
from labeler.judges.llm.run import RunOptions, judge_items
from labeler.labels import Outcome
from labeler.providers.budget import Counter, Price, Purse
from labeler.providers.client import ClientSettings, ModelClient
from labeler.providers.limits import Limiter
from labeler.providers.seam import provider_connections
from labeler.store.database import Store

__all__ = ["JudgeLimits", "Tick", "judge_in_this_process", "stop_on_interrupt"]

_SEED = 0x1ABE1


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
        if self.max_concurrency < 1 or self.attempts < 1 or self.timeout <= 0:
            raise UsageError("--max-concurrency, --attempts and --timeout are more than 0")

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


def judge_in_this_process(
    store: Store,
    pool: PoolToJudge,
    judge: LlmJudge,
    limits: JudgeLimits,
    *,
    circular: bool = False,
    share: tuple[int, int] = (0, 1),
    counter: Counter | None = None,
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
        observe: Told how it goes.
    """
    limiter = Limiter(
        most=limits.max_concurrency,
        requests_per_minute=limits.requests_per_minute,
        tokens_per_minute=limits.tokens_per_minute,
        monotonic=time.monotonic,
    )
    purse = None if limits.max_cost is None else Purse(limits.max_cost, counter)
    client = ModelClient(
        limiter=limiter,
        settings=ClientSettings(attempts=limits.attempts, timeout=limits.timeout),
        purse=purse,
        price=limits.price,
        given_price=limits.price_is_given,
        clock=store.clock,
        monotonic=time.monotonic,
        sleep=asyncio.sleep,
        jitter=random.Random(_SEED + share[0]),  # noqa: S311 - spreads retries, hides nothing
    )
    options = RunOptions(
        in_flight=limits.max_concurrency, retry=limits.retry, share=share, circular=circular
    )

    async def work() -> LlmReport:
        stopping = asyncio.Event()

        def tell(report: LlmReport) -> None:
            observe(
                Tick(
                    done=report.known + report.answered,
                    in_flight=limiter.in_flight,
                    limit=limiter.limit,
                    retries=client.retries,
                    cost=report.cost,
                    throttled=limiter.throttled_count,
                    stopping=stopping.is_set(),
                )
            )

        stop_on_interrupt(stopping)
        async with provider_connections():
            return await judge_items(
                store, pool, judge, client.ask, options, observe=tell, stopping=stopping
            )

    return asyncio.run(work())


def stop_on_interrupt(stopping: asyncio.Event) -> None:
    """Set the event at the first Ctrl-C, and cancel this task at the second."""
    loop = asyncio.get_running_loop()
    this = asyncio.current_task()

    def interrupted() -> None:
        if stopping.is_set() and this is not None:
            this.cancel()
        stopping.set()

    try:
        loop.add_signal_handler(signal.SIGINT, interrupted)
    except (NotImplementedError, RuntimeError, ValueError):
        return  # no such handlers here (Windows, a thread): Ctrl-C ends the run at once
