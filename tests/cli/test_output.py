"""What commands print: the program is named as it can be typed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.cli import output
from labeler.cli.output import parted, print_error, print_facts, print_table, program
from labeler.errors import Fault, InputError


@pytest.mark.parametrize(
    ("started", "named"),
    [
        (".venv/bin/labeler", ".venv/bin/labeler"),
        ("-c", "labeler"),
        (".venv/bin/pytest", "labeler"),
    ],
)
def test_the_program_is_named_as_it_can_be_typed(
    monkeypatch: pytest.MonkeyPatch, started: str, named: str
) -> None:
    monkeypatch.setattr(sys, "argv", [started])
    monkeypatch.setenv("PATH", "")
    assert program() == named


def test_on_the_path_its_name_is_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = tmp_path / "labeler"
    own.write_text("")
    own.chmod(0o755)
    monkeypatch.setattr(sys, "argv", ["/somewhere/labeler"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program() == "labeler"


def test_a_fault_that_goes_on_the_same_is_written_once(capsys: pytest.CaptureFixture[str]) -> None:
    faults = [Fault("a.txt", line, "3 columns") for line in range(1, 8)]
    faults += [Fault("a.txt", 9, "4 columns"), Fault("a.txt", 10, "3 columns")]
    faults += [Fault("b.txt", 1, "3 columns"), Fault("b.txt", 2, "3 columns")]
    print_error(InputError(faults, hint="mend them"))
    assert capsys.readouterr().err.splitlines() == [
        "a.txt:1: 3 columns",
        "a.txt: the same on 6 more lines, up to line 7",
        "a.txt:9: 4 columns",
        "a.txt:10: 3 columns",
        "b.txt:1: 3 columns",
        "b.txt:2: 3 columns",
        "labeler: 11 faults in the input; nothing was stored",
        "  hint: mend them",
    ]


def test_faults_that_are_not_written_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    faults = [Fault("a.txt", line, f"no document 'd{line}'") for line in range(1, 101)]
    print_error(InputError([*faults, Fault("a.txt", None, "and 1,150 more faults", 1150)]))
    told = capsys.readouterr().err.splitlines()
    assert told[29] == "a.txt:30: no document 'd30'"
    assert told[30:] == [
        "... and 1,220 more",
        "labeler: 1,250 faults in the input; nothing was stored",
    ]


@pytest.fixture
def _on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print as on a terminal of 44 columns."""
    monkeypatch.setattr(output, "_terminal_width", lambda: 44)


HEADER = ["run", "metric", "value", "interval", "queries", "clusters"]
ROWS: list[list[object]] = [
    ["lexical", "P@5[human]", 0.25, "[0.100, 0.400]", 1200, 30],
    ["dense", "P@5[human]", 0.5, "-", 1200, 30],
]


@pytest.mark.usefixtures("_on_a_terminal")
def test_a_table_wider_than_the_terminal_is_parted_and_no_column_is_lost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(HEADER, ROWS)
    assert capsys.readouterr().out.splitlines() == [
        "run      metric      value  interval",
        "lexical  P@5[human]  0.250  [0.100, 0.400]",
        "dense    P@5[human]  0.500  -",
        "",
        "run      metric      queries  clusters",
        "lexical  P@5[human]    1,200        30",
        "dense    P@5[human]    1,200        30",
    ]


@pytest.mark.usefixtures("_on_a_terminal")
def test_facts_are_wrapped_beside_their_names_and_long_words_stay_whole(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_facts({"frame": "the 12 items of the pool that somebody made", "path": "/" + "x" * 50})
    assert capsys.readouterr().out.splitlines() == [
        "frame  the 12 items of the pool that",
        "       somebody made",
        "path   /" + "x" * 50,
    ]


def test_what_is_read_by_a_program_keeps_one_line_a_row(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    print_table(HEADER, ROWS)
    print_facts({"frame": "word " * 20})
    assert len(capsys.readouterr().out.splitlines()) == 4


@given(
    st.lists(st.tuples(st.integers(0, 60), st.booleans()), min_size=1, max_size=12),
    st.integers(1, 120),
)
def test_every_column_stands_in_one_part_and_parts_fit_where_they_can(
    columns: list[tuple[int, bool]], most: int
) -> None:
    widths, right = [one for one, _ in columns], [number for _, number in columns]
    parts = parted(widths, right, most)
    names = [place for place in parts[0] if all(place in part for part in parts)]
    assert names[0] == 0
    once = [place for part in parts for place in part if len(parts) == 1 or place not in names]
    assert sorted({*once, *names}) == list(range(len(columns)))
    assert len(once) == len(set(once))
    for part in parts:
        wide = sum(widths[place] + 2 for place in part) - 2
        assert wide <= most or len(set(part) - set(names)) <= 1 or len(parts) == 1
