"""`labeler calibrate` and `labeler report calibration`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labeler.calibration.policies import UNCALIBRATED
from labeler.cli.app import run
from labeler.errors import ExitCode
from labeler.labels import Grade
from labeler.queue.route import route_pool
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from tests.calibrated import TopicJudge, by_query, topic_pool
from tests.scored import vote


@pytest.fixture
def grades(own_folder: Path) -> dict[int, Grade]:
    """A judged pool in the folder's own database."""
    with opened(own_folder, create=True) as store:
        found = topic_pool(store, own_folder, [TopicJudge("one", 75)])
        route_pool(store, "p", UNCALIBRATED)
    return found


def opened(folder: Path, *, create: bool = False) -> Store:
    return open_store(Location(str(folder / "queue.db")), create=create)


def voted(folder: Path, grades: dict[int, Grade], each: int) -> None:
    chosen = [item for items in by_query(grades) for item in items[:each]]
    with opened(folder) as store:
        vote(store, chosen, lambda item: grades[item])


def test_without_votes_it_says_that_it_is_uncalibrated(
    grades: dict[int, Grade], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["calibrate", "p"]) == 0
    told = capsys.readouterr().out
    assert "calibration           uncalibrated: it takes 100 more labels" in told
    assert "labels in force       the judges' own labels" in told
    assert "too few labels" in told
    assert "review --pool p" in told


def test_with_votes_it_tells_what_is_in_force_and_why(
    own_folder: Path, grades: dict[int, Grade], capsys: pytest.CaptureFixture[str]
) -> None:
    voted(own_folder, grades, each=12)
    assert run(["calibrate", "p"]) == 0
    told = capsys.readouterr().out
    assert "calibration           calibrated" in told
    assert "log loss at labels not seen" in told
    (row,) = [line for line in told.splitlines() if line.startswith("refitted, and smoothed")]
    assert row.split()[-1] == "yes"
    assert "next: " in told
    assert run(["calibrate", "p", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["way"] == "smoothed"
    assert content["is_new"] is False
    assert set(content["losses"]) == {"fixed", "refit", "smoothed"}
    assert content["judges"][0]["judge"] == "one"
    assert content["judges"][0]["health"] == "too few labels"


def test_the_report_refuses_a_rate_of_queue_votes_and_says_what_else_there_is(
    own_folder: Path, grades: dict[int, Grade], capsys: pytest.CaptureFixture[str]
) -> None:
    voted(own_folder, grades, each=12)
    assert run(["calibrate", "p"]) == 0
    capsys.readouterr()
    assert run(["report", "calibration", "p"]) == ExitCode.USAGE
    told = capsys.readouterr()
    assert told.out == ""
    assert "what the queue picked is no sample" in told.err
    assert run(["report", "calibration", "p", "--labels", "all"]) == 0
    told = capsys.readouterr()
    assert "no figure here is an estimate for the pool" in told.err
    assert "which are no sample of it" in told.out


def test_the_table_the_plot_and_the_json_agree(
    own_folder: Path, grades: dict[int, Grade], capsys: pytest.CaptureFixture[str]
) -> None:
    voted(own_folder, grades, each=24)
    assert run(["calibrate", "p"]) == 0
    capsys.readouterr()
    assert run(["report", "calibration", "p", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert run(["report", "calibration", "p"]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    lines = told.out.splitlines()
    assert "items                        all 240 items of pool p" in lines
    (brier,) = [line for line in lines if line.startswith("Brier score")]
    assert f"{content['brier']['value']:.3f}" in brier
    rows = [line for line in lines if line[:3] in {f"0.{n}" for n in range(10)}]
    assert len(rows) == len(content["reliability"])
    for row, stored in zip(rows, content["reliability"], strict=True):
        assert int(row.split()[1]) == stored["count"]
        assert "*" in row
    assert [line for line in lines if line.startswith("wrong among the surest 20%")]
    for name in ("error_equal_width", "error_equal_mass", "brier", "auc_wrong"):
        assert content[name]["low"] is not None


def test_names_that_are_not_there(
    grades: dict[int, Grade], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["calibrate", "other"]) == ExitCode.ERROR
    assert run(["report", "calibration", "p"]) == ExitCode.ERROR
    told = capsys.readouterr().err
    assert "no pool" in told
    assert "`labeler calibrate p` fits them" in told
