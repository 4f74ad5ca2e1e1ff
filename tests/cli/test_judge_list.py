from __future__ import annotations

import json
from pathlib import Path

import pytest

from labeler.cli.app import run
from labeler.labels import Outcome
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.small import HandJudge, judge, pooled


def test_a_project_without_judges_says_how_to_get_one(
    own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(Location(str(own_folder / "queue.db")), create=True) as store:
        pooled(store, own_folder)
    assert run(["judge", "list"]) == 0
    assert "judge run POOL" in capsys.readouterr().out
    assert run(["judge", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"judges": []}


def test_judges_are_listed(own_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hand = HandJudge({"c03": (Outcome.REFUSED, 0)}, name="evil\x1b[31m+direct")
    with open_store(Location(str(own_folder / "queue.db")), create=True) as store:
        pooled(store, own_folder)
        judge(store, hand)
    assert run(["judge", "list"]) == 0
    told = capsys.readouterr().out
    assert "\x1b" not in told
    header, line = told.splitlines()
    assert header.split()[:9] == [
        *("judge", "digest", "kind", "pools", "items", "judged", "abstained", "refused"),
        "truncated",
    ]
    cells = line.split()
    assert cells[1:11] == [hand.digest[:12], "llm", "p", "11/12", "11", "10", "0", "1", "0", "0"]
    assert cells[-1] == "-"
    assert run(["judge", "list", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["judges"]
    assert (one["judge"], one["digest"]) == (hand.name, hand.digest)
    assert one["answers"]["refused"] == 1
    assert one["pools"] == [{"pool": "p", "answered": 11, "items": 12}]
    assert (one["cost_usd"], one["responses_of_unknown_cost"]) == (None, 0)
    assert one["last"].endswith("+00:00")


@pytest.mark.parametrize("command", ["list", "compare", "costs"])
def test_the_commands_have_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["judge", command, "--help"]) == 0
    told = capsys.readouterr().out
    assert f"labeler judge {command}" in told
    assert "--db" in told
    assert "--json" in told
