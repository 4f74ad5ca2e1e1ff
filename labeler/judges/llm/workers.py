"""Several processes that judge one pool: each takes its share of the requests.

A client spends milliseconds of CPU on each request, so one process is full at some 150 requests a
second. Processes share the limit on cost by a counter in common memory.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from multiprocessing.context import SpawnContext
from multiprocessing.queues import Queue
from typing import Any

from labeler.errors import LabelerError
from labeler.judges.llm.judge import LlmJudge
from labeler.judges.llm.pool import PoolToJudge
from labeler.judges.llm.report import LlmReport
from labeler.judges.llm.session import JudgeLimits, Tick, judge_in_this_process
from labeler.store.database import Store, open_store
from labeler.store.location import Location

__all__ = ["judge_in_processes"]

_TICK_SECONDS = 0.2


class SharedCounter:
    """What is spent and set aside, in memory that processes share."""

    def __init__(self, context: SpawnContext) -> None:
        self._lock = context.RLock()
        self._spent = context.Value("q", 0, lock=False)
        self._held = context.Value("q", 0, lock=False)

    @property
    def spent(self) -> int:
        """Billionths of a US dollar that are spent."""
        return int(self._spent.value)

    @spent.setter
    def spent(self, value: int) -> None:
        self._spent.value = value

    @property
    def held(self) -> int:
        """Billionths of a US dollar that are set aside."""
        return int(self._held.value)

    @held.setter
    def held(self, value: int) -> None:
        self._held.value = value

    def lock(self) -> AbstractContextManager[Any]:
        """Guard both."""
        return self._lock


@dataclass(frozen=True, slots=True)
class _Work:
    location: Location
    pool: PoolToJudge
    judge: LlmJudge
    limits: JudgeLimits
    circular: bool
    share: tuple[int, int]


def judge_in_processes(
    store: Store,
    pool: PoolToJudge,
    judge: LlmJudge,
    limits: JudgeLimits,
    *,
    circular: bool,
    workers: int,
    observe: Callable[[Tick], None],
) -> LlmReport:
    """Judge a pool by several processes and add up their reports.

    Ctrl-C reaches each of them: they end what is under way, and this one waits for them.

    Raises:
        LabelerError: When a process died without a report.
    """
    context = multiprocessing.get_context("spawn")
    counter = SharedCounter(context)
    told: Queue[Any] = context.Queue()
    bare = replace(judge, _renderers={})  # a validator that was made here can't travel
    processes = [
        context.Process(
            target=_work,
            args=(
                _Work(store.location, pool, bare, limits.part(workers), circular, (n, workers)),
                counter,
                told,
            ),
        )
        for n in range(workers)
    ]
    for process in processes:
        process.start()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        reports = _listen(processes, told, observe)
    finally:
        signal.signal(signal.SIGINT, before)
        for process in processes:
            process.join()
    total = LlmReport()
    for report in reports:
        total = total.merged(report)
    return total


def _listen(
    processes: list[Any], told: Queue[Any], observe: Callable[[Tick], None]
) -> list[LlmReport]:
    import queue

    ticks: dict[int, Tick] = {}
    reports: dict[int, LlmReport] = {}
    while len(reports) < len(processes):
        try:
            number, said = told.get(timeout=1.0)
        except queue.Empty:
            dead = [n for n, one in enumerate(processes) if not one.is_alive() and n not in reports]
            if dead and told.empty():
                raise LabelerError(
                    f"a judging process died (exit {processes[dead[0]].exitcode})",
                    hint="what it had committed is kept; the same command goes on",
                ) from None
            continue
        if isinstance(said, LlmReport):
            reports[number] = said
        elif isinstance(said, LabelerError):
            raise said
        else:
            ticks[number] = said
            observe(_sum(list(ticks.values())))
    return list(reports.values())


def _sum(ticks: list[Tick]) -> Tick:
    return Tick(
        done=sum(tick.done for tick in ticks),
        in_flight=sum(tick.in_flight for tick in ticks),
        limit=sum(tick.limit for tick in ticks),
        retries=sum(tick.retries for tick in ticks),
        cost=sum(tick.cost for tick in ticks),
        throttled=sum(tick.throttled for tick in ticks),
        stopping=any(tick.stopping for tick in ticks),
    )


def _work(work: _Work, counter: SharedCounter, told: Queue[Any]) -> None:
    """What each process does."""
    import time

    if work.judge.weights is not None:
        from labeler.providers import embedded_language_model

        embedded_language_model.register()
    number = work.share[0]
    last = 0.0

    def observe(tick: Tick) -> None:
        nonlocal last
        if time.monotonic() - last > _TICK_SECONDS:
            last = time.monotonic()
            told.put((number, tick))

    try:
        with open_store(work.location) as store:
            report = judge_in_this_process(
                store,
                work.pool,
                work.judge,
                work.limits,
                circular=work.circular,
                share=work.share,
                counter=counter,
                observe=observe,
            )
    except LabelerError as error:
        told.put((number, error))
    else:
        told.put((number, report))
