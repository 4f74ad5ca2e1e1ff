"""Drives the lead's app over a real database: keys in, what the screen shows out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from textual.message import Message
from textual.pilot import Pilot

from labeler.cli.project import open_project
from labeler.queue.sitting.answers import Phase
from labeler.store.database import Store
from tests.tui.driving import AppDriver, HandClock
from tui.lead import LeadApp, LeadSeat
from tui.screens.lead_blind import BlindScreen
from tui.screens.lead_compare import CompareScreen

__all__ = ["Leading", "leading"]


@dataclass
class Leading(AppDriver):
    """The lead's app as it runs in a test."""

    app: LeadApp
    pilot: Pilot[None]
    clock: HandClock
    changed: asyncio.Event

    @property
    def _is_settled(self) -> bool:
        app = self.app
        if any(not worker.is_finished for worker in app.workers) or app._reading is not None:
            return False
        if app._blind is not None:
            sitting = app._blind.sitting
            if (
                sitting.unsaved
                or sitting.phase is Phase.WAITING
                or not app._blind.screen.is_mounted
            ):
                return False
            judging = sitting.current is not None and isinstance(app.screen, BlindScreen)
            return not judging or sitting._gate.painted_at is not None
        if isinstance(app.screen, CompareScreen):
            return app.screen._gate.painted_at is not None
        return True


@asynccontextmanager
async def leading(
    database: Path | str,
    *,
    lead: str = "lea",
    pool: str | None = None,
    force: bool = False,
    keys: Mapping[str, str] | None = None,
    size: tuple[int, int] = (80, 24),
    hook: Callable[[Message], None] | None = None,
    day: datetime | None = None,
) -> AsyncIterator[Leading]:
    """Run the app as `labeler review --lead` does, without a terminal; time can stand still."""
    changed = asyncio.Event()
    clock = HandClock() if day is None else HandClock(day=day)

    def open_database() -> Store:
        store = open_project(str(database))
        store.clock = store.clock if day is None else clock.utc
        return store

    def on_message(message: Message) -> None:
        changed.set()
        if hook is not None:
            hook(message)

    app = LeadApp(LeadSeat(lead, pool, force, keys or {}), open_database, clock)
    async with app.run_test(size=size, notifications=True, message_hook=on_message) as pilot:
        driver = Leading(app, pilot, clock, changed)
        await driver.until(lambda: app._lead._read_at is not None)
        await driver.settled()
        yield driver
