"""What commands print: the program is named as it can be typed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from labeler.cli.output import program


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
