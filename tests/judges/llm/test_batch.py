"""A provider's batches from end to end: the same requests as live ones, each paid once."""

from __future__ import annotations

import json
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from labeler.judges.llm.batch_plan import BatchSize
from labeler.judges.llm.estimate import estimate
from labeler.judges.llm.passages import PassageLimit
from labeler.providers.chat import AnswerMode
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.ledger import Attempt, Job, ProviderBatch, Response
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from tests.fake_provider.running import Provider
from tests.judges.llm.batching import ITEMS, LIMITS, QUICK, REQUESTS, work_on
from tests.small import pooled


def test_the_whole_path(store: Store, provider: Provider, tmp_path: Path) -> None:
    pooled(store, tmp_path)
    work = work_on(store, provider)
    submitted, report = work.run()
    assert submitted.stop is None
    assert submitted.batches == ["batch_00000001"]
    assert (submitted.lines, report.collected, report.unanswered) == (REQUESTS, REQUESTS, 0)
    judged = report.judged
    assert (judged.items, judged.answered, judged.reused, judged.waiting) == (ITEMS, ITEMS, 1, 0)
    assert judged.requests == REQUESTS
    assert judged.stop is None
    assert (judged.cost, judged.unpriced) == (0.0, REQUESTS)
    assert not report.notes
    assert not report.under_way
    assert work.is_complete()
    assert work.states() == ["collected"]
    tokens = work.rows(Response, "prompt_tokens", "completion_tokens")
    assert judged.prompt_tokens == sum(prompt for prompt, _ in tokens)
    assert judged.completion_tokens == sum(completion for _, completion in tokens)
    assert set(work.rows(Response, "model", "fingerprint", "cost", "latency_ms")) == {
        ("plain", "fp_fake", None, None)
    }
    assert [state for (state,) in work.rows(Job, "state")] == ["done"]
    with store.read() as connection:
        linked = sa.select(sa.func.count(table(Judgment).c.response_id))
        assert connection.execute(linked).scalar() == ITEMS


@pytest.mark.parametrize("mode", list(AnswerMode))
def test_a_line_is_the_request_that_is_sent_live(
    sqlite_store: Store, provider: Provider, tmp_path: Path, mode: AnswerMode
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider, mode=mode, logprobs=True)
    live = work.live()
    assert live.requests == REQUESTS
    with open_store(Location(str(tmp_path / "other.db")), create=True) as other:
        pooled(other, tmp_path)
        other_work = work_on(other, provider, mode=mode, logprobs=True)
        _, report = other_work.run()
        columns = ("prompt_tokens", "completion_tokens", "finish_reason", "logprobs")
        assert sorted(other_work.rows(Response, *columns)) == sorted(work.rows(Response, *columns))
        assert set(other_work.rows(Attempt, "request_digest")) == set(
            work.rows(Attempt, "request_digest")
        )
    assert report.judged.answered == ITEMS
    # The bodies are the same to the last value: the server has seen no other.
    assert work.count("paid_total") == 2 * REQUESTS
    assert work.count("paid_distinct") == REQUESTS


def test_a_live_run_after_a_batch_asks_nothing(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider)
    work.run()
    live = work.live()
    assert (live.known, live.answered, live.requests) == (ITEMS, 0, 0)
    assert work.is_complete()


def test_a_batch_after_a_live_run_submits_nothing(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider)
    work.live()
    submitted, report = work.run()
    assert (submitted.lines, report.judged.known, report.judged.answered) == (0, ITEMS, 0)
    assert work.batches_made() == 0
    assert work.is_complete()


def test_what_is_in_a_batch_is_not_asked_live(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider)
    work.submit()
    live = work.live()
    assert (live.waiting, live.requests, live.answered) == (ITEMS, 0, 0)
    told = estimate(sqlite_store, work.pool, work.judge, LIMITS)
    assert (told["calls"], told["judged before"], told["in a provider's batch"]) == (0, 0, ITEMS)
    assert work.submit().lines == 0
    work.collect()
    assert work.is_complete()


def test_samples(sqlite_store: Store, provider: Provider, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider, "wavering", samples=3)
    submitted, report = work.run()
    assert submitted.lines == 3 * REQUESTS
    assert report.judged.answered == 3 * ITEMS
    assert sorted(work.rows(Judgment, "item_id", "sample")) == sorted(
        {
            (item, sample)
            for item, _ in work.rows(Judgment, "item_id", "sample")
            for sample in range(3)
        }
    )
    # Each judgment has the answer of its own number: in the ledger's order, sample by sample.
    with sqlite_store.read() as connection:
        judgment, response, attempt = table(Judgment), table(Response), table(Attempt)
        statement = (
            sa.select(judgment.c.sample, attempt.c.number)
            .join(response, response.c.id == judgment.c.response_id)
            .join(attempt, attempt.c.id == response.c.attempt_id)
        )
        assert all(sample == number for sample, number in connection.execute(statement))


def test_windows(sqlite_store: Store, provider: Provider, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    limit = PassageLimit(16, "windows")
    work = work_on(sqlite_store, provider, passages=limit)
    submitted, report = work.run()
    assert submitted.lines > REQUESTS
    assert report.judged.outcomes == {"judged": ITEMS}
    live = work.live()
    assert (live.known, live.requests) == (ITEMS, 0)


def test_several_batches(sqlite_store: Store, provider: Provider, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider)
    settings = replace(QUICK, size=BatchSize(lines=4))
    submitted, _ = work.run(settings)
    assert len(submitted.batches) == 3
    assert sorted(work.rows(ProviderBatch, "total")) == [(2,), (4,), (4,)]
    assert work.is_complete()


def test_a_batch_is_no_larger_than_the_provider_takes(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider)
    submitted, _ = work.run(replace(QUICK, size=BatchSize(bytes=10_000)))
    files = [about for about in _files(provider) if about["purpose"] == "batch"]
    assert len(files) == len(submitted.batches) > 1
    assert all(about["bytes"] <= 10_000 for about in files)
    assert work.is_complete()


def _files(provider: Provider) -> list[dict[str, Any]]:
    connection = HTTPConnection(provider.host)
    connection.request("GET", "/v1/files")
    found: list[dict[str, Any]] = json.load(connection.getresponse())["data"]
    connection.close()
    return found
