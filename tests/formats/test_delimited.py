import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.formats.delimited import read_csv
from labeler.formats.findings import Findings
from labeler.formats.records import Record, read_records

HEADERLESS = ("id", "text")


def read(
    folder: Path, name: str, content: str, columns: tuple[str, ...] | None = None
) -> tuple[list[Record], Findings]:
    path = folder / name
    path.write_bytes(content.encode("utf-8"))
    findings = Findings()
    return list(read_records(path, findings, columns=columns)), findings


def test_quoted_fields_hold_commas_quotes_and_line_ends(tmp_path: Path) -> None:
    content = 'id, text\r\n1,"a, ""b""\nc"\r\n\r\n2,"x\r\ny"\r\n3,\u2028z'
    records, findings = read(tmp_path, "f.csv", content)
    assert records == [
        Record(2, {"id": "1", "text": 'a, "b"\nc'}),
        Record(5, {"id": "2", "text": "x\ny"}),
        Record(7, {"id": "3", "text": "\u2028z"}),
    ]
    assert findings.faults == []


CELL = st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), max_size=12)


@given(st.lists(st.tuples(CELL, CELL), max_size=6))
def test_what_csv_writes_is_read_back(rows: list[tuple[str, str]]) -> None:
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([("id", "text"), *rows])
    lines = enumerate(file.getvalue().removesuffix("\n").split("\n"), 1)
    findings = Findings()
    records = list(read_csv(Path("f.csv"), iter(lines), findings, None, ()))
    assert findings.faults == []
    assert [record.values for record in records] == [
        {"id": one or None, "text": two or None} for one, two in rows
    ]


def test_short_rows_are_filled_and_long_ones_are_faults(tmp_path: Path) -> None:
    content = "query,docid,rating\nwars,357,1\nstar\ntrek,,\nmoon,12,2,extra\nsun,1,2,,\n"
    records, findings = read(tmp_path, "f.csv", content)
    assert [record.values["query"] for record in records] == ["wars", "star", "trek", "sun"]
    assert records[1].values == records[2].values | {"query": "star"}
    assert [(fault.line, "'extra'" in fault.problem) for fault in findings.faults] == [(5, True)]
    assert findings.notices[0].line == 3


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ("id;text\n1;x\n", 1, "semicolons"),
        ("id\ttext\n1\tx\n", 1, "tabs"),
        ('id,text\n1,x\n2,"never closed\n3,y\n', 3, "never closed"),
        ('id,text\n1,"a"b\n2,y\n', 2, "closing quote"),
        ("id,text\n1,a\rb\n", 2, "carriage return"),
        ("id,text,id\n1,x,2\n", 1, "'id' twice"),
        ('{"id": 1}\n', 1, "JSON"),
    ],
)
def test_csv_faults_name_the_line(tmp_path: Path, content: str, line: int, said: str) -> None:
    _, findings = read(tmp_path, "f.csv", content)
    (fault,) = findings.faults
    assert fault.line == line
    assert said in fault.problem


def test_a_fault_does_not_hide_the_rows_behind_it(tmp_path: Path) -> None:
    records, _ = read(tmp_path, "f.csv", 'id,text\n1,"a"b\n2,y\n')
    assert records == [Record(3, {"id": "2", "text": "y"})]


def test_very_long_fields_and_nul_are_read(tmp_path: Path) -> None:
    long = "x" * 300_000
    records, findings = read(tmp_path, "f.csv", f"id,text\n1,{long}\n2,a\x00b\n")
    assert [record.values["text"] for record in records] == [long, "a\x00b"]
    assert findings.faults == []


def test_a_headerless_tsv_keeps_tabs_in_its_last_column(tmp_path: Path) -> None:
    content = 'p1\tfirst\tsecond\np2\tplain "unbalanced\np3\tend'
    records, findings = read(tmp_path, "f.tsv", content, HEADERLESS)
    assert [record.values for record in records] == [
        {"id": "p1", "text": "first\tsecond"},
        {"id": "p2", "text": 'plain "unbalanced'},
        {"id": "p3", "text": "end"},
    ]
    assert "no header" in findings.notices[0].text


@pytest.mark.parametrize(
    ("first", "is_header"),
    [
        ("query_id\ttext", True),
        ("Query ID\tWording", True),
        ("my_id\tmy_text", False),
        ("44\ttext", False),
        ("q1\twhat is a query", False),
    ],
)
def test_a_header_is_known_by_its_names(tmp_path: Path, first: str, is_header: bool) -> None:
    records, _ = read(tmp_path, "f.tsv", first + "\n1\tx\n", HEADERLESS)
    assert len(records) == (1 if is_header else 2)


def test_names_that_the_user_gave_make_a_header(tmp_path: Path) -> None:
    path = tmp_path / "f.tsv"
    path.write_text("Frage\tNummer\nwas\t1\n")
    records = read_records(path, Findings(), columns=HEADERLESS, known={"Frage"})
    assert [record.values for record in records] == [{"Frage": "was", "Nummer": "1"}]


def test_a_tab_in_a_tsv_with_header_is_a_fault_that_names_the_line(tmp_path: Path) -> None:
    records, findings = read(tmp_path, "f.tsv", "id\ttext\n1\ta\tb\n2\tc\n")
    assert [record.line for record in records] == [3]
    assert findings.faults[0].line == 2


def test_quotes_in_tsv_are_kept_and_told(tmp_path: Path) -> None:
    records, findings = read(tmp_path, "f.tsv", 'id\ttext\n1\t"a"\n2\t"\n')
    assert [record.values["text"] for record in records] == ['"a"', '"']
    assert findings.notices[0].line == 2


def test_a_header_without_rows_is_told(tmp_path: Path) -> None:
    for name, content in (("f.csv", "id,text\n"), ("f.tsv", "id\ttext")):
        records, findings = read(tmp_path, name, content)
        assert records == []
        assert findings.faults == []
        assert "no rows" in findings.notices[0].text


def test_a_column_without_a_name_is_left_out(tmp_path: Path) -> None:
    records, _ = read(tmp_path, "f.csv", ",id,text\n0,a,x\n1,b,y\n")
    assert records[0].values == {"id": "a", "text": "x"}
