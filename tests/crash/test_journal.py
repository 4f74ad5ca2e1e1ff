"""Killed while the database is locked: what was journaled comes into it, nothing lost or twice."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.calibration.policies import UNCALIBRATED
from labeler.queue.route import route_pool
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.queue import ReviewEvent
from labeler.store.database import Store, open_store
from labeler.store.journals import left_journals
from labeler.store.location import Location
from tests.crash.killing import assert_sound
from tests.small import pooled
from tests.write_lock import write_lock

PATIENCE = 60.0
_LABELER = [sys.executable, "-c", "from labeler.cli.app import main; main()"]
_UNSAVED = str(Path(__file__).with_name("unsaved.py"))


@pytest.fixture
def database(sqlite_store: Store, own_folder: Path, tmp_path: Path) -> Path:
    """A routed pool: 11 items wait."""
    pooled(sqlite_store, own_folder)
    route_pool(sqlite_store, "p", UNCALIBRATED)
    return tmp_path / "queue.db"


def journaled(database: Path) -> list[str]:
    """Give the ids of what lies beside the database."""
    waiting, _ = left_journals(Location(str(database)))
    lines = [line for path in waiting for line in path.read_text().splitlines()]
    return [json.loads(line)["key"] for line in lines]


def wait_for(database: Path, events: int) -> list[str]:
    end = time.monotonic() + PATIENCE
    while len(found := journaled(database)) < events:
        assert time.monotonic() < end, f"{len(found)} of {events} were journaled"
        time.sleep(0.02)
    return found


def stored(database: Path) -> list[str]:
    """Give the ids of the events in the database, first to last."""
    event = table(ReviewEvent)
    with open_store(Location(str(database))) as store, store.read() as connection:
        return list(connection.execute(sa.select(event.c.event_key).order_by(event.c.id)).scalars())


def votes(database: Path) -> int:
    with open_store(Location(str(database))) as store, store.read() as connection:
        return len(connection.execute(sa.select(table(Judgment).c.id)).all())


def plain(database: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Run `labeler review --plain` to its end."""
    return subprocess.run(
        [*_LABELER, "review", "--plain", "--db", str(database)],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )


def killed_app(database: Path, count: int) -> list[str]:
    """Vote while the database is locked, then kill; give what was journaled."""
    with subprocess.Popen(
        [sys.executable, _UNSAVED, str(database), str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        with write_lock(database):
            child.stdin.write("go\n")
            child.stdin.flush()
            assert child.stdout.readline() == "given\n"
            keys = wait_for(database, count)
            child.kill()
            assert child.wait() == -signal.SIGKILL
    return keys


def test_votes_of_the_app_outlive_a_kill_while_the_database_is_locked(database: Path) -> None:
    keys = killed_app(database, 3)
    assert stored(database) == []
    told = plain(database, "q\n").stdout
    assert told.startswith("3 events of a sitting that broke off stored now\n")
    assert stored(database) == keys
    assert votes(database) == 3
    assert journaled(database) == []
    assert plain(database, "q\n").stdout.startswith("u undo")
    assert (stored(database), votes(database)) == (keys, 3)
    assert_sound(database)


def test_a_kill_in_the_middle_of_the_replay_costs_nothing(database: Path) -> None:
    keys = killed_app(database, 3)
    (path,) = left_journals(Location(str(database)))[0]
    copy = shutil.copy(path, path.with_suffix(".copy"))
    assert plain(database, "q\n").returncode == 0
    # The file is there again, as after a kill between the last commit and its removal.
    shutil.move(copy, path)
    assert plain(database, "q\n").returncode == 0
    assert (stored(database), votes(database)) == (keys, 3)
    assert journaled(database) == []


def test_a_vote_of_the_line_mode_outlives_a_kill_while_the_database_is_locked(
    database: Path,
) -> None:
    with subprocess.Popen(
        [*_LABELER, "review", "--plain", "--db", str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        while not child.stdout.readline().startswith("u undo"):
            pass
        with write_lock(database):
            child.stdin.write("3\n")
            child.stdin.flush()
            keys = wait_for(database, 1)
            child.kill()
            assert child.wait() == -signal.SIGKILL
    assert plain(database, "2\nq\n").stdout.startswith("1 event of a sitting that broke off stored")
    assert stored(database)[:1] == keys
    assert votes(database) == 2
    assert_sound(database)
