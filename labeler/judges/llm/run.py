"""Having a pool judged by a language model: many requests in flight, commits all along.

Three parts hand work on: a reader goes through the pool, tasks ask about items, a writer commits
what was answered every second. So memory doesn't grow with the pool, and a run that is stopped at
any point loses at most what wasn't committed yet.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from labeler.errors import InterruptedRunError, LabelerError, ProviderDownError
from labeler.judges.llm.judge import LlmJudge
from labeler.judges.llm.pool import PART, Demand, PoolToJudge, demands
from labeler.judges.llm.report import CLOSED, LlmReport
from labeler.judges.llm.store import Answered, JobProgress, note_end, store_answers
from labeler.labels import Outcome
from labeler.providers.chat import ChatRequest, Ended, Reply, Try
from labeler.providers.failures import is_of_the_request
from labeler.records.ledger import JobState
from labeler.store.database import Store

__all__ = ["Ask", "RunOptions", "judge_items"]

_SECONDS_BETWEEN_COMMITS = 1.0
_FAILURES_IN_A_ROW = 20
_KEPT = 10 * PART

Ask = Callable[[ChatRequest], Awaitable[Reply | None]]
"""Asks a model; given by the caller, so that a batch that was collected answers as well: with None
where it holds no answer."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a pool is gone through.

    Attributes:
        in_flight: How many items are under way at once, at most.
        retry: Take up only items that ended so.
        share: Which share of how many processes this one has.
        circular: Whether the judge shares a model with a pooled run.
        collecting: Take what is at hand, whatever an item's standing.
    """

    in_flight: int
    retry: frozenset[Outcome] = frozenset()
    share: tuple[int, int] = (0, 1)
    circular: bool = False
    collecting: bool = False


_Key = tuple[str, int, int]
"""A request by its digest; which of its answers; how often it was lost before in this run."""


@dataclass
class _Run:
    """One run while it goes on."""

    store: Store
    pool: PoolToJudge
    judge: LlmJudge
    ask: Ask
    options: RunOptions
    observe: Callable[[LlmReport], None]
    stopping: asyncio.Event
    report: LlmReport = field(default_factory=LlmReport)
    tried: list[tuple[_Key, Sequence[Try]]] = field(default_factory=list)
    answers: list[Answered] = field(default_factory=list)
    under_way: dict[_Key, asyncio.Future[Reply | None]] = field(default_factory=dict)
    committed: deque[_Key] = field(default_factory=deque)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    failures_in_a_row: int = 0

    def stop(self, reason: LabelerError) -> None:
        if self.report.stop is None:
            self.report.stop = reason
        self.stopping.set()


async def judge_items(
    store: Store,
    pool: PoolToJudge,
    judge: LlmJudge,
    ask: Ask,
    options: RunOptions,
    *,
    observe: Callable[[LlmReport], None] = lambda _: None,
    stopping: asyncio.Event | None = None,
) -> LlmReport:
    """Judge what the judge hasn't judged yet.

    Nothing is raised for what a provider does: `LlmReport.stop` says why a run ended early. What
    was answered by then is stored.

    Args:
        store: The project.
        pool: The pool.
        judge: The judge.
        ask: Asks the model.
        options: How the pool is gone through.
        observe: Told the counts as they grow.
        stopping: Set from outside, it lets requests under way end and begins no others.
    """
    run = _Run(store, pool, judge, ask, options, observe, stopping or asyncio.Event())
    writer = asyncio.create_task(_write(run))
    state = JobState.STOPPED
    try:
        await _go_through(run)
        if run.stopping.is_set():
            run.stop(InterruptedRunError("stopped", hint="the same command goes on from here"))
        if run.report.stop is None and not run.report.waiting:
            state = JobState.DONE
    finally:
        run.ended.set()
        await asyncio.gather(writer)
        # Also when the run is cancelled or a commit failed: what was answered is kept.
        _commit(run, _take(run))
        if options.share[1] == 1:
            note_end(store, pool, judge, run.report, state)
    return run.report


async def _go_through(run: _Run) -> None:
    """Hand demands to tasks, as many at a time as may be in flight."""
    slots = asyncio.Semaphore(run.options.in_flight)
    tasks: set[asyncio.Task[None]] = set()
    bugs: list[BaseException] = []

    def ended(task: asyncio.Task[None]) -> None:
        tasks.discard(task)
        slots.release()
        if not task.cancelled() and (bug := task.exception()) is not None:
            bugs.append(bug)
            run.stopping.set()

    parts = demands(
        run.store,
        run.pool,
        run.judge,
        retry=run.options.retry,
        share=run.options.share,
        collecting=run.options.collecting,
    )
    # The next part is read while this one is asked about.
    coming = asyncio.create_task(asyncio.to_thread(_next, parts))
    try:
        while not run.stopping.is_set() and (part := await coming) is not None:
            coming = asyncio.create_task(asyncio.to_thread(_next, parts))
            for demand in part:
                if not _is_wanted(run, demand):
                    continue
                await slots.acquire()
                if run.stopping.is_set():
                    slots.release()
                    break
                task = asyncio.create_task(_judge(run, demand))
                tasks.add(task)
                task.add_done_callback(ended)
        if tasks:
            await asyncio.wait(tasks)
        if bugs:
            raise bugs[0]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(coming, *tasks, return_exceptions=True)


def _next(parts: Iterator[list[Demand]]) -> list[Demand] | None:
    return next(parts, None)


def _is_wanted(run: _Run, demand: Demand) -> bool:
    report = run.report
    report.items += 1
    if not demand.wanted:
        report.known += demand.standing.closed >= run.judge.samples
        report.finished += 1
        report.waiting += demand.waits
        _count_as_lost_before(run, demand)
    run.observe(report)
    return demand.wanted > 0


def _count_as_lost_before(run: _Run, demand: Demand) -> None:
    if not demand.standing.closed and demand.standing.lost:
        run.report.lost[demand.standing.lost[-1].value] += 1


async def _judge(run: _Run, demand: Demand) -> None:
    """Get the answers that an item lacks, one after the other."""
    outcomes: list[Outcome] = []
    lost: Counter[str] = Counter()
    place = demand.standing.asked
    for number in range(demand.wanted):
        found = await asyncio.gather(
            *(
                _obtain(run, demand, request, (request.digest, place, lost[request.digest]))
                for request in demand.question.requests
            )
        )
        replies = [reply for reply in found if reply is not None]
        if len(replies) < len(found):
            run.report.waiting += not demand.standing.lost
            break
        stop = next((reply.stop for reply in replies if reply.stop is not None), None)
        if stop is not None:
            run.stop(stop)
            return
        verdict = run.judge.verdict(demand.question, replies)
        sample = demand.standing.numbered + number
        at = run.store.clock()
        run.answers.append(Answered(demand.question, verdict, sample=sample, place=place, at=at))
        run.report.add_verdict(verdict, replies)
        outcomes.append(verdict.outcome)
        place += verdict.outcome in CLOSED
        lost.update(
            request.digest
            for request, reply in zip(demand.question.requests, replies, strict=True)
            if reply.ended is not Ended.ANSWERED
        )
        _watch(run, verdict.outcome, replies)
        run.observe(run.report)
        if run.stopping.is_set() and number + 1 < demand.wanted:
            return
    run.report.finished += 1
    if not demand.standing.closed and outcomes and not CLOSED.intersection(outcomes):
        run.report.lost[outcomes[-1].value] += 1
    elif not outcomes:
        _count_as_lost_before(run, demand)
    run.observe(run.report)


async def _obtain(run: _Run, demand: Demand, request: ChatRequest, key: _Key) -> Reply | None:
    """Get an answer to a request: from the ledger, from a task that asks the same, or the model."""
    digest, place, _ = key
    known = demand.known.get(digest, ())
    if place < len(known) and (reply := known[place].reply(request)) is not None:
        return reply
    if key in run.under_way:
        shared = await asyncio.shield(run.under_way[key])
        if shared is None:
            return None
        return Reply(shared.ended, shared.fields, shared.why, (), shared.logprobs, shared.stop)
    future: asyncio.Future[Reply | None] = asyncio.get_running_loop().create_future()
    run.under_way[key] = future
    try:
        reply = await run.ask(request)
    except BaseException:
        future.cancel()
        del run.under_way[key]
        raise
    if reply is None:
        del run.under_way[key]
    else:
        # Before anybody can judge by it, so that no judgment is stored before its answer.
        run.report.add_tries(reply)
        if reply.tries:
            run.tried.append((key, reply.tries))
    future.set_result(reply)
    return reply


def _watch(run: _Run, outcome: Outcome, replies: list[Reply]) -> None:
    """Stop a run whose provider fails again and again: going on would only lose items."""
    if outcome in CLOSED or any(reply.ended is Ended.ANSWERED for reply in replies):
        run.failures_in_a_row = 0
        return
    if outcome is Outcome.FAILED and all(
        reply.tries and not reply.tries[-1].has_response and not is_of_the_request(reply.why)
        for reply in replies
    ):
        run.failures_in_a_row += 1
    if run.failures_in_a_row >= _FAILURES_IN_A_ROW:
        run.stop(
            ProviderDownError(
                f"{run.judge.model} failed {run.failures_in_a_row} times in a row: "
                f"{replies[-1].why}",
                hint="later, the same command goes on, and with --retry failed it takes up these",
            )
        )


async def _write(run: _Run) -> None:
    """Commit now and then, until the run has ended."""
    while not run.ended.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(run.ended.wait(), _SECONDS_BETWEEN_COMMITS)
        part = _take(run)
        try:
            # In a thread, so that the event loop goes on meanwhile.
            await asyncio.to_thread(_commit, run, part)
        except BaseException as error:
            # The run ends, and what it holds is committed then.
            run.tried, run.answers = [*part[0], *run.tried], [*part[1], *run.answers]
            run.stopping.set()
            if not isinstance(error, LabelerError):
                raise
            run.stop(error)
            return


def _take(run: _Run) -> tuple[list[tuple[_Key, Sequence[Try]]], list[Answered]]:
    part = run.tried, run.answers
    run.tried, run.answers = [], []
    return part


def _commit(run: _Run, part: tuple[list[tuple[_Key, Sequence[Try]]], list[Answered]]) -> None:
    tried, answers = part
    if not tried and not answers:
        return
    single = run.options.share[1] == 1
    store_answers(
        run.store,
        run.pool,
        run.judge,
        [(digest, tries) for (digest, _, _), tries in tried],
        answers,
        progress=JobProgress.of(run.report, run.pool, JobState.RUNNING) if single else None,
        circular=run.options.circular,
    )
    run.committed.extend(key for key, _ in tried)
    # An item of a part that was read before this commit may still ask for the same, and is given
    # the answer that is at hand; no part is older than this.
    while len(run.committed) > _KEPT + run.options.in_flight:
        run.under_way.pop(run.committed.popleft(), None)
