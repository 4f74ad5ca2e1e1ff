"""`labeler sample` at the command line: plan, draw, review, status; what errors say."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from labeler.assessment.blind import BlindItem
from labeler.cli.app import run
from labeler.errors import ExitCode
from labeler.labels import Grade
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.small import pooled
from tests.voting import vote_on_all


@pytest.fixture
def database(own_folder: Path) -> Path:
    path = own_folder / "queue.db"
    with open_store(Location(str(path)), create=True) as store:
        pooled(store, own_folder)
    return path


def vote(database: Path) -> None:
    def decide(item: BlindItem) -> Grade | None:
        if "c08" in item.passage:
            return None
        return Grade.FULLY_RELEVANT if item.passage.split()[1] < "c06" else Grade.NOT_RELEVANT

    with open_store(Location(str(database))) as store:
        vote_on_all(store, decide)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["sample", *arguments, "--json"]) == ExitCode.DONE
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_from_plan_to_estimate(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = printed(capsys, "plan", "p", "--k", "3", "--votes", "11")
    assert (plan["votes"], plan["unknown"], plan["known"]) == (11, 11, 0)
    assert sum(one["draw"] for one in plan["strata"]) == 11
    drawn = printed(capsys, "draw", "p", "--k", "3", "--votes", "11")
    assert (drawn["name"], drawn["phase"], drawn["drawn"]) == ("p", 1, 11)
    vote(database)
    status = printed(capsys, "status", "p")
    assert (status["complete"], status["abstained"], status["labelled"]) == (True, 1, 10)
    assert status["label_source"] == "human"
    for one in status["estimates"]:
        assert one["low_whatever_was_abstained"] <= one["low"] <= one["value"] <= one["high"]
        assert one["high"] <= one["high_whatever_was_abstained"]


def test_a_sample_is_shared_for_what_it_is_to_tell(
    database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ["p", "--runs", "lexical", "--runs", "dense", "--k", "3", "--votes", "10"]
    tuned = ["--measure", "precision_difference", "--seed", "a b"]
    whole, told = printed(capsys, "plan", *both), printed(capsys, "plan", *both, *tuned)
    assert (whole["tells_best"], told["tells_best"]) == (None, "precision_difference")
    assert run(["sample", "plan", *both, *tuned]) == ExitCode.DONE
    line = capsys.readouterr().out.splitlines()[-1]
    drawn = printed(capsys, *shlex.split(line.partition(" sample ")[2]))
    counts = {one["name"]: one["draw"] for one in drawn["strata"]}
    assert counts == {one["name"]: one["draw"] for one in told["strata"]}


def test_what_people_read(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sample", "plan", "p", "--k", "3", "--target-width", "0.4"]) == ExitCode.DONE
    assert "sample draw p --runs dense --runs lexical --k 3" in capsys.readouterr().out
    assert run(["sample", "draw", "p", "--k", "3", "--votes", "6"]) == ExitCode.DONE
    assert "sample status p" in capsys.readouterr().out
    assert run(["sample", "status", "p"]) == ExitCode.DONE
    assert "nobody has answered yet" in capsys.readouterr().out
    assert run(["sample", "draw", "p", "--continue", "--votes", "5"]) == ExitCode.DONE
    capsys.readouterr()
    vote(database)
    assert run(["sample", "status", "p"]) == ExitCode.DONE
    told = capsys.readouterr().out
    for part in ("recall@3[within the pool, sampled]", "unweighted", "assumption:", "interval:"):
        assert part in told
    assert run(["sample", "status"]) == ExitCode.DONE
    assert capsys.readouterr().out == "p\n"


def test_outside_the_pool(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = printed(capsys, "draw", "p", "--outside", "--votes", "4", "--source", "domain=support")
    assert (drawn["name"], drawn["drawn"]) == ("p-outside", 4)
    vote(database)
    status = printed(capsys, "status", "p-outside", "--veto")
    assert status["kind"] == "outside"
    assert "exact" in status["estimates"][0]["method"]


def test_queries_from_a_log(
    database: Path, own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = own_folder / "log.csv"
    log.write_text("query,searches\n" + "".join(f"word{c} here,2\n" for c in "abcdefgh"), "utf-8")
    assert run(["import", "queries", str(log), "--from-log", "--json"]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out)["counts"]["asked"] == 16
    found = printed(capsys, "queries", "--n", "4", "--output", "drawn.jsonl")
    rows = [json.loads(line) for line in Path("drawn.jsonl").read_text("utf-8").splitlines()]
    assert rows == found["queries"]
    assert sum(row["weight"] for row in rows) == pytest.approx(16)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["plan", "nothing"], ExitCode.ERROR, "no pool"),
        (["plan", "p", "--k", "9"], ExitCode.USAGE, "--k 3"),
        (["plan", "p", "--k", "3", "--runs", "bm42"], ExitCode.ERROR, "bm42"),
        (["draw", "p", "--k", "3", "--continue"], ExitCode.USAGE, "--votes"),
        (["draw", "p", "--k", "3", "--source", "domain=x"], ExitCode.USAGE, "--outside"),
        (["draw", "p", "--outside", "--source", "x"], ExitCode.USAGE, "FIELD=VALUE"),
        (["status", "nothing"], ExitCode.ERROR, "no sample"),
        (["queries"], ExitCode.ERROR, "--from-log"),
    ],
)
def test_errors_say_what_to_do(
    database: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: ExitCode,
    words: str,
) -> None:
    assert run(["sample", *arguments]) == code
    assert words in capsys.readouterr().err


def test_a_log_takes_no_options_of_queries(
    own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["import", "queries", "x.csv", "--from-log", "--update"]) == ExitCode.USAGE
    assert "--from-log" in capsys.readouterr().err
