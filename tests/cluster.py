"""A PostgreSQL cluster of the test session's own, from the server that is installed here."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from labeler.store.database import open_store
from labeler.store.location import Location

_MIGRATED = "labeler_migrated"


def find_binaries() -> Path | None:
    """Give the folder of the newest installed server, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: path.parts[4])
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else None


def server_user() -> str | None:
    """Name a user that may run the server; root may not. None means the present user."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        if subprocess.run(["id", name], capture_output=True, check=False).returncode == 0:
            return name
    return None


@dataclass
class Cluster:
    """A running cluster, reached by its socket."""

    folder: Path
    binaries: Path
    user: str | None
    _numbers: Iterator[int] = field(default_factory=count)
    _is_migrated: bool = False
    _connection: Any = None

    def run(self, program: str, *arguments: str) -> None:
        """Run one of the server's programs as its user."""
        result = subprocess.run(
            [str(self.binaries / program), *arguments],
            user=self.user,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if result.returncode:
            raise RuntimeError(f"{program} ended with {result.returncode}: {result.stderr}")

    def empty_database(self, name: str | None = None) -> str:
        """Make a database without a table and give its address."""
        return self._create(name or self._next_name(), "template1")

    def new_database(self) -> str:
        """Make a database of a project that holds nothing yet and give its address.

        It is a copy of one that was migrated: migrating takes many times as long.
        """
        if not self._is_migrated:
            address = self.empty_database(_MIGRATED)
            open_store(Location(address), create=True).close()
            self._is_migrated = True
        return self._create(self._next_name(), _MIGRATED)

    def drop(self, address: str) -> None:
        """Give a database's room back, whoever is still connected to it."""
        name = address.partition("@/")[2].partition("?")[0]
        self._tell(f"DROP DATABASE {name} WITH (FORCE)")

    def close(self) -> None:
        """End the connection that databases are made with."""
        if self._connection is not None:
            self._connection.close()

    def _next_name(self) -> str:
        return f"labeler_{next(self._numbers)}"

    def _create(self, name: str, template: str) -> str:
        self._tell(f"CREATE DATABASE {name} TEMPLATE {template}")
        return f"postgresql://labeler@/{name}?host={self.folder}"

    def _tell(self, statement: str) -> None:
        import psycopg

        if self._connection is None:
            self._connection = psycopg.connect(
                host=str(self.folder), user="labeler", dbname="postgres", autocommit=True
            )
        self._connection.execute(statement)


@contextmanager
def running_cluster(binaries: Path) -> Iterator[Cluster]:
    """Start a cluster in a folder of its own, and stop it at the end."""
    # Short: a socket's path may hold 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    user = server_user()
    if user is not None:
        shutil.chown(folder, user)
    cluster = Cluster(folder, binaries, user)
    data = str(folder / "data")
    try:
        cluster.run("initdb", "-D", data, "-U", "labeler", "-A", "trust", "-E", "UTF8", "-N")
        # What it holds ends with the tests, so nothing is done that only a crash or years ask for.
        options = (
            f"-k {folder} -c listen_addresses='' -c fsync=off -c full_page_writes=off"
            " -c autovacuum=off -c max_wal_size=64MB -c min_wal_size=32MB"
        )
        cluster.run("pg_ctl", "-D", data, "-w", "-o", options, "-l", str(folder / "log"), "start")
        try:
            yield cluster
        finally:
            cluster.close()
            cluster.run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
