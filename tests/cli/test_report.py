from __future__ import annotations

import json
from pathlib import Path

import pytest

from labeler.cli.app import run
from labeler.errors import ExitCode

# What two people and a judge say of twelve items, one of each query; the judge knows yes and no.
ANA = [0, 1, 2, 2, 0, 0, 1, 2, 0, 0, 2, 1]
BO = [0, 1, 2, 1, 0, 0, 0, 2, 0, 1, 2, 1]
JUDGE = [0, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1]


@pytest.fixture
def labelled(own_folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A project with the labels of two people and of a judge, by their ids alone."""
    for name, codes, more in (
        ("ana", ANA, ["--scale", "native"]),
        ("bo", BO, ["--scale", "native"]),
        ("yes-or-no", JUDGE, ["--scale", "binary", "--kind", "llm"]),
    ):
        path = own_folder / f"{name}.txt"
        path.write_text("".join(f"q{n} 0 d{n} {code}\n" for n, code in enumerate(codes)))
        assert run(["import", "labels", str(path), "--assessor", name, *more]) == 0
    capsys.readouterr()
    return own_folder


def test_the_table_names_its_conditions_and_its_gaps(
    labelled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", "agreement"]) == 0
    told = capsys.readouterr()
    lines = told.out.splitlines()
    assert "items                all items of the project" in lines
    assert "levels on the scale  native" in lines
    assert "revision             3" in lines
    (row,) = [line for line in lines if line.startswith("ana x bo")]
    cells = row.split()
    assert cells[3:7] == ["12", "12", "0", "0"]
    # 9 of 12 the same; kappa by hand: (9/12 - 49/144) / (1 - 49/144) = 59/95.
    assert cells[7] == "0.750"
    assert f"{59 / 95:.3f}" in row
    (other,) = [line for line in lines if line.startswith("ana x yes-or-no")]
    assert other.split()[3:10] == ["11", "11", "1", "0", "-", "-", "-"]
    assert "levels not compared, different scales (binary, native): ana x yes-or-no" in told.out
    assert "native: 0=5, 1=3, 2=4" in told.out
    # Both voted on twelve items, and the judge is held against what they say together.
    assert any(line.startswith("people x yes-or-no") for line in lines)
    assert told.err.startswith("note: 3 items left out of what people say")


def test_one_pair_is_shown_with_its_confusions(
    labelled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", "agreement", "--against", "people"]) == 0
    out = capsys.readouterr().out
    assert "against              people" in out
    assert "people, down; yes-or-no, across  not relevant  relevant" in out
    # How far people agree stands beside it: a judge can't agree with them any further.
    assert any(line.startswith("2 people") for line in out.splitlines())


def test_json_holds_what_the_table_leaves_out(
    labelled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", "agreement", "--against", "bo", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["against"] == "bo"
    assert told["interval"].startswith("95%")
    ana = told["pairs"][0]
    assert ana["levels"]["confusion"] == [[4, 1, 0], [1, 2, 1], [0, 0, 3]]
    # Levels hold 10, 7 and 7 of 24 labels: chance is (10*14 + 7*17 + 7*17) / 24^2 / 2 = 0.328125.
    assert ana["levels"]["ac1"]["value"] == pytest.approx((0.75 - 0.328125) / (1 - 0.328125))
    assert ana["levels"]["kappa"]["low"] < 59 / 95 < ana["levels"]["kappa"]["high"]
    assert [one["labels"] for one in ana["second_labels"]] == [5, 3, 4]
    assert (told["evaluation"], told["changed"]) == (1, [])
    assert run(["report", "agreement", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["evaluation"] == 2


def test_options_reach_the_report(labelled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "agreement", "--as-of", "2", "--repeats", "first", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["revision"], told["repeats"], len(told["assessors"])) == (2, "first", 2)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--against", "cy"], ExitCode.ERROR, "no assessor 'cy'"),
        (["--pool", "p"], ExitCode.ERROR, "no pool 'p'"),
        (["--as-of", "1"], ExitCode.ERROR, "two assessors"),
        (["--repeats", "median"], ExitCode.USAGE, "median"),
    ],
)
def test_what_is_not_there_is_said(
    labelled: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    code: ExitCode,
    words: str,
) -> None:
    assert run(["report", "agreement", *options]) == code
    told = capsys.readouterr()
    assert words in told.err
    assert told.out == ""
    assert "Traceback" not in told.err
