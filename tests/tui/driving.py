"""Drives the real app over a real database: keys in, what the screen shows out."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa
from textual.events import Key
from textual.message import Message
from textual.pilot import Pilot

from labeler.cli.review import OpenDesk, OpenSearch
from labeler.queue.sitting.answers import Phase
from labeler.queue.sitting.machine import Sitting
from labeler.records import table
from labeler.records.project import Text
from labeler.records.queue import ReviewEvent
from labeler.settings import Reveal
from labeler.store.database import Store
from tui.app import ReviewApp, Seat
from tui.screens.review import ReviewScreen

PATIENCE = 20.0
"""Seconds after which a test that waits for a message fails."""


@dataclass
class HandClock:
    """A clock that stands still until a test moves it."""

    now: float = 100.0
    day: datetime = field(default_factory=lambda: datetime.now(UTC))

    def seconds(self) -> float:
        return self.now

    def of(self, _: Key) -> float:
        return self.now

    def utc(self) -> datetime:
        return self.day


class AppDriver(ABC):
    """An app as it runs in a test.

    Attributes:
        pilot: Presses the keys.
        clock: Moves on before each of them.
        changed: Set with every message that the app handles.
    """

    pilot: Pilot[None]
    clock: HandClock
    changed: asyncio.Event

    @property
    def failure(self) -> BaseException | None:
        """What ended the app before its time, or None."""
        return None

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait, from message to message, until something holds."""
        async with asyncio.timeout(PATIENCE):
            while True:
                if self.failure is not None:
                    raise self.failure
                self.changed.clear()
                await self.pilot.pause()
                if condition():
                    return
                await self.changed.wait()

    async def settled(self) -> None:
        """Wait until all that works has answered, and the screen shows it."""
        await self.until(lambda: self._is_settled)

    @property
    @abstractmethod
    def _is_settled(self) -> bool:
        """Whether nothing is at work, and the screen shows where the app stands."""

    async def press(self, *keys: str, after: float = 1.0) -> None:
        """Press keys, each some seconds after the one before, and let all of it settle."""
        for key in keys:
            self.clock.now += after
            await self.pilot.press(key)
            await self.settled()

    async def write(self, text: str) -> None:
        """Type into what has the focus."""
        await self.pilot.press(*("space" if letter == " " else letter for letter in text))

    @property
    def text(self) -> str:
        """All that the screen shows."""
        strips = self.pilot.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)


@dataclass
class Driver(AppDriver):
    """The review app as it runs in a test."""

    app: ReviewApp
    pilot: Pilot[None]
    clock: HandClock
    changed: asyncio.Event

    @property
    def sitting(self) -> Sitting:
        return self.app.sitting

    @property
    def failure(self) -> BaseException | None:
        return self.app.failure

    @property
    def _is_settled(self) -> bool:
        working = self.sitting.unsaved != 0 or self.sitting.phase is Phase.WAITING
        return not working and self._is_painted

    @property
    def _is_painted(self) -> bool:
        in_sight = isinstance(self.app.screen, ReviewScreen) and not self.app.screen._too_small
        judging = self.sitting.current is not None or self.sitting.revealed is not None
        covered = not in_sight or self.sitting.is_paused or self.app._review._item.is_finding
        return covered or not judging or self.sitting._gate.painted_at is not None

    @property
    def passage(self) -> str:
        """The current item's passage."""
        shown = self.sitting.current
        assert shown is not None
        return shown.item.passage


@asynccontextmanager
async def reviewing(
    database: Path | str,
    *,
    reviewer: str = "ana",
    pool: str | None = None,
    limit: int | None = None,
    minutes: float | None = None,
    domain: str | None = None,
    language: str | None = None,
    reveal: Reveal = Reveal.NEVER,
    keys: Mapping[str, str] | None = None,
    size: tuple[int, int] = (80, 24),
    hook: Callable[[Message], None] | None = None,
    clock: HandClock | None = None,
) -> AsyncIterator[Driver]:
    """Run the app as `labeler review` does, without a terminal."""
    clock, changed = clock or HandClock(), asyncio.Event()

    def open_desk() -> OpenDesk:
        return OpenDesk(
            str(database), reviewer, pool, with_skipped=False, domain=domain, language=language
        )

    def on_message(message: Message) -> None:
        changed.set()
        if hook is not None:
            hook(message)

    seat = Seat(reviewer, pool, limit, minutes, domain, language, reveal, keys or {})
    app = ReviewApp(seat, open_desk, clock, find=OpenSearch(str(database)))
    async with app.run_test(size=size, notifications=True, message_hook=on_message) as pilot:
        driver = Driver(app, pilot, clock, changed)
        await driver.settled()
        yield driver


def events(store: Store) -> list[tuple[str, str | None]]:
    """Give what reviewers did, as it is on disk: kinds and notes, first to last."""
    event, text = table(ReviewEvent), table(Text)
    statement = (
        sa.select(event.c.kind, text.c.body)
        .outerjoin(text, text.c.id == event.c.note_id)
        .order_by(event.c.id)
    )
    with store.read() as connection:
        return [(str(kind), note) for kind, note in connection.execute(statement)]
