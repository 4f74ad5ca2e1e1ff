from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from labeler.cli.app import run
from labeler.cli.judge_costs import money
from labeler.errors import ExitCode
from labeler.providers.chat import Try
from labeler.providers.ledger import job_key, store_tries
from labeler.records.scales import AssessorKind
from labeler.reports.costs import Cost
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from labeler.store.registry import assessor_key, pool_named
from tests.small import pooled

AT = datetime(2026, 7, 1, 12, 30, tzinfo=UTC)


def spend(store: Store, model: str, tries: list[Try]) -> None:
    with store.write("judge run") as tx:
        job = job_key(
            tx.connection,
            kind="judge",
            digest=model,
            pool_id=pool_named(tx.connection, "p").id,
            assessor_id=assessor_key(tx, AssessorKind.LLM, f"{model}+direct", "a" * 64),
            settings={"model": model},
            at=AT,
        )
        store_tries(tx, job, [(f"{number:064x}", [one]) for number, one in enumerate(tries)])


def answer(cost: float | None) -> Try:
    return Try(
        AT,
        "answered",
        model="mini\x1b[1m",
        prompt_tokens=1_000,
        completion_tokens=50,
        cost=cost,
        latency_ms=1_234.0,
        raw="{}",
    )


@pytest.fixture
def project(own_folder: Path) -> Path:
    """The small project, pooled."""
    with open_store(Location(str(own_folder / "queue.db")), create=True) as store:
        pooled(store, own_folder)
    return own_folder


def test_nothing_was_asked_yet(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["judge", "costs"]) == 0
    assert "no requests to models yet" in capsys.readouterr().out
    assert run(["judge", "costs", "--pool", "p"]) == 0
    assert "no requests to models for p" in capsys.readouterr().out
    assert run(["judge", "costs", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["jobs"], told["total"]["requests"]) == ([], 0)


def test_costs_by_job_and_by_model(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_store(Location(str(project / "queue.db"))) as store:
        spend(store, "openai/mini", [answer(0.25), answer(None), Try(AT, "failed", "timeout: x")])
        spend(store, "ollama/llama", [answer(0.0)])
    assert run(["judge", "costs"]) == 0
    captured = capsys.readouterr()
    assert "\x1b" not in captured.out
    jobs, models, failures = (part.splitlines() for part in captured.out.split("\n\n"))
    assert jobs[1].split() == [
        *("judge", "p", "openai/mini+direct", "aaaaaaaaaaaa", "3", "2", "0", "1"),
        *("2,000", "100", "0.250000", "1", "1.234", "1.234"),
        *("2026-07-01", "12:30", "2026-07-01", "12:30"),
    ]
    assert [line.split()[0] for line in models] == ["model", "ollama/llama", "openai/mini", "total"]
    assert models[3].split()[1:4] == ["4", "3", "0"]
    assert failures[1].split() == ["timeout", "1"]
    assert "responses without a known cost: 1;" in captured.err
    assert "as a timeout may: 1;" in captured.err
    assert run(["judge", "costs", "--json", "--pool", "p"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["jobs"][0]["kind"] == "judge"
    assert told["jobs"][0]["spent"]["cost"] == {"known": 0.25, "unknown": 1}
    assert told["total"]["failed_for"] == {"timeout": 1}


def test_a_judge_is_listed_with_its_cost(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_store(Location(str(project / "queue.db"))) as store:
        spend(store, "openai/mini", [answer(0.25), answer(None)])
    assert run(["judge", "list"]) == 0
    assert "$0.2500, and 1 of unknown cost" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cost", "written"),
    [
        (Cost(None, 3), "unknown"),
        (Cost(0.0, 0), "$0.0000"),
        (Cost(0.00002, 0), "$0.000020"),
        (Cost(1234.5, 2), "$1,234.5000, and 2 of unknown cost"),
    ],
)
def test_what_is_unknown_is_never_written_as_nothing(cost: Cost, written: str) -> None:
    assert money(cost) == written


def test_a_pool_that_is_not_there(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["judge", "costs", "--pool", "q"]) == ExitCode.ERROR
    assert "no pool 'q'" in capsys.readouterr().err
