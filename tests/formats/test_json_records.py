from pathlib import Path

import pytest

from labeler.formats.findings import Findings
from labeler.formats.records import Record, read_records


def read(folder: Path, content: str, name: str = "f.jsonl") -> tuple[list[Record], Findings]:
    path = folder / name
    path.write_bytes(content.encode("utf-8"))
    findings = Findings()
    return list(read_records(path, findings)), findings


def test_one_object_a_line_with_blank_lines_between(tmp_path: Path) -> None:
    records, findings = read(tmp_path, '\n{"a": 1}\r\n  \n{"a": "x\u2028y\u0085z"}')
    assert records == [Record(2, {"a": 1}), Record(4, {"a": "x\u2028y\u0085z"})]
    assert findings.faults == []


@pytest.mark.parametrize("name", ["f.json", "f.jsonl", "f.txt"])
@pytest.mark.parametrize(
    "content",
    [
        '[{"a": 1},\n {"a": 2}]',
        '\n[\n{"a": 1}\n,\n{"a": 2}\n]\n',
        '{\n "a": 1\n}\n{\n "a": 2\n}\n',
        '[{"a": 1}, {"a": 2},]',
    ],
)
def test_arrays_and_spread_objects_are_read(tmp_path: Path, name: str, content: str) -> None:
    records, findings = read(tmp_path, content, name)
    assert [record.values for record in records] == [{"a": 1}, {"a": 2}]
    assert findings.faults == []


def test_spread_objects_have_the_line_on_which_they_begin(tmp_path: Path) -> None:
    records, _ = read(tmp_path, '\n[\n  {"a":\n 1},\n\n  {"a": 2}\n]', "f.json")
    assert [record.line for record in records] == [3, 6]


def test_values_that_are_no_numbers_are_missing_and_told(tmp_path: Path) -> None:
    records, findings = read(
        tmp_path, '{"a": NaN, "b": [-Infinity, 1]}\n{"a": 1}\n{"a": 1e999}\n{"a": {"b": NaN}}'
    )
    assert [record.values for record in records] == [
        {"a": None, "b": [None, 1]},
        {"a": 1},
        {"a": None},
        {"a": {"b": None}},
    ]
    (notice,) = findings.notices
    assert "(3 lines: 1, 3, 4)" in notice.text


def test_a_comma_behind_an_object_is_told(tmp_path: Path) -> None:
    records, findings = read(tmp_path, '{"a": 1},\n{"a": 2}')
    assert len(records) == 2
    assert findings.notices[0].line == 1


def test_a_key_that_comes_twice(tmp_path: Path) -> None:
    records, findings = read(
        tmp_path, '{"id": "1", "text": "x", "text": "y"}\n{"id": "2", "id": "2"}\n{"id": "3"}'
    )
    assert [record.values["id"] for record in records] == ["2", "3"]
    assert [(fault.line, "'text' comes twice" in fault.problem) for fault in findings.faults] == [
        (1, True)
    ]
    assert findings.notices[0].line == 2


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ('{"a": 1}\n{"a": \n{"a": 3}', 2, "not JSON"),
        ('{"a": 1}\n[1]\n', 2, "no object"),
        ('{"a": 1}\n{"a": 1}{"a": 2}\n', 2, "more than one value"),
        ('{"a": 1}\n"x"\n', 2, "no object"),
        ('{"a": 1}\n{"a": ' + "9" * 5000 + "}\n", 2, "digits"),
        ('{"a": 1}\n{"a": ' + "[" * 200_000 + "\n", 2, "nested too deeply"),
        ("id,text\n1,x\n", 1, "not JSON"),
        ('[{"a": 1}\n {"a": 2}]', 2, "',' or ']'"),
        ('[{"a": 1},\n 7]', 2, "no object"),
        ('[{"a": 1},\n {"a" 2}]', 2, "not JSON"),
        ('[{"a": 1}, {"a": 2}', None, "not closed"),
        ('[{"a": 1}] [{"a": 2}]', None, "more follows"),
    ],
)
def test_faults_name_the_line(tmp_path: Path, content: str, line: int | None, said: str) -> None:
    _, findings = read(tmp_path, content)
    fault = findings.faults[0]
    assert fault.line == line
    assert said in fault.problem


def test_the_sound_rows_around_a_faulty_one_are_read(tmp_path: Path) -> None:
    records, findings = read(tmp_path, '{"a": 1}\n{"a": \n{"a": 3}')
    assert [record.line for record in records] == [1, 3]
    assert len(findings.faults) == 1


def test_lone_surrogates_and_nul_arrive_as_they_are(tmp_path: Path) -> None:
    records, findings = read(tmp_path, r'{"a": "x\u0000y\ud800z"}')
    assert records[0].values == {"a": "x\x00y\ud800z"}
    assert findings.faults == []
