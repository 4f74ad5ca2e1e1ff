import io
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from labeler.errors import MissingExtraError
from labeler.formats.findings import Findings
from labeler.formats.parquet import read_parquet, write_parquet
from labeler.formats.records import Record, read_records
from tests.shared import data_dir


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    path = tmp_path / "f.parquet"
    file = io.BytesIO()
    rows = [{"id": "01", "text": "a\x00\u2028", "score": 1.5}, {"id": "2", "n": 3}]
    write_parquet(file, rows, {"id": str, "text": str, "score": float, "n": int})
    path.write_bytes(file.getvalue())
    assert list(read_records(path, Findings())) == [
        Record(1, {"id": "01", "text": "a\x00\u2028", "score": 1.5, "n": None}),
        Record(2, {"id": "2", "text": None, "score": None, "n": 3}),
    ]


def test_values_come_as_json_would_have_them(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    path = tmp_path / "f.parquet"
    frame = pl.DataFrame(
        {
            "score": [float("nan"), 1.0],
            "at": [datetime(2024, 5, 1, 10, tzinfo=UTC), None],
            "day": [date(2024, 5, 1), None],
            "cost": [Decimal("1.25"), None],
        }
    )
    frame.write_parquet(path)
    findings = Findings()
    first, _ = read_parquet(path, findings)
    assert first.values == {
        "score": None, "at": "2024-05-01T10:00:00+00:00", "day": "2024-05-01", "cost": 1.25,
    }  # fmt: skip
    assert findings.notices[0].line == 1


def test_files_that_are_no_parquet_are_faults(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    path = tmp_path / "f.parquet"
    path.write_text("id,text\n1,x\n")
    findings = Findings()
    assert list(read_parquet(path, findings)) == []
    assert list(read_parquet(tmp_path, findings)) == []
    assert "not a sound Parquet file" in findings.faults[0].problem
    assert "folder" in findings.faults[1].problem


def test_without_polars_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError) as caught:
        list(read_records(tmp_path / "f.parquet", Findings()))
    assert caught.value.extra == "parquet"


def test_all_three_forms_of_a_pool_hold_the_same_rows() -> None:
    pytest.importorskip("polars")
    folder = data_dir("demo-product-search")
    forms = [
        [record.values for record in read_records(folder / f"pool.{ending}", Findings())]
        for ending in ("jsonl", "csv", "parquet")
    ]
    assert len(forms[0]) == 243
    assert forms[0] == forms[1] == forms[2]
