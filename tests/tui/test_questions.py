"""Deciding generated questions in the app: keys in, the record and the screen out."""

from __future__ import annotations

import re
import shutil
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.widgets import TextArea

from labeler.queue.questions.orders import REJECT_REASONS
from labeler.queue.questions.tally import QuestionPhase
from labeler.store.database import Store
from tests.generated import LEAVE, Made, add_questions
from tests.tui.deciding import Decider, deciding, question_events
from tests.tui.driving import HandClock
from tests.tui.pictures import compare
from tests.tui.test_hostile import HOSTILE, harmless_text
from tui.screens.editing import EditingScreen
from tui.screens.writing import WritingScreen

pytestmark = pytest.mark.asyncio

NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def questions(sqlite_store: Store, own_folder: Path) -> Store:
    add_questions(sqlite_store, own_folder, LEAVE)
    return sqlite_store


async def test_each_key_is_stored_as_what_it_says(questions: Store, database: Path) -> None:
    async with deciding(database) as app:
        await app.press("a")
        await app.press("s")
        await app.press("r", "2")
        await app.press("e")
        assert isinstance(app.app.screen, EditingScreen)
        app.app.screen.area.text = "What is said in other words?"
        await app.pilot.press("enter")
        await app.settled()
        assert app.sitting.phase is QuestionPhase.EMPTY
        assert "No further question" in app.text
    assert question_events(questions) == [
        ("accept", None, None),
        ("skip", None, None),
        ("reject", None, REJECT_REASONS[1]),
        ("edit", "What is said in other words?", None),
    ]


async def test_a_narrow_terminal_shows_how_far_it_is_and_leaves_the_bar_out(
    questions: Store, database: Path
) -> None:
    async with deciding(database, size=(60, 16)) as app:
        await app.press("a")
        first = app.text.splitlines()[0]
        assert re.search(r" 1/4 +\d+\.\d s each", first), first
        assert "#" not in first


async def test_a_reason_in_ones_own_words(questions: Store, database: Path) -> None:
    async with deciding(database) as app:
        await app.press("r", "5")
        assert isinstance(app.app.screen, WritingScreen)
        await app.write("two at once")
        await app.pilot.press("enter")
        await app.settled()
        assert "rejected (two at once)" in app.text
    assert question_events(questions) == [("reject", None, "two at once")]


async def test_escape_rejects_nothing_and_keeps_a_draft(questions: Store, database: Path) -> None:
    async with deciding(database) as app:
        await app.press("r", "escape")
        assert app.sitting.phase is QuestionPhase.JUDGING
        await app.press("e")
        await app.write(" maybe")
        await app.pilot.press("escape")
        await app.press("e")
        assert isinstance(app.app.screen, EditingScreen)
        assert app.app.screen.area.text.endswith("? maybe")
    assert question_events(questions) == []


async def test_what_is_being_written_is_there_again_after_a_kill(
    questions: Store, database: Path, tmp_path: Path
) -> None:
    later = tmp_path / "later"
    later.mkdir()
    async with deciding(database) as app:
        await app.press("e")
        await app.write(" and why")
        written = app.app.screen.query_one(TextArea).text
        await app.until(lambda: bool(list(database.parent.glob("*drafts-*"))))
        # As the files are now, they are left by a process that is killed now.
        for path in database.parent.glob(f"{database.name}*"):
            shutil.copy(path, later)
    async with deciding(later / database.name) as app:
        await app.press("e")
        assert isinstance(app.app.screen, EditingScreen)
        assert app.app.screen.area.text == written


async def test_a_pause_hides_the_question(questions: Store, database: Path) -> None:
    async with deciding(database) as app:
        asked = app.sitting.current
        assert asked is not None
        await app.press("p")
        assert "Paused: the question is hidden" in app.text
        assert asked.text not in app.text
        await app.press("a", "s", "r", "1", "e", "slash")
        assert app.sitting.current == asked
        await app.press("p")
        assert asked.text in app.text
        await app.press("a")
    assert [kind for kind, _, _ in question_events(questions)] == ["accept"]


async def test_a_text_is_found_in_the_sources(
    sqlite_store: Store, own_folder: Path, database: Path
) -> None:
    rows = "\n".join(f"line {number}" for number in range(200))
    made = Made("Where is it?", [f"[[here]]\n{rows}\nfar needle\n{rows}"])
    add_questions(sqlite_store, own_folder, [made])
    async with deciding(database) as app:
        assert "far needle" not in app.text
        await app.press("slash")
        await app.pilot.press(*"needle")
        await app.until(lambda: "far needle" in app.text)
        assert "back to judging" in app.text
        await app.pilot.press("a", "escape")
        await app.settled()
        assert app.sitting.phase is QuestionPhase.JUDGING
        assert question_events(sqlite_store) == []
        await app.press("a")
    assert [kind for kind, _, _ in question_events(sqlite_store)] == ["accept"]


async def test_undo_takes_back_and_shows_the_question_again(
    questions: Store, database: Path
) -> None:
    async with deciding(database) as app:
        first = app.sitting.current
        await app.press("a", "s")
        await app.press("u", "u")
        assert app.sitting.current == first
    async with deciding(database) as app:
        await app.press("a")
    async with deciding(database) as app:
        await app.press("u")
        assert app.sitting.current == first
    kinds = [kind for kind, _, _ in question_events(questions)]
    assert kinds == ["accept", "skip", "undo", "undo", "accept", "undo"]


async def test_nothing_of_the_generator_is_ever_shown(questions: Store, database: Path) -> None:
    async with deciding(database, size=(120, 40)) as app:
        for key in ("question_mark", "escape", "s", "s", "s", "s"):
            assert "secret-generator" not in app.text
            await app.press(key, after=2.0)


async def test_evidence_far_down_is_brought_in_sight(
    sqlite_store: Store, own_folder: Path, database: Path
) -> None:
    long = "\n".join(f"line {number}" for number in range(300))
    made = Made("Where is it?", [f"{long}\n[[here it is]]\n{long} end"])
    add_questions(sqlite_store, own_folder, [made])
    async with deciding(database) as app:
        await app.until(lambda: "here it is" in app.text)
        assert "more above" in app.text
        await app.press("home")
        assert "line 0" in app.text


async def test_other_keys_from_the_settings(questions: Store, database: Path) -> None:
    changed = {"question_accept": "f5", "undo": "z", "skip": "y"}
    async with deciding(database, keys=changed) as app:
        await app.press("a")
        assert question_events(questions) == []
        await app.press("f5", "z")
        assert "F5" in app.text
    assert [kind for kind, _, _ in question_events(questions)] == ["accept", "undo"]


async def test_a_small_terminal_decides_nothing(questions: Store, database: Path) -> None:
    async with deciding(database, size=(50, 12)) as app:
        await app.press("a")
        assert "60" in app.text
    assert question_events(questions) == []


async def test_where_nothing_waits_it_says_so(questions: Store, database: Path) -> None:
    async with deciding(database, domain="it") as app:
        assert "No question of domain it waits for you" in app.text
        await app.press("a", "w")
        assert app.sitting.phase is QuestionPhase.EMPTY


@pytest.mark.parametrize("name", HOSTILE)
async def test_text_from_outside_drives_nothing(
    sqlite_store: Store, own_folder: Path, database: Path, name: str
) -> None:
    text = HOSTILE[name]
    made = Made(
        text, [f"{text} [[{text}]] {text}"], answer=text, domain=text, persona=text, title=text
    )
    add_questions(sqlite_store, own_folder, [made])
    async with deciding(database) as app:
        assert harmless_text(app.text)
        await app.press("e")
        assert harmless_text(app.text)
        await app.pilot.press("escape")
        await app.press("r", "5")
        await app.pilot.press("escape")
        assert harmless_text(app.text)


State = Callable[[Decider], Awaitable[None]]


async def fact(app: Decider) -> None:
    await app.turn_to("vacation days")


async def comparison(app: Decider) -> None:
    await app.turn_to("parental leave")


async def conditions(app: Decider) -> None:
    await app.turn_to("contractors in Germany")


async def rejecting(app: Decider) -> None:
    await fact(app)
    await app.press("r")


async def editing(app: Decider) -> None:
    await fact(app)
    await app.press("e")


async def decided(app: Decider) -> None:
    for _ in LEAVE:
        await app.press("a", after=6.5)


STATES: dict[str, State] = {
    state.__name__: state for state in (fact, comparison, conditions, rejecting, editing, decided)
}


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
@pytest.mark.parametrize("name", STATES)
async def test_picture(
    questions: Store, database: Path, own_folder: Path, name: str, size: tuple[int, int]
) -> None:
    async with deciding(database, size=size, clock=HandClock(day=NOON)) as app:
        await STATES[name](app)
        await app.pilot.pause()
        compare(app.app, f"question-{name}-{size[0]}x{size[1]}", own_folder)
