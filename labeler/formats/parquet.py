"""Parquet files, through polars; needs the extra ``parquet``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

from labeler.errors import MissingExtraError
from labeler.formats.findings import Findings
from labeler.formats.records import Record

__all__ = ["read_parquet", "write_parquet"]

_ROWS_AT_ONCE = 10_000


def read_parquet(path: Path, findings: Findings) -> Iterator[Record]:
    """Read the rows of a Parquet file; ``line`` is the row number, from 1.

    NaN and infinities are taken as missing, and told.

    Raises:
        MissingExtraError: When polars is not installed.
    """
    pl = _polars("reading Parquet files")
    if not path.is_file():
        problem = "this is a folder; a file is wanted" if path.is_dir() else "there is no such file"
        findings.fault(path, None, problem)
        return
    if not path.stat().st_size:
        findings.fault(path, None, "the file is empty")
        return
    try:
        frame = pl.read_parquet(path, hive_partitioning=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        findings.fault(path, None, f"not a sound Parquet file: {str(error).splitlines()[0]}")
        return
    not_finite: list[int] = []
    line = 0
    for part in frame.iter_slices(_ROWS_AT_ONCE):
        for row in part.iter_rows(named=True):
            line += 1
            yield Record(line, {name: _plain(row[name], line, not_finite) for name in row})
    findings.notice_many(path, "NaN or an infinity is taken as missing", not_finite)
    if not line:
        findings.notice(path, None, "no rows")


def write_parquet(
    file: BinaryIO, rows: Sequence[Mapping[str, object]], columns: Mapping[str, type]
) -> int:
    """Write rows with the columns given; absent values are null.

    Args:
        file: The file to write to.
        rows: Each a mapping of column to value.
        columns: Name -> str, int, float or list (of texts).

    Raises:
        MissingExtraError: When polars is not installed.
    """
    pl = _polars("writing Parquet files")
    kinds: dict[type, Any] = {
        str: pl.String,
        int: pl.Int64,
        float: pl.Float64,
        list: pl.List(pl.String),
    }
    schema = {name: kinds[kind] for name, kind in columns.items()}
    data = {name: [row.get(name) for row in rows] for name in columns}
    pl.DataFrame(data, schema=schema).write_parquet(file)
    return len(rows)


def _plain(value: object, line: int, not_finite: list[int]) -> object:
    """Give the value that JSON would have: dates as ISO text, no NaN."""
    if isinstance(value, float) and not math.isfinite(value):
        not_finite.append(line)
        return None
    if isinstance(value, date | time):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else value


def _polars(what: str) -> Any:
    try:
        import polars as pl
    except ImportError:
        raise MissingExtraError(what, extra="parquet") from None
    return pl
