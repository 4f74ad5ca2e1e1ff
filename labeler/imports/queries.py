"""Queries, with what is known of each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa

from labeler.errors import Fault, InputError
from labeler.formats.findings import Findings, shown
from labeler.imports.parts import files_of
from labeler.imports.query_rows import QueryRow, group_patterns, read_queries
from labeler.imports.report import ImportReport, settle
from labeler.records import table
from labeler.records.queries import Origin, Query, QueryVersion
from labeler.store.bulk import find_ids, insert_rows, intern, is_one_of
from labeler.store.database import Store, WriteTransaction
from labeler.store.registry import store_texts
from labeler.store.slices import follow_queries

__all__ = ["QueryOptions", "import_queries", "store_queries"]

_VERSION = table(QueryVersion)


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """What the user says about queries beside their files; files have the last word."""

    domain: str | None = None
    language: str | None = None
    slices: tuple[str, ...] = ()
    origin: Origin = Origin.HISTORICAL
    groups: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    update: bool = False
    lenient: bool = False


def import_queries(store: Store, paths: Sequence[Path], options: QueryOptions) -> ImportReport:
    """Read files and store each query's first version, or, with ``update``, a next one.

    Raises:
        InputError: When a file holds faults, or a known query would change without ``update``.
    """
    findings = Findings()
    files = files_of(paths, "queries", findings)
    defaults = QueryRow(
        key="",
        text="",
        domain=options.domain,
        language=options.language,
        slices=options.slices,
        origin=options.origin,
    )
    groups = group_patterns(options.groups)
    rows = read_queries(files, options.fields, groups, defaults, findings)
    if not rows and not findings.faults:
        findings.fault(paths[0], None, "no queries")
    left_out = settle(findings, lenient=options.lenient, kept=len(rows))
    with store.write("import queries") as tx:
        added, updated = store_queries(tx, rows, update=options.update, path=str(paths[0]))
    with_groups = sum(bool(row.group_keys) for row in rows)
    return ImportReport(
        "queries",
        {
            "queries": len(rows),
            "domains": len({row.domain for row in rows if row.domain}),
            "with conditions": sum(bool(row.conditions) for row in rows),
            "with group keys": with_groups,
            "groups": len({tuple(sorted(row.group_keys.items())) for row in rows} - {()}),
            "left out": left_out,
            "added": added,
            "updated": updated,
        },
        {},
        tuple(findings.notices),
        tx.made_revision,
    )


def store_queries(
    tx: WriteTransaction, rows: Sequence[QueryRow], *, update: bool, path: str
) -> tuple[int, int]:
    """Append the first versions of queries, or next ones; tell how many of each.

    Raises:
        InputError: When a known query would change without ``update``.
    """
    known = find_ids(tx.connection, table(Query), [row.key for row in rows])
    in_force = _versions_in_force(tx, list(known.values()))
    changed = [
        row
        for row in rows
        if row.key in known
        and known[row.key] in in_force
        and in_force[known[row.key]][1] != row.digest
    ]
    if changed and not update:
        raise InputError(
            [
                Fault(path, None, f"the query {shown(row.key)} is known with other content")
                for row in changed
            ],
            hint="add --update to make these the next versions of the queries",
        )
    news = [row for row in rows if known.get(row.key) not in in_force]
    writing = [*news, *changed]
    if not writing:
        return 0, 0
    keys = intern(tx.connection, table(Query), [row.key for row in writing])
    bodies = [text for row in writing for text in (row.text, row.need) if text is not None]
    texts = store_texts(tx.connection, bodies)
    insert_rows(
        tx.connection,
        _VERSION,
        [
            *("query_id", "version", "text_id", "need_id", "domain", "language", "slices"),
            *("weight", "origin", "conditions", "group_keys", "required_evidence", "digest"),
            "revision_id",
        ],
        [
            (
                keys[row.key],
                in_force.get(keys[row.key], (0, ""))[0] + 1,
                texts[row.text],
                texts[row.need] if row.need is not None else None,
                row.domain,
                row.language,
                _json(row.slices),
                row.weight,
                row.origin.value,
                _json(row.conditions),
                _json(row.group_keys),
                _json(row.required_evidence),
                row.digest,
                tx.revision_id,
            )
            for row in writing
        ],
    )
    follow_queries(tx.connection, [known[row.key] for row in writing if row.key in known])
    return len(news), len(changed)


def _versions_in_force(tx: WriteTransaction, keys: Sequence[int]) -> dict[int, tuple[int, str]]:
    """Give the number and the digest of each query's version in force."""
    statement = (
        sa.select(_VERSION.c.query_id, _VERSION.c.version, _VERSION.c.digest)
        .where(is_one_of(tx.connection, _VERSION.c.query_id, keys))
        .order_by(_VERSION.c.version)
    )
    rows = tx.connection.execute(statement)
    return {int(key): (int(version), str(digest)) for key, version, digest in rows}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
