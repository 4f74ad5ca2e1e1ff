import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from labeler.cli.app import run
from labeler.errors import ExitCode
from labeler.labels import Grade
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from tests.freezing import freeze
from tests.gated import GATE, QUERIES, fill_gated, graded, label, write_gate
from tests.voting import vote_on_all

ROOT = Path(__file__).parents[2]


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


def _asked(**keys: object) -> str:
    """Give the gate with other keys of its only check."""
    return GATE + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())


@pytest.mark.parametrize(
    ("text", "code", "answer", "words"),
    [
        (GATE, ExitCode.DONE, "pass", "beyond 0.5"),
        (GATE.replace("above", "below"), ExitCode.GATE_FAILED, "fail", "wrong side"),
        (
            GATE.replace("0.5", "0.88"),
            ExitCode.GATE_INCONCLUSIVE,
            "inconclusive",
            "too few queries",
        ),
        (
            _asked(least_agreement=0.7),
            ExitCode.GATE_INCONCLUSIVE,
            "inconclusive",
            "unstable labels: nobody measured",
        ),
        (
            GATE.replace("P@2", "P@5").replace("0.5", "0.9"),
            ExitCode.GATE_INCONCLUSIVE,
            "unreachable",
            "0.360 at most",
        ),
        (
            GATE.replace("P@2", "latency_p95").replace("above", "below"),
            ExitCode.GATE_INCONCLUSIVE,
            "unreachable",
            "72 are the least",
        ),
    ],
)
def test_every_answer_names_its_cause(
    filled: Store,
    own_folder: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    code: ExitCode,
    answer: str,
    words: str,
) -> None:
    assert _gate(filled, own_folder, text, "--json") == code
    check = json.loads(capsys.readouterr().out)["checks"][0]
    assert check["answer"] == answer
    assert words in check["why"]


def _printed_commands(told: str) -> list[list[str]]:
    listed = told.partition("what collects what is missing:")[2].partition("\n\n")[0]
    return [shlex.split(line) for line in listed.splitlines() if line.strip()]


def _type(store: Store, commands: list[list[str]]) -> None:
    """Run what was printed; a person answers where people are asked to review."""
    for typed in commands:
        if typed[1] == "review":
            vote_on_all(store, lambda item: _grade(item.passage))
        else:
            assert run([*typed[1:], "--db", store.location.address]) == ExitCode.DONE


def _grade(passage: str) -> Grade:
    return Grade.NOT_RELEVANT if passage.endswith("-a") else Grade.FULLY_RELEVANT


def test_what_is_printed_can_be_typed_until_the_gate_decides(
    store: Store, own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill_gated(store, own_folder)
    assert _gate(store, own_folder, GATE) == ExitCode.GATE_INCONCLUSIVE
    told = capsys.readouterr().out
    assert "verdict: blocked by missing labels" in told
    draw, review = _printed_commands(told)
    _type(store, [draw])
    assert _gate(store, own_folder, GATE) == ExitCode.GATE_INCONCLUSIVE
    told = capsys.readouterr().out
    assert "60 drawn items wait for people" in told
    assert _printed_commands(told) == [review]
    _type(store, [review])
    assert _gate(store, own_folder, GATE) == ExitCode.DONE


def test_a_sample_that_is_too_small_is_continued(
    store: Store, own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill_gated(store, own_folder)
    text = GATE.replace("0.5", "0.8").replace("[defaults]", "[defaults]\nleast_coverage = 0.9")
    small = ["sample", "draw", "p", "--runs", "new", "--k", "2", "--votes", "9"]
    assert run([*small, "--db", store.location.address]) == ExitCode.DONE
    vote_on_all(store, lambda item: _grade(item.passage))
    for _ in range(6):
        capsys.readouterr()
        if _gate(store, own_folder, text) == ExitCode.DONE:
            break
        commands = _printed_commands(capsys.readouterr().out)
        assert re.search(r"--name p --continue --votes \d+$", shlex.join(commands[0]))
        _type(store, commands)
    else:
        pytest.fail("the gate never decided")


def test_a_deeper_pool_is_made_and_named(
    store: Store, own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill_gated(store, own_folder)
    text = GATE.replace("P@2", "P@3")
    assert _gate(store, own_folder, text) == ExitCode.GATE_INCONCLUSIVE
    told = capsys.readouterr().out
    assert 'name it in the gate file (pool = "p-top3")' in told
    _type(store, _printed_commands(told))
    deeper = text.replace('pool = "p"', 'pool = "p-top3"')
    assert _gate(store, own_folder, deeper) == ExitCode.DONE


def test_recall_of_single_queries_needs_all_labels_and_pooled_recall_a_sample(
    store: Store, own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill_gated(store, own_folder)
    alone, pooled = (GATE.replace("P@2", name) for name in ("recall@2", "pooled_recall@2"))
    alone = alone.replace("boundary = 0.5", "boundary = 0.7")
    sample = ["sample", "draw", "p", "--runs", "new", "--k", "2", "--votes", "24"]
    assert run([*sample, "--db", store.location.address]) == ExitCode.DONE
    vote_on_all(store, lambda item: _grade(item.passage))
    capsys.readouterr()
    assert _gate(store, own_folder, pooled, "--json") == ExitCode.DONE
    check = json.loads(capsys.readouterr().out)["checks"][0]
    assert check["metric"] == "pooled_recall@2[within the pool][human]"
    assert 0.5 < check["low"] <= check["value"] <= check["high"] <= 1
    assert _gate(store, own_folder, alone) == ExitCode.GATE_INCONCLUSIVE
    told = capsys.readouterr().out
    assert "needs a sample" in told
    _type(store, _printed_commands(told))
    assert _gate(store, own_folder, alone) == ExitCode.DONE


def test_what_has_to_come_first_is_printed_first(
    store: Store, own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill_gated(store, own_folder)
    more = GATE.partition("[[check]]")[2].replace("P@2", "recall@2").replace("precision", "recall")
    assert _gate(store, own_folder, f"{GATE}\n[[check]]{more}") == ExitCode.GATE_INCONCLUSIVE
    printed = _printed_commands(capsys.readouterr().out)
    assert [" ".join(typed[1:3]) for typed in printed] == [
        "sample draw",
        "route p",
        "review --pool",
    ]


def test_rules_that_change_after_sealed_results_were_seen_are_called_so(
    filled: Store, own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    freeze(filled, {number: ("test", [], [query]) for number, query in enumerate(QUERIES, 1)})
    assert _gate(filled, own_folder, GATE, "--json") == ExitCode.DONE
    first = json.loads(capsys.readouterr().out)
    assert not any("can't have been written blind" in one for one in first["notices"])
    assert _gate(filled, own_folder, GATE.replace("0.5", "0.45"), "--json") == ExitCode.DONE
    second = json.loads(capsys.readouterr().out)
    assert first["digest"] != second["digest"]
    assert any("can't have been written blind" in one for one in second["notices"])


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (GATE, 0, "release"),
        (GATE.replace("above", "below"), 1, "the candidate failed"),
        (GATE.replace("0.5", "0.88"), 1, "not decided yet"),
        (GATE.replace("0.5", "'half'"), 1, "could not run"),
    ],
)
def test_the_script_of_the_documentation_does_what_it_says(
    own_folder: Path, text: str, code: int, said: str
) -> None:
    with open_store(Location(str(own_folder / "queue.db")), create=True) as store:
        fill_gated(store, own_folder)
        label(store, own_folder, graded({"b": 20, "c": 16}))
    write_gate(own_folder, text)
    documentation = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    script = next(part for part in documentation.split("```sh\n") if part.startswith("#!/bin/sh"))
    program = own_folder / "labeler"
    start = "from labeler.cli.app import main; main()"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{start}" "$@"\n', "utf-8")
    program.chmod(0o755)
    paths = f"{own_folder}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", script.partition("```")[0]],
        cwd=own_folder,
        env={
            **os.environ,
            "PATH": paths,
            "PYTHONPATH": str(ROOT),
            "GITHUB_STEP_SUMMARY": "summary.md",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert said in done.stdout.splitlines()[-1]
    if "could not" not in said:
        assert (own_folder / "summary.md").read_text("utf-8").startswith("## Gate release")
