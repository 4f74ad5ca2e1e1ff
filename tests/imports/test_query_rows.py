"""Reading queries: what is told of their columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from labeler.formats.findings import Findings
from labeler.imports.query_rows import QueryRow, read_queries


def _read(
    path: Path, text: str, fields: dict[str, str] | None = None
) -> tuple[list[QueryRow], str]:
    path.write_text(text, encoding="utf-8")
    findings = Findings()
    rows = read_queries([path], fields or {}, {}, QueryRow("", ""), findings)
    assert not findings.faults
    return rows, "\n".join(map(str, findings.notices))


def test_a_column_that_is_not_read_is_told(tmp_path: Path) -> None:
    text = "id,query,thread,region\n1,reset,t-1,EU\n2,reset again,t-1,EU\n"
    rows, told = _read(tmp_path / "q.csv", text)
    assert told.startswith(f"{tmp_path / 'q.csv'}: not read: 'thread'; --field conversation=NAME")
    assert not any(row.group_keys for row in rows)
    rows, told = _read(tmp_path / "q.csv", text, {"conversation": "thread"})
    assert told == ""
    assert [row.group_keys for row in rows] == [{"conversation": "t-1"}] * 2


def test_of_many_columns_the_first_are_named(tmp_path: Path) -> None:
    names = ",".join(f"x{number}" for number in range(11))
    _, told = _read(tmp_path / "q.csv", f"id,query,{names}\n1,reset{',v' * 11}\n")
    assert "'x0', 'x1'" in told
    assert "'x7' and 3 more;" in told
    assert "x8" not in told


@pytest.mark.parametrize(
    "text",
    [
        '{"_id": "1", "text": "reset", "metadata": {"thread": "t"}}\n',
        '{"query_id": "1", "query": "reset", "doc_id": "d", "passage": "p", "label": 1}\n',
    ],
    ids=["beir", "flat"],
)
def test_columns_of_other_kinds_of_files_are_not_told(tmp_path: Path, text: str) -> None:
    assert _read(tmp_path / "q.jsonl", text)[1] == ""
