"""Opening a database, reading from it, writing to it.

Three kinds of transaction, and nothing else touches the database:

- `Store.read`: a consistent view; writes nothing.
- `Store.write`: appends to the log; the first thing it appends makes a revision.
- `Store.work`: changes work in progress (assignments, jobs) and caches; makes no revision.

Writers are one at a time on both databases: SQLite by ``BEGIN IMMEDIATE``, PostgreSQL by an
advisory lock, so that revisions are numbered in the order in which they were committed. Only
that makes ``--as-of`` mean something.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError

from labeler import __version__
from labeler.errors import (
    BrokenDatabaseError,
    DatabaseBusyError,
    LabelerError,
    MissingExtraError,
    NotFoundError,
    StoreError,
)
from labeler.records import table
from labeler.records.project import Revision
from labeler.store.location import Location, refuse_network_filesystem
from labeler.store.login import login_name
from labeler.store.schema import bring_up_to_date

__all__ = ["Clock", "Store", "WriteTransaction", "open_store", "utc_now"]

Clock = Callable[[], datetime]

_BUSY_MS = 10_000
_CACHE_KIB = 65_536
"""SQLite's own 2 MiB hold no index over a million ids: storing those takes 1.7 times as long."""

_WRITER_LOCK = 0x4C41424C  # "LABL": the advisory lock that PostgreSQL writers take


def utc_now() -> datetime:
    """Tell the time, in UTC."""
    return datetime.now(UTC)


@dataclass
class WriteTransaction:
    """One write transaction; its revision is made when it is first asked for.

    So a command that finds nothing to change leaves no trace.
    """

    connection: Connection
    actor: str
    command: str
    clock: Clock
    _revision: int | None = field(default=None, init=False)

    @property
    def revision_id(self) -> int:
        """The revision that everything appended here refers to."""
        if self._revision is None:
            statement = (
                sa.insert(table(Revision))
                .values(
                    at=self.clock(), actor=self.actor, command=self.command, version=__version__
                )
                .returning(table(Revision).c.id)
            )
            self._revision = int(self.connection.execute(statement).scalar_one())
        return self._revision

    @property
    def made_revision(self) -> int | None:
        """The revision that was made, or None when nothing was appended."""
        return self._revision


class Store:
    """An open database."""

    def __init__(self, engine: Engine, location: Location, clock: Clock) -> None:
        self.engine = engine
        self.location = location
        self.clock = clock

    @property
    def is_sqlite(self) -> bool:
        """Whether this is a SQLite file."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a consistent view of the database."""
        with self._transaction(writing=False) as connection:
            yield connection

    @contextmanager
    def write(
        self, command: str, *, actor: str | None = None, durable: bool = False
    ) -> Iterator[WriteTransaction]:
        """Open a transaction that appends to the log; an error undoes all of it.

        Args:
            command: What is being done, as the revision records it.
            actor: Who does it; the login name by default.
            durable: Wait until the disk has it, as for people's votes.

        Raises:
            DatabaseBusyError: When another process writes for longer than 10 seconds.
        """
        with self._transaction(writing=True, durable=durable) as connection:
            yield WriteTransaction(connection, actor or login_name(), command, self.clock)

    @contextmanager
    def work(self) -> Iterator[Connection]:
        """Open a transaction over work in progress and caches."""
        with self._transaction(writing=True) as connection:
            yield connection

    @contextmanager
    def _transaction(self, *, writing: bool, durable: bool = False) -> Iterator[Connection]:
        with translated_errors(self.location), self.engine.connect() as connection:
            if self.is_sqlite:
                connection.execution_options(labeler_writing=writing, labeler_durable=durable)
            with connection.begin():
                if writing and not self.is_sqlite:
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_WRITER_LOCK)))
                yield connection

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def translated_errors(location: Location) -> Iterator[None]:
    """Turn what the driver says into an error that a user can act on."""
    try:
        yield
    except DBAPIError as error:
        told = str(error.orig)
        if "database is locked" in told or "lock timeout" in told:
            raise DatabaseBusyError(
                f"another process is writing to {location.shown}",
                hint="wait until it has finished, then run the same command again",
            ) from None
        if "not a database" in told or "malformed" in told:
            raise BrokenDatabaseError(
                f"{location.shown} is damaged, or it isn't a SQLite database: {told}",
                hint="put a backup in its place, if there is one; keep the damaged file",
            ) from None
        if "disk is full" in told or "disk I/O error" in told or "readonly" in told:
            raise StoreError(f"{location.shown} can't be written: {told}") from None
        if "unable to open" in told or "connection failed" in told or "could not" in told:
            reason = told.splitlines()[0]
            raise StoreError(f"{location.shown} can't be opened: {reason}") from None
        raise


def _prepare_sqlite(engine: Engine) -> None:
    """Set the pragmas, and begin transactions ourselves: the driver would begin them too late."""

    @event.listens_for(engine, "connect")
    def on_connect(raw: Any, _: object) -> None:
        raw.isolation_level = None
        cursor = raw.cursor()
        cursor.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
        cursor.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA recursive_triggers=ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        level = "FULL" if options.get("labeler_durable") else "NORMAL"
        connection.exec_driver_sql(f"PRAGMA synchronous={level}")
        writing = options.get("labeler_writing", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def open_store(
    location: Location,
    *,
    create: bool = False,
    clock: Clock = utc_now,
    allow_network_filesystem: bool = False,
) -> Store:
    """Open a database and bring it up to date.

    Args:
        location: Where it is.
        create: Whether a SQLite file may be made that isn't there yet.
        clock: Tells the time of revisions.
        allow_network_filesystem: Take the risk of SQLite over a network file system.

    Raises:
        NotFoundError: When there is no such file and none is to be made.
        NetworkFilesystemError: When the file lies on a network file system.
        NewerDatabaseError: When a later version of Labeler wrote it.
        BrokenDatabaseError: When it isn't a Labeler database.
        MissingExtraError: When PostgreSQL is asked for without its driver.
    """
    if location.is_postgresql:
        try:
            import psycopg  # noqa: F401 - only to tell whether it is there
        except ImportError:
            raise MissingExtraError("a postgresql:// database", extra="postgres") from None
        engine = sa.create_engine(location.url)
    else:
        path = location.path
        if path.is_dir():
            raise StoreError(f"{path} is a folder; --db takes a file")
        if not path.exists() and not create:
            raise NotFoundError(
                f"there is no database at {location.shown}",
                hint="`labeler import corpus FILE` or `labeler demo` makes one; --db names another",
            )
        if not path.absolute().parent.is_dir():
            raise NotFoundError(f"the folder {path.absolute().parent} doesn't exist")
        if not allow_network_filesystem:
            mountinfo = Path("/proc/self/mountinfo")
            refuse_network_filesystem(path, mountinfo.read_text() if mountinfo.exists() else "")
        engine = sa.create_engine(location.url)
        _prepare_sqlite(engine)
    store = Store(engine, location, clock)
    try:
        with translated_errors(location):
            bring_up_to_date(store.read, store.work, location.shown)
    except LabelerError:
        store.close()
        raise
    return store


def network_filesystem_allowed() -> bool:
    """Tell whether the environment allows SQLite over a network file system."""
    return os.environ.get("LABELER_ALLOW_NETWORK_FS", "") not in {"", "0"}
