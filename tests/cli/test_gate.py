import json
from pathlib import Path

import pytest

from labeler.cli.app import run
from labeler.errors import ExitCode
from labeler.store.database import Store
from tests.gated import GATE, fill_gated, graded, label, write_gate


@pytest.fixture
def filled(store: Store, own_folder: Path) -> Store:
    fill_gated(store, own_folder)
    label(store, own_folder, graded({"b": 20, "c": 16}))
    return store


def _gate(store: Store, folder: Path, text: str, *more: str) -> int:
    return run(["gate", str(write_gate(folder, text)), "--db", store.location.address, *more])


def test_the_exit_code_tells_the_verdict(
    filled: Store, own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _gate(filled, own_folder, GATE) == ExitCode.DONE
    assert "verdict: passed" in capsys.readouterr().out
    assert _gate(filled, own_folder, GATE.replace("above", "below")) == ExitCode.GATE_FAILED
    assert _gate(filled, own_folder, GATE.replace("0.5", "0.88")) == ExitCode.GATE_INCONCLUSIVE
    told = capsys.readouterr().out
    assert "what collects what is missing:" in told
    assert _gate(filled, own_folder, GATE.replace("0.5", "'half'")) == ExitCode.ERROR
    assert _gate(filled, own_folder, GATE.replace('"p"', '"q"')) == ExitCode.ERROR


def test_json_holds_one_object_and_files_are_written(
    filled: Store, own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--markdown", "g.md", "--html", "g.html"]
    assert _gate(filled, own_folder, GATE, "--json", *files) == ExitCode.DONE
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "passed"
    assert told["checks"][0]["answer"] == "pass"
    assert Path("g.md").read_text().startswith("## Gate release: passed")
    assert Path("g.html").read_text().startswith("<!DOCTYPE html>")


def test_rules_can_be_declared_before_anybody_sees_results(
    filled: Store, own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _gate(filled, own_folder, GATE, "--declare", "--json") == ExitCode.DONE
    declared = json.loads(capsys.readouterr().out)
    assert _gate(filled, own_folder, GATE, "--json") == ExitCode.DONE
    report = json.loads(capsys.readouterr().out)
    assert report["digest"] == declared["digest"]
    assert report["declared"] == declared["declared"]
