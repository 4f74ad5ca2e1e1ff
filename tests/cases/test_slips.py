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
            gzip.compress(gzip.compress(b"q1 Q0 d1 1 2.0 s\n", mtime=0), mtime=0),
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


def test_latencies_of_systems_that_no_run_is_called_are_told(project: Project) -> None:
    import_all(project)
    latency = write("lat.tsv", "query_id\tsystem\tlatency_ms\nq1\tbm25\t3.5\n")
    rows = write("t.txt", "q1 Q0 d1 1 2.0 t\n")
    told = project.do("import", "runs", rows, "--latency", latency).err
    assert "lat.tsv: no latency of 't'; the systems there are 'bm25'" in told
    again = project.do("import", "runs", rows, "--latency", latency, "--name", "bm25").err
    assert "no latency" not in again


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("q1\tt\t-4\n", "lat.tsv:3: wanted are a query, a system and milliseconds, 0 or more"),
        ("q1\tt\t9.5\n", "lat.tsv:3: query 'q1' of system 't' comes again with another latency"),
    ],
)
def test_a_latency_that_is_none_or_contradicts(project: Project, row: str, problem: str) -> None:
    import_all(project)
    latency = write("lat.tsv", f"query_id\tsystem\tlatency_ms\nq1\tt\t3.5\n{row}")
    rows = write("t.txt", "q1 Q0 d1 1 2.0 t\n")
    assert problem in project.refused("import", "runs", rows, "--latency", latency)
