"""Slips of a first day: what is typed or saved a little wrong is told, and not guessed at."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.cases.project import Project
from tests.cases.test_strictness import import_all, write


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            ("queries", "q.csv", "--field", "txt=text"),
            "--field knows no 'txt'; fields are id, text",
        ),
        (("runs", "r.txt", "--field", "chunk=doc_id"), "--field knows no 'chunk'"),
        (("labels", "l.txt", "--map", "1=fully_relevant"), "--map tells what one code means"),
        (
            ("labels", "l.txt", "--map", "1=fully_relevant,0=not_relevant", "--map", "1=not"),
            "--map says both 'fully_relevant' and 'not' of '1'",
        ),
    ],
)
def test_an_option_that_means_nothing_or_two_things(
    project: Project, words: tuple[str, ...], problem: str
) -> None:
    import_all(project)
    assert problem in project.refused("import", *words, code=2)


def test_a_field_of_another_kind_of_file_is_let_alone(project: Project) -> None:
    write("q.csv", "query_id,text\nq1,first\n")
    project.do(
        "import", "queries", "q.csv", "--field", "label=text", "--field", "queries.id=query_id"
    )


@pytest.mark.parametrize(
    ("kind", "name", "content", "problem"),
    [
        ("runs", "none.json", b"{}", "none.json: no rows"),
        ("corpus", "blanks.tsv", b"d1 one\nd2 two\n", "blanks.tsv:1: no tab: a row is id TAB text"),
        (
            "queries",
            "text.jsonl",
            b'{"_id": "q8", "text": "a", "conditions": "eu"}\n',
            "text.jsonl:1: the conditions are no object",
        ),
        (
            "runs",
            "twice.run.gz",
            gzip.compress(gzip.compress(b"q1 Q0 d1 1 2.0 s\n")),
            "twice.run.gz: this is gzip data inside gzip data",
        ),
        ("labels", "odd.txt", b"q1 0 d1 -1\nq1 0 d2 1\n", "labels that no shipped scale holds"),
    ],
)
def test_a_file_that_is_saved_a_little_wrong(
    project: Project, kind: str, name: str, content: bytes, problem: str
) -> None:
    import_all(project)
    Path(name).write_bytes(content)
    assert problem in project.refused("import", kind, name)


def test_a_snapshot_is_named_after_its_file_in_capitals_too(project: Project) -> None:
    facts = project.json("import", "corpus", write("HELP.JSONL", '{"_id": "d1", "text": "one"}\n'))
    assert facts["snapshot"] == "HELP"
