"""Public cases of run files: what is read, in which order, and what is told."""

from __future__ import annotations

import gzip
from itertools import permutations
from pathlib import Path

import pytest

from tests.cases.project import Project
from tests.shared import case_dir


def write(name: str, text: str, encoding: str = "utf-8") -> Path:
    path = Path(name)
    path.write_bytes(text.encode(encoding))
    return path


def test_01_mixed_whitespace(project: Project) -> None:
    case = case_dir("01")
    project.do("import", "labels", case / "qrels.txt")
    told = project.json("import", "runs", case / "run.txt")
    assert told["counts"]["rows"] == 3
    assert told["counts"]["queries"] == 2
    assert project.ranking("sysA", "q1") == ["d1", "d3"]
    assert project.ranking("sysA", "q2") == ["d4"]
    for query in ("q1", "q2"):
        assert project.metrics("sysA", query).precision(1) == 1
        assert project.metrics("sysA", query).reciprocal_rank == 1


def test_03_ties_follow_one_rule_whatever_the_order_of_the_rows(project: Project) -> None:
    case = case_dir("03")
    for name in ("run.txt", "run-reordered.txt"):
        other = project.another(name)
        other.do("import", "labels", case / "qrels.txt")
        told = other.json("import", "runs", case / name)
        assert told["counts"]["tied rows"] == 3
        assert "document id, both descending" in told["order"]
        assert other.ranking("const", "q1") == ["dC", "dB", "dA"]
        metrics = other.metrics("const", "q1")
        assert (metrics.reciprocal_rank, metrics.precision(1)) == (0.5, 0)
        # The pool goes by the same rule.
        other.do("pool", "create", "top", "--depth", "1")
        assert ("q1", "dC") in other.labels()


def test_03_the_same_rows_in_another_order_are_the_same_run(project: Project) -> None:
    case = case_dir("03")
    project.do("import", "runs", case / "run.txt")
    told = project.json("import", "runs", case / "run-reordered.txt")
    assert told["revision"] is None


def test_04_a_rank_that_contradicts_the_score_is_told_and_can_be_chosen(project: Project) -> None:
    case = case_dir("04")
    project.do("import", "labels", case / "qrels.txt")
    told = project.do("import", "runs", case / "run.txt")
    assert "disagree in 1 query" in told.err
    assert "--order rank" in told.err
    assert project.metrics("sysA", "q1").reciprocal_rank == 0.5
    assert project.metrics("sysA", "q1", by="stated_rank").reciprocal_rank == 0.25
    project.do("pool", "create", "by-score", "--depth", "2", "--runs", "sysA")
    project.do("pool", "create", "by-rank", "--depth", "4", "--order", "rank")
    assert project.json("pool", "show", "by-rank")["order"] == "rank"


def test_05_ranks_from_zero_and_negative_scores(project: Project) -> None:
    case = case_dir("05")
    project.do("import", "labels", case / "qrels.txt")
    project.do("import", "runs", case / "run.txt")
    metrics = project.metrics("T5", "q1")
    assert metrics.reciprocal_rank == 1
    assert metrics.precision(2) == 0.5
    assert (metrics.recall(2), metrics.recall(3)) == (0.5, 1.0)


def test_06_a_document_that_comes_twice_is_told_and_counts_once(project: Project) -> None:
    case = case_dir("06")
    project.do("import", "labels", case / "qrels.txt")
    told = project.refused("import", "runs", case / "run.txt")
    assert all(word in told for word in ("run.txt:2", "'q1'", "'d1'", "lines 1 and 2", "--lenient"))
    kept = project.json("import", "runs", case / "run.txt", "--lenient")
    assert (kept["counts"]["rows"], kept["counts"]["left out"]) == (3, 1)
    assert project.ranking("sys", "q1") == ["d1", "d2", "d3"]
    metrics = project.metrics("sys", "q1")
    assert metrics.precision(3) == pytest.approx(2 / 3)
    assert metrics.recall(3) == 1
    assert project.json("pool", "create", "p", "--depth", "10")["candidates"] == 3
    again = project.json("import", "runs", case / "run.txt", "--lenient")
    assert again["revision"] is None


def test_06_the_better_copy_is_kept_wherever_it_stands(project: Project) -> None:
    rows = ["q1 Q0 d1 3 1.0 s", "q1 Q0 d2 2 2.0 s", "q1 Q0 d1 1 3.0 s"]
    for number, order in enumerate(permutations(rows)):
        other = project.another(str(number))
        other.do("import", "runs", write("r.txt", "\n".join(order)), "--lenient")
        assert other.ranking("s", "q1") == ["d1", "d2"]


def test_06_duplicates_in_json_and_tables(project: Project) -> None:
    json_run = write("lists.json", '{"q1": ["d1", "d2", "d1"]}')
    assert "'d1' twice" in project.refused("import", "runs", json_run)
    told = project.json("import", "runs", json_run, "--lenient")
    assert told["counts"]["left out"] == 1
    assert project.ranking("lists", "q1") == ["d1", "d2"]
    table = write("hits.csv", "query_id,doc_id,rank\nq1,d1,1\nq1,d1,2\n")
    assert "hits.csv:3" in project.refused("import", "runs", table)


def test_08_scores_are_numbers_not_texts(project: Project) -> None:
    project.do("import", "runs", case_dir("08") / "run.txt")
    assert project.ranking("sys", "q1") == ["d1", "d2", "d3", "d4", "d5"]


@pytest.mark.parametrize("score", ["nan", "inf", "-Infinity", "1e400", "1_0", "0,85", "0x10", "٣"])
def test_08_what_is_no_finite_number_is_named(project: Project, score: str) -> None:
    trec = write("r.txt", f"q1 Q0 d1 1 2.0 s\nq1 Q0 d2 2 {score} s\n")
    assert "r.txt:2" in project.refused("import", "runs", trec)
    table = write("r.csv", f'query_id,doc_id,rank,score\nq1,d1,1,2.0\nq1,d2,2,"{score}"\n')
    assert "r.csv:3" in project.refused("import", "runs", table)


def test_09_blank_lines_comments_and_crlf(project: Project) -> None:
    case = case_dir("09")
    labels = project.json("import", "labels", case / "qrels.txt")
    told = project.json("import", "runs", case / "run.txt")
    assert labels["counts"]["rows"] == 2
    assert told["counts"]["rows"] == 2
    assert [row["run"] for row in told["details"]] == ["sys"]
    assert project.metrics("sys", "q1").reciprocal_rank == 1
    assert project.metrics("sys", "q1").judged(2) == 1


def test_09_messages_count_physical_lines(project: Project) -> None:
    broken = write("r.txt", "# head\r\n\r\nq1 Q0 d1 1 2.0 sys\r\n  \r\nq1 Q0 d2 2\r\n")
    assert "r.txt:5: 4 columns" in project.refused("import", "runs", broken)


def test_10_a_byte_order_mark_belongs_to_no_id(project: Project) -> None:
    case = case_dir("10")
    project.do("import", "queries", case / "queries.jsonl")
    project.do("import", "labels", case / "qrels.tsv")
    told = project.json("import", "runs", case / "run.txt")
    assert project.queries() == {"q1": "first query"}
    assert (told["counts"]["rows"], told["counts"]["queries"]) == (2, 1)
    assert project.metrics("sys", "q1").reciprocal_rank == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_10_other_encodings_are_named(project: Project, encoding: str) -> None:
    told = project.refused("import", "runs", write("r.txt", "q1 Q0 d1 1 2.0 s\n" * 3, encoding))
    assert "UTF-8" in told


def test_10_latin_1_is_named_with_its_line(project: Project) -> None:
    path = write("q.csv", "query_id,text\nq1,plain\nq2,café\n", "latin-1")
    told = project.refused("import", "queries", path)
    assert "q.csv:3" in told
    assert "0xe9" in told
    left = project.json("import", "queries", path, "--lenient")
    assert (left["counts"]["queries"], left["counts"]["left out"]) == (1, 1)


def test_17_gzip_is_read_whatever_its_name(project: Project) -> None:
    case = case_dir("17")
    told = project.json("import", "runs", case / "run.txt.gz", "--name", "named")
    assert told["counts"]["rows"] == 2
    misnamed = project.do("import", "runs", case / "run-misnamed.txt", "--name", "misnamed")
    assert "gzip" in misnamed.err


def test_17_a_damaged_archive_is_named(project: Project) -> None:
    packed = gzip.compress(b"q1 Q0 d1 1 2.0 s\n" * 500)
    Path("cut.txt.gz").write_bytes(packed[: len(packed) // 2])
    assert "gzip" in project.refused("import", "runs", Path("cut.txt.gz"))
    assert "gzip" in project.refused("import", "runs", Path("cut.txt.gz"), "--lenient")


def test_18_json_shapes(project: Project) -> None:
    case = case_dir("18")
    told = project.json("import", "runs", case / "run-lists.json", case / "run-scores.json")
    assert {row["run"]: row["queries"] for row in told["details"]} == {
        "run-lists": 2,
        "run-scores": 1,
    }
    assert project.ranking("run-lists", "q1") == ["d1", "d2"]
    assert project.ranking("run-lists", "q2") == []
    assert project.ranking("run-scores", "q1") == ["d1", "d2"]
    assert (
        project.json("pool", "create", "p", "--depth", "5", "--runs", "run-lists")["queries"] == 2
    )


@pytest.mark.parametrize(
    "content",
    [
        '["d1", "d2"]',
        '{"q1": "d1"}',
        '{"q1": {"d1": "high"}}',
        '{"q1": [["d1", 1.0], "d2"]}',
        '{"q1": {"d1": NaN}}',
        '{"q1": ["d1"]}\n{"q2": ["d1"]}',
        "{",
    ],
)
def test_18_other_json_is_refused_with_the_shape_that_is_wanted(
    project: Project, content: str
) -> None:
    told = project.refused("import", "runs", write("run.json", content))
    assert "run.json" in told


def test_29_an_id_of_a_query_may_be_that_of_a_document(project: Project) -> None:
    case = case_dir("29")
    project.do("import", "labels", case / "qrels.txt")
    project.do("import", "runs", case / "run.txt")
    metrics = project.metrics("s", "0")
    assert (metrics.precision(2), metrics.recall(2), metrics.reciprocal_rank) == (1, 1, 1)


def test_65_recall_divides_by_all_that_is_known(project: Project) -> None:
    case = case_dir("65")
    project.do("import", "labels", case / "qrels.txt")
    project.do("import", "runs", case / "run.txt")
    metrics = project.metrics("s", "q1")
    assert (metrics.recall(1), metrics.recall(3)) == (0.25, 0.5)
    assert metrics.reciprocal_rank == 1
    assert metrics.precision(3) == pytest.approx(2 / 3)


def test_66_short_lists(project: Project) -> None:
    case = case_dir("66")
    project.do("import", "labels", case / "qrels.txt")
    project.do("import", "runs", case / "run.txt")
    metrics = project.metrics("s", "q1")
    assert metrics.precision(10) == pytest.approx(0.1)
    assert metrics.precision(3) == pytest.approx(1 / 3)
    assert metrics.recall(10) == 0.5
    assert metrics.judged(10) == pytest.approx(2 / 3)
    assert metrics.judged(1) == 1


def test_two_files_of_one_run_name_are_refused_and_can_be_named_by_their_files(
    project: Project,
) -> None:
    first = write("a.run", "q1 Q0 d1 1 2.0 same\n")
    second = write("b.run", "q1 Q0 d2 1 2.0 same\n")
    for lenient in ((), ("--lenient",)):
        told = project.refused("import", "runs", first, second, *lenient)
        assert "--name-from file" in told
    told_both = project.json("import", "runs", first, second, "--name-from", "file")
    assert [row["run"] for row in told_both["details"]] == ["a", "b"]
    assert "known with other content" in project.refused("import", "runs", second, "--name", "a")


def test_a_file_of_several_run_names_is_refused_and_can_be_taken_as_one(project: Project) -> None:
    mixed = write("mixed.txt", "q1 Q0 d1 1 2.0 a\nq1 Q0 d2 2 1.0 b\n")
    assert "2 run names" in project.refused("import", "runs", mixed)
    project.do("import", "runs", mixed, "--name", "one")
    assert project.ranking("one", "q1") == ["d1", "d2"]


def test_tables_of_hits_may_write_ranks_as_decimals(project: Project) -> None:
    table = write("hits.csv", "query_id,doc_id,rank,system\nq1,d2,2.0,a\nq1,d1,1.0,a\n")
    project.do("import", "runs", table)
    assert project.ranking("a", "q1") == ["d1", "d2"]


def test_a_hit_without_a_place_is_named_and_left_out_leniently(project: Project) -> None:
    table = write("hits.csv", "query_id,doc_id,score\nq1,d1,2\nq1,d2,\nq1,d3,1\n")
    assert "hits.csv:3" in project.refused("import", "runs", table)
    told = project.json("import", "runs", table, "--lenient")
    assert told["counts"]["left out"] == 1
    assert project.ranking("hits", "q1") == ["d1", "d3"]
