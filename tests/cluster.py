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

    def new_database(self) -> str:
        """Make an empty database and give its address."""
        name = f"labeler_{next(self._numbers)}"
        self.run("createdb", "-h", str(self.folder), "-U", "labeler", name)
        return f"postgresql://labeler@/{name}?host={self.folder}"


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
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        cluster.run("pg_ctl", "-D", data, "-w", "-o", options, "-l", str(folder / "log"), "start")
        try:
            yield cluster
        finally:
            cluster.run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
