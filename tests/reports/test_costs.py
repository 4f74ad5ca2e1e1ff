from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from labeler.errors import NotFoundError
from labeler.providers.chat import Try
from labeler.providers.ledger import job_key, store_tries
from labeler.records.scales import AssessorKind
from labeler.reports.costs import Cost, CostReport, costs_by_judge, report_costs
from labeler.store.database import Store
from labeler.store.registry import assessor_key, pool_named
from tests.small import HandJudge, judge, pooled

START = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)


def answered(
    second: int,
    *,
    outcome: str = "answered",
    cost: float | None = 0.001,
    tokens: tuple[int | None, int | None] = (100, 20),
    latency: float | None = 500.0,
    model: str | None = "mini-2024",
    failure: str | None = None,
) -> Try:
    return Try(
        at=START + timedelta(seconds=second),
        outcome=outcome,
        failure=failure,
        model=model,
        prompt_tokens=tokens[0],
        completion_tokens=tokens[1],
        cost=cost,
        latency_ms=latency,
        raw="{}",
    )


def lost(second: int, failure: str, outcome: str = "failed") -> Try:
    return Try(START + timedelta(seconds=second), outcome, failure, latency_ms=9_000.0)


def spend(
    store: Store,
    name: str,
    tries: Sequence[Sequence[Try]],
    *,
    pool: str | None = None,
    kind: str = "judge",
    model: str | None = "openai/mini",
    digest: str = "1" * 64,
) -> None:
    """Write a job with the tries at some requests."""
    with store.write("judge run") as tx:
        connection = tx.connection
        job = job_key(
            connection,
            kind=kind,
            digest=f"{name}{pool}{kind}",
            pool_id=None if pool is None else pool_named(connection, pool).id,
            assessor_id=assessor_key(tx, AssessorKind.LLM, name, digest) if name else None,
            settings=None if model is None else {"model": model},
            at=tx.clock(),
        )
        store_tries(tx, job, [(f"{number:064x}", one) for number, one in enumerate(tries)])


def report(store: Store, pool: str | None = None) -> CostReport:
    with store.read() as connection:
        return report_costs(connection, pool)


@pytest.fixture
def spent(store: Store, own_folder: Path) -> Store:
    """Two judges of the pool 'p', and a job about no pool whose prices are unknown."""
    pooled(store, own_folder)
    spend(
        store,
        "openai/mini+direct",
        [
            [lost(0, "throttled (HTTP 429): slow down"), answered(3, latency=100.0)],
            [answered(4, outcome="reasked", cost=0.002), answered(5, latency=300.0)],
            [answered(6, outcome="refused", failure="refused: I can't", cost=0.0005)],
            [lost(7, "timeout (HTTP 408): too slow"), lost(8, "server_error: no connection")],
            [answered(9, outcome="failed", cost=None)],
        ],
        pool="p",
    )
    spend(store, "openai/mini+criteria", [[answered(60, model="mini-2025")]], pool="p")
    spend(
        store,
        "",
        [[answered(90, cost=None, tokens=(None, None), latency=None, model="local")]],
        kind="generate",
        model=None,
    )
    return store


def test_a_job_is_counted_request_by_request(spent: Store) -> None:
    job = report(spent).jobs[0]
    assert (job.kind, job.pool, job.judge, job.model) == (
        *("judge", "p", "openai/mini+direct", "openai/mini"),
    )
    assert job.answered_by == ("mini-2024",)
    found = job.spent
    assert (found.requests, found.answers, found.reasked) == (8, 2, 1)
    assert found.failures == {"refused": 1, "failed": 4}
    assert found.failed_for == {
        "throttled": 1,
        "refused": 1,
        "timeout": 1,
        "server_error": 1,
        "unusable_answer": 1,
    }
    assert found.requests == found.answers + found.reasked + sum(found.failures.values())
    assert (found.prompt_tokens, found.completion_tokens) == (500, 100)
    assert found.cost.known == pytest.approx(0.001 + 0.002 + 0.001 + 0.0005)
    assert found.cost.unknown == 1
    assert found.perhaps_billed == 2
    # Failures without a response have no latency of an answer.
    latencies = [100.0, 500.0, 300.0, 500.0, 500.0]
    assert found.median_ms == pytest.approx(500.0)
    assert found.p95_ms == pytest.approx(np.percentile(latencies, 95))
    assert (found.first, found.last) == ("2026-07-01T12:00:00+00:00", "2026-07-01T12:00:09+00:00")


def test_models_add_up_over_jobs_and_to_the_total(spent: Store) -> None:
    found = report(spent)
    assert [(one.model, one.answered_by) for one in found.models] == [
        ("local", ("local",)),
        ("openai/mini", ("mini-2024", "mini-2025")),
    ]
    mini = found.models[1].spent
    assert (mini.requests, mini.answers) == (9, 3)
    assert mini.last == "2026-07-01T12:01:00+00:00"
    assert found.total.requests == 10 == sum(one.spent.requests for one in found.jobs)
    assert found.total.cost.known == pytest.approx(0.0055)
    assert found.total.cost.unknown == 2


def test_what_is_unknown_is_not_nothing(spent: Store) -> None:
    (local,) = (one for one in report(spent).jobs if one.kind == "generate")
    assert (local.pool, local.judge, local.digest, local.model) == (None, None, None, "local")
    assert local.spent.cost == Cost(None, 1)
    assert (local.spent.prompt_tokens, local.spent.without_tokens) == (0, 1)
    assert (local.spent.median_ms, local.spent.p95_ms) == (None, None)


def test_a_free_model_costs_nothing_and_that_is_known(store: Store, own_folder: Path) -> None:
    spend(store, "ollama/llama", [[answered(0, cost=0.0)]], model="ollama/llama")
    assert report(store).total.cost == Cost(0.0, 0)


def test_one_pool_alone(spent: Store) -> None:
    found = report(spent, "p")
    assert (found.pool, [one.judge for one in found.jobs]) == (
        *("p", ["openai/mini+direct", "openai/mini+criteria"]),
    )
    assert found.total.requests == 9
    with spent.read() as connection, pytest.raises(NotFoundError, match="no pool 'q'"):
        report_costs(connection, "q")


def test_jobs_without_requests_are_left_out(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge())
    found = report(store)
    assert (found.jobs, found.models) == ((), ())
    assert (found.total.requests, found.total.cost, found.total.first) == (0, Cost(0.0, 0), None)


def test_the_costs_of_each_judge(spent: Store) -> None:
    with spent.read() as connection:
        found = costs_by_judge(connection)
    known = {one.unknown: one.known for one in found.values()}
    assert known == {0: pytest.approx(0.001), 1: pytest.approx(0.0045)}
