"""What the lead's screens look like, at 80x24 and at 120x40; see `tests/tui/pictures.py`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

import tui.lead
from labeler.calibration.policies import UNCALIBRATED
from labeler.labels import NATIVE, Grade, Outcome
from labeler.queue.counts import count_queue
from labeler.queue.route import route_pool
from labeler.queue.sitting.session import ReviewSession
from labeler.store.database import Store
from tests.disputed import NOTE, Quoting
from tests.small import HandJudge, judge, pooled
from tests.tui.leading import leading
from tests.tui.pictures import compare

pytestmark = pytest.mark.asyncio

LEVELS = {"f": NATIVE.levels[0], "p": NATIVE.levels[1], "n": NATIVE.levels[2]}
AFTERNOON = datetime(2026, 7, 1, 13, 6, tzinfo=UTC)
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])


@dataclass
class Still:
    """A clock that stands still until it is moved, however often it is read."""

    now: datetime = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def vote(store: Store, clock: Still, name: str, levels: str, seconds: float) -> None:
    """Vote on one item after the other, and keep holding what comes next."""
    now = [0.0]
    session = ReviewSession(store, name, monotonic=lambda: now[0])
    for letter in levels:
        assert session.current is not None
        now[0] += seconds
        clock.advance(seconds)
        if letter == "p":
            session.note(NOTE)
        session.vote(LEVELS[letter])
    if name == "ana":
        assert session.current is not None
    else:
        session.close()


@pytest.fixture
def scene(sqlite_store: Store, own_folder: Path) -> Store:
    """Two judges, three reviewers, two disputes, and items that somebody holds."""
    sqlite_store.clock = clock = Still()
    pooled(sqlite_store, own_folder)
    doubtful: dict[str, tuple[Grade | Outcome, float]] = {
        "c03": (Grade.FULLY_RELEVANT, 0.62),
        "c07": (Grade.NOT_RELEVANT, 0.55),
        "c09": (Outcome.FAILED, 0),
        "c10": (Outcome.ABSTAINED, 0),
    }
    judge(sqlite_store, HandJudge(doubtful, name="careful"))
    judge(sqlite_store, Quoting(name="quoting"))
    route_pool(sqlite_store, "p", replace(UNCALIBRATED, overlap=2))
    vote(sqlite_store, clock, "bo", "nnfpnn", 11)
    clock.advance(3600)
    vote(sqlite_store, clock, "ana", "n", 8)
    vote(sqlite_store, clock, "cy", "ppnnff", 0.3)
    with sqlite_store.read() as connection:
        assert count_queue(connection).by_status["disputed"] == 2
    return sqlite_store


@SIZES
async def test_every_tab(
    scene: Store, database: Path, own_folder: Path, size: tuple[int, int]
) -> None:
    async with leading(database, size=size, day=AFTERNOON) as app:
        for digit in "1234567":
            await app.press(digit)
            compare(app.app, f"lead-{digit}-{size[0]}x{size[1]}", own_folder)
        await app.press("question_mark")
        compare(app.app, f"lead-help-{size[0]}x{size[1]}", own_folder)


async def test_every_table(scene: Store, database: Path, own_folder: Path) -> None:
    async with leading(database, day=AFTERNOON) as app:
        await app.press("t")
        for digit in "123456":
            await app.press(digit)
            compare(app.app, f"lead-{digit}-table-80x24", own_folder)


@SIZES
async def test_a_dispute(
    scene: Store,
    database: Path,
    own_folder: Path,
    size: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numbers = count(1)
    monkeypatch.setattr(tui.lead, "_new_key", lambda: f"key-{next(numbers)}")
    async with leading(database, size=size, day=AFTERNOON) as app:

        def looks(state: str) -> None:
            compare(app.app, f"lead-{state}-{size[0]}x{size[1]}", own_folder)

        await app.press("7", "enter")
        looks("blind")
        await app.press("s")
        looks("voted")
        await app.press("enter")
        looks("compare")
        await app.press("a")
        looks("decided")


@SIZES
async def test_an_empty_project(
    sqlite_store: Store, database: Path, own_folder: Path, size: tuple[int, int]
) -> None:
    async with leading(database, size=size, day=AFTERNOON) as app:
        compare(app.app, f"lead-empty-{size[0]}x{size[1]}", own_folder)
