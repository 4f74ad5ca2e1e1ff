"""Batches that don't end well: what is answered is kept, and the rest stays open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labeler.errors import (
    ProviderRefusedError,
)
from labeler.judges.llm.batch import submit
from labeler.providers.batches import BatchDesk
from labeler.records.ledger import BatchState
from labeler.store.database import Store
from tests.fake_provider.running import Provider
from tests.judges.llm.batching import ITEMS, KEY, LIMITS, ONCE, QUICK, REQUESTS, work_on
from tests.small import pooled


def test_an_expired_batch_gives_what_it_has(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider, "batch-expired")
    _, report = work.run()
    half = REQUESTS // 2
    assert (report.collected, report.unanswered) == (half, REQUESTS - half)
    assert "expired" in report.notes[0]
    assert report.judged.outcomes["judged"] == len(work.judgments())
    assert report.judged.waiting == ITEMS - len(work.judgments())
    assert work.attempts() == ["answered"] * half
    assert work.states() == ["lost"]
    assert not report.judged.lost
    # What it left is open: the next run submits just that, until a half of one line is none.
    assert work.submit().lines == REQUESTS - half


def test_a_failed_batch_leaves_all_open(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider, "batch-failed")
    _, report = work.run()
    assert (report.collected, report.unanswered) == (0, REQUESTS)
    assert "token_limit_exceeded: Enqueued token limit reached." in report.notes[0]
    assert (work.states(), work.attempts(), work.judgments()) == (["lost"], [], [])
    assert work.submit().lines == REQUESTS


def test_a_line_that_is_in_no_file_stays_open(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider, "batch-partial")
    _, report = work.run()
    assert (report.collected, report.unanswered) == (REQUESTS - 1, 1)
    assert "1 of 10 lines have no answer" in report.notes[0]
    assert work.states() == ["collected"]
    assert work.submit().lines == 1


def test_a_batch_that_never_ends_is_looked_at_once_without_waiting(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider, "batch-stuck")
    for _ in range(2):
        _, report = work.run(ONCE)
        assert len(report.under_way) == 1
    assert work.batches_made() == 1


def test_answers_that_the_provider_has_thrown_away(
    sqlite_store: Store, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider)
    work.submit()
    look = BatchDesk.look

    async def renamed(desk: BatchDesk, name: str) -> Any:
        found = await look(desk, name)
        return replace(found, files=("file-00000099",)) if found.has_ended else found

    monkeypatch.setattr(BatchDesk, "look", renamed)
    report = work.collect()
    assert "doesn't hold its answers any more" in report.notes[0]
    assert (report.unanswered, work.states()) == (REQUESTS, ["lost"])


def test_a_server_without_batches(sqlite_store: Store, provider: Provider, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider)
    elsewhere = replace(work.judge, endpoint=f"{provider.address}/nothing", _renderers={})
    found = submit(sqlite_store, work.pool, elsewhere, LIMITS, QUICK)
    assert isinstance(found.stop, ProviderRefusedError)
    assert found.stop.hint == "a server that offers no batches is asked without --batch"


def test_no_key_is_written_down(
    sqlite_store: Store, provider: Provider, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pooled(sqlite_store, tmp_path)
    for model in ("unauthorised", "echo-key", "batch-failed", "plain"):
        work_on(sqlite_store, provider, model).run()
    assert provider.authorizations() == {f"Bearer {KEY}": sum(provider.endpoints().values())}
    sqlite_store.close()
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert KEY.encode() not in written
    assert BatchState.LOST.value.encode() in written
    said = capfd.readouterr()
    assert KEY not in said.out + said.err
