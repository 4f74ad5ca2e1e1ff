"""The states in which there is nothing to judge, or nowhere to show it: each is told truthfully."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot

from labeler.assessment.rubric import LevelGuide, Rubric
from labeler.calibration.policies import UNCALIBRATED
from labeler.cli.review import OpenDesk
from labeler.errors import NotFoundError
from labeler.labels import BINARY, TREC, Scale
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.claims import LEASE
from labeler.queue.route import route_pool
from labeler.queue.sitting.orders import Vote
from labeler.queue.sitting.session import ReviewSession
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from tests.small import fill, pooled
from tests.tui.driving import HandClock, events, reviewing
from tui.app import ReviewApp, Seat

pytestmark = pytest.mark.asyncio


def pool_on(store: Store, folder: Path, scale: Scale) -> None:
    """Pool the small project under a rubric on a scale, and route it."""
    guides = {level.name: LevelGuide(f"means {level.name}") for level in scale.levels}
    fill(store, folder)
    options = PoolOptions(depth=3, rubric=Rubric("own", scale, "Judge.", guides))
    create_pool(store, "p", options)
    route_pool(store, "p", UNCALIBRATED)


async def test_all_done(queue: Store, database: Path) -> None:
    async with reviewing(database) as app:
        await app.press(*("a" * 11))
        assert "All done: nothing is left for you." in app.text
        assert "11 votes saved, 0 skipped, 0 taken back; 1.0 s an item" in app.text
        assert "11/11 100%" in app.text
        await app.press("u")
        assert app.sitting.current is not None


async def test_nothing_waits_at_all(sqlite_store: Store, database: Path) -> None:
    async with reviewing(database) as app:
        assert "Nothing waits for you." in app.text
        await app.press("a", "x", "n", "g", "c", "r")
        assert "Nothing waits for you." in app.text


async def test_a_pool_with_nothing_waiting_says_how_to_go_on(
    queue: Store, database: Path, own_folder: Path
) -> None:
    guides = {level.name: LevelGuide("a meaning") for level in BINARY.levels}
    rubric = Rubric("other", BINARY, "Judge.", guides)
    create_pool(queue, "empty", PoolOptions(depth=1, rubric=rubric))
    async with reviewing(database, pool="empty") as app:
        assert "0 of 11 waiting items match: pool empty." in app.text
        await app.press("w")
        assert app.sitting.current is not None
        assert "0/11 0%" in app.text


async def test_items_that_others_hold_are_waited_for(queue: Store, database: Path) -> None:
    others = open_store(Location(str(database)))  # on the real clock, as the app's own
    bo = ReviewSession(others, "bo")
    assert bo.current is not None
    async with reviewing(database) as app:
        await app.press(*("a" * 8))
        assert "3 items are held by others; the next is free in" in app.text
        left = app.sitting.left
        assert left is not None
        assert left.left is not None
        assert left.left.next_free is not None
        app.clock.day = left.left.next_free - timedelta(minutes=3, seconds=12)
        app.clock.now += 1
        app.app._review.tick()
        await app.settled()
        assert "the next is free in 03:12" in app.text
        bo.close()
        app.clock.now += 60
        app.app._review.tick()
        await app.settled()
        assert app.sitting.current is not None
        await app.press("a", "a", "a")
        assert "All done" in app.text
    others.close()
    assert len(events(queue)) == 11


async def test_a_lease_is_renewed_by_keys_and_by_nothing_else(queue: Store, database: Path) -> None:
    from labeler.queue.claims import queue_left

    async with reviewing(database) as app:
        held_until = queue_left(queue, -1).next_free
        assert held_until is not None
        app.clock.now += 300
        app.app._review.tick()
        await app.settled()
        assert queue_left(queue, -1).next_free == held_until
        await app.press("j", "k", after=61)
        renewed = queue_left(queue, -1).next_free
        assert renewed is not None
        assert held_until < renewed < held_until + LEASE


@pytest.mark.parametrize("size", [(59, 24), (80, 15), (20, 5)])
async def test_a_terminal_that_is_too_small_says_which_size_it_needs(
    queue: Store, database: Path, size: tuple[int, int]
) -> None:
    async with reviewing(database, size=size) as app:
        assert "60x16" in app.text
        await app.press("a", "1", "x", "n", "?")
        assert len(app.app.screen_stack) == 1
        assert events(queue) == []
        await app.pilot.resize_terminal(60, 16)
        await app.settled()
        assert "60x16" not in app.text
        assert "can't judge" in app.text
        await app.press("a")
    assert events(queue) == [("vote", None)]


async def test_a_wide_terminal_has_a_side_pane(queue: Store, database: Path) -> None:
    async with reviewing(database, size=(120, 40)) as app:
        assert "The passage is from" in app.text
        await app.pilot.resize_terminal(80, 24)
        await app.settled()
        assert "The passage is from" not in app.text


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (120, 16), (120, 40)])
async def test_region_and_date_of_a_passage_stand_above_it_whatever_the_rubric_takes(
    queue: Store, database: Path, size: tuple[int, int]
) -> None:
    async with reviewing(database, size=size) as app:
        rows = app.text.splitlines()
        rule = next(place for place, row in enumerate(rows) if row.startswith("─ passage"))
        assert "region EU" in rows[rule + 1]


@pytest.mark.parametrize(
    ("scale", "key", "code", "cannot"), [(TREC, "4", 3, "5"), (BINARY, "s", 1, "3")]
)
async def test_other_scales_have_keys_from_the_worst_level_to_the_best(
    sqlite_store: Store,
    database: Path,
    own_folder: Path,
    scale: Scale,
    key: str,
    code: int,
    cannot: str,
) -> None:
    pool_on(sqlite_store, own_folder, scale)
    async with reviewing(database) as app:
        await app.press(key)
        vote = app.sitting.last
        assert isinstance(vote, Vote)
        assert vote.level == scale.level(code)
        await app.press(cannot)
        assert "Why?" in app.text
        await app.press("escape", "9")
        assert f"this scale has {len(scale.levels) + 1} answers" in app.text


async def test_a_scale_with_more_levels_than_keys_points_to_the_line_mode(
    sqlite_store: Store, database: Path, own_folder: Path
) -> None:
    from labeler.labels import Grade

    scale = Scale.from_codes("ten", dict.fromkeys(range(10), Grade.NOT_RELEVANT))
    pool_on(sqlite_store, own_folder, scale)
    async with reviewing(database) as app:
        await app.press("1")
        assert "use --plain" in app.text
    assert events(sqlite_store) == []


async def test_a_database_that_is_not_there_ends_the_app_with_its_error(tmp_path: Path) -> None:
    def open_desk() -> OpenDesk:
        return OpenDesk(str(tmp_path / "none.db"), "ana", None, with_skipped=False)

    app = ReviewApp(Seat("ana"), open_desk, HandClock())
    await app.run_async(headless=True, size=(80, 24))
    assert isinstance(app.error, NotFoundError)


async def test_a_pool_that_is_not_there_ends_the_app_with_its_error(tmp_path: Path) -> None:
    open_store(Location(str(tmp_path / "q.db")), create=True).close()
    app = ReviewApp(
        Seat("ana", "none"),
        lambda: OpenDesk(str(tmp_path / "q.db"), "ana", "none", with_skipped=False),
        HandClock(),
    )
    await app.run_async(headless=True, size=(80, 24))
    assert isinstance(app.error, NotFoundError)


async def test_a_bug_ends_the_app_without_printing_texts_and_keeps_the_votes(
    queue: Store, database: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    clock = HandClock()
    app = ReviewApp(
        Seat("ana"),
        lambda: OpenDesk(str(database), "ana", None, with_skipped=False),
        clock,
    )

    def broken() -> None:
        words = "passage that must not be printed"
        raise RuntimeError(len(words))

    async def press(pilot: Pilot[None]) -> None:
        while app.sitting.current is None:
            await pilot.pause()
        while app.sitting._gate.painted_at is None:
            await pilot.pause()
        clock.now += 1
        await pilot.press("d")
        app._review.action_help = broken  # type: ignore[method-assign]
        await pilot.press("question_mark")

    await app.run_async(headless=True, size=(80, 24), auto_pilot=press)  # type: ignore[arg-type]
    assert isinstance(app.failure, RuntimeError)
    printed = capfd.readouterr()
    assert "must not be printed" not in printed.out + printed.err
    assert events(queue) == [("vote", None)]


async def test_what_is_left_for_others_is_told(
    sqlite_store: Store, database: Path, own_folder: Path
) -> None:
    pooled(sqlite_store, own_folder)
    route_pool(sqlite_store, "p", replace(UNCALIBRATED, overlap=2))
    async with reviewing(database, limit=3) as app:
        await app.press("a", "a", "a")
        assert "The sitting's 3 votes are given." in app.text
        assert "8 more items wait for you." in app.text
    async with reviewing(database) as app:
        await app.press(*("a" * 8))
        assert "All done: nothing is left for you." in app.text
        assert "11 more votes are wanted of others, on items that you have done." in app.text


async def test_a_terminal_that_is_too_small_can_be_left(queue: Store, database: Path) -> None:
    async with reviewing(database, size=(50, 12), keys={"quit": "Q"}) as app:
        assert "Q ends." in app.text
        await app.pilot.press("Q")
        await app.until(lambda: not app.app.is_running)
