import gzip
from pathlib import Path

import pytest

from labeler.formats.findings import Findings
from labeler.formats.records import Record, read_records


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f.jsonl", '{"id": "1", "text": "x"}'),
        ("f.NDJSON", '{"id": "1", "text": "x"}'),
        ("f.json", '[{"id": "1", "text": "x"}]'),
        ("f.csv", "id,text\n1,x"),
        ("f.tsv", "id\ttext\n1\tx"),
        ("f.tab", "id\ttext\n1\tx"),
        ("f.txt", "id\ttext\n1\tx"),
        ("f.txt", "\nid,text\n1,x"),
        ("f", '{"id": "1", "text": "x"}'),
    ],
)
def test_the_ending_or_the_first_line_tells_the_format(
    tmp_path: Path, name: str, content: str
) -> None:
    for path, data in (
        (tmp_path / name, content.encode()),
        (tmp_path / f"{name}.gz", gzip.compress(content.encode())),
        (tmp_path / f"bom-{name}", b"\xef\xbb\xbf" + content.encode()),
    ):
        path.write_bytes(data)
        findings = Findings()
        records = list(read_records(path, findings))
        assert [record.values for record in records] == [{"id": "1", "text": "x"}]
        assert findings.faults == []


def test_a_format_that_can_not_be_told_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    path.write_text("q1 what is this\n")
    findings = Findings()
    assert list(read_records(path, findings)) == []
    assert "no format fits" in findings.faults[0].problem


def test_rows_come_one_after_another(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_text('{"a": 1}\n' + "broken\n" * 10)
    findings = Findings()
    assert next(read_records(path, findings)) == Record(1, {"a": 1})
    assert findings.faults == []


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "tsv", "txt", "parquet"])
def test_empty_and_missing_files_are_faults_in_every_format(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"f.{ending}"
    findings = Findings()
    assert list(read_records(path, findings)) == []
    path.touch()
    assert list(read_records(path, findings)) == []
    assert [fault.problem for fault in findings.faults] == [
        "there is no such file",
        "the file is empty",
    ]
