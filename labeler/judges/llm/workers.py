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
from labeler.judges.llm.store import note_end
from labeler.records.ledger import JobState
from labeler.store.database import Store, open_store
from labeler.store.location import Location

__all__ = ["judge_in_processes"]

_TICK_SECONDS = 0.2
_LISTEN_SECONDS = 1.0


class SharedCounter:
    """What is spent and set aside, in memory that processes share; each has a place of its own."""

    def __init__(
        self, lock: AbstractContextManager[Any], spent: Any, held: Any, place: int
    ) -> None:
        self._lock = lock
        self._spent = spent
        self._held = held
        self._place = place

    @classmethod
    def for_processes(cls, context: SpawnContext, count: int) -> list[SharedCounter]:
        """Make one for each of so many processes."""
        lock, spent = context.RLock(), context.Value("q", 0, lock=False)
        held = context.Array("q", count, lock=False)
        return [cls(lock, spent, held, place) for place in range(count)]

    def write_off(self) -> None:
        """Book what a process that died had set aside: its calls may have been answered."""
        with self.lock():
            self._spent.value += self._held[self._place]
            self._held[self._place] = 0

    @property
    def spent(self) -> int:
        """Billionths of a US dollar that are spent."""
        return int(self._spent.value)

    @spent.setter
    def spent(self, value: int) -> None:
        self._spent.value = value

    @property
    def held(self) -> int:
        """Billionths of a US dollar that are set aside, by all processes."""
        return sum(self._held)

    @held.setter
    def held(self, value: int) -> None:
        self._held[self._place] += value - self.held

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

    This process alone hears Ctrl-C, and tells the others: they end what is under way, and this one
    waits for them. `LlmReport.stop` says it when one of them died.
    """
    context = multiprocessing.get_context("spawn")
    counters = SharedCounter.for_processes(context, workers)
    interrupts = context.Value("i", 0)
    told: Queue[Any] = context.Queue()
    bare = replace(judge, _renderers={})  # a validator that was made here can't travel
    processes = [
        context.Process(
            target=_work,
            args=(
                _Work(store.location, pool, bare, limits.part(workers), circular, (n, workers)),
                counters[n],
                interrupts,
                told,
            ),
        )
        for n in range(workers)
    ]

    def interrupted(*_: object) -> None:
        interrupts.value += 1

    # Whoever is started while it is ignored ignores it too.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for process in processes:
            process.start()
        signal.signal(signal.SIGINT, interrupted)
        total = _listen(processes, told, counters, observe)
        for process in processes:
            process.join()
    finally:
        signal.signal(signal.SIGINT, before)
    is_done = total.stop is None and not total.waiting
    note_end(store, pool, judge, total, JobState.DONE if is_done else JobState.STOPPED)
    return total


def _listen(
    processes: list[Any],
    told: Queue[Any],
    counters: list[SharedCounter],
    observe: Callable[[Tick], None],
) -> LlmReport:
    """Hear what processes tell until each has reported or died, and add up their reports."""
    import queue

    ticks: dict[int, Tick] = {}
    reports: dict[int, LlmReport] = {}
    while len(reports) < len(processes):
        # Who is dead by now has told all that it will tell.
        dead = [n for n, one in enumerate(processes) if not one.is_alive()]
        try:
            number, said = told.get(timeout=_LISTEN_SECONDS)
        except queue.Empty:
            for n in dead:
                if n not in reports:
                    counters[n].write_off()
                    reports[n] = LlmReport(stop=_died(processes[n].exitcode))
            continue
        if isinstance(said, LlmReport):
            reports[number] = said
        else:
            ticks[number] = said
            observe(_sum(list(ticks.values())))
    total = LlmReport()
    for report in reports.values():
        total = total.merged(report)
    return total


def _died(code: int | None) -> LabelerError:
    return LabelerError(
        f"a judging process died (exit {code})",
        hint="what it had committed is kept; the same command goes on",
    )


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


def _work(work: _Work, counter: SharedCounter, interrupts: Any, told: Queue[Any]) -> None:
    """What each process does."""
    import time

    if work.judge.weights is not None:
        from labeler.providers import embedded_language_model

        embedded_language_model.register()
    parent = multiprocessing.parent_process()
    assert parent is not None  # noqa: S101 - this runs in a process that was started
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
                interrupts=lambda: int(interrupts.value) or not parent.is_alive(),
                observe=observe,
            )
    except LabelerError as error:
        report = LlmReport(stop=error)
    told.put((number, report))
