"""Public cases of texts and tables: what is read keeps its letters, what isn't is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labeler.labels import StateCode
from tests.cases.project import Project, read_jsonl
from tests.shared import case_dir


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def sources(path: Path) -> dict[str, str]:
    return {row["_id"]: row["text"] for row in read_jsonl(path)}


def exported(project: Project, snapshot: str) -> dict[str, str]:
    project.do("export", "corpus", "corpus.out.jsonl", "--snapshot", snapshot)
    return sources(Path("corpus.out.jsonl"))


def test_33_the_same_text_is_read_once_and_another_is_refused(project: Project) -> None:
    corpus = case_dir("33") / "corpus.jsonl"
    told = project.refused("import", "corpus", corpus)
    assert "corpus.jsonl:4" in told
    assert "corpus.jsonl:3" in told
    assert "'d2'" in told
    assert "'d1'" not in told
    left = project.do("import", "corpus", corpus, "--lenient")
    assert "corpus.jsonl:2" in left.err
    assert project.passages() == {"d1": "alpha", "d2": "beta"}


def test_33_duplicates_across_files_name_both(project: Project) -> None:
    told = project.refused(
        "import",
        "corpus",
        write("a.jsonl", '{"_id": "d", "text": "one"}\n'),
        write("b.jsonl", '{"_id": "d", "text": "two"}\n'),
    )
    assert "b.jsonl:1" in told
    assert "a.jsonl:1" in told


def test_33_a_snapshot_is_frozen(project: Project) -> None:
    project.do("import", "corpus", write("c.jsonl", '{"_id": "d", "text": "one"}\n'))
    assert project.json("import", "corpus", Path("c.jsonl"))["revision"] is None
    changed = write("c.jsonl", '{"_id": "d", "text": "two"}\n')
    assert "--snapshot NAME" in project.refused("import", "corpus", changed)


def test_35_a_very_long_passage_is_stored_whole(project: Project) -> None:
    corpus = case_dir("35") / "corpus.jsonl"
    project.do("import", "corpus", corpus)
    assert project.passages() == sources(corpus)
    project.do("import", "queries", case_dir("35") / "queries.tsv")
    assert project.queries() == {"q1": "at which pressure does the valve open?"}


def test_36_control_characters(project: Project) -> None:
    corpus = case_dir("36") / "corpus.jsonl"
    told = project.do("import", "corpus", corpus)
    assert "corpus.jsonl:1" in told.err
    assert "U+FFFD" in told.err
    texts = sources(corpus)
    assert project.passages() == {**texts, "d1": "a\ufffdb"}
    assert exported(project, case_dir("36").name) == {**texts, "d1": "a\ufffdb"}


def test_36_a_nul_in_a_table(project: Project) -> None:
    told = project.do("import", "corpus", case_dir("36") / "pool.csv")
    assert "pool.csv:2" in told.err
    assert project.passages() == {"d1": "a\ufffdb", "d2": "plain"}


def test_36_no_message_carries_an_escape_sequence(project: Project) -> None:
    bad = "\x1b[31mred\x07"
    rows = [{"query_id": bad, "doc_id": "d", "label": bad}]
    refused = project.refused("import", "labels", write("l.jsonl", json.dumps(rows[0])))
    assert "\x1b" not in refused
    assert "\x07" not in refused
    project.do("import", "runs", write("r.jsonl", json.dumps({**rows[0], "rank": 1})))
    printed = project.do("import", "runs", Path("r.jsonl"), "--name", bad)
    refused = project.refused("pool", "create", bad, "--depth", "1", code=2)
    project.do("pool", "create", "p", "--depth", "1")
    for told in (printed.out, printed.err, refused, project.do("pool", "show", "p").out):
        assert "\x1b" not in told
        assert "\x07" not in told


@pytest.mark.parametrize("number", ["38", "39", "40", "42"])
def test_texts_are_kept_letter_for_letter(project: Project, number: str) -> None:
    """HTML, right-to-left, joined emoji, mojibake, Unicode line ends: nothing is mended."""
    corpus = case_dir(number) / "corpus.jsonl"
    told = project.json("import", "corpus", corpus, "--snapshot", "now")
    assert told["counts"]["added"] == len(sources(corpus))
    assert told["notices"] == []
    assert project.passages() == sources(corpus)
    assert exported(project, "now") == sources(corpus)
    other = project.another("other")
    again = other.json("import", "corpus", Path("corpus.out.jsonl"), "--snapshot", "now")
    assert again["digest"] == told["digest"]


def test_42_lines_end_at_line_feeds_alone(project: Project) -> None:
    project.do("import", "corpus", case_dir("42") / "corpus.jsonl")
    assert project.passages()["d1"] == "one\u2028two\u2029three\u0085four\x0bfive"


def test_44_nan_is_no_number(project: Project) -> None:
    pool = case_dir("44") / "pool.jsonl"
    told = project.do("import", "corpus", pool)
    assert "pool.jsonl:1" in told.err
    assert "NaN" in told.err
    refused = project.refused("import", "runs", pool)
    assert "pool.jsonl:1" in refused
    assert "neither a rank nor a score" in refused


def test_44_exports_hold_no_nan(project: Project) -> None:
    rows = case_dir("44") / "pool.jsonl"
    ranked = [
        {**json.loads(line.replace("NaN", "null").replace("Infinity", "null")), "rank": rank}
        for rank, line in enumerate(rows.read_text().splitlines(), 1)
    ]
    project.do("import", "corpus", rows, "--snapshot", "s")
    project.do("import", "runs", write("r.jsonl", "\n".join(map(json.dumps, ranked))))
    project.do("pool", "create", "p", "--depth", "5")
    project.do("export", "jsonl", "out.jsonl", "--pool", "p", "--text")
    assert [row["passage"] for row in read_jsonl(Path("out.jsonl"))] == ["a", "b"]
    assert "NaN" not in Path("out.jsonl").read_text()


def test_44_a_label_that_is_nan_is_no_label(project: Project) -> None:
    rows = [
        '{"query_id": "q", "doc_id": "d", "label": NaN}',
        '{"query_id": "q", "doc_id": "e", "label": 1}',
    ]
    told = project.json("import", "labels", write("l.jsonl", "\n".join(rows)))
    assert told["counts"]["without a label"] == 1
    assert project.labels() == {("q", "e"): StateCode.RELEVANT}


def test_45_names_of_fields(project: Project) -> None:
    pool = case_dir("45") / "pool.jsonl"
    project.do("import", "corpus", pool)
    project.do("import", "queries", pool)
    told = project.do("import", "runs", pool)
    assert "the order of the rows is taken as the ranks" in told.err
    assert project.passages() == {"d1": "100 degrees"}
    assert project.queries() == {"1": "boiling point?"}
    assert project.json("pool", "create", "p", "--depth", "5")["candidates"] == 1


def test_45_a_missing_column_is_told_with_what_was_found(project: Project) -> None:
    path = write("odd.csv", "Anfrage,Dok,Wortlaut\nq1,d1,hallo\n")
    told = project.refused("import", "corpus", path)
    assert "'Anfrage', 'Dok', 'Wortlaut'" in told
    assert "--field id=NAME" in told
    assert "--field text=NAME" in told
    told = project.refused("import", "corpus", path, "--lenient")
    assert "--field" in told
    project.do("import", "corpus", path, "--field", "id=Dok", "--field", "text=Wortlaut")
    assert project.passages() == {"d1": "hallo"}
    wrong = project.refused("import", "corpus", path, "--field", "id=dok")
    assert "'dok'" in wrong


def test_45_nested_rows_are_told_to_be_flat(project: Project) -> None:
    nested = case_dir("45") / "pool-nested.jsonl"
    for kind in ("corpus", "queries", "runs", "labels"):
        told = project.refused("import", kind, nested)
        assert "flat" in told
        assert "pool-nested.jsonl:1" in told


def test_46_quotes_and_line_ends_in_csv(project: Project) -> None:
    pool = case_dir("46") / "pool.csv"
    project.do("import", "corpus", pool, "--snapshot", "s")
    project.do("import", "queries", pool)
    project.do("import", "runs", pool)
    texts = {"d1": "line one\nline two, with comma", "d2": 'tab\there, and a "quote"'}
    assert project.passages() == texts
    assert project.queries() == {"q1": 'what is "BM25", briefly?'}
    assert project.ranking("pool", "q1") == ["d1", "d2"]
    assert exported(project, "s") == texts
    project.do("pool", "create", "p", "--depth", "5")
    project.do("export", "jsonl", "out.jsonl", "--pool", "p", "--text")
    assert {row["evidenceId"]: row["passage"] for row in read_jsonl(Path("out.jsonl"))} == texts


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ('id,text\nd1,"never closed\nd2,plain\n', 2),
        ('id,text\nd1,"a"b\nd2,plain\n', 2),
        ("id;text\nd1;plain\n", 1),
        ("id,text,text\nd1,a,b\n", 1),
    ],
)
def test_46_broken_csv_is_named(project: Project, content: str, line: int) -> None:
    assert f"b.csv:{line}" in project.refused("import", "corpus", write("b.csv", content))


def test_47_short_rows_are_no_faults_and_long_ones_are_named(project: Project) -> None:
    ratings = case_dir("47") / "ratings.csv"
    told = project.refused("import", "labels", ratings)
    assert "ratings.csv:5" in told
    assert "'extra'" in told
    assert "ratings.csv:3" not in told
    assert "1 fault " in told
    left = project.do("import", "labels", ratings, "--lenient")
    assert "2 lines: 3, 4" in left.err
    assert project.labels() == {("wars", "357"): StateCode.RELEVANT}
    assert project.json("import", "labels", ratings, "--lenient")["counts"]["left out"] == 1


def test_47_a_rating_without_a_document_is_a_fault(project: Project) -> None:
    path = write("r.csv", "query,docid,rating\nwars,357,1\nstar,,2\n")
    assert "r.csv:3" in project.refused("import", "labels", path)


def test_47_a_document_without_a_rating_is_unjudged(project: Project) -> None:
    path = write("r.csv", "query,docid,rating\nwars,357,1\nwars,358\nwars,359,\n")
    assert project.json("import", "labels", path)["counts"]["without a label"] == 2
    assert project.labels() == {("wars", "357"): StateCode.RELEVANT}


def test_48_tabs_and_quotes_in_tsv(project: Project) -> None:
    project.do("import", "corpus", case_dir("48") / "collection.tsv")
    assert project.passages() == {
        "p1": "first part\tsecond part",
        "p2": 'plain "unbalanced quote',
        "p3": "end",
    }


def test_48_under_a_header_a_tab_in_a_text_is_refused(project: Project) -> None:
    path = write("c.tsv", "id\ttext\np1\tfirst\tsecond\np2\tplain\n")
    assert "c.tsv:2" in project.refused("import", "corpus", path)
    project.do("import", "corpus", path, "--lenient")
    assert project.passages() == {"p2": "plain"}


def test_50_what_a_spreadsheet_would_run_stays_as_it_is(project: Project) -> None:
    pool = case_dir("50") / "pool.jsonl"
    project.do("import", "corpus", pool, "--snapshot", "s")
    project.do("import", "runs", pool)
    project.do("pool", "create", "p", "--depth", "5")
    project.do("import", "labels", write("l.txt", "q1 0 =1+1 1\nq1 0 d2 0\n"))
    texts = {row["doc_id"]: row["passage"] for row in read_jsonl(pool)}
    project.do("export", "jsonl", "out.jsonl", "--pool", "p", "--text")
    assert {row["evidenceId"]: row["passage"] for row in read_jsonl(Path("out.jsonl"))} == texts
    project.do("export", "qrels", "out.txt")
    assert Path("out.txt").read_text() == "q1 0 =1+1 1\nq1 0 d2 0\n"
    assert exported(project, "s") == texts
    polars = pytest.importorskip("polars")
    project.do("export", "parquet", "out.parquet", "--pool", "p")
    frame = polars.read_parquet("out.parquet")
    assert dict(zip(frame["evidence_id"], frame["passage"], strict=True)) == texts


@pytest.mark.parametrize(
    "content",
    [
        "query_id,doc_id,label\nq,d,1\n",
        '"query_id","doc_id","label"\n"q","d","1"\n',
        "query_id\tdoc_id\tlabel\nq\td\t1\n",
        "query-id corpus-id score\nq d 1\n",
        "q 0 d 1\n",
    ],
)
def test_labels_are_told_apart_by_what_they_hold(project: Project, content: str) -> None:
    project.do("import", "labels", write("labels.txt", content))
    assert project.labels() == {("q", "d"): StateCode.RELEVANT}
