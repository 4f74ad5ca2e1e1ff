"""Reading runs: TREC files, JSON, and rows of hits, all to the same columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from labeler.errors import UsageError
from labeler.formats.fields import HITS, Fields, as_id, lookup, resolve
from labeler.formats.findings import Findings, shown
from labeler.formats.records import Record, read_records
from labeler.formats.source import plain_suffix
from labeler.formats.trec import RunColumns, read_run
from labeler.imports.report import name_from

__all__ = ["QueryFacts", "RunInput", "read_latencies", "read_runs"]

Number = TypeVar("Number", int, float)

_RECORD_ENDINGS = {".jsonl", ".ndjson", ".csv", ".tsv", ".tab", ".parquet"}


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """What a file tells of one query of a run, beside its hits."""

    latency_ms: float | None = None
    candidate_depth: int | None = None
    timed_out: bool | None = None
    cache_state: str | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class RunInput:
    """One run as it was read."""

    name: str
    path: str
    columns: RunColumns
    facts: Mapping[str, QueryFacts] = field(default_factory=dict)


def read_runs(
    paths: Sequence[Path],
    findings: Findings,
    *,
    name: str | None = None,
    by_file: bool = False,
    overrides: Mapping[str, str],
    lenient: bool,
) -> list[RunInput]:
    """Read all runs of some files.

    Args:
        paths: The files; a folder stands for the ``.run`` files in it.
        findings: Takes faults and notices.
        name: What to call the only run.
        by_file: Name runs after their files, not after the sixth column.
        overrides: Field -> column name, for files of rows.
        lenient: Keep the sound rows of a file that has faulty ones.
    """
    files = _files(paths, findings)
    if name is not None and len(files) > 1:
        raise UsageError(f"--name names one run, and there are {len(files)} files")
    runs: list[RunInput] = []
    for path in files:
        if plain_suffix(path) in _RECORD_ENDINGS:
            runs += _read_rows(path, overrides, findings)
            continue
        columns = read_run(path, findings, lenient=lenient)
        if columns is not None:
            stem = name_from(path, frozenset()).removesuffix(".run")
            runs.append(
                RunInput(_named(columns, stem, findings, by_file, name), str(path), columns)
            )
    if name is not None and len(runs) == 1:
        runs = [RunInput(name, runs[0].path, runs[0].columns, runs[0].facts)]
    _refuse_same_names(runs, findings)
    return runs


def _files(paths: Sequence[Path], findings: Findings) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        found = sorted([*path.glob("*.run"), *path.glob("*.run.gz")])
        if not found:
            findings.fault(path, None, "the folder holds no .run files")
        files += found
    return files


def _named(
    columns: RunColumns, stem: str, findings: Findings, by_file: bool, name: str | None
) -> str:
    if name is not None:
        return name
    if len(columns.tags) > 1 and not by_file:
        tags = ", ".join(shown(tag) for tag in columns.tags[:5])
        findings.fault(
            columns.path,
            None,
            f"{len(columns.tags)} run names in the last column ({tags}); one file is one run: "
            "--name NAME or --name-from file takes it as one",
        )
    return stem if by_file else columns.tags[0]


def _refuse_same_names(runs: Sequence[RunInput], findings: Findings) -> None:
    first: dict[str, str] = {}
    for run in runs:
        other = first.setdefault(run.name, run.path)
        if other != run.path:
            findings.fault(
                run.path,
                None,
                f"the run is called {shown(run.name)}, and so is {other}; "
                "--name-from file names runs after their files",
            )


@dataclass
class _Rows:
    """The hits of one system, while they are read."""

    queries: dict[str, int] = field(default_factory=dict)
    documents: dict[str, int] = field(default_factory=dict)
    rows: list[tuple[int, int, float, int, int]] = field(default_factory=list)
    facts: dict[str, QueryFacts] = field(default_factory=dict)

    def add(self, query: str, document: str, score: float, rank: int, line: int) -> None:
        self.rows.append(
            (
                self.queries.setdefault(query, len(self.queries)),
                self.documents.setdefault(document, len(self.documents)),
                score,
                rank,
                line,
            )
        )

    def columns(self, path: str, tag: str) -> RunColumns:
        values = list(zip(*self.rows, strict=True))
        return RunColumns(
            path=path,
            tags=(tag,),
            queries=list(self.queries),
            documents=list(self.documents),
            query_codes=np.array(values[0], dtype=np.int32),
            document_codes=np.array(values[1], dtype=np.int32),
            scores=np.array(values[2], dtype=np.float64),
            stated_ranks=np.array(values[3], dtype=np.int32),
            lines=np.array(values[4], dtype=np.int64),
        )


def _read_rows(path: Path, overrides: Mapping[str, str], findings: Findings) -> list[RunInput]:
    """Read rows of hits: one system a row, or ``system:rank;...`` in one cell."""
    fields: Fields | None = None
    systems: dict[str, _Rows] = {}
    unnamed = name_from(path, frozenset())
    for record in read_records(path, findings, known=set(overrides.values())):
        if fields is None:
            fields = resolve(
                record.values, HITS, overrides, path=str(path), findings=findings, example=record
            )
            if fields is None:
                return []
            if not {"rank", "score", "systems"} & fields.keys():
                findings.fault(
                    path, None, "no column for the rank or the score: a run needs one of them"
                )
                return []
        _take_row(record, fields, systems, unnamed, path, findings)
    runs: list[RunInput] = []
    for system, rows in systems.items():
        columns = rows.columns(str(path), system)
        missing = int(np.isnan(columns.scores).sum())
        if 0 < missing < len(columns):
            findings.fault(path, None, f"run {shown(system)}: {missing} hits have no score")
        elif missing and (columns.stated_ranks < 0).any():
            findings.fault(path, None, f"run {shown(system)}: a hit has neither rank nor score")
        else:
            runs.append(RunInput(system, str(path), columns, rows.facts))
    return runs


def _take_row(
    record: Record,
    fields: Fields,
    systems: dict[str, _Rows],
    unnamed: str,
    path: Path,
    findings: Findings,
) -> None:
    query = as_id(lookup(record, fields, "query"))
    document = as_id(lookup(record, fields, "document"))
    if query is None or document is None:
        findings.fault(path, record.line, "the query's or the document's id is missing")
        return
    score = _read(lookup(record, fields, "score"), float)
    rank = _read(lookup(record, fields, "rank"), int)
    line = record.line
    listed = lookup(record, fields, "systems")
    if isinstance(listed, str):
        for part in filter(None, (part.strip() for part in listed.split(";"))):
            system, _, place = part.rpartition(":")
            if not system or not place.isdigit():
                findings.fault(path, line, f"{shown(part)} is not system:rank")
                return
            systems.setdefault(system, _Rows()).add(query, document, np.nan, int(place), line)
        return
    system = as_id(lookup(record, fields, "system")) or unnamed
    rows = systems.setdefault(system, _Rows())
    rows.add(
        query, document, np.nan if score is None else score, -1 if rank is None else rank, line
    )
    facts = QueryFacts(
        latency_ms=_read(lookup(record, fields, "latency_ms"), float),
        candidate_depth=_read(lookup(record, fields, "depth"), int),
        timed_out=_truth(lookup(record, fields, "timed_out")),
        cache_state=_word(lookup(record, fields, "cache_state")),
        cost=_read(lookup(record, fields, "cost"), float),
    )
    if facts != QueryFacts():
        rows.facts.setdefault(query, facts)


def _read(value: object, kind: Callable[[str], Number]) -> Number | None:
    if value is None or isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = kind(str(value))
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _truth(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "1": True, "false": False, "0": False}.get(str(value).strip().lower())


def _word(value: object) -> str | None:
    if isinstance(value, bool):
        return "hit" if value else "miss"
    return str(value) if isinstance(value, str | int) else None


def read_latencies(path: Path, findings: Findings) -> dict[str, dict[str, QueryFacts]]:
    """Read a table of query, system and latency in milliseconds; by system, then by query."""
    table = HITS.__class__("latencies", HITS.names, ("query", "system", "latency_ms"))
    fields: Fields | None = None
    read: dict[str, dict[str, QueryFacts]] = {}
    for record in read_records(path, findings, columns=("query_id", "system", "latency_ms")):
        if fields is None:
            fields = resolve(record.values, table, {}, path=str(path), findings=findings)
            if fields is None:
                break
        query = as_id(lookup(record, fields, "query"))
        system = as_id(lookup(record, fields, "system"))
        latency = _read(lookup(record, fields, "latency_ms"), float)
        if query is None or system is None or latency is None or latency < 0:
            findings.fault(path, record.line, "wanted are a query, a system and milliseconds")
            continue
        read.setdefault(system, {})[query] = QueryFacts(latency_ms=latency)
    return read
