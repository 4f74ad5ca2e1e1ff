"""The screen never waits for the database, and never calls saved what isn't on disk."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from labeler.store.database import Store
from tests.tui.driving import events, reviewing

pytestmark = pytest.mark.asyncio

_HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
"""


@contextmanager
def write_lock(database: Path) -> Iterator[subprocess.Popen[str]]:
    """Let another process hold the write lock until the end of the block, or until it is told."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        try:
            yield holder
        finally:
            holder.communicate("\n")


async def test_work_goes_on_while_another_process_writes(queue: Store, database: Path) -> None:
    async with reviewing(database) as app:
        with write_lock(database):
            before = app.passage
            app.clock.now += 1
            await app.pilot.press("d")
            await app.until(lambda: app.passage != before)
            assert "1 NOT SAVED" in app.text
            assert "last: fully relevant · not saved yet" in app.text
            app.clock.now += 1
            await app.pilot.press("question_mark")
            await app.until(lambda: "One key labels and goes on." in app.text)
            await app.pilot.press("escape")
            assert events(queue) == []
        await app.settled()
        assert " saved · ana" in app.text
        assert "last: fully relevant · saved" in app.text
    assert events(queue) == [("vote", None)]


async def test_no_votes_are_taken_while_five_events_wait(queue: Store, database: Path) -> None:
    async with reviewing(database) as app:
        with write_lock(database):
            for word in ("one", "two", "three"):
                await app.pilot.press("n")
                await app.write(word)
                await app.pilot.press("enter")
            await app.until(lambda: app.sitting.unsaved == 3)
            for key in ("a", "s"):
                app.clock.now += 1
                await app.pilot.press(key)
                await app.until(lambda: app.sitting._gate.painted_at is not None)
            assert "5 NOT SAVED" in app.text
            app.clock.now += 1
            await app.pilot.press("d")
            await app.pilot.pause()
            assert "not counted: 5 events wait to be saved" in app.text
            assert app.sitting.standing == 2
        await app.settled()
        await app.press("d")
    assert [kind for kind, _ in events(queue)] == ["note"] * 3 + ["vote"] * 3


async def test_when_the_held_items_run_out_it_waits_and_does_not_say_done(
    queue: Store, database: Path
) -> None:
    async with reviewing(database) as app:
        with write_lock(database):
            for _ in range(3):
                app.clock.now += 1
                await app.pilot.press("a")
                await app.pilot.pause()
            await app.until(lambda: app.sitting.current is None)
            await app.until(lambda: "Looking for the next item" in app.text)
            assert "3 NOT SAVED" in app.text
        await app.settled()
        assert app.sitting.current is not None
    assert len(events(queue)) == 3


async def test_quitting_saves_first(queue: Store, database: Path) -> None:
    async with reviewing(database) as app:
        with write_lock(database):
            app.clock.now += 1
            await app.pilot.press("d", "q")
            await app.until(lambda: "saving, then ending" in app.text)
            assert app.app.is_running
        await app.until(lambda: not app.app.is_running)
        assert app.app.lost == 0
    assert events(queue) == [("vote", None)]


async def test_quitting_twice_says_what_was_lost(queue: Store, database: Path) -> None:
    async with reviewing(database) as app:
        with write_lock(database):
            app.clock.now += 1
            await app.pilot.press("d", "q")
            await app.until(lambda: "saving, then ending" in app.text)
            await app.pilot.press("q")
            await app.until(lambda: not app.app.is_running)
            assert app.app.lost == 1
