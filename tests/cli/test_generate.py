"""`labeler generate` as it is typed: a run, its lists, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from labeler.cli.app import run
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.fake_provider.running import Provider, running_provider
from tests.synthesis.projects import plain_project

pytestmark = pytest.mark.usefixtures("ready_workers")


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running_provider() as running:
        yield running


@pytest.fixture
def project(own_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    # Without the embedded models: these tests are about the command.
    monkeypatch.setattr("labeler.cli.generate_embedded.embedder_or_none", lambda _: None)
    with open_store(Location("queue.db"), create=True) as store:
        plain_project(store, tmp_path)
    return own_folder


def said(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    capsys.readouterr()
    assert run(["generate", *words, "--json"]) in {0, 3}
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_a_run_is_listed_shown_reported_and_its_pack_written(
    project: Path, provider: Provider, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ("--model", "openai/asks", "--endpoint", provider.address, "--price", "1,1")
    told = said(capsys, *model, "--per-domain", "3", "--review-share", "0")
    assert [one["accepted"] for one in told["domains"]] == [3]  # type: ignore[attr-defined]  # JSON
    assert len(told["queries"]) == 3  # type: ignore[arg-type]  # JSON
    listed = said(capsys, "list", "--state", "query")["questions"]
    assert len(listed) == 3  # type: ignore[arg-type]  # JSON
    shown = said(capsys, "show", str(listed[0]["number"]))  # type: ignore[index]  # JSON
    assert shown["sources"][0]["evidence"]  # type: ignore[index]  # JSON
    report = said(capsys, "report")
    assert report["passed"] == 3
    assert report["safety"]["broken_exposures"] == 0  # type: ignore[index]  # JSON
    pack = said(capsys, "pack", "safe.jsonl")
    assert len(Path("safe.jsonl").read_text().splitlines()) == 1 + int(str(pack["chunks"]))
    assert "sealed" not in Path("safe.jsonl").read_text().split("\n", 1)[1]
    blind = said(capsys, "blind", "reading.jsonl")
    assert blind["passed"] == 3
    assert "turned_down_by" not in Path("reading.jsonl").read_text()
    for words in (["list"], ["show", "1"], ["report"], ["admit"]):
        assert run(["generate", *words]) == 0


def test_a_dry_run_asks_and_stores_nothing(
    project: Path, provider: Provider, capsys: pytest.CaptureFixture[str]
) -> None:
    provider.reset()
    model = ("--model", "openai/asks", "--endpoint", provider.address)
    told = said(capsys, *model, "--dry-run")
    assert [one["chunks"] for one in told["domains"]] == [16]  # type: ignore[attr-defined]  # JSON
    assert provider.counts() == {}
    assert not Path("queue.db.generate").exists()


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (["--kinds", "riddle"], 2, "factual"),
        (["--domain", "elsewhere"], 1, "support"),
        (["--model", "openai/asks", "--judge", "openai/asks"], 2, "mark its own work"),
        (["--model", "openai/asks", "--max-cost", "1"], 2, "price"),
        (["refit"], 2, "no such questions"),
        (["show", "99"], 1, "labeler generate list"),
    ],
)
def test_what_is_refused_says_what_to_do(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: int,
    hint: str,
) -> None:
    if words[0] == "--domain":
        words = ["--model", "openai/asks", *words]
    assert run(["generate", *words]) == code
    assert hint in capsys.readouterr().err


def test_without_a_split_it_says_how_to_make_one(
    own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(Location("queue.db"), create=True):
        pass
    assert run(["generate", "--model", "openai/asks"]) == 1
    assert "labeler split freeze" in capsys.readouterr().err
