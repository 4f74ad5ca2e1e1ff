"""What an import tells, and the rule that nothing is half-imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from labeler.errors import InputError, UsageError
from labeler.formats.field_tables import FIELD_TABLES, FieldTable
from labeler.formats.findings import Findings, Notice
from labeler.formats.source import plain_suffix

__all__ = [
    "ImportReport",
    "headerless",
    "name_from",
    "settle",
    "split_fields",
    "split_mapping",
    "split_pairs",
]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did.

    Attributes:
        kind: ``corpus``, ``queries``, ``runs`` or ``labels``.
        counts: What was read, added and left out, by name.
        facts: Names and choices that were made, such as the snapshot or the scale's mapping.
        notices: What is told beside the counts.
        revision: The revision that was made, or None when nothing changed.
        details: One entry a part of the import, such as a run.
    """

    kind: str
    counts: Mapping[str, int]
    facts: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    revision: int | None = None
    details: tuple[Mapping[str, object], ...] = ()


def settle(findings: Findings, *, lenient: bool, kept: int, hint: str | None = None) -> int:
    """Stop when there are faults, or, leniently, turn each into a notice and count the rows.

    Args:
        findings: What the readers found.
        lenient: Whether faulty rows may be left out. A file that can't be read, or in which a
            needed column is missing, is refused all the same.
        kept: How many sound rows there are.
        hint: What to do about faults, where there is something better to say than to mend them.

    Returns:
        How many rows are left out.

    Raises:
        InputError: When there are faults and the import is strict, when a file is faulty as a
            whole, or when no sound row is left.
    """
    faults, whole = findings.faults, findings.faults_of_whole_files
    if not faults:
        return 0
    if whole:
        raise InputError(
            whole if lenient else faults,
            hint="mend what is named above; --lenient leaves out single rows only",
        )
    if not lenient:
        told = hint or "mend the file, or add --lenient to leave such rows out"
        raise InputError(faults, hint=told)
    if not kept:
        raise InputError(faults, hint="no sound row is left: mend the file")
    for fault in faults:
        findings.notice(fault.path, fault.line, f"left out: {fault.problem}")
    return findings.left_out


def split_pairs(pairs: tuple[str, ...], option: str) -> dict[str, str]:
    """Read options of the form NAME=VALUE.

    Raises:
        UsageError: When one has no equals sign, or two say different things of one name.
    """
    read: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not name or not value:
            raise UsageError(f"{option} takes NAME=VALUE, not '{pair}'")
        if read.setdefault(name, value) != value:
            raise UsageError(f"{option} says both '{read[name]}' and '{value}' of '{name}'")
    return read


def split_fields(pairs: tuple[str, ...], table: FieldTable) -> dict[str, str]:
    """Read ``--field`` options; fields of other kinds of files are let alone.

    Raises:
        UsageError: When one has no equals sign, or no kind of file has such a field.
    """
    read = split_pairs(pairs, "--field")
    known = {name for one in FIELD_TABLES for name in one.names}
    known |= {f"{one.kind}.{name}" for one in FIELD_TABLES for name in one.names}
    for name in read:
        if name not in known:
            raise UsageError(
                f"--field knows no '{name}'; fields are {', '.join(table.names)}",
                hint="the field comes first, then the file's column: --field text=body",
            )
    return read


def split_mapping(options: tuple[str, ...]) -> dict[str, str]:
    """Read ``--map`` options, each of one or more CODE=GRADE with commas between.

    A part without an equals sign belongs to the next one, so that a label may hold a comma.

    Raises:
        UsageError: When one has no equals sign.
    """
    pairs: list[str] = []
    for option in options:
        pending = ""
        for part in option.split(","):
            pending = f"{pending},{part}" if pending else part
            if "=" in part:
                pairs.append(pending)
                pending = ""
        if pending:
            pairs.append(pending)
    return split_pairs(tuple(pairs), "--map")


def headerless(path: Path) -> tuple[str, ...] | None:
    """Name the columns of a table without a header: id and text, as in TSV collections.

    A CSV file has a header; one whose names are unknown is told, not taken for a row.
    """
    return None if plain_suffix(path) == ".csv" else ("id", "text")


def name_from(path: Path, generic: frozenset[str]) -> str:
    """Name something after its file; after the folder when the file's name says nothing."""
    stem = path.name
    for ending in (".gz", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".tab", ".txt", ".parquet"):
        if stem.casefold().endswith(ending):
            stem = stem[: -len(ending)]
    return path.absolute().parent.name if stem in generic and path.absolute().parent.name else stem
