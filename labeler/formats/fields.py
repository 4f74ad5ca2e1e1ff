"""Find the columns of a file, and read fields and ids out of its rows.

The tables in ``field_tables`` say which names a column may have. Where a file has several columns
for one field, the order of the table decides, and the choice is told. ``--field text=NAME``
overrides the table. Columns that no table names are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from labeler.formats.field_tables import (
    ANY_METADATA,
    CORPUS,
    HITS,
    LABELS,
    QUERIES,
    QUERY_IDS,
    FieldTable,
    folded,
    is_header_name,
)
from labeler.formats.findings import Findings, shown

if TYPE_CHECKING:
    from labeler.formats.records import Record

__all__ = [
    "CORPUS",
    "HITS",
    "LABELS",
    "QUERIES",
    "FieldTable",
    "Fields",
    "as_id",
    "is_header_name",
    "lookup",
    "resolve",
]

_LARGEST_EXACT = 2**53
_FLAT = (
    "rows must be flat, one row a query and document, like"
    ' {"query_id": ..., "query": ..., "doc_id": ..., "passage": ...}'
)
_NOT_IN_IDS = re.compile("[\x00\ud800-\udfff]")


class Fields(dict[str, str]):
    """Field -> the column that holds it, with what is needed for rows that have other columns."""

    def __init__(self, table: FieldTable, found: Mapping[str, str]) -> None:
        super().__init__(found)
        self.table = table
        self._by_names: dict[tuple[str, tuple[str, ...]], str | None] = {}

    def column(self, wanted: str, names: tuple[str, ...]) -> str | None:
        """Find a field among the columns of one row, which need not be those of the first row."""
        key = (wanted, names)
        if key not in self._by_names:
            taken = {name for field, name in self.items() if field != wanted}
            free = [name for name in names if name not in taken]
            self._by_names[key] = next(_candidates(free, self.table.names.get(wanted, ())), None)
        return self._by_names[key]


def resolve(
    names_found: Iterable[str],
    table: FieldTable,
    overrides: Mapping[str, str],
    *,
    path: str,
    findings: Findings,
    example: Record | None = None,
) -> Fields | None:
    """Find the columns of a file.

    Args:
        names_found: The column names of the file, or the keys of its first row.
        table: The fields that are looked for.
        overrides: Field -> column name, as the user said with ``--field``. Fields of other tables
            are let alone, so that one set of overrides serves a flat file that is read thrice;
            ``queries.id`` means the field of one kind of file only.
        path: The file as the user named it.
        findings: Takes faults (a required field is missing) and notices (two columns fit).
        example: The first row, if the values should be looked at: nested rows become a fault
            that says so.

    Returns:
        Field -> column for every field that was found, or None after a fault.
    """
    names = list(dict.fromkeys(names_found))
    found = _overridden(names, table, overrides, path, findings)
    if found is None:
        return None
    chosen = set(found)
    for wanted in table.names:
        if wanted not in found:
            taken = set(found.values())
            free = [name for name in names if name not in taken]
            column = next(_candidates(free, _order(table, wanted, names)), None)
            if column is not None:
                found[wanted] = column
    nested = _nested_column(example, table, found)
    if example is not None and nested is not None:
        findings.fault(path, example.line, f"the value of {shown(nested)} is nested; {_FLAT}")
        return None
    missing = [wanted for wanted in table.required if wanted not in found]
    for wanted in missing:
        findings.fault(path, None, _missing(wanted, table, names))
    if missing:
        return None
    for wanted in found.keys() - chosen:
        _tell_choice(wanted, found, table, names, path=path, findings=findings)
    return Fields(table, found)


def lookup(record: Record, mapping: Mapping[str, str], wanted: str) -> object:
    """Read one field of a row; a field that the row itself lacks is sought in its metadata.

    Args:
        record: The row.
        mapping: What ``resolve`` gave.
        wanted: The field.

    Returns:
        The value, or None when the row has none.
    """
    values = record.values
    column = mapping.get(wanted)
    value = values.get(column) if column is not None else None
    if value is not None or not isinstance(mapping, Fields):
        return value
    column = mapping.column(wanted, tuple(values))
    value = values.get(column) if column is not None else None
    if value is not None:
        return value
    metadata = values.get(mapping.get("metadata", "metadata"))
    if not isinstance(metadata, dict) or wanted == "metadata":
        return None
    names = tuple(name for name in metadata if isinstance(name, str))
    column = next(_candidates(names, mapping.table.names.get(wanted, ())), None)
    return metadata.get(column) if column is not None else None


def as_id(value: object) -> str | None:
    """Turn an id into text, once, at the border.

    A text stays as it is: ``01`` and ``1`` are two ids. A JSON number becomes its shortest
    text: 1 and 1.0 give ``1``.

    Returns:
        The id, or None for what can't be one: nothing, an empty text, a truth value, a list, an
        object, a number too large to be exact, a text with NUL or a lone surrogate.
    """
    if isinstance(value, str):
        return value if value.strip() and not _NOT_IN_IDS.search(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        return str(value) if abs(value) < 10**40 else None
    if abs(value) > _LARGEST_EXACT or value != value:  # noqa: PLR0124 - NaN is unequal to itself
        return None
    return str(int(value)) if value.is_integer() else repr(value)


def _candidates(found: Iterable[str], names: Iterable[str]) -> Iterator[str]:
    """List the columns that fit a field: by the order of the table, as written before folded."""
    columns = list(found)
    seen: set[str] = set()
    for name in names:
        fitting = [column for column in columns if folded(column) == folded(name)]
        for column in sorted(fitting, key=lambda column: column != name):
            if column not in seen:
                seen.add(column)
                yield column


def _order(table: FieldTable, wanted: str, names: list[str]) -> tuple[str, ...]:
    """Put the plain ``id`` of a flat pool last: there it numbers the rows, not the documents."""
    order = table.names[wanted]
    if table is not CORPUS or wanted != "id":
        return order
    if next(_candidates(names, QUERY_IDS), None) is None:
        return order
    plain = {"_id", "id"}
    return (*(name for name in order if name not in plain), "_id", "id")


def _overridden(
    names: list[str],
    table: FieldTable,
    overrides: Mapping[str, str],
    path: str,
    findings: Findings,
) -> dict[str, str] | None:
    found = {}
    for wanted in table.names:
        name = overrides.get(f"{table.kind}.{wanted}", overrides.get(wanted))
        if name is None:
            continue
        if name not in names:
            findings.fault(
                path,
                None,
                f"no column is called {shown(name)} (--field {wanted}={name});"
                f" found: {_listed(names)}",
            )
            return None
        found[wanted] = name
    return found


def _missing(wanted: str, table: FieldTable, names: list[str]) -> str:
    known = ", ".join(table.names[wanted])
    return (
        f"no column for the {wanted} of {table.kind}; found: {_listed(names)};"
        f" known names are {known}; for another name say --field {wanted}=NAME"
    )


def _listed(names: list[str]) -> str:
    return ", ".join(shown(name, 40) for name in names[:40]) or "nothing"


def _tell_choice(
    wanted: str,
    found: Mapping[str, str],
    table: FieldTable,
    names: list[str],
    *,
    path: str,
    findings: Findings,
) -> None:
    """Tell which of several columns was taken, unless the others serve other fields."""
    used = set(found.values())
    others = [name for name in _candidates(names, table.names[wanted]) if name not in used]
    if others:
        findings.notice(
            path,
            None,
            f"{shown(found[wanted])} is taken as the {wanted}, not {_listed(others)};"
            f" to change that say --field {wanted}=NAME",
        )


def _nested_column(
    example: Record | None, table: FieldTable, found: Mapping[str, str]
) -> str | None:
    """Find the column of a required field that holds an object or a list.

    Where a required field has no column, any column with objects in it is meant.
    """
    if example is None:
        return None
    columns = [found[wanted] for wanted in table.required if wanted in found]
    for name in columns:
        if isinstance(example.values.get(name), dict | list):
            return name
    if len(columns) == len(table.required):
        return None
    for name, value in example.values.items():
        if folded(name) in ANY_METADATA:
            continue
        if isinstance(value, dict) and value:
            return name
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            return name
    return None
