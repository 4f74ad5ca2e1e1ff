"""Reading queries: rows of files to what a query is, with everything checked before storing."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from labeler.assessment.query_changes import CONDITIONS
from labeler.errors import UsageError
from labeler.formats.fields import QUERIES, Fields, as_id, is_header_name, lookup, resolve
from labeler.formats.findings import Findings, shown
from labeler.formats.records import Record, read_records
from labeler.formats.source import clean_text
from labeler.imports.report import headerless
from labeler.records.queries import Origin
from labeler.retrieval.query_facts import GROUP_KEYS

__all__ = ["QueryRow", "group_patterns", "read_queries"]

_UNREAD_TOLD = 8
"""So many columns that aren't read are named."""


@dataclass(frozen=True, slots=True)
class QueryRow:
    """What a query is; see `labeler.records.queries.QueryVersion`."""

    key: str
    text: str
    need: str | None = None
    domain: str | None = None
    language: str | None = None
    slices: tuple[str, ...] = ()
    weight: float = 1.0
    origin: Origin = Origin.HISTORICAL
    conditions: Mapping[str, str] = field(default_factory=dict)
    group_keys: Mapping[str, str] = field(default_factory=dict)
    required_evidence: tuple[tuple[str, ...], ...] = ()

    @property
    def digest(self) -> str:
        """The SHA-256 of everything but the id."""
        content = [
            self.text,
            self.need,
            self.domain,
            self.language,
            sorted(self.slices),
            self.weight,
            self.origin.value,
            sorted(self.conditions.items()),
            sorted(self.group_keys.items()),
            self.required_evidence,
        ]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def group_patterns(pairs: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    """Compile ``--group KEY=REGEX`` options: the first group of a match over the id is the key.

    Raises:
        UsageError: When a key is unknown, or a pattern is wrong or has no group.
    """
    patterns: dict[str, re.Pattern[str]] = {}
    for key, text in pairs.items():
        if key not in GROUP_KEYS:
            raise UsageError(f"--group knows {', '.join(GROUP_KEYS)}; not '{key}'")
        try:
            pattern = re.compile(text)
        except re.error as error:
            raise UsageError(f"--group {key}: '{text}' is no regular expression: {error}") from None
        if not pattern.groups:
            raise UsageError(
                f"--group {key}: '{text}' has no group",
                hint="put the part of the id that is the key in parentheses: '^(.*)<::>'",
            )
        patterns[key] = pattern
    return patterns


def read_queries(
    files: Sequence[Path],
    overrides: Mapping[str, str],
    groups: Mapping[str, re.Pattern[str]],
    defaults: QueryRow,
    findings: Findings,
) -> list[QueryRow]:
    """Read all queries; faults and what is told go to the findings.

    One id with two texts is a fault that names both lines. One text under two ids is told.
    """
    seen: dict[str, tuple[QueryRow, str, int]] = {}
    for path in files:
        fields: Fields | None = None
        repeated: list[int] = []
        for record in read_records(
            path, findings, columns=headerless(path), known=set(overrides.values())
        ):
            if fields is None:
                fields = _resolved(record, overrides, path, findings)
                if fields is None:
                    break
            row = _query(record, fields, groups, defaults, path, findings)
            if row is None:
                continue
            earlier = seen.setdefault(row.key, (row, str(path), record.line))
            if earlier[0] is row:
                continue
            if earlier[0].digest == row.digest:
                repeated.append(record.line)
                continue
            what = "another text" if earlier[0].text != row.text else "other fields"
            findings.fault(
                path,
                record.line,
                f"the query id {shown(row.key)} comes again with {what}: {shown(row.text)}; "
                f"{earlier[1]}:{earlier[2]} has {shown(earlier[0].text)}",
            )
        findings.notice_many(path, "a query that came before, just the same: read once", repeated)
    rows = [row for row, _, _ in seen.values()]
    _tell_shared_texts(rows, files, findings)
    return rows


def _resolved(
    record: Record, overrides: Mapping[str, str], path: Path, findings: Findings
) -> Fields | None:
    if {"query", "relevant_chunk_ids"} <= set(record.values):
        # A test set that Labeler exported: its queries have texts and no ids.
        return Fields(QUERIES, {"text": "query", "origin": "source", "domain": "domain"})
    fields = resolve(
        record.values, QUERIES, overrides, path=str(path), findings=findings, example=record
    )
    if fields is not None:
        _tell_unread(record, fields, path, findings)
    return fields


def _tell_unread(record: Record, fields: Fields, path: Path, findings: Findings) -> None:
    """Tell columns that mean nothing here: one of them may be what must not cross a split."""
    taken = set(fields.values())
    unread = [name for name in record.values if not is_header_name(name) and name not in taken]
    if unread:
        listed = ", ".join(shown(name) for name in unread[:_UNREAD_TOLD])
        more = f" and {len(unread) - _UNREAD_TOLD} more" if len(unread) > _UNREAD_TOLD else ""
        told = f"not read: {listed}{more}; --field conversation=NAME, say, tells what a column is"
        findings.notice(path, None, told)


def id_from_text(text: str) -> str:
    """Make the id of a query that a file gives by its text alone."""
    return "text-" + hashlib.sha256(text.encode()).hexdigest()[:12]


def _query(
    record: Record,
    fields: Fields,
    groups: Mapping[str, re.Pattern[str]],
    defaults: QueryRow,
    path: Path,
    findings: Findings,
) -> QueryRow | None:
    def fault(problem: str) -> None:
        findings.fault(path, record.line, problem)

    text = lookup(record, fields, "text")
    if not isinstance(text, str) or not text.strip():
        fault("the query's text is missing")
        return None
    text = clean_text(text)[0]
    key = id_from_text(text) if "id" not in fields else as_id(lookup(record, fields, "id"))
    if key is None:
        fault("the query's id is missing, or it isn't a text or a number")
        return None
    weight = _number(lookup(record, fields, "weight"), defaults.weight)
    if weight is None:
        fault("the weight is not a number of 0 or more")
        return None
    origin = lookup(record, fields, "origin")
    if origin is not None and origin not in list(Origin):
        fault(f"the origin {shown(origin)} is none of {', '.join(Origin)}")
        return None
    conditions = _conditions(record, fields)
    if conditions is None:
        fault('the conditions are no object, such as {"region": "EU", "date": "2026-07-01"}')
        return None
    if not _is_date_or_none(conditions.get("date")):
        fault(f"the condition date {shown(conditions['date'])} is not YYYY-MM-DD")
        return None
    evidence = _evidence_groups(lookup(record, fields, "required_evidence"))
    if evidence is None:
        fault("required evidence is a list of ids, or a list of lists of ids")
        return None
    return QueryRow(
        key=key,
        text=text,
        need=_text(lookup(record, fields, "need")) or defaults.need,
        domain=_text(lookup(record, fields, "domain")) or defaults.domain,
        language=_text(lookup(record, fields, "language")) or defaults.language,
        slices=_names(lookup(record, fields, "slices")) or defaults.slices,
        weight=weight,
        origin=Origin(str(origin)) if origin is not None else defaults.origin,
        conditions=conditions,
        group_keys=_group_keys(key, record, fields, groups),
        required_evidence=evidence,
    )


def _conditions(record: Record, fields: Fields) -> dict[str, str] | None:
    """Read a query's conditions; None where what is called so is no object."""
    found = {name: _text(lookup(record, fields, name)) for name in CONDITIONS}
    given = lookup(record, fields, "conditions")
    if isinstance(given, str) and given.strip():
        given = json.loads(given) if _is_json(given) else given
    if isinstance(given, dict):
        found |= {str(name): _text(value) for name, value in given.items()}
    elif given is not None and given != "":
        return None
    return {name: value for name, value in sorted(found.items()) if value}


def _group_keys(
    key: str, record: Record, fields: Fields, groups: Mapping[str, re.Pattern[str]]
) -> dict[str, str]:
    found = {name: as_id(lookup(record, fields, name)) for name in GROUP_KEYS}
    for name, pattern in groups.items():
        match = pattern.search(key)
        if match is not None and match.group(1):
            found[name] = match.group(1)
    return {name: value for name, value in found.items() if value}


def _evidence_groups(value: object) -> tuple[tuple[str, ...], ...] | None:
    if value is None:
        return ()
    outer = value if isinstance(value, list) else [value]
    groups: list[tuple[str, ...]] = []
    for group in outer:
        ids = [as_id(one) for one in (group if isinstance(group, list) else [group])]
        if not ids or any(one is None for one in ids):
            return None
        groups.append(tuple(one for one in ids if one is not None))
    return tuple(groups)


def _names(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = re.split(r"[;,|]", value)
    if not isinstance(value, list):
        return ()
    return tuple(dict.fromkeys(str(one).strip() for one in value if str(one).strip()))


def _text(value: object) -> str | None:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return as_id(value)
    return clean_text(value)[0] if isinstance(value, str) and value.strip() else None


def _number(value: object, default: float) -> float | None:
    if value is None:
        return default
    try:
        number = float(value) if isinstance(value, str | int | float) else -1.0
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_date_or_none(value: str | None) -> bool:
    try:
        return value is None or bool(date.fromisoformat(value))
    except ValueError:
        return False


def _tell_shared_texts(rows: Sequence[QueryRow], files: Sequence[Path], findings: Findings) -> None:
    by_text: dict[str, list[str]] = {}
    for row in rows:
        by_text.setdefault(row.text, []).append(row.key)
    shared = [keys for keys in by_text.values() if len(keys) > 1]
    if shared and files:
        example = " and ".join(shown(key) for key in shared[0][:2])
        findings.notice(
            files[0],
            None,
            f"{len(shared)} text{'s' if len(shared) > 1 else ''} under more than one id, such as "
            f"{example}: kept as queries of their own",
        )
