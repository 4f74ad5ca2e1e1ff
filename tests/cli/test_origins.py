"""Figures of people's queries and of generated ones are never pooled, whatever the command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from labeler.cli.app import run
from tests.gated import GATE
from tests.small import write_jsonl, write_run
from tests.splits.planted import seeded, sentence

Captured = pytest.CaptureFixture[str]

PEOPLE = [f"q{number:02}" for number in range(20)]
GENERATED = [f"gen-{number:02}" for number in range(10)]

COMMANDS = {
    "report recall --pool p": ("metrics", "needs"),
    "report recall": ("metrics", "needs"),
    "report recall --pool p --relevant fully": ("metrics", "needs"),
    "report compare --runs old new --pool p": ("comparisons",),
    "report coverage --pool p": ("rows", "left_out", "refusals"),
    "report sensitivity old new --pool p": ("leader", "rows", "least_flips", "verdict"),
    "report misses old --pool p": ("known_relevant", "found", "misses", "unknown"),
    "gate gate.toml": ("checks", "verdict"),
    "sample plan p --k 2 --seed 1": ("queries", "unknown", "known", "known_relevant", "expected"),
}


def _project(folder: Path, people: Sequence[str], generated: Sequence[str]) -> None:
    """Make a project: people find half of what runs bring relevant, of generated queries all."""
    folder.mkdir()
    random = seeded(51)
    texts = {f"{query}-{at}": sentence(random) for query in PEOPLE + GENERATED for at in range(3)}
    rows: list[dict[str, object]] = [{"_id": name, "text": text} for name, text in texts.items()]
    write_jsonl(folder / "corpus.jsonl", rows)
    asked = {query: sentence(random, 8) for query in PEOPLE + GENERATED}
    queries: list[dict[str, object]] = [{"_id": one, "text": asked[one]} for one in people]
    queries += [
        {
            "_id": one,
            "text": asked[one],
            "origin": "synthetic",
            "slices": ["generated", "single-positive"],
        }
        for one in generated
    ]
    write_jsonl(folder / "queries.jsonl", queries)
    database = ["--db", str(folder / "queue.db")]
    assert (
        run(["import", "corpus", str(folder / "corpus.jsonl"), "--snapshot", "s", *database]) == 0
    )
    assert run(["import", "queries", str(folder / "queries.jsonl"), *database]) == 0
    both = [*people, *generated]
    for tag, places in (("old", (0, 1)), ("new", (1, 2))):
        results = {query: [f"{query}-{at}" for at in places] for query in both}
        path = write_run(folder / f"{tag}.run", tag, results)
        assert run(["import", "runs", str(path), *database]) == 0
    assert run(["pool", "create", "p", "--depth", "2", *database]) == 0
    labels = [
        f"{query} 0 {query}-{at} {int(number % 2 == 0 or query in generated)}\n"
        for number, query in enumerate(both)
        for at in (0, 1)
        if number % 5 or at
    ]
    (folder / "labels.txt").write_text("".join(labels), encoding="utf-8")
    imported = ["import", "labels", str(folder / "labels.txt"), "--scale", "binary"]
    assert run([*imported, "--assessor", "mo", *database]) == 0
    (folder / "gate.toml").write_text(GATE, encoding="utf-8")


@pytest.fixture
def projects(own_folder: Path, capsys: Captured) -> dict[str, Path]:
    """Three projects: with both sorts of queries, and with each sort alone."""
    wanted = {
        "both": (PEOPLE, GENERATED),
        "people": (PEOPLE, []),
        "synthetic": ([], GENERATED),
    }
    for name, (people, generated) in wanted.items():
        _project(own_folder / name, people, generated)
    capsys.readouterr()
    return {name: own_folder / name for name in wanted}


def _told(folder: Path, command: str, capsys: Captured) -> dict[str, Any]:
    words = command.replace("gate.toml", str(folder / "gate.toml")).split()
    run([*words, "--db", str(folder / "queue.db"), "--json"])
    printed = capsys.readouterr().out
    told = json.loads(printed)
    assert isinstance(told, dict)
    return told


def _figures(told: dict[str, Any], command: str) -> dict[str, Any]:
    return {name: told[name] for name in COMMANDS[command]}


def test_with_both_in_a_pool_the_figures_are_those_of_people_s_queries(
    projects: dict[str, Path], capsys: Captured
) -> None:
    for command in COMMANDS:
        mixed, pure = (_told(projects[name], command, capsys) for name in ("both", "people"))
        assert _figures(mixed, command) == _figures(pure, command), command
        generated = _told(projects["synthetic"], command, capsys)
        assert _figures(generated, command) != _figures(pure, command), command
        if command.startswith("sample"):
            assert "10 of another origin left out" in mixed["frame"]
        else:
            assert any("10 queries of origin synthetic are left" in one for one in mixed["notices"])


def test_generated_queries_are_measured_apart_and_marked(
    projects: dict[str, Path], capsys: Captured
) -> None:
    for command in COMMANDS:
        if not command.startswith("report"):
            continue
        told = _told(projects["both"], f"{command} --origin synthetic", capsys)
        alone = _told(projects["synthetic"], command, capsys)
        assert _figures(told, command) == _figures(alone, command), command
        for one in (told, alone):
            assert one["conditions"]["origin"] == "synthetic"
            assert any("10 of 10 are single-positive" in notice for notice in one["notices"])
    assert run(["report", "recall", "--db", str(projects["synthetic"] / "queue.db")]) == 0
    assert "of origin synthetic" in capsys.readouterr().out


def test_a_slice_of_generated_queries_is_not_found_among_people_s(
    projects: dict[str, Path], capsys: Captured
) -> None:
    words = ["report", "compare", "--runs", "old", "new", "--pool", "p", "--slice", "generated"]
    database = ["--db", str(projects["both"] / "queue.db")]
    assert run([*words, *database]) == 1
    assert "no query is in the slice 'generated'" in capsys.readouterr().err
    assert run([*words, "--origin", "synthetic", *database]) == 0
