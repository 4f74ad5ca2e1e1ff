"""A file that is named and can't be read or written: told in plain words, and nothing changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.project import Project
from tests.cases.test_strictness import import_all

COMMANDS = [
    ("gate", "FILE"),
    ("import", "labels", "l.txt", "--scale", "FILE"),
    ("import", "labels", "l.txt", "--rubric", "FILE"),
    ("judge", "run", "p", "--coefficients", "FILE"),
    ("pool", "create", "p2", "--depth", "1", "--rubric", "FILE"),
    ("pool", "plan", "--queries", "FILE"),
    ("report", "recall", "--before", "FILE"),
    ("route", "p", "--policy", "FILE"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_named_file_that_cant_be_read_is_told(project: Project, words: tuple[str, ...]) -> None:
    import_all(project)
    project.do("pool", "create", "p", "--depth", "2")
    Path("latin.toml").write_bytes(b"name = '\xe9'\n")
    Path("folder.toml").mkdir()
    for name, problem in (
        ("none.toml", "there is no such file"),
        ("folder.toml", "this is a folder"),
        ("latin.toml", "this is no text in UTF-8: byte 8 is 0xe9"),
    ):
        told = project.refused(*(name if word == "FILE" else word for word in words))
        assert f"{name}: {problem}" in told


@pytest.mark.parametrize("kind", ["qrels", "jsonl", "corpus", "testset"])
def test_a_file_that_cant_be_written_is_told(project: Project, kind: str) -> None:
    import_all(project)
    project.do("pool", "create", "p", "--depth", "2")
    Path("folder").mkdir()
    scope = ("--snapshot", "c") if kind == "corpus" else ("--pool", "p")
    told = project.refused("export", kind, "none/out", *scope)
    assert "none/out can't be written: there is no folder none" in told
    told = project.refused("export", kind, "folder", *scope)
    assert "folder can't be written: Is a directory" in told
    assert list(Path("folder").iterdir()) == []
