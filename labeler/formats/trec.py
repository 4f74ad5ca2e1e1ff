"""TREC runs and qrels: reading and writing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from labeler.errors import LabelerError
from labeler.formats.atomic import replacing
from labeler.formats.fields import is_header_name
from labeler.formats.findings import Findings, shown
from labeler.formats.run_columns import RunColumns
from labeler.formats.run_json import read_qrels_json, read_run_json
from labeler.formats.source import read_blocks, read_lines
from labeler.formats.trec_blocks import RunReader
from labeler.formats.trec_lines import (
    QRELS_WIDTH,
    RUN_WIDTH,
    columns_of,
    doubtful_character,
    is_comment,
    is_number,
)

__all__ = ["QrelRow", "RunColumns", "read_qrels", "read_run", "write_qrels", "write_run"]

_QRELS_COLUMNS = "query, iteration, document, grade"


@dataclass(frozen=True, slots=True)
class QrelRow:
    """One judgement of a qrels file, all of it as written.

    Attributes:
        line: The physical line, from 1; 0 where the format has no lines.
        query: The query id.
        iteration: The second column, which trec_eval ignores; ``0`` where the file has none.
        document: The document id.
        value: The grade as text; the caller reads it on a scale.
    """

    line: int
    query: str
    iteration: str
    document: str
    value: str


def read_run(path: Path, findings: Findings, *, lenient: bool = False) -> RunColumns | None:
    """Read a run in the TREC format, or in one of the JSON shapes of ``run_json``.

    What a row is stands in ``trec_lines``. Rows keep the order of the file; duplicates are kept
    (``ranking`` finds them). Memory is bounded by the columns and one block.

    Args:
        path: The file.
        findings: Takes faults and notices.
        lenient: Give the sound rows of a file although other lines are faulty.

    Returns:
        The columns, or None after any fault of this file, or when it has no sound row.
    """
    before = findings.count_faults(path)
    reader = RunReader(path, findings)
    for block in read_blocks(path, findings):
        if reader.next_line == 1 and block.lstrip()[:1] in {b"{", b"["} and not _is_row(block):
            return read_run_json(path, findings)
        reader.take(block)
    if findings.count_faults(path) == before and not reader.row_count:
        findings.fault(path, None, "no rows: only blank lines and comments (lines that begin '#')")
    reader.notes.tell(str(path), findings)
    sound = reader.row_count and findings.usable(path, lenient=lenient)
    return reader.columns() if sound else None


def read_qrels(path: Path, findings: Findings, *, lenient: bool = False) -> list[QrelRow] | None:
    """Read judgements: four TREC columns, three columns under a BEIR header, or JSON.

    Lines are split and comments told from rows as in runs. A BEIR file has a header such as
    ``query-id corpus-id score``; its columns are separated by tabs. The JSON shape is
    ``{query: {document: grade}}``.

    Args:
        path: The file.
        findings: Takes faults and notices.
        lenient: Give the sound rows of a file although other lines are faulty.

    Returns:
        The rows in the order of the file, or None after any fault of this file, or when it has no
        sound row.
    """
    before = findings.count_faults(path)
    rows: list[QrelRow] = []
    comments_like_rows: list[int] = []
    beir: tuple[int, int, int] | None = None
    seen_any = False
    for number, line in read_lines(path, findings):
        columns = columns_of(line.rstrip("\r"))
        if not columns:
            continue
        if not seen_any and columns[0][0] in "{[" and len(columns) != QRELS_WIDTH:
            return _json_rows(path, findings)
        if is_comment(columns):
            if len(columns) == QRELS_WIDTH and is_number(columns[3]):
                comments_like_rows.append(number)
            continue
        if not seen_any:
            seen_any = True
            beir = _beir_places(line)
            if beir is not None:
                continue
        row = _qrel_row(line.rstrip("\r"), columns, number, beir)
        if isinstance(row, str):
            findings.fault(path, number, row)
        else:
            rows.append(row)
    findings.notice_many(
        path,
        "begins with '#' and is taken as a comment, as trec_eval does, although it could be a row",
        comments_like_rows,
    )
    if findings.count_faults(path) == before and not rows:
        findings.fault(path, None, "no rows: nothing but blank lines, comments or a header")
    _tell_same_document(path, rows, findings)
    return rows if rows and findings.usable(path, lenient=lenient) else None


def write_qrels(path: Path, rows: Iterable[tuple[str, str, int]]) -> int:
    """Write rows of query, document and grade as TREC qrels, all of them or none.

    Returns:
        How many rows were written.

    Raises:
        LabelerError: When an id can't stand in a TREC file; nothing is written.
    """
    return _write(
        path, (f"{_id(path, query)} 0 {_id(path, doc)} {grade:d}" for query, doc, grade in rows)
    )


def write_run(path: Path, rows: Iterable[tuple[str, str, int, float]], tag: str) -> int:
    """Write rows of query, document, rank and score as a TREC run, all of them or none.

    Scores are written so that reading them gives the same float.

    Returns:
        How many rows were written.

    Raises:
        LabelerError: When an id can't stand in a TREC file; nothing is written.
    """
    name = _id(path, tag)
    return _write(
        path,
        (
            f"{_id(path, query)} Q0 {_id(path, doc)} {rank:d} {float(score)!r} {name}"
            for query, doc, rank, score in rows
        ),
    )


def _is_row(block: bytes) -> bool:
    """Whether a first line that begins like JSON is a TREC row all the same."""
    words = block.lstrip().split(b"\n", 1)[0].split()
    return len(words) == RUN_WIDTH and all(
        word.isascii() and is_number(word.decode("ascii")) for word in words[3:5]
    )


def _json_rows(path: Path, findings: Findings) -> list[QrelRow] | None:
    triples = read_qrels_json(path, findings)
    if triples is None:
        return None
    return [QrelRow(0, query, "0", document, value) for query, document, value in triples]


def _beir_places(line: str) -> tuple[int, int, int] | None:
    """Find the columns of query, document and grade under a header, or None without one."""
    names = [name.strip() for name in _cells(line)]
    places = [
        next((place for place, name in enumerate(names) if is_header_name(name, wanted)), None)
        for wanted in ("query", "document", "label")
    ]
    found = [place for place in places if place is not None]
    if len(set(found)) != len(places):
        return None
    query, document, label = found
    return query, document, label


def _cells(line: str) -> list[str]:
    """Split a line of a file with a header: at tabs, or at blanks when it has no tab."""
    line = line.rstrip("\r")
    return [cell.strip(" ") for cell in line.split("\t")] if "\t" in line else columns_of(line)


def _qrel_row(
    line: str, columns: list[str], number: int, beir: tuple[int, int, int] | None
) -> QrelRow | str:
    problem = doubtful_character(line)
    if problem is not None:
        return problem
    if beir is not None:
        return _row_under_header(_cells(line), number, beir)
    if len(columns) == QRELS_WIDTH:
        return QrelRow(number, *columns)
    if len(columns) >= RUN_WIDTH and is_number(columns[3]) and is_number(columns[4]):
        return (
            f"{len(columns)} columns, with a rank and a score: this looks like a run; qrels have"
            f" {QRELS_WIDTH} columns ({_QRELS_COLUMNS})"
        )
    noun = "column" if len(columns) == 1 else "columns"
    return (
        f"{len(columns)} {noun}; qrels have {QRELS_WIDTH} ({_QRELS_COLUMNS}), or 3 under a header"
        " (query-id, corpus-id, score, separated by tabs)"
    )


def _tell_same_document(path: Path, rows: list[QrelRow], findings: Findings) -> None:
    """Tell of files that have document and iteration the other way round."""
    documents = {row.document for row in rows}
    if len(documents) == 1 and len({row.iteration for row in rows}) > 1:
        findings.notice(
            path,
            None,
            f"every row has the document id {shown(documents.pop())}, and the second column"
            f" differs: is the document in the second column? Expected are {_QRELS_COLUMNS}",
        )


def _row_under_header(cells: list[str], number: int, places: tuple[int, int, int]) -> QrelRow | str:
    if len(cells) <= max(places):
        return f"{len(cells)} columns, fewer than the header has"
    query, document, value = (cells[place] for place in places)
    if not query or not document or not value:
        return "an id or the grade is empty"
    return QrelRow(number, query, "0", document, value)


def _id(path: Path, text: str) -> str:
    """Let an id through that a TREC file can hold as one column."""
    begins_odd = text.startswith(("#", "\ufeff"))
    if text and not begins_odd and not any(c in " \t\n\r\x0b\x0c\x00" for c in text):
        return text
    raise LabelerError(
        f"the id {shown(text)} can't stand in a TREC file, so {path} was not written",
        hint="TREC ids hold no blanks and don't begin with '#'; `labeler export jsonl` and "
        "`labeler export parquet` take any id",
    )


def _write(path: Path, lines: Iterator[str]) -> int:
    count = 0
    with replacing(path) as file:
        for line in lines:
            file.write(line.encode("utf-8") + b"\n")
            count += 1
    return count
