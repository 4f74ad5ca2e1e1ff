"""What commands print: the program is named as it can be typed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from labeler.cli.output import print_error, program
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
