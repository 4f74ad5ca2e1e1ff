"""`labeler judge run --batch`: what it says, and what it tells the shell."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labeler.cli.app import main
from labeler.cli.output import Progress
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.fake_provider.running import Provider, running_provider
from tests.small import pooled

KEY = "sk-cli-0123456789abcdef"


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


class Shell:
    """Runs the command and gives its exit code, its output and what it said."""

    def __init__(self, provider: Provider, capsys: pytest.CaptureFixture[str]) -> None:
        self.provider = provider
        self._capsys = capsys

    def run(self, model: str, *options: str) -> tuple[int, str, str]:
        judge = ("judge", "run", "p", "--judge", model, "--endpoint", self.provider.address)
        with pytest.raises(SystemExit) as end:
            main([*judge, *options])
        said = self._capsys.readouterr()
        return int(end.value.code or 0), said.out, said.err

    def json(self, model: str, *options: str) -> tuple[int, dict[str, Any], str]:
        code, out, said = self.run(model, *options, "--json")
        return code, json.loads(out)["judges"][0], said


@pytest.fixture
def shell(
    running: Provider,
    own_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shell:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    running.reset()
    running.configure(batch_polls=0)
    with open_store(Location(str(own_folder / "queue.db")), create=True) as store:
        pooled(store, own_folder)
    return Shell(running, capsys)


def test_done(shell: Shell) -> None:
    code, out, said = shell.run("openai/gpt-4o-mini", "--batch")
    assert code == 0
    assert "submitted 10 lines for openai/gpt-4o-mini+direct, as batch batch_00000001" in said
    facts = dict(line.rsplit("  ", 1) for line in out.splitlines() if "  " in line.strip())
    shown = {name.strip(): value.strip() for name, value in facts.items()}
    assert (shown["items"], shown["answers"], shown["lines collected"]) == ("11", "11", "10")
    assert shown["cost"].startswith("$0.000")
    code, found, said = shell.json("openai/gpt-4o-mini")
    assert (code, found["judged_before"], found["http_requests"]) == (0, 11, 0)


def test_without_waiting_it_says_how_to_go_on(shell: Shell) -> None:
    shell.provider.configure(batch_polls=1)
    code, found, said = shell.json("openai/plain", "--batch", "--no-wait")
    assert code == 0
    assert found["batch"] == {
        "lines_submitted": 10,
        "lines_collected": 0,
        "lines_unanswered": 0,
        "under_way": [
            {"id": "batch_00000001", "status": "in_progress", "lines_done": 0, "lines": 10}
        ],
    }
    assert "batch batch_00000001 is in_progress: 0 of 10 lines are done" in said
    code, found, said = shell.json("openai/plain")
    assert (code, found["answers"], found["waiting"]) == (0, 0, 11)
    assert "11 items are lines of a provider's batch; the same command with --batch" in said
    code, found, _ = shell.json("openai/plain", "--batch", "--no-wait")
    assert (code, found["answers"], found["batch"]["lines_collected"]) == (0, 11, 10)


def test_a_panel_is_submitted_before_it_is_waited_for(shell: Shell) -> None:
    code, _, said = shell.run("openai/plain", "--judge", "openai/noisy:1", "--batch")
    assert code == 0
    assert said.index("batch_00000001") < said.index("batch_00000002")
    steps = [name for name in shell.provider.endpoints() if "batch" in name]
    assert steps[0] == "POST /v1/batches"
    assert shell.provider.endpoints()["POST /v1/batches"] == 2


@pytest.mark.parametrize(
    ("model", "options", "code", "words"),
    [
        ("openai/refusal", (), 3, "--retry failed,refused,truncated"),
        ("openai/batch-partial", (), 3, "1 of 10 lines have no answer; their items are open"),
        ("openai/batch-expired", (), 3, "batch_00000001 expired before its end"),
        ("openai/unauthorised", (), 4, "takes no request: unauthorised (HTTP 401)"),
        ("openai/plain", ("--price", "1,1", "--max-cost", "0.003"), 5, "the limit of $0.003"),
        ("openai/plain", ("--max-cost", "1"), 2, "the price of this model is unknown"),
        ("openai/plain", ("--workers", "2"), 2, "--workers"),
        ("ollama_chat/x", (), 2, "--batch doesn't go with ollama_chat/x"),
        ("embedded", (), 2, "--batch doesn't go with embedded"),
    ],
)
def test_exit_codes(
    shell: Shell, model: str, options: tuple[str, ...], code: int, words: str
) -> None:
    found, _, said = shell.run(model, "--batch", *options)
    assert words in said
    assert found == code
    assert KEY not in said


def test_no_wait_goes_with_batch(shell: Shell) -> None:
    code, _, said = shell.run("openai/plain", "--no-wait")
    assert code == 2
    assert "--no-wait goes with --batch" in said


def test_ctrl_c(shell: Shell) -> None:
    def press(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Progress, "advance", press)  # after the first look at the latest
        code, _, said = shell.run("openai/batch-stuck", "--batch")
    assert code == 130
    assert "the same command waits for it and collects it" in said
    code, found, _ = shell.json("openai/batch-stuck", "--batch", "--no-wait")
    assert (code, len(found["batch"]["under_way"])) == (0, 1)
    assert shell.provider.endpoints()["POST /v1/batches"] == 1


def test_the_price_of_a_batch_is_estimated(shell: Shell) -> None:
    _, live, _ = shell.json("openai/gpt-4o-mini", "--dry-run")
    _, batch, _ = shell.json("openai/gpt-4o-mini", "--dry-run", "--batch")
    assert live["calls"] == batch["calls"]
    assert float(batch["price at most"][1:]) < 0.6 * float(live["price at most"][1:])
    assert shell.provider.endpoints() == {}
