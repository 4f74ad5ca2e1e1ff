import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import LabelerError
from labeler.formats.findings import Findings
from labeler.formats.ranking import ranked
from labeler.formats.trec import QrelRow, read_qrels, read_run, write_qrels, write_run
from tests.shared import case_dir, data_dir


def write(folder: Path, content: str, name: str = "f.txt") -> Path:
    path = folder / name
    path.write_bytes(content.encode())
    return path


def test_a_run_becomes_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "# note\nq1 Q0 d1 1 9.5 a\nq1 Q0 d2 2 8 a\n\nq2 Q0 d1 0 -1e-5 b\n")
    columns = read_run(path, Findings())
    assert columns is not None
    assert columns.path == str(path)
    assert columns.tags == ("a", "b")
    assert columns.queries == ["q1", "q2"]
    assert columns.documents == ["d1", "d2"]
    assert columns.query_codes.tolist() == [0, 0, 1]
    assert columns.document_codes.tolist() == [0, 1, 0]
    assert columns.scores.tolist() == [9.5, 8.0, -1e-5]
    assert columns.stated_ranks.tolist() == [1, 2, 0]
    assert columns.lines.tolist() == [2, 3, 5]
    assert len(columns) == 3
    assert columns.has_scores


def test_all_faults_are_told_and_the_run_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "q1 Q0 d1 1 x a\nq1 Q0 d2 2 8 a\nq1 Q0 d3 2\n")
    findings = Findings()
    assert read_run(path, findings) is None
    assert [fault.line for fault in findings.faults] == [1, 3]
    lenient = read_run(path, Findings(), lenient=True)
    assert lenient is not None
    assert lenient.documents == ["d2"]


def test_a_run_that_ends_too_early_is_refused_even_leniently(tmp_path: Path) -> None:
    rows = "".join(f"q1 Q0 d{place * 7919 % 5000} {place} 1.0 s\n" for place in range(3000))
    path = tmp_path / "f.gz"
    path.write_bytes(gzip.compress(rows.encode())[:-2000])
    findings = Findings()
    assert read_run(path, findings, lenient=True) is None
    assert "cut short" in findings.faults[0].problem


@pytest.mark.parametrize("content", ["# only a note\n", "\n \n", "#q Q0 d 1 2 s\n"])
def test_a_run_without_rows_is_a_fault(tmp_path: Path, content: str) -> None:
    findings = Findings()
    assert read_run(write(tmp_path, content), findings) is None
    assert "no rows" in findings.faults[0].problem


def test_qrels_and_runs_are_told_apart(tmp_path: Path) -> None:
    findings = Findings()
    assert read_run(write(tmp_path, "q1 0 d1 1\n"), findings) is None
    assert read_qrels(write(tmp_path, "q1 Q0 d1 1 2.0 s\n"), findings) is None
    assert "looks like qrels" in findings.faults[0].problem
    assert "looks like a run" in findings.faults[1].problem


def test_json_is_never_taken_for_one_line_of_trec(tmp_path: Path) -> None:
    columns = read_run(write(tmp_path, ' {"q1": {"d1": 2}}'), Findings())
    assert columns is not None
    assert columns.documents == ["d1"]
    rows = read_qrels(write(tmp_path, '{"q1": {"d1": 2}}'), Findings())
    assert rows == [QrelRow(0, "q1", "0", "d1", "2")]
    columns = read_run(write(tmp_path, "{q} Q0 d1 1 2.0 s"), Findings())
    assert columns is not None
    assert columns.queries == ["{q}"]


def test_qrels_keep_their_text(tmp_path: Path) -> None:
    path = write(tmp_path, "# head\r\n01 0 0756\t1\r\n\r\nq\u00a02 Q0 d -1.0\r\nq3 0 d fully")
    assert read_qrels(path, Findings()) == [
        QrelRow(2, "01", "0", "0756", "1"),
        QrelRow(4, "q\u00a02", "Q0", "d", "-1.0"),
        QrelRow(5, "q3", "0", "d", "fully"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "query-id\tcorpus-id\tscore\nq1\td 1\t2\n",
        "\ufeffquery-id\tcorpus-id\tscore\r\nq1\td 1\t2",
        "score\tquery_id\tdoc_id\n2\tq1\td 1\n",
    ],
)
def test_qrels_under_a_header(tmp_path: Path, content: str) -> None:
    (row,) = read_qrels(write(tmp_path, content), Findings()) or []
    assert (row.line, row.query, row.document, row.value) == (2, "q1", "d 1", "2")


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ("q1 0 d1 1\nq1 d1 1\n", 2, "3 columns; qrels have 4"),
        ("q1 0 d1 1\nq1 0 d1 1 x\n", 2, "5 columns"),
        ("query-id\tcorpus-id\tscore\nq1\td1\n", 2, "2 columns"),
        ("query-id\tcorpus-id\tscore\nq1\t\t1\n", 2, "empty"),
        ("q1 0 d\x001 1\n", 1, "0x00"),
        ("query-id\tcorpus-id\tscore\n", None, "no rows"),
        ("", None, "the file is empty"),
    ],
)
def test_qrels_faults(tmp_path: Path, content: str, line: int | None, said: str) -> None:
    findings = Findings()
    assert read_qrels(write(tmp_path, content), findings) is None
    assert findings.faults[0].line == line
    assert said in findings.faults[0].problem


def test_lenient_qrels_keep_the_sound_rows(tmp_path: Path) -> None:
    rows = read_qrels(write(tmp_path, "q1 0 d1 1\nq1 d1 1\n"), Findings(), lenient=True)
    assert [row.line for row in rows or []] == [1]


def test_qrels_whose_document_is_in_the_second_column_are_told(tmp_path: Path) -> None:
    findings = Findings()
    read_qrels(write(tmp_path, "01 1410  0 0\n01 1572  0 0\n"), findings)
    assert "every row has the document id '0'" in findings.notices[0].text
    findings = Findings()
    read_qrels(write(tmp_path, "01 0 1410 0\n01 0 1572 0\n"), findings)
    assert findings.notices == []


IDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1).filter(
    lambda key: not key.startswith(("#", "\ufeff"))
)


@given(st.lists(st.tuples(IDS, IDS, st.integers(-5, 5)), min_size=1))
def test_written_qrels_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, int]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "written.qrels"
    assert write_qrels(path, rows) == len(rows)
    read = read_qrels(path, Findings())
    assert read is not None
    assert [(row.query, row.document, row.value) for row in read] == [
        (query, document, str(grade)) for query, document, grade in rows
    ]


@given(
    st.lists(
        st.tuples(IDS, IDS, st.integers(0, 9999), st.floats(allow_nan=False, allow_infinity=False)),
        min_size=1,
    )
)
def test_written_runs_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, int, float]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "written.run"
    write_run(path, rows, "tag")
    columns = read_run(path, Findings())
    assert columns is not None
    assert columns.tags == ("tag",)
    assert [columns.queries[code] for code in columns.query_codes] == [row[0] for row in rows]
    assert [columns.documents[code] for code in columns.document_codes] == [row[1] for row in rows]
    assert columns.stated_ranks.tolist() == [row[2] for row in rows]
    assert columns.scores.tolist() == [row[3] for row in rows]


@pytest.mark.parametrize("key", ["", "a b", "a\tb", "a\nb", "#a", "a\x00", "\ufeffa"])
def test_ids_that_trec_can_not_hold_are_refused_and_nothing_is_written(
    tmp_path: Path, key: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(LabelerError, match="can't stand in a TREC file"):
        write_qrels(folder / "out", [("q1", "d1", 1), ("q1", key, 1)])
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("file", "order"),
    [
        ("01/run.txt", {"q1": ["d1", "d3"], "q2": ["d4"]}),
        ("03/run.txt", {"q1": ["dC", "dB", "dA"]}),
        ("03/run-reordered.txt", {"q1": ["dC", "dB", "dA"]}),
        ("04/run.txt", {"q1": ["d1", "d4", "d3", "d2"]}),
        ("05/run.txt", {"q1": ["d1", "d2", "d3"]}),
        ("06/run.txt", {"q1": ["d1", "d2", "d3"]}),
        ("08/run.txt", {"q1": ["d1", "d2", "d3", "d4", "d5"]}),
        ("09/run.txt", {"q1": ["d1", "d2"]}),
        ("10/run.txt", {"q1": ["d1", "d2"]}),
        ("17/run.txt.gz", {"q1": ["d1", "d2"]}),
        ("18/run-lists.json", {"q1": ["d1", "d2"], "q2": []}),
        ("18/run-scores.json", {"q1": ["d1", "d2"]}),
        ("22/run.txt", {"01": ["1410"], "02": ["2434"]}),
        ("23/run-same.txt", {"01": ["0756"]}),
        ("30/run.txt", {"1": ["d1"], "01": ["d2"], "1.0": ["d3"]}),
    ],
)
def test_runs_of_the_cases(file: str, order: dict[str, list[str]]) -> None:
    number, _, name = file.partition("/")
    findings = Findings()
    columns = read_run(case_dir(f"{number}-") / name, findings)
    assert columns is not None
    assert findings.notices == []
    in_order = ranked(columns, "score")
    assert {query: in_order.documents_of(code) for code, query in enumerate(columns.queries)} == (
        order
    )


def test_gzip_under_another_name_is_told() -> None:
    findings = Findings()
    assert read_run(case_dir("17-") / "run-misnamed.txt", findings) is not None
    assert "gzip" in findings.notices[0].text


@pytest.mark.parametrize(
    ("file", "count"),
    [
        ("01/qrels.txt", 5),
        ("09/qrels.txt", 2),
        ("10/qrels.tsv", 1),
        ("22/qrels.txt", 3),
        ("24/qrels.txt", 4),
        ("25/qrels.txt", 4),
        ("26/qrels.txt", 4),
    ],
)
def test_qrels_of_the_cases(file: str, count: int) -> None:
    number, _, name = file.partition("/")
    rows = read_qrels(case_dir(f"{number}-") / name, Findings())
    assert rows is not None
    assert len(rows) == count
    assert all(row.query.strip("\ufeff\r") == row.query for row in rows)


@pytest.mark.parametrize(
    "name",
    ["adi", "cranfield", "dbpedia-entity-50", "demo-product-search", "quepid-rating-party",
     "scifact", "trec-dl-2019", "trec-dl-2021"],
)  # fmt: skip
def test_all_runs_of_the_collections_are_read(name: str) -> None:
    paths = sorted(data_dir(name).glob("runs/*.run"))
    assert paths
    for path in paths:
        findings = Findings()
        columns = read_run(path, findings)
        assert columns is not None
        assert findings.notices == []
        with path.open("rb") as file:
            assert len(columns) == sum(1 for line in file if line.strip())


def test_trec_eval_fixtures_are_read() -> None:
    folder = data_dir("reference") / "trec_eval"
    for path in sorted(folder.glob("results*")):
        findings = Findings()
        columns = read_run(path, findings)
        assert columns is not None
        assert [notice.text for notice in findings.notices] == (
            ["text after the sixth column is ignored (5 lines: 1, 2, 3, 4, 5)"]
            if path.name == "results.trunc"
            else []
        )
    plain = read_qrels(folder / "qrels.test", Findings())
    commented = read_qrels(folder / "qrels.test.with-comments", Findings())
    assert plain is not None
    assert commented is not None
    assert [(row.query, row.document, row.value) for row in plain] == [
        (row.query, row.document.replace("#", ""), row.value) for row in commented
    ]
    assert sum("#" in row.document for row in commented) == 1
