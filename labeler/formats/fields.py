"""Which column means what: one stated table a kind of file.

Names are compared without case, blanks, ``_`` and ``-``: ``queryId``, ``query-id`` and
``Query ID`` are one name. Where a file has several columns for one field, the order of the table
decides, and the choice is told. ``--field text=NAME`` overrides the table. Columns that no table
names are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

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


@dataclass(frozen=True, slots=True)
class FieldTable:
    """The fields of one kind of file.

    Attributes:
        kind: What a row is, for messages: ``corpus``, ``queries`` ...
        names: Field -> the names that a column may have, best first.
        required: The fields without which the file can't be read.
    """

    kind: str
    names: Mapping[str, tuple[str, ...]]
    required: tuple[str, ...]


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


_QUERY_IDS = ("query_id", "qid", "q_id", "topic_id", "query_number", "topic")
_DOCUMENT_IDS = (
    "doc_id", "docid", "docno", "document_id", "corpus_id", "chunk_id", "passage_id", "pid",
    "product_id", "item_id", "evidence_id",
)  # fmt: skip
_QUERY_TEXTS = ("query_text", "query", "question", "topic_title")
_ANY_METADATA = ("metadata", "meta")

CORPUS = FieldTable(
    "corpus",
    {
        "id": ("chunk_id", "passage_id", "pid", "_id", "id", "doc_id", "docid", "docno",
               "corpus_id", "document_id", "product_id", "item_id", "evidence_id"),
        "text": ("text", "passage", "passage_text", "contents", "content", "body", "context",
                 "chunk_text", "chunk", "page_content", "segment", "document_text", "doc_text",
                 "abstract"),
        "title": ("title", "doc_title", "document_title", "headline", "product_title"),
        "document": ("document_id", "document", "source_document", "source_document_id", "doc_id",
                     "docid", "doc_name", "parent_id", "file_name"),
        "evidence": ("evidence_ids", "evidence_id", "evidence", "canonical_id"),
        "domain": ("domain",),
        "product": ("product", "product_name"),
        "region": ("region", "country", "market"),
        "effective_date": ("effective_date", "valid_from", "effective_from"),
        "supersedes": ("supersedes", "replaces"),
        "source": ("source",),
        "url": ("url", "uri", "link"),
        "position": ("position", "chunk_index", "chunk_number", "ordinal"),
        "metadata": _ANY_METADATA,
    },
    ("id", "text"),
)  # fmt: skip
"""Passages: a corpus of documents or chunks."""

QUERIES = FieldTable(
    "queries",
    {
        "id": (*_QUERY_IDS, "_id", "id"),
        "text": ("text", *_QUERY_TEXTS, "title"),
        "need": ("information_need", "need", "description", "narrative", "intent"),
        "domain": ("domain",),
        "language": ("language", "lang", "locale"),
        "slices": ("slices", "slice", "segments"),
        "weight": ("weight", "query_weight"),
        "origin": ("origin",),
        "conditions": ("conditions",),
        "product": ("product",),
        "region": ("region", "country", "market"),
        "date": ("date", "as_of", "query_date"),
        "audience": ("audience",),
        "conversation": ("conversation_id", "conversation", "session_id", "dialogue_id"),
        "template": ("template_id", "template"),
        "entity": ("entity_id", "entity"),
        "source_document": ("source_document_id", "source_document", "source_doc_id", "doc_name"),
        "required_evidence": ("required_evidence", "required_evidence_ids", "gold_evidence",
                              "gold_evidence_ids"),
        "metadata": _ANY_METADATA,
    },
    ("id", "text"),
)  # fmt: skip
"""Queries."""

LABELS = FieldTable(
    "labels",
    {
        "query": (*_QUERY_IDS, "query", "query_text", "question"),
        "document": (*_DOCUMENT_IDS, "document", "doc", "passage", "entity"),
        "query_text": _QUERY_TEXTS,
        "label": ("label", "grade", "rating", "relevance", "score", "judgment", "judgement",
                  "rel", "qrel", "esci_label", "value"),
        "rater": ("rater", "annotator", "assessor", "user", "rater_id", "annotator_id",
                  "user_email", "worker_id", "reviewer", "judge", "labeler"),
        "at": ("at", "timestamp", "created_at", "updated_at", "judged_at", "labeled_at", "date",
               "time"),
        "unrateable": ("unrateable", "unratable", "cannot_judge", "skipped", "skip"),
        "iteration": ("iteration", "iter"),
        "note": ("note", "notes", "comment", "explanation", "reason"),
        "metadata": _ANY_METADATA,
    },
    ("query", "document", "label"),
)  # fmt: skip
"""Labels of query and document, by people or machines."""

HITS = FieldTable(
    "hits",
    {
        "query": (*_QUERY_IDS, "query", "query_text", "question"),
        "document": (*_DOCUMENT_IDS, "document", "doc", "entity"),
        "query_text": _QUERY_TEXTS,
        "rank": ("rank", "position"),
        "score": ("score", "similarity", "relevance_score", "sim"),
        "system": ("system", "retriever", "run", "run_id", "run_name", "tag", "model"),
        "systems": ("systems", "retrievers"),
        "latency_ms": ("latency_ms", "latency", "took_ms", "duration_ms"),
        "cost": ("cost", "cost_usd"),
        "timed_out": ("timed_out", "timeout"),
        "cache_state": ("cache_state", "cache", "cache_hit"),
        "depth": ("depth", "top_k"),
        "metadata": _ANY_METADATA,
    },
    ("query", "document"),
)  # fmt: skip
"""What retrievers returned, one row a hit; also the flat pool of query, passage and systems."""

_TABLES = (CORPUS, QUERIES, LABELS, HITS)


def _folded(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).lower()


_KNOWN = frozenset(
    _folded(name) for table in _TABLES for names in table.names.values() for name in names
)


def is_header_name(name: str, wanted: str | None = None) -> bool:
    """Whether a cell is a column name of some table, or one for a field of LABELS."""
    if wanted is None:
        return _folded(name) in _KNOWN
    return any(_folded(name) == _folded(known) for known in LABELS.names[wanted])


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
        fitting = [column for column in columns if _folded(column) == _folded(name)]
        for column in sorted(fitting, key=lambda column: column != name):
            if column not in seen:
                seen.add(column)
                yield column


def _order(table: FieldTable, wanted: str, names: list[str]) -> tuple[str, ...]:
    """Put the plain ``id`` of a flat pool last: there it numbers the rows, not the documents."""
    order = table.names[wanted]
    if table is not CORPUS or wanted != "id":
        return order
    if next(_candidates(names, _QUERY_IDS), None) is None:
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
        if _folded(name) in _ANY_METADATA:
            continue
        if isinstance(value, dict) and value:
            return name
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            return name
    return None
