"""`labeler queue` tells the numbers of the lead's screens; `review --lead` needs a terminal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from labeler.calibration.policies import UNCALIBRATED
from labeler.cli.app import run
from labeler.errors import ExitCode
from labeler.labels import NATIVE
from labeler.queue.route import route_pool
from labeler.queue.sitting.session import ReviewSession
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.small import HandJudge, judge, pooled

FULLY, PARTIALLY, NOT = NATIVE.levels


@pytest.fixture
def reviewed(own_folder: Path) -> Path:
    """Ana and bo contradict each other on one item; ana holds three more."""
    with open_store(Location(str(own_folder / "queue.db")), create=True) as store:
        pooled(store, own_folder)
        judge(store, HandJudge())
        route_pool(store, "p", replace(UNCALIBRATED, overlap=2))
        bo = ReviewSession(store, "bo")
        assert bo.current is not None
        bo.vote(NOT)
        bo.close()
        ana = ReviewSession(store, "ana")
        assert ana.current is not None
        ana.vote(FULLY)
        assert ana.current is not None
    return own_folder


def test_the_numbers_as_json(reviewed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["queue", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    progress = found["progress"]
    assert (progress["given"], progress["held"], progress["step"]) == (2, 3, "hour")
    assert sum(one["votes"] for one in progress["burned"]) == 2
    assert [one["reviewer"] for one in progress["paces"]] == ["ana", "bo"]
    assert all(one["pace"]["is_rubber_stamping"] for one in progress["paces"])
    assert {one["reviewer"] for one in found["held"]} == {"ana"}
    assert all(one["until"].endswith("+00:00") for one in found["held"])
    (dispute,) = found["disputes"]
    assert (dispute["state"], dispute["votes"]) == ("open", 2)
    assert "is_own" not in dispute
    assert found["confidence"] == found["hidden_repeats"] == []
    assert found["by_domain"] == {"": found["by_status"]["open"] + 1}


def test_the_numbers_as_tables(reviewed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["queue", "--pool", "p"]) == 0
    told = capsys.readouterr().out
    for words in ("votes left", "time left", "pace of", "rubber-stamping", "held by", "dispute"):
        assert words in told
    assert run(["queue", "--pool", "nowhere"]) == ExitCode.ERROR


def test_nobody_marked_a_rubric(reviewed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["report", "rubric-issues"]) == 0
    assert "nobody marked a rubric as unclear" in capsys.readouterr().out
    assert run(["report", "rubric-issues", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"rubrics": [], "items": [], "sealed": []}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--lead"], "need a terminal"),
        (["--lead", "--plain"], "need a terminal"),
        (["--force"], "goes with --lead"),
    ],
)
def test_what_the_lead_cannot_ask(
    reviewed: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    capsys.readouterr()
    assert run(["review", *words, "--as", "lea"]) == ExitCode.USAGE
    assert told in capsys.readouterr().err
