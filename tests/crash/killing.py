"""Starting the child, killing it, and telling what a database holds."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from labeler.store.database import open_store
from labeler.store.location import Location
from labeler.store.maintenance import check

KILLS = int(os.environ.get("LABELER_KILLS", "4"))
"""How many kills at random times each test makes."""

_CHILD = str(Path(__file__).with_name("child.py"))


def command(point: str, database: Path, *arguments: str) -> list[str]:
    """Make the command line of a child; its judge's log lies beside the database."""
    log = str(database.with_suffix(".log"))
    return [sys.executable, _CHILD, point, log, *arguments, "--db", str(database)]


def run_child(point: str, database: Path, *arguments: str) -> str:
    """Run a child; it ends well, or is killed at its point. Give what it printed."""
    done = subprocess.run(
        command(point, database, *arguments), capture_output=True, text=True, check=False
    )
    expected = 0 if point == "none" else -signal.SIGKILL
    assert done.returncode == expected, done.stderr
    return done.stdout


def kill_after(seconds: float, database: Path, *arguments: str) -> bool:
    """Run a child and kill it after some time; tell whether it was still running."""
    child = subprocess.Popen(
        command("none", database, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return True
    assert child.returncode == 0
    return False


def seconds_of(database: Path, *arguments: str) -> float:
    """Run a child to its end, and tell how long it took."""
    begin = time.monotonic()
    run_child("none", database, *arguments)
    return time.monotonic() - begin


def kill_times(seed: str, longest: float) -> Iterator[float]:
    """Give the times of the random kills, in seconds, the same in each run of the tests.

    Each is in a part of its own of the time that the command takes.
    """
    source = random.Random(seed)  # noqa: S311 - repeatable, not secret
    for number in range(KILLS):
        yield (0.5 + 0.55 * (number + source.random()) / KILLS) * longest


def copy_of(database: Path, target: Path) -> Path:
    """Copy a closed database, over whatever was there."""
    for end in ("-wal", "-shm"):
        target.with_name(target.name + end).unlink(missing_ok=True)
    shutil.copy(database, target)
    return target


def assert_sound(database: Path) -> None:
    """Open a database as any command does, and look for damage."""
    with open_store(Location(str(database))) as store:
        assert [finding for finding in check(store) if finding.problems] == []


def contents(database: Path) -> str:
    """Digest every row of every table, without the times in revisions."""
    digest = hashlib.sha256()
    raw = sqlite3.connect(database)
    names = raw.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    for (name,) in names.fetchall():
        columns = "id, actor, command, version" if name == "revision" else "*"
        for row in raw.execute(f"SELECT {columns} FROM {name} ORDER BY 1"):
            digest.update(repr((name, *row)).encode())
    raw.close()
    return digest.hexdigest()


def counts(database: Path, *tables: str) -> dict[str, int]:
    """Count rows."""
    raw = sqlite3.connect(database)
    found = {name: raw.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}
    raw.close()
    return found
