"""A run that is stopped at any step goes on there: nothing is asked or paid for twice."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pytest

from labeler.assessment.rubric import default_rubric
from labeler.errors import (
    ConflictError,
    InterruptedRunError,
    ProviderDownError,
)
from labeler.judges.llm import batch as batches
from labeler.judges.llm import batch_collect
from labeler.judges.llm.batch import collect
from labeler.judges.llm.pool import pool_to_judge
from labeler.judges.llm.session import JudgeLimits
from labeler.pools.create import PoolOptions, create_pool
from labeler.providers.batch_ledger import close_batch
from labeler.providers.batches import BatchDesk
from labeler.records.ledger import BatchState, Job
from labeler.store.database import Store
from tests.fake_provider.running import Provider
from tests.judges.llm.batching import ITEMS, LIMITS, ONCE, QUICK, REQUESTS, work_on
from tests.small import pooled


class Killed(BaseException):
    """Stands for the end of the process: nothing catches it."""


def die(*_: object, **__: object) -> Any:
    raise Killed


def killed_in(place: object, name: str, work: Callable[[], object]) -> None:
    """Let work end where it comes to a function."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, name, die)
        with pytest.raises(Killed):
            work()


@pytest.mark.parametrize("step", ["upload", "submit"])
def test_killed_between_the_plan_and_the_provider(
    sqlite_store: Store,
    provider: Provider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider)
    killed_in(BatchDesk, step, work.submit)
    assert work.states() == ["planned"]
    # Until it is known whether it is at the provider, nothing of it is asked.
    assert work.live().waiting == ITEMS
    submitted, _ = work.run()
    assert submitted.lines == REQUESTS
    assert work.states() == ["lost", "collected"]
    assert work.is_complete()


def test_killed_before_the_name_of_the_batch_was_written_down(
    sqlite_store: Store, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider)
    killed_in(batches, "note_submitted", work.submit)
    assert work.states() == ["planned"]
    submitted, _ = work.run()
    assert (submitted.lines, submitted.taken_up) == (0, ["batch_00000001"])
    assert work.batches_made() == 1
    assert work.is_complete()


def test_stopped_while_the_provider_works(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    provider.configure(batch_polls=2)
    work = work_on(sqlite_store, provider)
    _, report = work.run(ONCE)
    [standing] = report.under_way
    assert (standing.id, standing.status, standing.total) == (
        "batch_00000001",
        "in_progress",
        REQUESTS,
    )
    assert (report.judged.waiting, report.judged.answered) == (ITEMS, 0)
    assert [state for (state,) in work.rows(Job, "state")] != ["done"]
    work.run()
    assert work.batches_made() == 1
    assert work.is_complete()


@pytest.mark.parametrize("step", ["store_tries", "close_batch"])
def test_killed_while_a_batch_is_collected(
    sqlite_store: Store,
    provider: Provider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider)
    work.submit()
    killed_in(batch_collect, step, work.collect)
    assert (work.states(), work.attempts()) == (["submitted"], [])
    work.run()
    assert work.batches_made() == 1
    assert work.is_complete()


@pytest.mark.parametrize("goes_on_by_batch", [True, False])
def test_killed_after_a_batch_was_collected(
    sqlite_store: Store,
    provider: Provider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    goes_on_by_batch: bool,
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider)
    work.submit()
    killed_in(batches, "judge_items", work.collect)
    assert (work.states(), work.judgments()) == (["collected"], [])
    report = work.run()[1].judged if goes_on_by_batch else work.live()
    assert (report.answered, report.requests, report.cost) == (ITEMS, 0, 0.0)
    assert work.batches_made() == 1
    assert work.is_complete()


_CHILD = """
import os, signal, sys
from labeler.cli.app import main
from labeler.judges.llm import batch, batch_collect

def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

module, name = sys.argv.pop(1).split(".")
setattr({"batch": batch, "batch_collect": batch_collect}[module], name, kill)
main()
"""


@pytest.mark.parametrize(
    ("moment", "states"),
    [("batch.note_submitted", ["planned"]), ("batch_collect.close_batch", ["submitted"])],
)
def test_kill_9(
    sqlite_store: Store, provider: Provider, tmp_path: Path, moment: str, states: list[str]
) -> None:
    pooled(sqlite_store, tmp_path)
    provider.configure(batch_polls=0)
    root = Path(__file__).resolve().parents[3]
    command = ["judge", "run", "p", "--judge", "openai/plain", "--endpoint", provider.address]
    killed = subprocess.run(
        [sys.executable, "-c", _CHILD, moment, *command, "--batch"],
        env={**os.environ, "LABELER_DB": str(tmp_path / "queue.db"), "PYTHONPATH": str(root)},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    work = work_on(sqlite_store, provider)
    assert work.states() == states
    work.run()
    assert work.batches_made() == 1
    assert work.is_complete()


def test_a_batch_whose_name_was_lost_on_the_way_is_looked_for_at_once(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider, "batch-lost")
    submitted, _ = work.run(limits=JudgeLimits(attempts=3))
    assert submitted.batches == ["batch_00000001"]
    assert work.batches_made() == 1
    assert work.is_complete()


def test_a_batch_whose_name_was_lost_is_found_by_the_next_run(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider, "batch-lost")
    submitted = work.submit()
    assert isinstance(submitted.stop, ProviderDownError)
    assert work.states() == ["planned"]
    submitted, _ = work.run()
    assert (submitted.stop, submitted.lines, submitted.taken_up) == (None, 0, ["batch_00000001"])
    assert work.batches_made() == 1
    assert work.is_complete()


def test_ctrl_c_leaves_the_batch_at_the_provider(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider, "batch-stuck")
    work.submit()
    looks = itertools.count()

    def observe(_: object) -> None:
        if next(looks) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    report = collect(sqlite_store, work.pool, work.judge, LIMITS, QUICK, observe=observe)
    assert isinstance(report.judged.stop, InterruptedRunError)
    assert report.judged.waiting == ITEMS
    assert work.states() == ["submitted"]
    assert work.submit().lines == 0


def test_a_batch_that_another_run_gave_up_meanwhile_is_not_submitted(
    sqlite_store: Store, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider)
    upload = BatchDesk.upload

    async def slowly(desk: BatchDesk, file: IO[bytes]) -> str:
        # The other run finds the batch planned, and not at the provider.
        with sqlite_store.work() as connection:
            close_batch(connection, 1, BatchState.LOST, sqlite_store.clock())
        return await upload(desk, file)

    monkeypatch.setattr(BatchDesk, "upload", slowly)
    assert isinstance(work.submit().stop, ConflictError)
    assert work.batches_made() == 0


def test_a_batch_is_stored_by_one_of_two_runs_that_collect_it(
    sqlite_store: Store, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider)
    work.submit()
    download, others = BatchDesk.download, []

    async def slowly(desk: BatchDesk, name: str, into: IO[bytes]) -> bool:
        monkeypatch.setattr(BatchDesk, "download", download)
        # A run in another process, so with an event loop of its own.
        with ThreadPoolExecutor(1) as elsewhere:
            others.append(elsewhere.submit(work.collect).result())
        return await download(desk, name, into)

    monkeypatch.setattr(BatchDesk, "download", slowly)
    mine = work.collect()
    assert (others[0].collected, mine.collected, mine.unanswered) == (REQUESTS, 0, 0)
    assert work.is_complete()


def test_requests_in_the_batch_of_another_pool_are_waited_for(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    create_pool(sqlite_store, "top", PoolOptions(depth=1, rubric=default_rubric()))
    work = work_on(sqlite_store, provider)
    with sqlite_store.read() as connection:
        top = replace(work, pool=pool_to_judge(connection, "top"))
    before = top.submit().lines
    assert 0 < before < REQUESTS
    submitted, report = work.run()
    assert (submitted.lines, report.collected) == (REQUESTS - before, REQUESTS - before)
    assert report.judged.waiting == ITEMS - report.judged.answered > 0
    top.collect()
    submitted, report = work.run()
    assert submitted.lines == report.judged.waiting == 0
    assert work.is_complete()
