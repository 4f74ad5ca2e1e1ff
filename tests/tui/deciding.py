"""Drives the app of generated questions over a real database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from textual.message import Message
from textual.pilot import Pilot

from labeler.cli.review_questions import AskedQuestions, OpenQuestionDesk
from labeler.queue.questions.sitting import QuestionSitting
from labeler.queue.questions.tally import QuestionPhase
from labeler.records import table
from labeler.records.project import Text
from labeler.records.questions import QuestionEvent
from labeler.settings import ReviewSettings
from labeler.store.database import Store
from tests.tui.driving import AppDriver, HandClock
from tui.question_app import QuestionApp
from tui.screens.questions import QuestionScreen
from tui.seat import Seat


@dataclass
class Decider(AppDriver):
    """The app of generated questions as it runs in a test."""

    app: QuestionApp
    pilot: Pilot[None]
    clock: HandClock
    changed: asyncio.Event

    @property
    def sitting(self) -> QuestionSitting:
        return self.app.sitting

    @property
    def failure(self) -> BaseException | None:
        return self.app.failure

    @property
    def _is_settled(self) -> bool:
        working = self.sitting.unsaved != 0 or self.sitting.phase is QuestionPhase.WAITING
        return not working and self._is_painted

    @property
    def _is_painted(self) -> bool:
        screen = self.app.screen
        if not isinstance(screen, QuestionScreen) or self.sitting.is_paused:
            return True
        in_sight = not (screen._too_small or screen._pane.is_finding)
        shown = in_sight and self.sitting.current is not None
        return not shown or self.sitting._gate.painted_at is not None

    async def turn_to(self, part: str) -> None:
        """Skip until a question with some words is on the screen."""
        for _ in range(9):
            current = self.sitting.current
            if current is None or part in current.text:
                break
            await self.press("s", after=2.0)
        assert part in self.text


@asynccontextmanager
async def deciding(
    database: Path,
    *,
    reviewer: str = "ana",
    limit: int | None = None,
    domain: str | None = None,
    keys: Mapping[str, str] | None = None,
    size: tuple[int, int] = (80, 24),
    clock: HandClock | None = None,
) -> AsyncIterator[Decider]:
    """Run the app as `labeler review --questions` does, without a terminal."""
    clock, changed = clock or HandClock(), asyncio.Event()
    settings = ReviewSettings(keys=keys or {})
    asked = AskedQuestions(reviewer, domain, None, limit, None, str(database), settings)

    def on_message(_: Message) -> None:
        changed.set()

    seat = Seat(reviewer, limit=limit, domain=domain, keys=settings.keys)
    app = QuestionApp(seat, lambda: OpenQuestionDesk(asked), clock)
    async with app.run_test(size=size, notifications=True, message_hook=on_message) as pilot:
        driver = Decider(app, pilot, clock, changed)
        await driver.settled()
        yield driver


def question_events(store: Store) -> list[tuple[str, str | None, str | None]]:
    """Give what reviewers did, as it is on disk: kinds, new wordings and notes, first to last."""
    event, wording, note = table(QuestionEvent), table(Text).alias(), table(Text).alias()
    statement = (
        sa.select(event.c.kind, wording.c.body, note.c.body)
        .outerjoin(wording, wording.c.id == event.c.text_id)
        .outerjoin(note, note.c.id == event.c.note_id)
        .order_by(event.c.id)
    )
    with store.read() as connection:
        return [(str(kind), text, why) for kind, text, why in connection.execute(statement)]
