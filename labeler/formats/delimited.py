"""Rows of CSV and TSV files.

CSV follows RFC 4180: commas, fields in double quotes may hold commas, quotes (doubled) and line
ends. In TSV nothing is quoted: a tab always separates and a quote is an ordinary character.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path

from labeler.formats.fields import is_header_name
from labeler.formats.findings import Findings, shown
from labeler.formats.records import Record

__all__ = ["read_csv", "read_tsv"]

_LARGEST_FIELD = 2**31 - 1  # what a C long holds everywhere
_NUMBER = re.compile(r"\s*[+-]?[\d.]+([eE][+-]?\d+)?\s*", re.ASCII)

_Row = tuple[int, list[str]]


def read_csv(
    path: Path,
    lines: Iterator[tuple[int, str]],
    findings: Findings,
    columns: Sequence[str] | None,
    known: Collection[str],
) -> Iterator[Record]:
    """Read comma-separated rows; see ``read_records`` for the arguments."""
    rows = _csv_rows(path, lines, findings)
    first = next(rows, None)
    if first is None:
        return
    if len(first[1]) == 1 and (problem := _other_delimiter(first[1][0])):
        findings.fault(path, first[0], problem)
        return
    # With more cells than columns are expected, a header of unknown names is likelier than none.
    if columns is not None and len(first[1]) <= len(columns) and not _is_header(first[1], known):
        _tell_no_header(path, first[0], columns, findings)
        yield from _records(path, chain([first], rows), list(columns), findings)
        return
    yield from _under_header(path, first, rows, findings)


def read_tsv(
    path: Path,
    lines: Iterator[tuple[int, str]],
    findings: Findings,
    columns: Sequence[str] | None,
    known: Collection[str],
) -> Iterator[Record]:
    """Read tab-separated rows; see ``read_records`` for the arguments."""
    filled = ((number, line) for number, line in lines if line.strip(" \t\r"))
    first = next(filled, None)
    if first is None:
        return
    number, line = first
    if line.lstrip()[:1] == "{":
        findings.fault(path, number, "this is JSON, not tab-separated text: name it .jsonl")
    elif columns is not None and not _is_header(line.split("\t"), known):
        if "\t" not in line:
            findings.fault(path, number, f"no tab: a row is {' TAB '.join(columns)}")
            return
        _tell_no_header(path, number, columns, findings)
        rows = (
            (number, line.split("\t", len(columns) - 1)) for number, line in chain([first], filled)
        )
        yield from _records(path, rows, list(columns), findings)
    else:
        quoted: list[int] = []
        rows = ((number, _cells(number, line, quoted)) for number, line in filled)
        yield from _under_header(path, (number, line.split("\t")), rows, findings)
        findings.notice_many(
            path,
            "cells in double quotes keep them: a quote is an ordinary character in TSV",
            quoted,
        )


def _cells(number: int, line: str, quoted: list[int]) -> list[str]:
    cells = line.split("\t")
    if '"' in line and any(cell[:1] == cell[-1:] == '"' != cell for cell in cells):
        quoted.append(number)
    return cells


def _csv_rows(path: Path, lines: Iterator[tuple[int, str]], findings: Findings) -> Iterator[_Row]:
    """Split quoted rows; the number is that of the line on which a row begins."""
    csv.field_size_limit(_LARGEST_FIELD)  # the default of 128 KB refuses long passages
    numbers = [0]

    def feed() -> Iterator[str]:
        for number, line in lines:
            numbers.append(number)
            yield line + "\n"

    reader = csv.reader(feed(), strict=True)
    while True:
        del numbers[:-1]
        fed = numbers[-1]
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            begin = numbers[1] if len(numbers) > 1 else fed
            findings.fault(path, begin, _csv_problem(str(error), begin, numbers[-1]))
            continue
        if cells and not (len(cells) == 1 and not cells[0].strip()):
            yield numbers[1], cells


def _csv_problem(message: str, begin: int, end: int) -> str:
    if "unexpected end" in message:
        return "a quote that opens in this row is never closed"
    if "expected after" in message:
        where = "" if begin == end else f" (the row goes on to line {end})"
        return f"text follows a closing quote{where}: inside quotes a quote is written twice"
    if "new-line" in message:
        return "a carriage return stands alone outside quotes"
    return f"not CSV: {message}"


def _other_delimiter(header: str) -> str | None:
    if header.lstrip()[:1] == "{":
        return "this is JSON, not comma-separated text: name it .jsonl"
    for letter, name, remedy in (
        (";", "semicolons", "save it with commas"),
        ("\t", "tabs", "name it .tsv, or save it with commas"),
        ("|", "bars", "save it with commas"),
    ):
        if letter in header:
            return f"the columns are separated by {name}, not commas: {remedy}"
    return None


def _is_header(cells: list[str], known: Collection[str]) -> bool:
    """Whether a first row names columns: one name is known, and no cell is a number."""
    if any(_NUMBER.fullmatch(cell) for cell in cells):
        return False
    return any(is_header_name(cell) or cell.strip() in known for cell in cells)


def _tell_no_header(path: Path, line: int, columns: Sequence[str], findings: Findings) -> None:
    findings.notice(
        path, line, f"no header: the columns are taken as {', '.join(columns)}, in this order"
    )


def _under_header(
    path: Path, header: _Row, rows: Iterator[_Row], findings: Findings
) -> Iterator[Record]:
    line, cells = header
    names = [cell.strip() for cell in cells]
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if twice:
        findings.fault(path, line, f"the header names {', '.join(map(shown, twice))} twice")
        return
    yield from _records(path, rows, names, findings)


def _records(
    path: Path, rows: Iterator[_Row], names: list[str], findings: Findings
) -> Iterator[Record]:
    """Put names to cells: short rows get None, rows that are too long become faults."""
    width = len(names)
    short: list[int] = []
    count = 0
    for line, cells in rows:
        count += 1
        if len(cells) > width:
            if any(cell.strip() for cell in cells[width:]):
                findings.fault(
                    path, line, f"{len(cells)} columns, but the header has {width}:"
                    f" {shown(cells[width])} has no name",
                )  # fmt: skip
                continue
        elif len(cells) < width:
            short.append(line)
        values: dict[str, object] = dict.fromkeys(names)
        values.update((name, cell) for name, cell in zip(names, cells, strict=False) if cell)
        values.pop("", None)
        yield Record(line, values)
    findings.notice_many(path, "fewer columns than the header: the others are missing", short)
    if not count:
        findings.notice(path, None, "no rows under the header")
