"""The screen never waits for the database, and never calls saved what isn't on disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from labeler.store.database import Store
from labeler.store.journals import left_journals
from labeler.store.location import Location
from tests.tui.driving import PATIENCE, events, reviewing
from tests.write_lock import write_lock

pytestmark = pytest.mark.asyncio


def journaled(database: Path) -> int:
    """Count the events that lie beside the database."""
    waiting, _ = left_journals(Location(str(database)))
    return sum(len(path.read_text().splitlines()) for path in waiting)


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


async def test_quitting_twice_leaves_in_a_file_what_isn_t_saved(
    queue: Store, database: Path
) -> None:
    async with reviewing(database) as app:
        with write_lock(database):
            app.clock.now += 1
            await app.pilot.press("d", "q")
            await app.until(lambda: "saving, then ending" in app.text)
            await app.pilot.press("q")
            await app.until(lambda: not app.app.is_running)
            assert (app.app.lost, app.app.kept) == (0, 1)
            assert journaled(database) == 1
        # A process would be gone by now, and the next start would store it.
        app.app._writer.join(PATIENCE)
        assert not app.app._writer.is_alive()
    assert events(queue) == [("vote", None)]
    assert journaled(database) == 0


async def test_what_takes_long_is_kept_in_a_file_until_it_is_saved(
    queue: Store, database: Path
) -> None:
    async with reviewing(database) as app:
        with write_lock(database):
            for key in ("d", "a"):
                app.clock.now += 1
                await app.pilot.press(key)
                await app.until(lambda: app.sitting._gate.painted_at is not None)
            async with asyncio.timeout(PATIENCE):
                while journaled(database) < 2:
                    await asyncio.sleep(0.02)
            assert "2 NOT SAVED" in app.text
        await app.settled()
        async with asyncio.timeout(PATIENCE):
            while journaled(database):
                await asyncio.sleep(0.02)
    assert len(events(queue)) == 2
