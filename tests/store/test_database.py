"""Opening, migrating, and the three kinds of transaction."""

from __future__ import annotations

import sqlite3
import threading
from itertools import pairwise
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.errors import (
    BrokenDatabaseError,
    ConflictError,
    NetworkFilesystemError,
    NewerDatabaseError,
    NotFoundError,
    StoreError,
    UsageError,
)
from labeler.records import Record, table
from labeler.records.project import Revision
from labeler.store.database import Store, open_store
from labeler.store.location import Location, find_location, refuse_network_filesystem
from labeler.store.maintenance import backup, check
from labeler.store.schema import HEAD, KNOWN, schema_version
from tests.conftest import Ticking


def test_the_migrated_schema_is_the_one_of_the_records(store: Store) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with store.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        assert compare_metadata(context, Record.metadata) == []


def test_head_is_the_newest_migration() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", "labeler.store:migrations")
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_heads() == [HEAD]
    assert {script.revision for script in scripts.walk_revisions()} == set(KNOWN)


def test_a_newer_database_is_refused_in_one_line(location: Location, clock: Ticking) -> None:
    with open_store(location, create=True, clock=clock) as store, store.work() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(NewerDatabaseError, match="later version of Labeler") as caught:
        open_store(location)
    assert "\n" not in caught.value.message
    assert caught.value.hint == "pip install --upgrade labeler"


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE customers (id INTEGER)")
    other.close()
    with pytest.raises(BrokenDatabaseError, match="customers"):
        open_store(Location(str(tmp_path / "other.db")))


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Not a database at all, but long enough to look at. " * 40)
    with pytest.raises(BrokenDatabaseError, match="isn't a SQLite database"):
        open_store(Location(str(path)))
    assert path.read_text().startswith("Not a database")


def test_a_missing_database_is_not_made_by_reading(tmp_path: Path) -> None:
    path = tmp_path / "queue.db"
    with pytest.raises(NotFoundError, match="no database"):
        open_store(Location(str(path)))
    assert not path.exists()


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        open_store(Location(str(tmp_path)), create=True)


def test_an_unreachable_server_is_told_without_its_password() -> None:
    pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")
    with pytest.raises(StoreError, match="can't be opened") as caught:
        open_store(Location("postgresql://ana:secret@127.0.0.1:1/labels"))
    assert "secret" not in str(caught.value)


def test_a_write_that_appends_nothing_makes_no_revision(store: Store) -> None:
    with store.write("route") as tx:
        pass
    assert tx.made_revision is None
    with store.read() as connection:
        assert connection.execute(sa.select(table(Revision))).all() == []


def test_a_failed_write_leaves_nothing(store: Store) -> None:
    def interrupted() -> None:
        with store.write("import runs") as tx:
            assert tx.revision_id
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        interrupted()
    with store.read() as connection:
        assert connection.execute(sa.select(table(Revision))).all() == []


def test_revisions_are_numbered_in_the_order_of_commits(store: Store) -> None:
    """Many writers at once: a revision never becomes visible after a later one."""

    def writes(name: str) -> None:
        for _ in range(10):
            with store.write("vote", actor=name) as tx:
                assert tx.revision_id

    threads = [threading.Thread(target=writes, args=(name,)) for name in ("ana", "bo", "cy")]
    seen: list[list[int]] = []
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        with store.read() as connection:
            query = sa.select(table(Revision).c.id).order_by(table(Revision).c.id)
            seen.append([key for (key,) in connection.execute(query)])
    for thread in threads:
        thread.join()
    for earlier, later in pairwise(seen):
        assert later[: len(earlier)] == earlier


def test_times_come_back_in_utc(store: Store) -> None:
    with store.write("import corpus", actor="ana") as tx:
        assert tx.revision_id == 1
    with store.read() as connection:
        row = connection.execute(sa.select(table(Revision))).one()
    assert row.at.isoformat() == "2026-07-01T12:00:01+00:00"
    assert (row.actor, row.command) == ("ana", "import corpus")


def test_check_finds_a_missing_guard(store: Store) -> None:
    assert all(not finding.problems for finding in check(store))
    suffix = "" if store.is_sqlite else " ON hit"
    with store.work() as connection:
        connection.execute(sa.text(f"DROP TRIGGER guard_hit_delete{suffix}"))
    problems = [problem for finding in check(store) for problem in finding.problems]
    assert problems == ["the trigger guard_hit_delete is missing"]


def test_backup_is_complete_and_refuses_to_overwrite(sqlite_store: Store, tmp_path: Path) -> None:
    with sqlite_store.write("import corpus") as tx:
        assert tx.revision_id
    target = tmp_path / "copy.db"
    assert backup(sqlite_store, target) == target.stat().st_size
    with open_store(Location(str(target))) as copy, copy.read() as connection:
        assert schema_version(connection) == HEAD
        assert len(connection.execute(sa.select(table(Revision))).all()) == 1
    with pytest.raises(ConflictError, match="already there"):
        backup(sqlite_store, target)


def test_the_place_of_the_database(tmp_path: Path) -> None:
    assert find_location(None, {}, tmp_path).path == tmp_path / "queue.db"
    (tmp_path / "labeler.toml").write_text('db = "labels/main.db"\n')
    assert find_location(None, {}, tmp_path).path == tmp_path / "labels/main.db"
    environment = {"LABELER_DB": "postgresql://ana:secret@host/labels"}
    found = find_location(None, environment, tmp_path)
    assert found.is_postgresql
    assert found.shown == "postgresql://ana:***@host/labels"
    assert find_location("here.db", environment, tmp_path).address == "here.db"


@pytest.mark.parametrize("text", ["db = 3", "db = ", "\ufffd\x00"])
def test_bad_settings_are_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "labeler.toml").write_text(text)
    with pytest.raises(UsageError, match=r"labeler\.toml"):
        find_location(None, {}, tmp_path)


def test_other_addresses_are_refused() -> None:
    with pytest.raises(UsageError, match="neither a file nor a postgresql"):
        Location("mysql://ana@host/labels")


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "9p"])
def test_network_file_systems_are_refused(tmp_path: Path, kind: str) -> None:
    mounts = (
        "21 1 0:19 / / rw - ext4 /dev/sda rw\n"
        f"35 21 0:30 / {tmp_path} rw,relatime shared:1 - {kind} server:/x rw\n"
    )
    with pytest.raises(NetworkFilesystemError, match=kind.replace(".", r"\.")):
        refuse_network_filesystem(tmp_path / "queue.db", mounts)
    refuse_network_filesystem(tmp_path.parent / "queue.db", mounts)
    refuse_network_filesystem(tmp_path / "queue.db", "")
