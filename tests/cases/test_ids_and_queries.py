"""Public cases of ids and queries: ids are text, duplicates are told, nothing wins by its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labeler.labels import StateCode
from tests.cases.project import Project
from tests.shared import case_dir


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def test_23_ids_keep_their_zeros(project: Project) -> None:
    case = case_dir("23")
    project.do("import", "corpus", case / "corpus.jsonl")
    project.do("import", "labels", case / "qrels.txt")
    project.do("import", "runs", case / "run-same.txt")
    assert project.passages() == {"0756": "padded", "756": "plain"}
    assert project.metrics("s", "01").reciprocal_rank == 1
    project.do("export", "qrels", "out.txt")
    assert Path("out.txt").read_text() == "01 0 0756 1\n"


def test_23_ids_that_differ_by_zeros_are_told(project: Project) -> None:
    case = case_dir("23")
    project.do("import", "corpus", case / "corpus.jsonl")
    project.do("import", "labels", case / "qrels.txt")
    told = project.refused("import", "runs", case / "run.txt")
    assert "'1' is unknown" in told
    assert "differ only by leading zeros" in told
    assert "run.txt:1" in told


def test_23_also_when_the_run_came_first_or_the_queries_were_imported(project: Project) -> None:
    case = case_dir("23")
    project.do("import", "runs", case / "run.txt")
    assert "leading zeros" in project.refused("import", "labels", case / "qrels.txt")
    other = project.another("with-queries")
    other.do("import", "queries", write("q.tsv", "01\tsome words\n"))
    assert "leading zeros" in other.refused("import", "runs", case / "run.txt")


def test_23_documents_that_differ_by_zeros_are_told_too(project: Project) -> None:
    case = case_dir("23")
    padded = write("c.jsonl", '{"_id": "0756", "text": "padded"}\n')
    project.do("import", "corpus", padded)
    told = project.do("import", "runs", write("r.txt", "01 Q0 756 1 3.0 s\n"))
    assert "'756'; '0756' is known, and the two differ only by leading zeros" in told.err
    told = project.do("import", "labels", write("l.txt", "01 0 756 1\n"))
    assert "leading zeros" in told.err
    bare = project.another("bare")
    bare.do("import", "labels", case / "qrels.txt")
    told = bare.do("import", "runs", write("r.txt", "01 Q0 756 1 3.0 s\n"))
    assert "leading zeros" in told.err


def test_23_a_run_over_another_corpus_is_told(project: Project) -> None:
    project.do("import", "corpus", case_dir("23") / "corpus.jsonl")
    told = project.do("import", "runs", write("r.txt", "01 Q0 x1 1 3.0 s\n01 Q0 x2 2 2.0 s\n"))
    assert "none of these documents" in told.err
    told = project.do("import", "runs", write("t.txt", "01 Q0 756 1 3.0 t\n01 Q0 x2 2 2.0 t\n"))
    assert "none of these documents" not in told.err
    assert project.json("import", "runs", Path("t.txt"))["counts"]["no_text"] == 1


def test_30_ids_that_look_like_numbers(project: Project) -> None:
    case = case_dir("30")
    told = project.refused("import", "queries", case / "queries.jsonl")
    assert "queries.jsonl:4" in told
    assert "queries.jsonl:1" in told
    assert "'number one'" in told
    project.do("import", "queries", case / "queries.csv")
    assert project.queries() == {
        "1": "one",
        "01": "zero one",
        "1e0": "exponent",
        "1.0": "decimal",
    }
    project.do("import", "runs", case / "run.txt")
    assert project.ranking("s", "1") == ["d1"]
    assert project.ranking("s", "01") == ["d2"]
    assert project.ranking("s", "1.0") == ["d3"]


def test_30_leniently_the_first_text_stays(project: Project) -> None:
    told = project.json("import", "queries", case_dir("30") / "queries.jsonl", "--lenient")
    assert told["counts"]["left out"] == 1
    assert project.queries() == {"1": "one", "01": "zero one", "1.0": "one point zero"}


@pytest.mark.parametrize(
    ("value", "name"),
    [("7", "7"), ("7.0", "7"), ('"7.0"', "7.0"), ("1e3", "1000"), ("-3", "-3"), ("0.5", "0.5")],
)
def test_30_json_numbers_become_text_once(project: Project, value: str, name: str) -> None:
    project.do("import", "queries", write("q.jsonl", f'{{"_id": {value}, "text": "x"}}\n'))
    assert project.queries() == {name: "x"}


@pytest.mark.parametrize("value", ["true", "null", "[1]", '""', '"  "', "1e300", '"a\\u0000b"'])
def test_30_what_can_be_no_id_is_named(project: Project, value: str) -> None:
    rows = f'{{"_id": "q", "text": "y"}}\n{{"_id": {value}, "text": "x"}}\n'
    assert "q.jsonl:2" in project.refused("import", "queries", write("q.jsonl", rows))


def test_32_one_id_for_two_texts_stops_and_one_text_for_two_ids_does_not(
    project: Project,
) -> None:
    queries = case_dir("32") / "queries.tsv"
    told = project.refused("import", "queries", queries)
    assert "queries.tsv:2" in told
    assert "queries.tsv:1" in told
    assert "'44'" in told
    left = project.do("import", "queries", queries, "--lenient")
    assert "'45' and '46'" in left.err
    assert project.queries() == {
        "44": "tables with more than 200 rows",
        "45": "rows over 100",
        "46": "rows over 100",
    }


def test_32_a_known_query_changes_only_when_asked_to(project: Project) -> None:
    first, second = write("a.tsv", "44\tone text\n"), write("b.tsv", "44\tanother text\n")
    project.do("import", "queries", first)
    told = project.refused("import", "queries", second)
    assert "'44'" in told
    assert "--update" in told
    project.do("import", "queries", second, "--update")
    assert project.queries() == {"44": "another text"}
    assert project.json("import", "queries", second, "--update")["revision"] is None


def test_32_two_texts_in_two_files_name_both_files(project: Project) -> None:
    told = project.refused(
        "import", "queries", write("a.tsv", "44\tone text\n"), write("b.tsv", "44\tanother\n")
    )
    assert "b.tsv:1" in told
    assert "a.tsv:1" in told


ODD_IDS = [
    "a b",
    "ä",
    "日本",
    'say "x"',
    "it's",
    "a,b",
    "a;b",
    "#1",
    "👩‍🔬",
    "a\u00a0b",
    "-1",
    "=1",
    "%",
]


def test_odd_ids_live_through_every_command(project: Project) -> None:
    """Ids with blanks, quotes, other scripts: from rows to a pool, labels, exports and back."""
    corpus = [{"_id": name, "text": f"passage {place}"} for place, name in enumerate(ODD_IDS)]
    hits = [{"query_id": f"q {name}", "doc_id": name, "rank": 1, "system": "s"} for name in ODD_IDS]
    labels = [{"query_id": f"q {name}", "doc_id": name, "label": "fully"} for name in ODD_IDS]
    for kind, name, rows in (
        ("corpus", "c.jsonl", corpus),
        ("runs", "r.jsonl", hits),
        ("labels", "l.jsonl", labels),
    ):
        project.do("import", kind, write(name, "\n".join(map(json.dumps, rows))))
    expected = {(f"q {name}", name): StateCode.RELEVANT for name in ODD_IDS}
    assert project.json("pool", "create", "p", "--depth", "1")["candidates"] == len(ODD_IDS)
    assert project.labels() == expected
    told = project.refused("export", "qrels", "out.txt")
    assert "can't stand in a TREC file" in told
    assert "export jsonl" in told
    assert not Path("out.txt").exists()
    for export in ("out.jsonl", "out.parquet"):
        project.do("export", Path(export).suffix[1:], export)
        other = project.another(export)
        other.do("import", "labels", Path(export))
        assert other.labels() == expected
