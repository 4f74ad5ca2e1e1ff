"""A process that judges, and several: Ctrl-C, a shared limit on cost, one that dies."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import queue
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from labeler.errors import BudgetReachedError, InterruptedRunError, LabelerError
from labeler.judges.llm import workers
from labeler.judges.llm.judge import LlmJudge
from labeler.judges.llm.pool import pool_to_judge
from labeler.judges.llm.prompts import find_prompt
from labeler.judges.llm.report import LlmReport
from labeler.judges.llm.session import (
    JudgeLimits,
    Tick,
    judge_in_this_process,
    run_interruptible,
    stop_on_interrupt,
)
from labeler.judges.llm.workers import SharedCounter, judge_in_processes
from labeler.providers.budget import Price
from labeler.providers.chat import AnswerMode
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from tests import virtual_time
from tests.fake_provider.running import Provider, running_provider
from tests.judges.llm.running import Templates, plain_texts
from tests.nursery import Nursery


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(running: Provider, monkeypatch: pytest.MonkeyPatch) -> Provider:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    running.reset()
    return running


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    return Templates(tmp_path_factory.mktemp("templates"))


@pytest.fixture
def database(templates: Templates, tmp_path: Path) -> Path:
    """A project with a pool of 40 items."""
    with templates.copy(tmp_path, plain_texts(40, queries=4)):
        return tmp_path / "queue.db"


@pytest.fixture
def store(database: Path) -> Iterator[Store]:
    with open_store(Location(str(database))) as opened:
        yield opened


def judge_of(provider: Provider, model: str) -> LlmJudge:
    return LlmJudge(
        model=f"openai/{model}",
        prompt=find_prompt("direct"),
        mode=AnswerMode.JSON_SCHEMA,
        parameters={"max_tokens": 60},
        endpoint=provider.address,
    )


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.02)


def read(database: Path, statement: str) -> list[tuple[Any, ...]]:
    raw = sqlite3.connect(database)
    rows = raw.execute(statement).fetchall()
    raw.close()
    return rows


def judged(database: Path) -> int:
    """Count the items that are judged, each of them once."""
    counts = read(database, "SELECT count(*), count(DISTINCT item_id) FROM judgment")
    assert counts[0][0] == counts[0][1]
    return int(counts[0][0])


# -- Ctrl-C


def test_ctrl_c_keeps_what_is_under_way_and_begins_nothing(
    nursery: Nursery, provider: Provider, database: Path
) -> None:
    words = ["judge", "run", "p", "--judge", "openai/slow:0.4", "--endpoint", provider.address]
    words += ["--db", str(database), "--max-concurrency", "4"]
    pid = nursery.start([words], folder=database.parent)
    wait_for(lambda: provider.count("slow:0.4", "requests") >= 6)
    os.kill(pid, signal.SIGINT)
    sent = provider.count("slow:0.4", "requests")
    ended = nursery.wait()
    assert ended.code == 130, ended.err
    assert "labeler: stopped" in ended.err
    assert "Traceback" not in ended.err
    asked = provider.count("slow:0.4", "requests")
    assert asked - sent <= 4
    assert judged(database) == asked == provider.count("slow:0.4", "answered")
    assert read(database, "SELECT state, done, failed FROM job") == [("stopped", asked, 0)]
    facts = {line.rsplit(maxsplit=1)[0]: line.split()[-1] for line in ended.out.splitlines()}
    assert (facts["answers"], facts["HTTP requests"]) == (str(asked), str(asked))


def test_a_second_ctrl_c_drops_what_is_under_way(
    provider: Provider, database: Path, store: Store
) -> None:
    def press() -> None:
        wait_for(lambda: provider.count("slow:300", "in_flight") >= 4)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    with store.read() as connection:
        pool = pool_to_judge(connection, "p")
    pressing = threading.Thread(target=press)
    pressing.start()
    with pytest.raises(InterruptedRunError, match="stopped at once"):
        judge_in_this_process(store, pool, judge_of(provider, "slow:300"), JudgeLimits())
    pressing.join()
    assert judged(database) == 0


def test_presses_that_another_process_hears_count_as_ones_own() -> None:
    pressed = 0
    seen: list[str] = []

    async def work() -> None:
        nonlocal pressed
        stopping = asyncio.Event()
        stop_on_interrupt(stopping, lambda: pressed)
        await asyncio.sleep(1)
        assert not stopping.is_set()
        pressed = 1
        await asyncio.sleep(1)
        assert stopping.is_set()
        seen.append("stopped")
        pressed = 2
        await asyncio.sleep(1)
        seen.append("went on")

    with pytest.raises(asyncio.CancelledError):
        virtual_time.run(work)
    assert seen == ["stopped"]


def test_work_that_is_not_interrupted_gives_what_it_gives() -> None:
    async def work() -> int:
        return 7

    assert run_interruptible(work()) == 7


# -- several processes


def test_two_workers_share_the_pool_and_the_limit_on_cost(
    provider: Provider, database: Path, store: Store
) -> None:
    # An answer costs at most 0.06, and about 0.03 in truth: for 40 of them 0.6 is not enough.
    limits = JudgeLimits(max_cost=0.6, price=Price(1e-9, 1e-3), price_is_given=True)
    judge = judge_of(provider, "plain")
    with store.read() as connection:
        pool = pool_to_judge(connection, "p")
    ticks: list[Tick] = []
    report = judge_in_processes(
        store, pool, judge, limits, circular=False, workers=2, observe=ticks.append
    )
    assert isinstance(report.stop, BudgetReachedError)
    counts = provider.counts()["plain"]
    answered = judged(database)
    assert 10 <= answered < 40
    assert counts["requests"] == counts["paid_distinct"] == counts["paid_total"] == answered
    assert counts["tokens_in"] * 1e-9 + counts["tokens_out"] * 1e-3 <= 0.6
    assert report.cost == pytest.approx(counts["tokens_in"] * 1e-9 + counts["tokens_out"] * 1e-3)
    assert report.answered == answered
    assert read(database, "SELECT state, total, done, failed FROM job") == [
        ("stopped", 40, answered, 0)
    ]
    assert not multiprocessing.active_children()
    # How far they are by then is a matter of time; that they tell it is not.
    assert ticks


@dataclass
class FakeProcess:
    """A process, as whoever listens sees it."""

    exitcode: int | None = None

    def is_alive(self) -> bool:
        return self.exitcode is None


def listen(
    processes: list[FakeProcess], said: list[Any], counters: list[SharedCounter]
) -> tuple[LlmReport, list[Tick]]:
    told: Any = queue.Queue()
    for one in said:
        told.put(one)
    ticks: list[Tick] = []
    return workers._listen(list(processes), told, counters, ticks.append), ticks


def test_a_worker_that_dies_is_told_and_the_others_are_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "_LISTEN_SECONDS", 0.01)
    counters = SharedCounter.for_processes(multiprocessing.get_context("spawn"), 3)
    counters[0].held += 500
    counters[1].held += 70
    other = LabelerError("something else")
    total, _ = listen(
        [FakeProcess(-9), FakeProcess(), FakeProcess(0)],
        [(1, LlmReport(items=3, answered=2)), (2, LlmReport(items=4, stop=other))],
        counters,
    )
    assert (total.items, total.answered) == (7, 2)
    assert total.stop is not None
    # What the dead one had set aside may have been paid; nobody has to wait for it.
    assert (counters[1].spent, counters[1].held) == (500, 70)
    total, _ = listen([FakeProcess(-9)], [], counters[:1])
    assert str(total.stop) == "a judging process died (exit -9)"


def test_what_workers_tell_of_their_progress_is_summed() -> None:
    first, second = Tick(3, 2, 10, 1, 0.5, 0), Tick(4, 1, 10, 0, 0.25, 2, stopping=True)
    done = LlmReport()
    counters = SharedCounter.for_processes(multiprocessing.get_context("spawn"), 2)
    _, ticks = listen(
        [FakeProcess(), FakeProcess()], [(0, first), (1, second), (0, done), (1, done)], counters
    )
    assert ticks == [first, Tick(7, 3, 20, 1, 0.75, 2, stopping=True)]
