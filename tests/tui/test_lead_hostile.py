"""Text from outside on the lead's screens is shown letter for letter, and drives nothing."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from labeler.assessment.blind import Block
from labeler.assessment.verdict import Verdict
from labeler.calibration.policies import UNCALIBRATED
from labeler.judges.run import judge_pool, read_pool_blocks
from labeler.labels import NATIVE, Grade, Outcome
from labeler.queue.route import route_pool
from labeler.queue.sitting.session import ReviewSession
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from tests.small import HandJudge
from tests.tui.leading import Leading, leading
from tests.tui.test_hostile import FORBIDDEN, HOSTILE, hostile_project

pytestmark = pytest.mark.asyncio

FULLY, _, NOT = NATIVE.levels


@dataclass
class HostileJudge(HandJudge):
    """A judge whose name, quote and reason are all one text."""

    text: str = ""

    def judge(self, block: Block) -> list[Verdict]:
        level = block.rubric.scale.level_for(Grade.PARTIALLY_RELEVANT)
        return [
            Verdict(
                item.item_id,
                Outcome.JUDGED,
                level=level,
                confidence=0.5,
                quote=self.text,
                reason=self.text,
            )
            for item in block.items
        ]


def disputed(store: Store, folder: Path, text: str) -> None:
    """Make a project in which every name and text is this one, with one dispute."""
    hostile_project(store, folder, text)
    with store.read() as connection:
        blocks = read_pool_blocks(connection, "p")
    hostile = HostileJudge(name=text, text=text)
    judge_pool(store, blocks, hostile, AssessorKind.LLM, monotonic=lambda: 0.0)
    route_pool(store, "p", replace(UNCALIBRATED, overlap=2))
    for reviewer, level in ((text, FULLY), (f"{text} 2", NOT)):
        session = ReviewSession(store, reviewer)
        assert session.current is not None
        session.note(text)
        session.vote(level)
        session.close()


def harmless(app: Leading) -> bool:
    """Tell whether nothing on the screen can drive a terminal, and no row is too long."""
    rows = app.text.split("\n")
    return all(cell_len(row) == app.app.size.width for row in rows) and not any(
        unicodedata.category(character) in FORBIDDEN or character in "\u202e\u202c\u2066\u2069"
        for row in rows
        for character in row
    )


@pytest.mark.parametrize(
    ("name", "size"),
    [*((name, (80, 24)) for name in HOSTILE), ("action", (120, 40)), ("escape", (120, 40))],
)
async def test_no_tab_and_no_dispute_lets_it_through(
    sqlite_store: Store, database: Path, own_folder: Path, name: str, size: tuple[int, int]
) -> None:
    text = HOSTILE[name]
    disputed(sqlite_store, own_folder, text)
    called: list[str] = []
    async with leading(database, lead=f"lead {text}", size=size) as app:
        app.app.action_boom = lambda: called.append("boom")  # type: ignore[attr-defined]

        async def click_everywhere() -> None:
            for row in range(0, size[1], 3):
                await app.pilot.click(offset=(6, row))
            await app.settled()

        for key in "1t2t3t4t5t6t":
            await app.press(key)
            assert harmless(app)
        await app.press("1")
        await click_everywhere()
        await app.press("7")
        assert harmless(app)
        await app.press("enter")
        assert harmless(app)
        await app.press("d", "enter")
        assert "what was said" in app.text
        assert harmless(app)
        await click_everywhere()
        await app.press("d")
        assert "decided: fully relevant" in app.text
    assert called == []
