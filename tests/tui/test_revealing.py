"""What judges said, in the app: after the vote alone, and one key changes a mind."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.blind_judgments import read_blind_judgments
from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.records import table
from labeler.records.scales import Assessor, AssessorKind, ScaleLevel
from labeler.settings import Reveal
from labeler.store.database import Store
from tests.tui.driving import Driver, events, reviewing
from tests.tui.stage import judge_stage, set_stage

pytestmark = pytest.mark.asyncio


@pytest.fixture
def judged(sqlite_store: Store, own_folder: Path) -> Store:
    """The handbook, judged by two judges that are unsure, and waiting for people."""
    set_stage(sqlite_store, own_folder)
    judge_stage(sqlite_store)
    return sqlite_store


def own_labels(store: Store) -> tuple[list[str], list[str]]:
    """Give ana's labels: those that agreement uses, and those in force."""
    level, assessor = table(ScaleLevel), table(Assessor)
    with store.read() as connection:
        rows = connection.execute(sa.select(level.c.id, level.c.name))
        names = {row.id: row.name for row in rows}
        person = connection.execute(
            sa.select(assessor.c.id).where(assessor.c.kind == AssessorKind.PERSON.value)
        ).scalar_one()
        read = read_blind_judgments(connection, items_of_pool(1), None).judgments
        blind = [names[one.level_id] for one in read if one.assessor_id == person]
        labels = labels_in_force(connection, items_of_pool(1)).values()
    return blind, [str(label.grade) for label in labels if label.grade]


async def vote(app: Driver, key: str) -> None:
    """Vote, and wait until what judges said is on the screen."""
    app.clock.now += 1
    await app.pilot.press(key)
    await app.until(lambda: app.sitting.revealed is not None)
    await app.settled()


async def test_judges_are_shown_after_the_vote_and_not_before(
    judged: Store, database: Path
) -> None:
    async with reviewing(database, reveal=Reveal.AT_ONCE, size=(120, 40)) as app:
        assert "what holds for contractors" not in app.text
        await app.press("c")
        assert "what holds for contractors" not in app.text
        await app.press("escape")
        await vote(app, "s")
        assert "what judges said" in app.text
        assert "You: partially relevant. Your blind vote stays on record." in app.text
        assert "It names the rule for employees" in app.text
        for name in ("one", "two"):
            assert f" {name}" not in app.text.split("The passage")[0]
        await app.press("space", "n", "x", "c", "slash", "enter")
        assert app.sitting.revealed is None
        assert "what judges said" not in app.text
    assert [kind for kind, _ in events(judged)] == ["vote", "reveal"]


async def test_one_key_changes_a_mind_and_the_blind_vote_stays(
    judged: Store, database: Path
) -> None:
    async with reviewing(database, reveal=Reveal.AT_ONCE) as app:
        await vote(app, "a")
        await app.press("d", after=0.1)
        assert "less than 250 ms" in app.text
        before = app.sitting.revealed
        assert before is not None
        await app.press("4")
        assert app.sitting.revealed is before
        assert "u takes the vote back first" in app.text
        await app.press("d")
        await app.until(lambda: app.sitting.unsaved == 0 and app.sitting.current is not None)
        assert app.sitting.revealed is None
        assert "your new label is given" in app.text
        assert app.sitting.tally.done == 1
    assert [kind for kind, _ in events(judged)] == ["vote", "reveal", "undo", "vote"]
    blind, in_force = own_labels(judged)
    assert blind == ["not_relevant"]
    assert in_force == ["fully_relevant"]


async def test_the_same_label_goes_on_and_changes_nothing(judged: Store, database: Path) -> None:
    async with reviewing(database, reveal=Reveal.AT_ONCE) as app:
        await vote(app, "a")
        await app.press("a", after=2)
        assert app.sitting.revealed is None
        assert app.sitting.current is not None
        await vote(app, "s")
        await app.press("u")
        await app.until(lambda: app.sitting.current is not None and app.sitting.unsaved == 0)
        assert app.sitting.revealed is None
    assert [kind for kind, _ in events(judged)] == ["vote", "reveal", "vote", "reveal", "undo"]


async def test_at_the_end_they_are_shown_on_request(judged: Store, database: Path) -> None:
    async with reviewing(database, reveal=Reveal.END, limit=2) as app:
        await app.press("v", "a", "s")
        assert "v shows what judges said of your items" in app.text
        assert "what holds for contractors" not in app.text
        await app.press("v")
        await app.until(lambda: "2 of 2." in app.text)
        await app.press("end")
        assert "You: partially relevant" in app.text
        await app.press("v", "v")
        assert "1 of 2." in app.text
    assert [kind for kind, _ in events(judged)].count("reveal") == 2


async def test_by_default_they_are_never_shown(judged: Store, database: Path) -> None:
    async with reviewing(database, limit=2) as app:
        await app.press("a", "s", "v")
        assert len(app.app.screen_stack) == 1
        assert "judges" not in app.text
    assert [kind for kind, _ in events(judged)] == ["vote", "vote"]
