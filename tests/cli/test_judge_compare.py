from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from labeler.assessment.blind import Block
from labeler.assessment.verdict import Verdict
from labeler.cli.app import run
from labeler.errors import ExitCode
from labeler.labels import Grade, Outcome
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.small import HandJudge, judge, pooled

FULLY, PARTIALLY, NOT = Grade.FULLY_RELEVANT, Grade.PARTIALLY_RELEVANT, Grade.NOT_RELEVANT
NAME = "openai/gpt-4o-mini+direct"


@dataclass
class Hostile(HandJudge):
    """A judge whose model answers with terminal controls and many lines."""

    def judge(self, block: Block) -> list[Verdict]:
        said = "\x1b]0;title\x07 a\nreason \u202e" + "very " * 200
        return [replace(one, reason=said, quote="\x1b[2J") for one in super().judge(block)]


BEFORE = Hostile({"c01": (FULLY, 0.9), "c03": (PARTIALLY, 0.8)}, name=NAME)
AFTER = HandJudge(
    {"c01": (PARTIALLY, 0.9), "c03": (NOT, 0.8), "c04": (Outcome.ABSTAINED, 0)},
    name=NAME,
    version="2",
    flags={"c01": ("circular",)},
)


@pytest.fixture
def judged(own_folder: Path) -> Path:
    """The small project, judged by two versions of one judge, in the working folder."""
    with open_store(Location(str(own_folder / "queue.db")), create=True) as store:
        pooled(store, own_folder)
        judge(store, BEFORE)
        judge(store, AFTER)
    return own_folder


def name(hand: HandJudge) -> str:
    return f"{hand.name}@{hand.digest[:12]}"


def test_what_changed_is_shown(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["judge", "compare", name(BEFORE), NAME]) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert f"A                {name(BEFORE)}" in lines
    assert f"B                {name(AFTER)}" in lines
    assert "asked of both    11, of 3 queries" in lines
    table = {line.split("  ")[0]: line.split()[-5:] for line in lines if line}
    assert table["2 fully_relevant"] == ["0", "1", "0", "0", "0"]
    assert table["1 partially_relevant"] == ["0", "0", "1", "0", "0"]
    assert table["0 not_relevant"] == ["0", "0", "8", "1", "0"]
    (flips,) = [line for line in lines if line.startswith("level ")]
    assert flips.split()[1:5] == ["10", "2", "0", "2"]
    assert "0.200, no interval: fewer than 8 queries" in flips
    assert "interval: 95%, jackknife over queries" in captured.out
    assert "people decided no item" in captured.out
    assert f"2 versions are called {NAME}; {name(AFTER)} answered last" in captured.err
    assert "1 of 11 answers" in captured.err
    assert "circular" in captured.err


def test_flips_across_the_boundary_come_first_and_are_safe_to_show(
    judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["judge", "compare", name(BEFORE), name(AFTER)]) == 0
    told = capsys.readouterr().out
    across, within = (
        told.index("across the relevance boundary\nquery"),
        told.index("same relevance"),
    )
    assert across < told.index("passage c03 about fact 2") < within
    assert within < told.index("passage c01 about fact 0")
    assert not set(told) & {"\x1b", "\x07", "\u202e"}
    assert "2 of 2 items whose level flips" in told
    # A reason of 200 words is cut, and stays on its line.
    (a, _) = [line for line in told.splitlines() if line.startswith("A        ")][-2:]
    assert len(a) < 700
    assert "…" in a


def test_examples_can_be_left_out(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["judge", "compare", name(BEFORE), name(AFTER), "--examples", "0"]) == 0
    told = capsys.readouterr().out
    assert "level " in told
    assert "passage" not in told


def test_json_holds_all(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--pool", "p", "--examples", "1", "--seed", "7", "--json"]
    assert run(["judge", "compare", name(BEFORE), name(AFTER), *options]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["frame"], told["seed"], told["both"]) == ("the items of pool p", 7, 11)
    assert told["levels"]["flips"]["share"]["no_interval"] == "fewer than 8 queries"
    assert told["relevance"]["names"] == ["relevant", "not_relevant", "abstained", "failed"]
    (example,) = told["examples"]
    assert example["boundary"] == "across"
    assert example["first"]["reason"].count("very") == 200
    assert told["people"] is None
    assert told["second"]["circular"] == 1


def test_what_people_decided_is_shown(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = judged / "l.txt"
    path.write_text("q1 0 return-30 2\nq1 0 c03 0\nq3 0 c09 0\n")
    assert run(["import", "labels", str(path), "--assessor", "ana", "--scale", "native"]) == 0
    capsys.readouterr()
    assert run(["judge", "compare", name(BEFORE), name(AFTER)]) == 0
    told = capsys.readouterr().out
    assert "people decided blind  3 of the items with a label of both, of 2 queries" in told
    rows = [line.split() for line in told.splitlines()]
    assert ["level", "2", "1", "1", "0"] in rows
    assert ["relevant", "or", "not", "1", "0", "1", "0"] in rows
    assert "people   not_relevant" in told
    assert "need not be a sample of all items" in told


def test_judges_of_different_scales(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = judged / "l.txt"
    path.write_text("q1 0 return-30 1\nq1 0 c03 0\n")
    options = ["--assessor", "yes-or-no", "--kind", "llm", "--scale", "binary"]
    assert run(["import", "labels", str(path), *options]) == 0
    capsys.readouterr()
    assert run(["judge", "compare", name(BEFORE), "yes-or-no"]) == 0
    told = capsys.readouterr().out
    assert "levels are not compared: different scales (binary, native)" in told
    assert "1 of 1 items whose relevance flips" in told
    assert run(["judge", "compare", "yes-or-no@-", name(BEFORE), "--json"]) == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([NAME, NAME], ExitCode.USAGE, f"{NAME}@"),
        ([name(BEFORE), "gpt-5"], ExitCode.ERROR, "no judge 'gpt-5'"),
        ([name(BEFORE), name(AFTER), "--pool", "q"], ExitCode.ERROR, "no pool 'q'"),
        ([name(BEFORE), name(AFTER), "--examples", "-1"], ExitCode.USAGE, "-1 examples"),
        ([name(BEFORE)], ExitCode.USAGE, "B"),
    ],
)
def test_what_cannot_be_compared_is_said(
    judged: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: ExitCode,
    words: str,
) -> None:
    assert run(["judge", "compare", *arguments]) == code
    told = capsys.readouterr()
    assert words in told.err
    assert told.out == ""
    assert "Traceback" not in told.err


def test_judges_that_share_no_item(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = judged / "l.txt"
    path.write_text("q1 0 elsewhere 1\n")
    options = ["--assessor", "other", "--kind", "llm", "--scale", "native"]
    assert run(["import", "labels", str(path), *options]) == 0
    capsys.readouterr()
    assert run(["judge", "compare", name(BEFORE), "other"]) == 0
    assert "no item was asked of both" in capsys.readouterr().out


def test_the_help_says_how_judges_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["judge", "compare", "--help"]) == 0
    told = capsys.readouterr().out
    assert "labeler judge compare" in told
    assert "NAME@6daffafa" in told
    assert "How many flips" in told
