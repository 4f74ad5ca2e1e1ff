"""Disputes on the lead's screens: blind vote, look, and the three ends, each on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from textual.message import Message

import labeler.store.database
from labeler.cli.app import run
from labeler.labels import Grade
from labeler.queue.dispute_access import hold_dispute
from labeler.queue.sitting.replay import replay_journals
from labeler.records import table
from labeler.records.judgments import Basis
from labeler.records.queue import EventKind, ReviewEvent
from labeler.store.database import Store
from tests.disputed import (
    FULLY,
    JUDGE,
    NOT,
    NOTE,
    QUOTE,
    REASON,
    disputed_project,
    events_of,
    label_of,
    person,
)
from tests.tui.leading import Leading, leading
from tui.lead_messages import Compared
from tui.screens.lead_blind import BlindScreen
from tui.screens.lead_compare import CompareScreen

pytestmark = pytest.mark.asyncio

ANA, BO = "ana-of-the-north", "bo-of-the-south"
SIZES = [(80, 24), (120, 40)]


@pytest.fixture
def item(sqlite_store: Store, own_folder: Path) -> int:
    """The one item that two reviewers contradict each other on."""
    return disputed_project(sqlite_store, own_folder, voters=((ANA, FULLY), (BO, NOT)))[0]


def settled(store: Store, item_id: int) -> tuple[Grade | None, Basis] | None:
    label = label_of(store, item_id)
    return None if label is None else (label.grade, label.basis)


def kinds(store: Store, name: str = "lea") -> list[str]:
    return [kind for kind, _ in events_of(store, person(store, name))]


@pytest.mark.parametrize("size", SIZES)
async def test_from_a_dispute_to_the_label_in_force(
    sqlite_store: Store, database: Path, item: int, size: tuple[int, int]
) -> None:
    async with leading(database, size=size) as app:
        await app.press("7")
        assert "open · 2 votes" in app.text
        await app.press("enter")
        assert isinstance(app.app.screen, BlindScreen)
        await app.press("d")
        assert "Your blind vote is saved." in app.text
        assert settled(sqlite_store, item) == (Grade.FULLY_RELEVANT, Basis.ADJUDICATION)
        await app.press("enter")
        assert isinstance(app.app.screen, CompareScreen)
        assert "You, blind: fully relevant" in app.text
        assert all(f"\n{letter}  " in _left(app) for letter in "ABC")
        assert QUOTE in app.text
        await app.press("s")
        assert "decided: partially relevant · saved" in app.text
        assert "Nothing is disputed." in app.text
    assert settled(sqlite_store, item) == (Grade.PARTIALLY_RELEVANT, Basis.ADJUDICATION)
    assert events_of(sqlite_store, person(sqlite_store, "lea")) == [
        ("vote", "adjudication"),
        ("reveal", None),
        ("vote", "adjudication"),
    ]


def _left(app: Leading) -> str:
    """Give the lines of what was said, each from its first letter on."""
    rows = app.text.split("\n")
    start = max(row.find("what was said") for row in rows) - 2
    return "\n" + "\n".join(row[max(0, start) :].strip(" │") for row in rows)


@pytest.mark.parametrize("size", SIZES)
async def test_before_the_blind_vote_nothing_unblinds(
    sqlite_store: Store, database: Path, item: int, size: tuple[int, int]
) -> None:
    secrets = [ANA, BO, JUDGE, REASON, NOTE, "people_disagree", "disagree", "oracle", "0.6"]
    async with leading(database, size=size) as app:
        await app.press("7")
        seen = [app.text]
        await app.press("enter")
        seen.append(app.text)
        for key in ("c", "escape", "r", "escape", "question_mark", "escape", "n", "escape"):
            await app.press(key)
            seen.append(app.text)
        await app.press("f")
        seen.append(app.text)
        await app.press("escape", "d")
        seen.append(app.text)
        for text in seen:
            assert not [secret for secret in secrets if secret in text]
        # The levels stand there once, as answers; none of them is told as anybody's.
        assert "quote" not in seen[1]
        assert seen[1].count("fully relevant") <= (1 if size[0] == 80 else 2)
        assert kinds(sqlite_store) == ["vote"]
        await app.press("enter")
        assert REASON in app.text
        for name in (ANA, BO, JUDGE):
            assert name not in app.text


async def test_the_look_is_on_disk_before_anything_is_shown(
    sqlite_store: Store, database: Path, item: int
) -> None:
    stored: list[int] = []

    def hook(message: Message) -> None:
        if isinstance(message, Compared):
            event = table(ReviewEvent)
            count = sa.select(sa.func.count()).where(event.c.kind == EventKind.REVEAL.value)
            with sqlite_store.read() as connection:
                stored.append(int(connection.execute(count).scalar_one()))

    async with leading(database, hook=hook) as app:
        await app.press("7", "enter", "d")
        assert stored == []
        await app.press("enter")
    assert stored
    assert set(stored) == {1}


async def test_an_own_dispute_is_refused_unless_forced(
    sqlite_store: Store, database: Path, item: int
) -> None:
    async with leading(database, lead=ANA) as app:
        await app.press("7")
        assert "your own dispute" in app.text
        await app.press("enter")
        assert "you are part of this dispute" in app.text
        assert "A  " not in app.text
    assert kinds(sqlite_store, ANA) == ["vote"]
    async with leading(database, lead=ANA, force=True) as app:
        await app.press("7", "enter")
        assert "You, blind: fully relevant" in app.text
        await app.press("a")
        assert "decided: not relevant" in app.text
    assert settled(sqlite_store, item) == (Grade.NOT_RELEVANT, Basis.ADJUDICATION)


async def test_sent_back(sqlite_store: Store, database: Path, item: int) -> None:
    async with leading(database) as app:
        await app.press("7", "enter", "d", "enter", "x")
        assert "sent back: another vote is wanted · saved" in app.text
        assert "another vote wanted · 2 votes" in app.text
        await app.press("enter")
        assert "You, blind: fully relevant" in app.text, "nobody votes blind twice"
        await app.press("escape")
        assert "another vote wanted" in app.text
    assert settled(sqlite_store, item) is None
    assert kinds(sqlite_store) == ["vote", "reveal", "skip", "reveal"]


async def test_an_unclear_rubric_is_gathered(
    sqlite_store: Store, database: Path, item: int, capsys: pytest.CaptureFixture[str]
) -> None:
    async with leading(database) as app:
        await app.press("7", "enter", "d", "enter", "g")
        await app.write("partly how?")
        await app.press("enter")
        assert "rubric marked as unclear · saved" in app.text
        assert "rubric unclear · 2 votes" in app.text
    assert settled(sqlite_store, item) is None
    capsys.readouterr()
    assert run(["report", "rubric-issues", "--db", str(database), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (issue,) = found["items"]
    assert issue["words"] == ["partly how?"]
    assert issue["levels"] == {"not_relevant": 1, "fully_relevant": 2}
    assert issue["is_disputed"] is True
    assert found["rubrics"][0]["items"] == 1
    assert run(["report", "rubric-issues", "--db", str(database), "--pool", "p"]) == 0
    told = capsys.readouterr().out
    assert "partly how?" in told
    assert NOTE in told


async def test_the_blind_vote_can_be_taken_back_before_the_look(
    sqlite_store: Store, database: Path, item: int
) -> None:
    async with leading(database) as app:
        await app.press("7", "enter", "d", "u")
        assert settled(sqlite_store, item) is None
        assert "a/1 not relevant" in app.text
        await app.press("enter")
        assert isinstance(app.app.screen, BlindScreen), "no look without a vote"
        await app.press("a", "enter")
        assert "You, blind: not relevant" in app.text
    assert kinds(sqlite_store) == ["vote", "undo", "vote", "reveal"]


async def test_what_was_left_is_compared_later(
    sqlite_store: Store, database: Path, item: int
) -> None:
    async with leading(database) as app:
        await app.press("7", "enter", "d", "escape")
        assert "to compare" in app.text
    assert settled(sqlite_store, item) == (Grade.FULLY_RELEVANT, Basis.ADJUDICATION)
    async with leading(database) as app:
        await app.press("7")
        assert "to compare" in app.text
        await app.press("enter")
        assert "You, blind: fully relevant" in app.text


async def test_leaving_without_a_vote_holds_nothing(
    sqlite_store: Store, database: Path, item: int
) -> None:
    async with leading(database) as app:
        await app.press("7", "enter", "escape")
        assert "open · 2 votes" in app.text
        await app.press("6")
        assert "Nobody holds anything." in app.text
        await app.press("7", "enter", "x")
        assert "You left it to others" in app.text
        await app.press("escape")
        assert "open · 2 votes" in app.text


async def test_a_key_typed_ahead_decides_nothing(
    sqlite_store: Store, database: Path, item: int
) -> None:
    async with leading(database) as app:
        await app.press("7", "enter", "d", "enter")
        await app.press("a", after=0.2)
        assert "shown for less than 250 ms" in app.text
        await app.press("a", after=0.05)
        assert "the key is held down" in app.text
        await app.press("4", after=1)
        assert "there are 3 levels" in app.text
        assert kinds(sqlite_store) == ["vote", "reveal"]
        await app.press("a", after=1)
    assert settled(sqlite_store, item) == (Grade.NOT_RELEVANT, Basis.ADJUDICATION)


async def test_a_decision_is_taken_back(sqlite_store: Store, database: Path, item: int) -> None:
    async with leading(database) as app:
        await app.press("7", "u")
        assert "no decision of this sitting" in app.text
        await app.press("enter", "d", "enter", "a", "u")
        assert "the decision is taken back" in app.text
        assert "open · 2 votes" in app.text
        assert settled(sqlite_store, item) is None
        await app.press("enter", "d")
    assert settled(sqlite_store, item) == (Grade.FULLY_RELEVANT, Basis.ADJUDICATION)


async def test_a_note_while_comparing(sqlite_store: Store, database: Path, item: int) -> None:
    async with leading(database) as app:
        await app.press("7", "enter", "d", "enter", "n")
        await app.write("both have a point")
        await app.press("enter")
        assert "note kept with this item" in app.text
        await app.press("r")
        assert "means" in app.text or "Words in common" in app.text
        await app.press("escape", "question_mark", "escape", "j", "k", "space", "b", "d")
    assert kinds(sqlite_store) == ["vote", "reveal", "note", "vote"]


async def test_what_somebody_else_holds_is_told(
    sqlite_store: Store, database: Path, item: int
) -> None:
    assert hold_dispute(sqlite_store, person(sqlite_store, "cy"), item) is not None
    async with leading(database) as app:
        # The store's clock of this test is behind the app's, by which the lease is over.
        app.app._work._opened().clock = sqlite_store.clock
        await app.press("7")
        assert "held · 2 votes" in app.text
        await app.press("enter")
        assert "somebody else votes on this item until" in app.text


async def test_a_busy_database_loses_nothing(
    sqlite_store: Store, database: Path, item: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labeler.store.database, "_BUSY_MS", 50)
    async with leading(database) as app:
        await app.press("7", "enter", "d", "enter")
        with sqlite_store.work():
            await app.press("a")
            assert "another process is writing" in app.text
        assert kinds(sqlite_store) == ["vote", "reveal"]
        await app.press("a")
        assert "decided: not relevant · saved" in app.text
    assert settled(sqlite_store, item) == (Grade.NOT_RELEVANT, Basis.ADJUDICATION)


async def test_a_blind_vote_given_up_is_kept_and_stored_at_the_next_start(
    sqlite_store: Store, database: Path, item: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labeler.store.database, "_BUSY_MS", 50)
    async with leading(database) as app:
        await app.press("7", "enter")
        with sqlite_store.work():
            app.clock.now += 1
            await app.pilot.press("d", "q")
            await app.until(lambda: app.app._blind is None or app.app._blind.then == "quit")
            await app.pilot.press("q")
            await app.until(lambda: not app.app.is_running)
            assert (app.app.lost, app.app.kept) == (0, 1)
    replayed = replay_journals(sqlite_store)
    assert (replayed.stored, replayed.problems) == (1, ())
    assert kinds(sqlite_store) == ["vote"]
    assert settled(sqlite_store, item) == (Grade.FULLY_RELEVANT, Basis.ADJUDICATION)


async def test_the_cursor_goes_through_the_disputes(
    sqlite_store: Store, database: Path, own_folder: Path
) -> None:
    disputed_project(sqlite_store, own_folder, votes=3)
    async with leading(database) as app:
        await app.press("7")
        rows = [number for number, row in enumerate(app.text.split("\n")) if "›" in row]
        await app.press("j", "j", "k")
        moved = [number for number, row in enumerate(app.text.split("\n")) if "›" in row]
        assert (len(rows), len(moved)) == (1, 1)
        assert moved[0] == rows[0] + 3
        await app.press("enter", "a", "escape")
        assert "to compare" in app.text


async def test_q_in_a_blind_vote_saves_it_and_ends(
    sqlite_store: Store, database: Path, item: int
) -> None:
    async with leading(database) as app:
        await app.press("7", "enter", "d")
        await app.pilot.press("q")
        await app.until(lambda: not app.app.is_running)
    assert kinds(sqlite_store) == ["vote"]
    assert app.app.lost == 0
