"""Reading labels: qrels and rows of files, each label still as it was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from labeler.errors import UsageError
from labeler.formats.beir import beir_parts
from labeler.formats.fields import LABELS, Fields, as_id, is_header_name, lookup, resolve
from labeler.formats.findings import Findings, shown
from labeler.formats.records import Record, read_records
from labeler.formats.source import plain_suffix, read_lines
from labeler.formats.trec import read_qrels
from labeler.imports.query_rows import id_from_text
from labeler.labels import BINARY, CANNOT_JUDGE, SHIPPED_SCALES, Outcome, Scale

__all__ = ["LabelRow", "read_labels"]

_ABSTENTIONS = frozenset({CANNOT_JUDGE, "cannot judge", "can't judge", "unrateable"})
_NO_LABELS = frozenset({"", "unknown", "unlabeled", "unlabelled"})
_TRUE = frozenset({"1", "true", "yes", "1.0"})


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One label as a file has it.

    Attributes:
        path: The file.
        line: The physical line, or None where the format has none.
        query: The query's id.
        document: The id of the passage or the evidence.
        value: The label as written; None where there is none.
        abstained: Whether the assessor said that the pair can't be judged.
        rater: Who gave it, where the file says so.
        at: When, where the file says so.
        scale: The scale that the row itself names, or None.
        kind: What sort of assessor the row itself names, or None.
    """

    path: str
    line: int | None
    query: str
    document: str
    value: object
    abstained: bool = False
    rater: str | None = None
    at: datetime | None = None
    scale: Scale | None = None
    kind: str | None = None

    @property
    def pair(self) -> tuple[str, str]:
        """The query's and the document's id."""
        return self.query, self.document


def read_labels(
    paths: Sequence[Path], overrides: Mapping[str, str], findings: Findings, *, lenient: bool
) -> list[LabelRow]:
    """Read all rows of some files; a folder in the layout of BEIR stands for its qrels.

    Leniently, the sound rows of a file that has faulty ones are given too.
    """
    rows: list[LabelRow] = []
    for path in _files(paths, findings):
        if _holds_records(path):
            rows += _read_rows(path, overrides, findings)
            continue
        for qrel in read_qrels(path, findings, lenient=lenient) or ():
            rows.append(
                LabelRow(str(path), qrel.line or None, qrel.query, qrel.document, qrel.value)
            )
    return rows


def _files(paths: Sequence[Path], findings: Findings) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        parts = beir_parts(path, Findings())
        if parts is None or not parts.qrels:
            findings.fault(path, None, "the folder holds no qrels/*.tsv")
            continue
        files += parts.qrels.values()
        findings.notice(path, None, f"splits read: {', '.join(parts.qrels)}")
    return files


def _holds_records(path: Path) -> bool:
    """Tell rows with named columns from qrels: by the ending, or by a header line."""
    if plain_suffix(path) in {".jsonl", ".ndjson", ".csv", ".parquet"}:
        return True
    if not path.is_file():
        return False
    first = next((line for _, line in read_lines(path, Findings()) if line.strip()), "")
    if plain_suffix(path) == ".json":
        return first.lstrip().startswith("[") or _is_object_line(first)
    tabs = "\t" in first or plain_suffix(path) in {".tsv", ".tab"}
    cells = [cell.strip(' "') for cell in first.split("\t" if tabs else ",")]
    header = any(is_header_name(cell, "query") for cell in cells)
    return header and any(is_header_name(cell, "label") for cell in cells)


def _is_object_line(line: str) -> bool:
    return line.rstrip().endswith("}") and any(
        f'"{name}"' in line for name in ("query_id", "queryId", "qid", "query-id", "query")
    )


def _read_rows(path: Path, overrides: Mapping[str, str], findings: Findings) -> Iterator[LabelRow]:
    fields: Fields | None = None
    nothing: list[int] = []
    for record in read_records(path, findings, known=set(overrides.values())):
        if fields is None:
            if {"query", "relevant_chunk_ids"} <= set(record.values):
                yield from _test_set(path, findings)
                return
            fields = resolve(
                record.values, LABELS, overrides, path=str(path), findings=findings, example=record
            )
            if fields is None:
                return
        yield from _rows_of(record, fields, path, findings, nothing)
    findings.notice_many(path, "neither a document nor a label: nothing to import", nothing)


def _test_set(path: Path, findings: Findings) -> Iterator[LabelRow]:
    """Read a test set that Labeler exported: relevant passages by the text of their query."""
    for record in read_records(path, findings):
        text, chunks = record.values.get("query"), record.values.get("relevant_chunk_ids")
        ids = [as_id(one) for one in chunks] if isinstance(chunks, list) else [None]
        if not isinstance(text, str) or any(one is None for one in ids):
            findings.fault(path, record.line, "wanted are a query and a list relevant_chunk_ids")
            continue
        for one in ids:
            yield LabelRow(
                str(path), record.line, id_from_text(text), one or "", "relevant", scale=BINARY
            )


def _rows_of(
    record: Record, fields: Fields, path: Path, findings: Findings, nothing: list[int]
) -> Iterator[LabelRow]:
    query = as_id(lookup(record, fields, "query"))
    document = as_id(lookup(record, fields, "document"))
    value = lookup(record, fields, "label")
    word = value.strip().casefold() if isinstance(value, str) else None
    unrateable = str(lookup(record, fields, "unrateable")).strip().lower() in _TRUE
    abstained = unrateable or word in _ABSTENTIONS
    if value is None or word in _NO_LABELS:
        value = None
        if lookup(record, fields, "document") is None and not abstained:
            nothing.append(record.line)
            return
    if query is None or document is None:
        findings.fault(path, record.line, "the query's or the document's id is missing")
        return
    assessment = record.values.get("assessment")
    if isinstance(assessment, dict) and assessment.get("judgments"):
        yield from _exported(record, query, document, assessment, path, findings)
        return
    if isinstance(value, dict | list):
        findings.fault(path, record.line, f"the label {shown(value)} is not a word or a number")
        return
    at = lookup(record, fields, "at")
    when = read_time(at)
    if at is not None and when is None:
        findings.fault(path, record.line, f"{shown(at)} is no time; wanted is 2026-07-01T12:00:00Z")
        return
    code, scale = _code_of_own_table(record)
    yield LabelRow(
        path=str(path),
        line=record.line,
        query=query,
        document=document,
        value=None if abstained else value if code is None else code,
        abstained=abstained,
        rater=as_id(lookup(record, fields, "rater")),
        at=when,
        scale=scale,
    )


def _code_of_own_table(record: Record) -> tuple[object, Scale | None]:
    """Give the code and the scale that a table exported by Labeler has beside the grade."""
    values = record.values
    if not {"corpus_snapshot", "evidence_id", "basis", "scale", "code"} <= values.keys():
        return None, None
    scale = SHIPPED_SCALES.get(str(values["scale"]))
    return (values["code"], scale) if scale is not None else (None, None)


def _exported(
    record: Record,
    query: str,
    document: str,
    assessment: Mapping[str, object],
    path: Path,
    findings: Findings,
) -> Iterator[LabelRow]:
    """Read the judgments that Labeler's own export keeps with a candidate."""
    judgments = assessment["judgments"]
    scales = _scales_of(assessment.get("scales"))
    for judgment in judgments if isinstance(judgments, list) else ():
        if not isinstance(judgment, dict) or as_id(judgment.get("assessor")) is None:
            findings.fault(path, record.line, "a judgment of the assessment names no assessor")
            return
        named = judgment.get("scale")
        if named is not None and str(named) not in scales:
            findings.fault(path, record.line, f"a judgment's scale {shown(named)} is unknown")
            return
        yield LabelRow(
            path=str(path),
            line=record.line,
            query=query,
            document=document,
            value=judgment.get("code"),
            abstained=judgment.get("outcome") == Outcome.ABSTAINED.value,
            rater=as_id(judgment["assessor"]),
            at=read_time(judgment.get("at")),
            scale=None if named is None else scales[str(named)],
            kind=str(judgment.get("kind")) if judgment.get("kind") else None,
        )


def _scales_of(content: object) -> Mapping[str, Scale]:
    """Read the scales that an export defines beside the shipped ones."""
    own: dict[str, Scale] = {}
    if isinstance(content, dict):
        for name, scale in content.items():
            with suppress(UsageError):
                own[str(name)] = Scale.from_dict(scale)
    return {**SHIPPED_SCALES, **own}


def read_time(value: object) -> datetime | None:
    """Read a time in ISO 8601; without a zone it is taken as UTC."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if not isinstance(value, str):
        return None
    try:
        at = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
