"""What each state looks like, at 80x24 and at 120x40; `tests/tui/pictures.py` says how to renew."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from labeler.cli.review import OpenDesk
from labeler.imports.queries import QueryOptions, import_queries
from labeler.queue.sitting.orders import Renewed
from labeler.queue.sitting.session import ReviewSession
from labeler.settings import Reveal
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from tests.small import write_jsonl
from tests.tui.driving import Driver, HandClock, reviewing
from tests.tui.pictures import compare
from tests.tui.stage import judge_stage, set_scripts, set_stage
from tests.write_lock import write_lock
from tui.app import ReviewApp, Seat

pytestmark = pytest.mark.asyncio

NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)


@dataclass
class Scene:
    """The store, and the app over it."""

    store: Store
    database: Path
    folder: Path
    app: Driver


Play = Callable[[Scene], Awaitable[None]]


@dataclass(frozen=True)
class State:
    """How a state is come to.

    Attributes:
        play: What is pressed.
        seat: How the app is started.
        judged: Whether judges were asked before.
    """

    play: Play
    seat: Mapping[str, Any] = field(default_factory=dict)
    judged: bool = False


async def turn_to(scene: Scene, part: str) -> None:
    """Vote until a passage with some words is on the screen."""
    for key in "asdasd":
        if part in scene.app.passage:
            return
        await scene.app.press(key, after=8.4)
    raise AssertionError(part)


async def judging(scene: Scene) -> None:
    await turn_to(scene, "carry over")
    await scene.app.press("a", "u", after=4.6)


async def plain_passage(scene: Scene) -> None:
    await turn_to(scene, "carry over")
    await scene.app.press("h")


async def long_passage(scene: Scene) -> None:
    await turn_to(scene, "On planning")
    await scene.app.press("space", "j")


async def asking(scene: Scene) -> None:
    await turn_to(scene, "carry over")
    await scene.app.press("f")


async def finding(scene: Scene) -> None:
    await turn_to(scene, "On planning")
    await scene.app.press("slash")
    await scene.app.write("unused leave")
    await scene.app.pilot.press("enter", "enter")
    await scene.app.until(lambda: "3 of 40" in scene.app.text)


async def writing(scene: Scene) -> None:
    await turn_to(scene, "carry over")
    await scene.app.press("n")
    await scene.app.write("holds for the old contract alone")


async def draft(scene: Scene) -> None:
    await writing(scene)
    await scene.app.press("escape")


async def flagging(scene: Scene) -> None:
    await turn_to(scene, "carry over")
    await scene.app.press("g")
    await scene.app.write("two rules in one passage")


async def context(scene: Scene) -> None:
    await turn_to(scene, "carry over")
    await scene.app.press("c")
    await scene.app.until(lambda: "Before it" in scene.app.text)


async def rubric(scene: Scene) -> None:
    await scene.app.press("r")


async def help_page(scene: Scene) -> None:
    await scene.app.press("question_mark")


async def paused(scene: Scene) -> None:
    await turn_to(scene, "carry over")
    await scene.app.press("p")


async def refused(scene: Scene) -> None:
    await turn_to(scene, "carry over")
    await scene.app.press("s", after=0.2)


async def revealed(scene: Scene) -> None:
    await scene.app.press("s", after=7)
    await scene.app.until(lambda: scene.app.sitting.revealed is not None)
    await scene.app.settled()


async def revealed_at_end(scene: Scene) -> None:
    await scene.app.press("s", "d", after=7)
    await scene.app.press("v")
    await scene.app.until(lambda: "2 of 2." in scene.app.text)


async def done(scene: Scene) -> None:
    await scene.app.press(*"asdas", after=9.4)


async def skipped(scene: Scene) -> None:
    await scene.app.press(*"asxas", after=9.4)


async def nothing(scene: Scene) -> None:
    assert scene.app.sitting.current is None


async def held(scene: Scene) -> None:
    others = open_store(Location(str(scene.database)))  # on the real clock, as the app's own
    try:
        bo = ReviewSession(others, "bo")
        await scene.app.press("a", after=9.4)
        assert bo.current is not None
        while scene.app.sitting.current is not None:
            await scene.app.press("s", after=9.4)
        left = scene.app.sitting.left
        assert left is not None
        assert left.left is not None
        assert left.left.next_free is not None
        scene.app.clock.day = left.left.next_free - timedelta(minutes=3, seconds=12)
        scene.app.app._review.sync()
        await scene.app.pilot.pause()
    finally:
        others.close()


async def busy(scene: Scene) -> None:
    await turn_to(scene, "carry over")
    with write_lock(scene.database):
        scene.app.clock.now += 8
        await scene.app.pilot.press("d")
        await scene.app.until(lambda: "1 NOT SAVED" in scene.app.text)
        await scene.app.until(lambda: scene.app.sitting._gate.painted_at is not None)
        compare(scene.app.app, f"busy-{_sized(scene)}", scene.folder)
    await scene.app.settled()


async def lost(scene: Scene) -> None:
    await turn_to(scene, "carry over")
    shown = scene.app.sitting.current
    assert shown is not None
    scene.app.sitting.answered(Renewed(frozenset({shown.claim.assignment_id})))
    scene.app.app._review.sync()


async def changed(scene: Scene) -> None:
    await turn_to(scene, "carry over")
    rows: list[dict[str, object]] = [
        {"_id": "q1", "text": "May contractors in Germany carry leave over?", "region": "DE"}
    ]
    path = write_jsonl(scene.folder / "q.jsonl", rows)
    import_queries(scene.store, [path], QueryOptions(update=True))
    await scene.app.press("d", after=6)
    assert "not saved, the item changed" in scene.app.text


async def what_changed(scene: Scene) -> None:
    await changed(scene)
    await scene.app.press("c")
    await scene.app.until(lambda: "query was" in scene.app.text)


STATES = {
    "judging": State(judging),
    "plain": State(plain_passage),
    "long": State(long_passage),
    "asking": State(asking),
    "finding": State(finding),
    "note": State(writing),
    "draft": State(draft),
    "flag": State(flagging),
    "context": State(context),
    "rubric": State(rubric),
    "help": State(help_page),
    "paused": State(paused),
    "refused": State(refused),
    "revealed": State(revealed, {"reveal": Reveal.AT_ONCE}, judged=True),
    "revealed-at-end": State(revealed_at_end, {"reveal": Reveal.END, "limit": 2}, judged=True),
    "done": State(done),
    "skipped": State(skipped),
    "limit": State(done, {"limit": 3}),
    "no-match": State(nothing, {"domain": "sales"}),
    "held": State(held),
    "lost": State(lost),
    "changed": State(changed),
    "what-changed": State(what_changed),
}


def _sized(scene: Scene) -> str:
    width, height = scene.app.app.size
    return f"{width}x{height}"


@pytest.fixture
def stage(sqlite_store: Store, own_folder: Path) -> Store:
    """The handbook, waiting for people; one more question has a domain of its own."""
    set_stage(sqlite_store, own_folder)
    rows: list[dict[str, object]] = [{"_id": "q9", "text": "how many seats", "domain": "sales"}]
    import_queries(sqlite_store, [write_jsonl(own_folder / "q9.jsonl", rows)], QueryOptions())
    return sqlite_store


async def show(
    stage: Store, database: Path, folder: Path, name: str, size: tuple[int, int]
) -> None:
    """Come to a state, and compare its picture."""
    state = STATES[name]
    if state.judged:
        judge_stage(stage)
    clock = HandClock(day=NOON)
    async with reviewing(database, size=size, clock=clock, **state.seat) as app:
        # What judges said stands in an order that follows from the vote's id.
        numbers = count(1)
        app.sitting.new_key = lambda: f"event {next(numbers)}"
        scene = Scene(stage, database, folder, app)
        await state.play(scene)
        await app.pilot.pause()
        compare(app.app, f"{name}-{_sized(scene)}", folder)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
@pytest.mark.parametrize("name", STATES)
async def test_state(
    stage: Store, database: Path, own_folder: Path, name: str, size: tuple[int, int]
) -> None:
    await show(stage, database, own_folder, name, size)


@pytest.mark.parametrize("name", ["judging", "asking", "help", "held", "finding"])
async def test_the_smallest_terminal(
    stage: Store, database: Path, own_folder: Path, name: str
) -> None:
    await show(stage, database, own_folder, name, (60, 16))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
async def test_the_database_is_busy(
    stage: Store, database: Path, own_folder: Path, size: tuple[int, int]
) -> None:
    async with reviewing(database, size=size, clock=HandClock(day=NOON)) as app:
        await busy(Scene(stage, database, own_folder, app))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
async def test_many_scripts(
    sqlite_store: Store, database: Path, own_folder: Path, size: tuple[int, int]
) -> None:
    set_scripts(sqlite_store, own_folder)
    async with reviewing(database, size=size, clock=HandClock(day=NOON)) as app:
        await app.pilot.pause()
        compare(app.app, f"scripts-{size[0]}x{size[1]}", own_folder)


async def test_a_terminal_that_is_too_small(stage: Store, database: Path, own_folder: Path) -> None:
    async with reviewing(database, size=(50, 12), clock=HandClock(day=NOON)) as app:
        compare(app.app, "too-small-50x12", own_folder)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
async def test_before_the_database_is_open(
    stage: Store, database: Path, own_folder: Path, size: tuple[int, int]
) -> None:
    may_open = threading.Event()

    def open_desk() -> OpenDesk:
        may_open.wait()
        return OpenDesk(str(database), "ana", None, with_skipped=False)

    app = ReviewApp(Seat("ana"), open_desk, HandClock(day=NOON))
    async with app.run_test(size=size, notifications=True) as pilot:
        try:
            await pilot.pause()
            compare(app, f"opening-{size[0]}x{size[1]}", own_folder)
        finally:
            may_open.set()
