"""Having a pool judged by a provider's batches: plan, submit, wait, collect; stopped anywhere.

A batch is written down before it is submitted, with a mark that the provider keeps. So whenever
a run is stopped, the next one knows which requests are at the provider, and asks for none twice.
"""

from __future__ import annotations

import asyncio
import os
import random
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from labeler.errors import ConflictError, InterruptedRunError, LabelerError
from labeler.judges.llm.batch_collect import Collected, collect_batch
from labeler.judges.llm.batch_plan import BatchSize, PlannedBatch, planned_batches
from labeler.judges.llm.judge import LlmJudge
from labeler.judges.llm.pool import PoolToJudge, demands
from labeler.judges.llm.report import LlmReport
from labeler.judges.llm.run import RunOptions, judge_items
from labeler.judges.llm.session import JudgeLimits, run_interruptible, stop_on_interrupt
from labeler.judges.llm.store import judge_job, judge_job_digest
from labeler.providers.batch_ledger import (
    KnownBatch,
    batches_under_way,
    close_batch,
    is_in_state,
    note_submitted,
    plan_batch,
)
from labeler.providers.batch_lines import LineReader
from labeler.providers.batch_price import batch_cost
from labeler.providers.batches import BatchDesk, BatchStanding, batch_desk
from labeler.providers.chat import AnswerShape
from labeler.providers.redaction import secrets_in
from labeler.records.ledger import BatchState
from labeler.store.database import Store

__all__ = ["BatchReport", "BatchSettings", "BatchTick", "Submitted", "collect", "submit"]

_SEED = 0x1ABE1
_LEAST_TIMEOUT = 300.0
"""Seconds: a file of 200 MB takes longer to be taken in than an answer to come."""
_GROWTH = 1.5
_UNDER_WAY = 64
_STOPPED = "the batch goes on at the provider; the same command waits for it and collects it"


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """How batches are submitted and waited for.

    Attributes:
        wait: Wait until all have ended; else look once.
        first_pause: Seconds between the first two looks; half as much again each time.
        longest_pause: Seconds between two looks at most.
        size: How large one batch may be.
    """

    wait: bool = True
    first_pause: float = 5.0
    longest_pause: float = 60.0
    size: BatchSize = field(default_factory=BatchSize)


@dataclass(frozen=True, slots=True)
class BatchTick:
    """What a progress line shows: lines that have ended, and batches that haven't."""

    done: int
    total: int
    batches: int
    stopping: bool = False


@dataclass
class Submitted:
    """What was submitted.

    Attributes:
        lines: Lines of new batches.
        batches: The provider's names of new batches.
        taken_up: Those of batches that an earlier run submitted without learning it.
        stop: Why it ended early, or None.
    """

    lines: int = 0
    batches: list[str] = field(default_factory=list)
    taken_up: list[str] = field(default_factory=list)
    stop: LabelerError | None = None


@dataclass
class BatchReport:
    """What came of a pool's batches.

    Attributes:
        judged: What was judged, and what it took; ``requests`` counts lines.
        collected: Lines that were collected in this run.
        unanswered: Lines whose batch ended without an answer to them.
        under_way: Batches that haven't ended.
        notes: What people are told of batches that didn't end well.
    """

    judged: LlmReport
    collected: int = 0
    unanswered: int = 0
    under_way: list[BatchStanding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def submit(
    store: Store,
    pool: PoolToJudge,
    judge: LlmJudge,
    limits: JudgeLimits,
    settings: BatchSettings,
    *,
    observe: Callable[[int], None] = lambda _: None,
) -> Submitted:
    """Submit what is to be asked, unless it is at the provider already.

    Args:
        store: The project.
        pool: The pool.
        judge: The judge.
        limits: What the run may take; its price is that of a batch.
        settings: How batches are submitted.
        observe: Told how many lines were submitted.

    Raises:
        InterruptedRunError: When a second Ctrl-C came.
    """

    async def work() -> Submitted:
        submitted = Submitted()
        stopping = asyncio.Event()
        stop_on_interrupt(stopping)
        try:
            async with _desk(judge, limits) as desk:
                await _take_up(store, pool, judge, desk, submitted)
                async for batch in planned_batches(store, pool, judge, limits, settings.size):
                    await _submit(store, pool, judge, desk, batch, submitted)
                    observe(submitted.lines)
                    if stopping.is_set():
                        break
            if stopping.is_set():
                raise InterruptedRunError("stopped", hint=_STOPPED)
        except LabelerError as error:
            submitted.stop = error
        return submitted

    return run_interruptible(work())


def collect(
    store: Store,
    pool: PoolToJudge,
    judge: LlmJudge,
    limits: JudgeLimits,
    settings: BatchSettings,
    *,
    circular: bool = False,
    observe: Callable[[BatchTick], None] = lambda _: None,
) -> BatchReport:
    """Wait for a pool's batches, collect them, and judge by what they answered.

    Args:
        store: The project.
        pool: The pool.
        judge: The judge.
        limits: What the run may take; its price is that of a batch.
        settings: How batches are waited for.
        circular: Whether the judge shares a model with a pooled run.
        observe: Told how far the batches are.

    Raises:
        InterruptedRunError: When a second Ctrl-C came.
    """

    async def work() -> BatchReport:
        waiting = _Waiting(store, pool, judge, settings, observe)
        stop_on_interrupt(waiting.stopping)
        try:
            async with _desk(judge, limits) as desk:
                await waiting.fetch_all(desk, _reader(judge, limits))
        except LabelerError as error:
            waiting.stop = error
        found = waiting.collected
        options = RunOptions(in_flight=_UNDER_WAY, collecting=True, circular=circular)
        judged = await judge_items(store, pool, judge, found.ask, options)
        return BatchReport(
            judged=_with_lines(judged, found, waiting.stop),
            collected=found.lines,
            unanswered=found.unanswered,
            under_way=list(waiting.standings.values()),
            notes=found.notes,
        )

    return run_interruptible(work())


@asynccontextmanager
async def _desk(judge: LlmJudge, limits: JudgeLimits) -> AsyncIterator[BatchDesk]:
    async with batch_desk(
        judge.model,
        judge.endpoint,
        timeout=max(limits.timeout, _LEAST_TIMEOUT),
        attempts=limits.attempts,
        sleep=asyncio.sleep,
        jitter=random.Random(_SEED),  # noqa: S311 - spreads retries, hides nothing
    ) as desk:
        yield desk


def _reader(judge: LlmJudge, limits: JudgeLimits) -> LineReader:
    return LineReader(
        model=judge.model,
        mode=judge.mode,
        price=limits.price if limits.price_is_given else None,
        cost=batch_cost(judge.model),
        secrets=secrets_in(os.environ),
    )


async def _take_up(
    store: Store, pool: PoolToJudge, judge: LlmJudge, desk: BatchDesk, submitted: Submitted
) -> None:
    """Find out which batches an earlier run submitted without learning their names.

    One that the provider doesn't have was never submitted; its requests are open again.
    """
    for batch in _under_way(store, pool, judge):
        if batch.external_id is not None:
            continue
        found = await desk.find(batch.key)
        with store.work() as connection:
            if found is None:
                close_batch(connection, batch.id, BatchState.LOST, store.clock())
            else:
                note_submitted(connection, batch.id, found.id, None, store.clock())
                submitted.taken_up.append(found.id)


async def _submit(
    store: Store,
    pool: PoolToJudge,
    judge: LlmJudge,
    desk: BatchDesk,
    planned: PlannedBatch,
    submitted: Submitted,
) -> None:
    """Write a batch down, upload it, submit it, and write down the provider's name for it."""
    with store.write(f"judge run {pool.name} --judge {judge.name} --batch") as tx:
        _, job = judge_job(tx, pool, judge)
        batch = plan_batch(
            tx.connection,
            job,
            key=secrets.token_hex(16),
            provider=desk.provider,
            endpoint=judge.endpoint,
            lines=planned.lines,
            at=tx.clock(),
        )
    file_id = await desk.upload(planned.file)
    with store.read() as connection:
        is_ours = is_in_state(connection, batch.id, BatchState.PLANNED)
    if not is_ours:
        raise ConflictError(
            "another command took this run's batch for one that was given up",
            hint="run one `judge run --batch` of a judge at a time",
        )
    standing = await desk.submit(file_id, batch.key)
    with store.work() as connection:
        note_submitted(connection, batch.id, standing.id, file_id, store.clock())
    submitted.lines += len(planned.lines)
    submitted.batches.append(standing.id)


def _under_way(store: Store, pool: PoolToJudge, judge: LlmJudge) -> list[KnownBatch]:
    with store.read() as connection:
        return batches_under_way(connection, judge_job_digest(pool, judge))


@dataclass
class _Waiting:
    """Batches that are waited for."""

    store: Store
    pool: PoolToJudge
    judge: LlmJudge
    settings: BatchSettings
    observe: Callable[[BatchTick], None]
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    collected: Collected = field(default_factory=Collected)
    standings: dict[int, BatchStanding] = field(default_factory=dict)
    stop: LabelerError | None = None

    async def fetch_all(self, desk: BatchDesk, reader: LineReader) -> None:
        """Look at all batches now and then, and collect each that has ended."""
        left = [one for one in _under_way(self.store, self.pool, self.judge) if one.external_id]
        total = sum(batch.total for batch in left)
        shape = self._shape() if left else None
        pause = self.settings.first_pause
        while shape is not None and left:
            for batch in list(left):
                standing = await desk.look(batch.external_id or "")
                self.standings[batch.id] = standing
                if standing.has_ended:
                    await collect_batch(
                        self.store,
                        desk,
                        batch,
                        standing,
                        reader=reader,
                        shape=shape,
                        into=self.collected,
                    )
                    left.remove(batch)
                    del self.standings[batch.id]
            self._tell(total, left)
            if not left or not self.settings.wait:
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), pause)
            if self.stopping.is_set():
                raise InterruptedRunError("stopped waiting", hint=_STOPPED)
            pause = min(pause * _GROWTH, self.settings.longest_pause)

    def _tell(self, total: int, left: list[KnownBatch]) -> None:
        ended = total - sum(batch.total for batch in left)
        done = ended + sum(standing.done for standing in self.standings.values())
        self.observe(BatchTick(done, total, len(left), self.stopping.is_set()))

    def _shape(self) -> AnswerShape | None:
        """Give the shape of the answers: a pool has one rubric, and so one shape."""
        for part in demands(self.store, self.pool, self.judge, collecting=True):
            for demand in part:
                return demand.question.requests[0].shape
        return None


def _with_lines(judged: LlmReport, found: Collected, stop: LabelerError | None) -> LlmReport:
    """Add what the lines took to what was judged by them."""
    total = judged.merged(found.tally)
    total.reused = max(judged.reused - found.answered, 0)
    total.stop = stop or found.stop or judged.stop
    return total
