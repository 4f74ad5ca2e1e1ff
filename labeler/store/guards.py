"""Append-only, refused by the database itself.

On SQLite, triggers stop UPDATE and DELETE. REPLACE removes a row without firing a delete trigger
unless ``recursive_triggers`` is on, which a foreign program doesn't set; so a third trigger stops
an INSERT whose key is taken. On PostgreSQL, statement triggers stop UPDATE, DELETE and TRUNCATE,
and with them ``ON CONFLICT DO UPDATE``.

A text with a tombstone may lose its body; nothing else about a text may change.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Connection, Table, UniqueConstraint

from labeler.records import Kind, Record

__all__ = ["expected_guards", "install_guards", "installed_guards"]


def _tables(kind: Kind) -> list[Table]:
    return [found for found in Record.metadata.sorted_tables if found.info.get("kind") is kind]


def _keys(guarded: Table) -> list[list[str]]:
    keys = [[column.name for column in guarded.primary_key]]
    keys += [
        [column.name for column in constraint.columns]
        for constraint in guarded.constraints
        if isinstance(constraint, UniqueConstraint)
    ]
    return sorted(keys)


def _taken(name: str, key: list[str]) -> str:
    same = " AND ".join(f'"{column}" = NEW."{column}"' for column in key)
    return f'EXISTS (SELECT 1 FROM "{name}" WHERE {same})'  # noqa: S608 - our own names


def _sqlite_guards() -> dict[str, str]:
    made: dict[str, str] = {}
    for guarded in [*_tables(Kind.LOG), *_tables(Kind.TEXT)]:
        name = guarded.name
        refuse = f"SELECT RAISE(ABORT, 'labeler: {name} is append-only')"
        changed = "1"
        if guarded.info["kind"] is Kind.TEXT:
            changed = (
                "NEW.body IS NOT NULL OR NEW.id IS NOT OLD.id OR NEW.digest IS NOT OLD.digest "
                "OR NOT EXISTS (SELECT 1 FROM tombstone WHERE text_id = OLD.id)"
            )
        taken = " OR ".join(_taken(name, key) for key in _keys(guarded))
        for action, when in (
            ("update", changed),
            ("delete", "1"),
            ("insert", taken),
        ):
            trigger = f"guard_{name}_{action}"
            made[trigger] = (
                f'CREATE TRIGGER {trigger} BEFORE {action.upper()} ON "{name}" '
                f"WHEN {when} BEGIN {refuse}; END"
            )
    return made


_POSTGRESQL_FUNCTIONS = (
    """
    CREATE OR REPLACE FUNCTION labeler_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'labeler: % is append-only', TG_TABLE_NAME; END $$
    """,
    """
    CREATE OR REPLACE FUNCTION labeler_text_update() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.body IS NULL AND NEW.id = OLD.id AND NEW.digest = OLD.digest
         AND EXISTS (SELECT 1 FROM tombstone WHERE text_id = OLD.id) THEN
        RETURN NEW;
      END IF;
      RAISE EXCEPTION 'labeler: % is append-only', TG_TABLE_NAME;
    END $$
    """,
)


def _postgresql_guards() -> dict[str, str]:
    made: dict[str, str] = {}
    for guarded in [*_tables(Kind.LOG), *_tables(Kind.TEXT)]:
        name = guarded.name
        is_text = guarded.info["kind"] is Kind.TEXT
        for action in ("update", "delete", "truncate"):
            by_row = is_text and action == "update"
            trigger = f"guard_{name}_{action}"
            made[trigger] = (
                f'CREATE TRIGGER {trigger} BEFORE {action.upper()} ON "{name}" '
                f"FOR EACH {'ROW' if by_row else 'STATEMENT'} EXECUTE FUNCTION "
                f"{'labeler_text_update' if by_row else 'labeler_append_only'}()"
            )
    return made


def expected_guards(connection: Connection) -> dict[str, str]:
    """Give the triggers that must exist, by name, with the statement that makes each."""
    return _sqlite_guards() if connection.dialect.name == "sqlite" else _postgresql_guards()


def installed_guards(connection: Connection) -> set[str]:
    """Name the triggers that exist."""
    if connection.dialect.name == "sqlite":
        statement = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    else:
        statement = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
    return {str(name) for (name,) in connection.execute(sa.text(statement))}


def install_guards(connection: Connection) -> None:
    """Make every trigger again. A migration that rebuilds a table drops its triggers."""
    found = installed_guards(connection)
    if connection.dialect.name != "sqlite":
        for function in _POSTGRESQL_FUNCTIONS:
            connection.execute(sa.text(function))
    for name, statement in expected_guards(connection).items():
        if name in found:
            where = name.removeprefix("guard_").rpartition("_")[0]
            suffix = "" if connection.dialect.name == "sqlite" else f' ON "{where}"'
            connection.execute(sa.text(f"DROP TRIGGER {name}{suffix}"))
        connection.execute(sa.text(statement))
