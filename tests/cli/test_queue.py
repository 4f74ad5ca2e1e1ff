from __future__ import annotations

import json
from pathlib import Path

import pytest

from labeler.cli.app import run
from labeler.labels import Outcome
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.small import HandJudge, judge, pooled

HAND = HandJudge({"c03": (Outcome.FAILED, 0), "c04": (Outcome.ABSTAINED, 0)}, name="evil\x1b[31m")


@pytest.fixture
def routed(own_folder: Path) -> Path:
    """The small project with a judge that failed on an item, routed."""
    with open_store(Location(str(own_folder / "queue.db")), create=True) as store:
        pooled(store, own_folder)
        judge(store, HAND)
    assert run(["route", "p"]) == 0
    return own_folder


def test_how_judges_ended_and_why(routed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["queue", "--pool", "p"]) == 0
    told = capsys.readouterr().out
    assert "\x1b" not in told
    lines = told.splitlines()
    outcomes, reasons = [
        lines[place : place + 2]
        for place, line in enumerate(lines)
        if line.startswith("judge of what waits")
    ]
    assert outcomes[0].split()[-5:] == ["judged", "abstained", "refused", "truncated", "failed"]
    assert outcomes[1].split()[-6:] == [HAND.digest[:12], "9", "1", "0", "0", "1"]
    assert reasons[0].split()[-6:] == ["digest", "no", "answer", "because", "of", "items"]
    assert reasons[1].split()[-3:] == ["told", "so", "1"]
    assert run(["queue", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["by_judge"]
    assert one["outcomes"]["failed"] == 1
    assert one["failures"] == {"told so": 1}


def test_an_empty_queue_says_nothing_of_judges(
    own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(Location(str(own_folder / "queue.db")), create=True) as store:
        pooled(store, own_folder)
        judge(store, HAND)
    assert run(["queue"]) == 0
    told = capsys.readouterr().out
    assert "judge of what waits" not in told
    assert "nothing waits" in told
