"""The database itself refuses to rewrite what it was told."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from labeler.records import Kind, Record, table
from labeler.records.project import Text, Tombstone
from labeler.store.database import Store
from labeler.store.guards import expected_guards, installed_guards

LOG_TABLES = sorted(
    found.name for found in Record.metadata.sorted_tables if found.info["kind"] is Kind.LOG
)


@contextmanager
def foreign_connection(store: Store) -> Iterator[sa.Connection]:
    """Connect as a program that knows nothing of Labeler and sets no pragma."""
    engine = sa.create_engine(store.location.url, poolclass=sa.pool.NullPool)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def one_row(store: Store) -> dict[str, Any]:
    with store.write("import corpus") as tx:
        key = tx.revision_id
    with store.read() as connection:
        revision = Record.metadata.tables["revision"]
        row = connection.execute(sa.select(revision).where(revision.c.id == key)).one()
        return dict(row._mapping)


REWRITES = {
    "update": "UPDATE revision SET actor = 'somebody else'",
    "delete": "DELETE FROM revision",
    "upsert": "INSERT INTO revision (id, at, actor, command, version) "
    "VALUES (1, '2026-01-01', 'b', 'c', 'd') ON CONFLICT (id) DO UPDATE SET actor = 'b'",
}


@pytest.mark.parametrize("statement", REWRITES.values(), ids=REWRITES)
def test_raw_sql_is_refused(store: Store, statement: str) -> None:
    before = one_row(store)
    with foreign_connection(store) as connection:
        with pytest.raises(DBAPIError, match="revision is append-only"):
            connection.execute(sa.text(statement))
        connection.rollback()
    with store.read() as connection:
        rows = connection.execute(sa.select(Record.metadata.tables["revision"])).all()
    assert [dict(row._mapping) for row in rows] == [before]


def test_replace_is_refused_without_our_pragmas(sqlite_store: Store) -> None:
    one_row(sqlite_store)
    raw = sqlite3.connect(sqlite_store.location.path)
    with pytest.raises(sqlite3.IntegrityError, match="revision is append-only"):
        raw.execute("REPLACE INTO revision VALUES (1, '2026-01-01', 'b', 'c', 'd')")
    raw.close()


def test_replace_by_natural_key_is_refused(sqlite_store: Store) -> None:
    raw = sqlite3.connect(sqlite_store.location.path)
    raw.execute("INSERT INTO chunk (external_id) VALUES ('d1')")
    with pytest.raises(sqlite3.IntegrityError, match="chunk is append-only"):
        raw.execute("REPLACE INTO chunk (id, external_id) VALUES (77, 'd1')")
    assert raw.execute("SELECT id FROM chunk").fetchall() == [(1,)]
    raw.close()


def test_truncate_is_refused(store: Store) -> None:
    if store.is_sqlite:
        pytest.skip("SQLite has no TRUNCATE; its DELETE is refused by another test")
    one_row(store)
    with (
        foreign_connection(store) as connection,
        pytest.raises(DBAPIError, match="is append-only"),
    ):
        connection.execute(sa.text("TRUNCATE revision CASCADE"))


@pytest.mark.parametrize("name", LOG_TABLES)
def test_every_log_table_is_guarded(sqlite_store: Store, name: str) -> None:
    with sqlite_store.read() as connection:
        guards = installed_guards(connection)
    assert {f"guard_{name}_{action}" for action in ("update", "delete", "insert")} <= guards


def test_all_guards_exist_after_migration(store: Store) -> None:
    with store.read() as connection:
        assert set(expected_guards(connection)) <= installed_guards(connection)


def test_a_text_loses_its_body_only_with_a_tombstone(store: Store) -> None:
    text = table(Text)
    with store.write("import corpus") as tx:
        tx.connection.execute(sa.insert(text).values(digest="ab", body="a private matter"))
    erase = sa.update(text).values(body=None)
    with pytest.raises(DBAPIError, match="text is append-only"), store.work() as connection:
        connection.execute(erase)
    with store.write("erase") as tx:
        tx.connection.execute(
            sa.insert(table(Tombstone)).values(
                text_id=1, reason="asked for", revision_id=tx.revision_id
            )
        )
        tx.connection.execute(erase)
    with store.read() as connection:
        assert connection.execute(sa.select(text.c.body)).scalar_one() is None
    with pytest.raises(DBAPIError, match="text is append-only"), store.work() as connection:
        connection.execute(sa.update(text).values(body="something else"))
