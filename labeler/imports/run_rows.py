"""Rows of hits, as JSON lines and tables hold them, to the columns of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from labeler.formats.fields import HITS, Fields, as_id, lookup, resolve
from labeler.formats.findings import Findings, shown
from labeler.formats.records import Record, read_records
from labeler.formats.run_columns import RunColumns
from labeler.formats.trec_lines import HIGHEST_RANK, is_number
from labeler.imports.report import name_from

__all__ = ["QueryFacts", "RunInput", "read_hit_rows", "read_latencies"]

Number = TypeVar("Number", int, float)


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


@dataclass
class _Rows:
    """The hits of one system, while they are read."""

    queries: dict[str, int] = field(default_factory=dict)
    documents: dict[str, int] = field(default_factory=dict)
    rows: list[tuple[int, int, float, int, int]] = field(default_factory=list)
    facts: dict[str, QueryFacts] = field(default_factory=dict)
    places: Counter[str] = field(default_factory=Counter)

    def next_place(self, query: str) -> int:
        """Give the place, from 1, of the next hit of a query in the order of the file."""
        self.places[query] += 1
        return self.places[query]

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

    def leave_out_unplaced(self, system: str, path: Path, findings: Findings) -> None:
        """Leave out, as faults, the hits that nothing gives a place among the others."""
        scored = any(not np.isnan(score) for _, _, score, _, _ in self.rows)
        sound: list[tuple[int, int, float, int, int]] = []
        for row in self.rows:
            _, _, score, rank, line = row
            if scored and np.isnan(score):
                findings.fault(path, line, f"run {shown(system)}: no score, although others have")
            elif not scored and rank < 0:
                findings.fault(path, line, f"run {shown(system)}: neither a rank nor a score")
            else:
                sound.append(row)
        self.rows = sound

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


def read_hit_rows(path: Path, overrides: Mapping[str, str], findings: Findings) -> list[RunInput]:
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
                found = ", ".join(shown(name, 40) for name in list(record.values)[:20])
                findings.notice(
                    path,
                    None,
                    f"no column for a rank or a score (found: {found}), so the order of the rows "
                    "is taken as the ranks; for another name say --field score=NAME",
                )
        _take_row(record, fields, systems, unnamed, path, findings)
    runs: list[RunInput] = []
    for system, rows in systems.items():
        rows.leave_out_unplaced(system, path, findings)
        if rows.rows:
            columns = rows.columns(str(path), system)
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
    line = record.line
    try:
        score = _number(lookup(record, fields, "score"), "score")
        rank = _rank(lookup(record, fields, "rank"))
    except ValueError as error:
        findings.fault(path, line, str(error))
        return
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
    if not {"rank", "score"} & fields.keys():
        rank = rows.next_place(query)
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


def _number(value: object, what: str) -> float | None:
    """Read a number as TREC files may have it.

    Raises:
        ValueError: When there is a value that isn't one.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not is_number(str(value).strip()):
        raise ValueError(f"the {what} {shown(value)} is no finite number")
    return float(str(value))


def _rank(value: object) -> int | None:
    number = _number(value, "rank")
    if number is not None and not (number.is_integer() and 0 <= number <= HIGHEST_RANK):
        raise ValueError(f"the rank {shown(value)} is no whole number from 0")
    return None if number is None else int(number)


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
            findings.fault(
                path, record.line, "wanted are a query, a system and milliseconds, 0 or more"
            )
            continue
        facts = QueryFacts(latency_ms=latency)
        if read.setdefault(system, {}).setdefault(query, facts) != facts:
            findings.fault(
                path,
                record.line,
                f"query {shown(query)} of system {shown(system)} comes again with another latency",
            )
    return read
