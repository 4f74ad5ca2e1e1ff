"""From documents to queries by the commands alone, in a database of each kind."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labeler.cli.app import run
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.fake_provider.running import Provider, running_provider
from tests.splits.planted import seeded, sentence, write_project

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running_provider(keep=5000) as running:
        yield running


@pytest.fixture
def database(
    location: Location, tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> Location:
    """A project of 40 documents and 20 queries, which are all in one domain."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    monkeypatch.setattr("labeler.cli.generate_embedded.embedder_or_none", lambda _: None)
    provider.reset()
    random = seeded(61)
    with open_store(location, create=True) as store:
        write_project(
            store,
            tmp_path,
            {f"doc{at:02}": [sentence(random, 45) for _ in range(2)] for at in range(40)},
            {
                f"q{at:02}": {"text": sentence(random, 9), "source_document": f"doc{at:02}"}
                for at in range(20)
            },
        )
    monkeypatch.setenv("LABELER_DB", location.url if location.is_postgresql else str(location.path))
    return location


def _told(capsys: Captured, *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run([*words, "--json"]) in {0, 8}, capsys.readouterr().err
    told = json.loads(capsys.readouterr().out)
    assert isinstance(told, dict)
    return told


def test_from_a_split_to_questions_that_people_decide(
    database: Location, provider: Provider, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["generate", "--model", "openai/asks", "--endpoint", provider.address]) == 1
    assert "labeler split freeze" in capsys.readouterr().err
    assert _told(capsys, "split", "freeze", "main", "--no-embeddings")["is_new"]
    before = _told(capsys, "split", "check", "--no-embeddings")

    model = ("--model", "openai/asks", "--endpoint", provider.address, "--price", "1,1")
    asked = ("--per-domain", "6", "--review-share", "0.5", "--kinds", "factual,procedural")
    made = _told(capsys, "generate", *model, *asked)
    assert [one["accepted"] for one in made["domains"]] == [6]
    waiting = _told(capsys, "generate", "list", "--state", "waiting")["questions"]
    assert len(made["queries"]) + len(waiting) == 6
    assert waiting

    requests = len(provider.requests())
    again = _told(capsys, "generate", *model, *asked)
    assert [one["accepted"] for one in again["domains"]] == [6]
    assert (again["queries"], len(provider.requests())) == ([], requests)

    decided = "a\nr 2\n" + "s\n" * len(waiting)
    monkeypatch.setattr("sys.stdin", io.StringIO(decided))
    assert run(["review", "--questions", "--plain", "--as", "ana"]) == 0
    rejected = len(waiting) > 1
    admitted = _told(capsys, "generate", "admit")
    assert len(admitted["queries"]) == 1
    assert len(_told(capsys, "generate", "list", "--state", "rejected")["questions"]) == rejected

    after = _told(capsys, "split", "check", "--no-embeddings")
    assert [rule for rule in after["rules"] if not rule["holds"]] == []
    assert after["holds"]
    assert after["unplaced"] == 0
    assert after["root_digest"] != before["root_digest"]
    queries = len(made["queries"]) + 1
    grown = [
        after["parts"][part]["queries"] - before["parts"][part]["queries"]
        for part in ("train", "dev", "test")
    ]
    assert (sum(grown), grown[2]) == (queries, 0)

    leakage = _told(capsys, "report", "leakage")
    assert leakage["exposed_documents"]["test"] == 0
    assert sum(leakage["exposed_documents"].values()) > 0
    assert leakage["broken_exposure_records"] == 0
    synthetic = [part.get("synthetic_queries", 0) for part in leakage["parts"].values()]
    assert sum(synthetic) == queries
    assert _told(capsys, "generate", "report")["safety"]["broken_exposures"] == 0
