"""Rows of JSONL, JSON, CSV, TSV and Parquet files, one after another.

The name's ending says what a file holds (``.gz`` aside); other endings are sniffed:

- ``.jsonl``, ``.ndjson``, ``.json``: one object a line, or an array of objects;
- ``.csv``: commas, quotes as in RFC 4180, a header;
- ``.tsv``, ``.tab``: tabs, a quote is an ordinary character, with or without a header;
- ``.parquet``: needs the extra ``parquet``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from labeler.formats.findings import Findings, shown
from labeler.formats.source import plain_suffix, read_lines

__all__ = ["Record", "read_records"]


@dataclass(frozen=True, slots=True)
class Record:
    """One row.

    Attributes:
        line: The physical line on which the row begins, from 1; the row number in Parquet.
        values: Column -> value. JSON values come as they are, except that NaN and infinities
            are None; CSV and TSV values are text, and None where the cell is empty or absent.
    """

    line: int
    values: dict[str, object]


def read_records(
    path: Path,
    findings: Findings,
    *,
    columns: Sequence[str] | None = None,
    known: Collection[str] = (),
) -> Iterator[Record]:
    """Read the rows of a file, with memory for a block of lines (JSON arrays and Parquet aside).

    Faulty rows are noted and left out; the caller looks at ``findings`` at the end.

    Args:
        path: The file.
        findings: Takes faults and notices.
        columns: Names for a CSV or TSV file without a header: one whose first row holds no known
            column name, or holds a number. A TSV row is then split at most ``len(columns) - 1``
            times, so that tabs inside the last column stay.
        known: Column names that count as known besides those of the tables in ``fields``.

    Raises:
        MissingExtraError: When a Parquet file is read and polars is not installed.
    """
    from labeler.formats import delimited, json_records

    kind = plain_suffix(path)
    if kind == ".parquet":
        from labeler.formats.parquet import read_parquet

        yield from read_parquet(path, findings)
        return
    lines = read_lines(path, findings)
    if kind not in _KINDS:
        first = next(((n, line) for n, line in lines if line.strip()), None)
        if first is None:
            return
        lines = chain([first], lines)
        kind = _sniffed(first[1], path, first[0], findings)
    match _KINDS.get(kind):
        case "json":
            yield from json_records.read(path, lines, findings)
        case "csv":
            yield from delimited.read_csv(path, lines, findings, columns, known)
        case "tsv":
            yield from delimited.read_tsv(path, lines, findings, columns, known)


_KINDS = {
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
}


def _sniffed(line: str, path: Path, number: int, findings: Findings) -> str:
    """Tell the format of a file by its first line; a fault and ``""`` when it can't be told."""
    if line.lstrip()[:1] in {"{", "["}:
        return ".jsonl"
    if "\t" in line:
        return ".tsv"
    if "," in line or '"' in line:
        return ".csv"
    findings.fault(
        path,
        number,
        f"no format fits {shown(line)}: rows are read from JSON lines, CSV (commas) and TSV (tabs)",
    )
    return ""
