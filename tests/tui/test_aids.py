"""What helps to read: words that stand out, finding, context, pausing, other keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.style import Style

from labeler.errors import UsageError
from labeler.queue.claims import queue_left
from labeler.records import table
from labeler.records.queue import ReviewEvent
from labeler.store.database import Store
from tests.tui.driving import Driver, HandClock, events, reviewing
from tests.tui.stage import set_stage
from tui.app import ReviewApp, Seat
from tui.widgets.passage import PassageView

pytestmark = pytest.mark.asyncio


@pytest.fixture
def stage(sqlite_store: Store, own_folder: Path) -> Store:
    """The handbook, waiting for people."""
    set_stage(sqlite_store, own_folder)
    return sqlite_store


def styled(app: Driver, *, view: str = "#passage") -> list[tuple[str, Style]]:
    """Give the pieces of the passage on the screen that stand out, with their styles."""
    passage = app.app.screen.query_one(view, PassageView)
    drawn = [segment for y in range(passage.size.height) for segment in passage.render_line(y)]
    pieces = [(segment.text, segment.style) for segment in drawn if segment.style is not None]
    return [(text, style) for text, style in pieces if text.strip() and style.bold]


async def turn_to(app: Driver, part: str) -> None:
    """Skip until a passage with some words is on the screen."""
    while part not in app.passage:
        await app.press("x")


async def test_words_of_the_query_stand_out_and_not_by_colour_alone(
    stage: Store, database: Path
) -> None:
    async with reviewing(database) as app:
        await turn_to(app, "On planning")
        assert {text for text, _ in styled(app)} == {"leave", "Unused", "Germany"}
        await app.press("h")
        assert styled(app) == []
        assert "no words stand out" in app.text
        await turn_to(app, "carry over")
        assert styled(app) == []
        await app.press("h")
        found = styled(app)
        assert [text for text, _ in found] == ["carry", "unused", "next", "year", "unused", "leave"]
        assert all(style.underline for _, style in found)


async def test_words_stand_out_without_colours(
    stage: Store, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with reviewing(database) as app:
        await turn_to(app, "carry over")
        strips = app.app.screen._compositor.render_strips()
        shown = [
            segment
            for strip in strips
            for segment in strip.apply_filter(
                app.app._filters[-1], app.app.screen.background_colors[1]
            )
            if segment.text == "carry"
        ]
        assert [(one.style.bold, one.style.underline) for one in shown if one.style] == [
            (True, True)
        ]
        assert all(
            one.style.color.triplet[0] == one.style.color.triplet[1] == one.style.color.triplet[2]
            for one in shown
            if one.style and one.style.color and one.style.color.triplet
        )


async def test_finding_counts_steps_and_leaves(stage: Store, database: Path) -> None:
    async with reviewing(database) as app:
        await turn_to(app, "On planning")
        await app.press("slash")
        await app.write("works council")
        await app.until(lambda: "1 of 40" in app.text)
        await app.pilot.press("enter", "down")
        await app.until(lambda: "3 of 40" in app.text)
        await app.pilot.press("up", "up", "up")
        await app.until(lambda: "40 of 40" in app.text)
        assert "more above" in app.text
        [current] = [text for text, style in styled(app) if style.reverse]
        assert current == "works council"
        await app.pilot.press(*"xyz")
        await app.until(lambda: "not found" in app.text)
        assert "more above" not in app.text
        await app.pilot.press("backspace", "backspace", "backspace", "up")
        await app.until(lambda: "40 of 40" in app.text)
        await app.press("escape")
        assert "40 of 40" not in app.text
        assert "more above" in app.text
        assert not any(style.reverse for _, style in styled(app))
        await app.press("d")
    assert [kind for kind, _ in events(stage) if kind != "skip"] == ["vote"]


async def test_no_key_is_a_label_while_it_is_typed_into_the_search(
    stage: Store, database: Path
) -> None:
    async with reviewing(database) as app:
        before = app.passage
        app.clock.now += 1
        # Typed ahead: the keys arrive before the search is painted.
        await app.pilot.press("slash", *"asdf1234ux", "ctrl+z", "f1", "enter")
        await app.pilot.pause()
        assert len(app.app.screen_stack) == 1
        assert app.passage == before
        assert "Keys are typed into the search" in app.text
        app.clock.now += 1
        await app.pilot.press("escape", "d")
        await app.settled()
        assert "not counted" in app.text
        assert events(stage) == []
        await app.press("d")
    assert events(stage) == [("vote", None)]


async def test_the_search_is_forgotten_with_the_item(stage: Store, database: Path) -> None:
    async with reviewing(database) as app:
        await app.press("slash")
        await app.write("leave")
        await app.press("escape", "slash")
        assert "leave" in str(app.app.focused.value)  # type: ignore[union-attr]
        await app.press("escape", "x", "slash")
        assert app.app.focused.value == ""  # type: ignore[union-attr]


async def test_the_context_holds_what_stands_around(stage: Store, database: Path) -> None:
    async with reviewing(database) as app:
        await turn_to(app, "carry over")
        await app.press("c")
        await app.until(lambda: "After it" in app.text)
        for part in (
            "source: intranet/handbook.html",
            "place: 2 of 3 in handbook",
            "Holidays are requested in the portal",
            "Who falls ill during a holiday",
            "audience: contractors",
        ):
            assert part in app.text
        await app.press("c")
        await turn_to(app, "Holidays are requested")
        await app.press("c")
        await app.until(lambda: "After it" in app.text)
        assert "Before it" in app.text
        assert "  nothing" in app.text


async def test_a_wide_terminal_shows_what_stands_around_by_itself(
    stage: Store, database: Path
) -> None:
    async with reviewing(database, size=(120, 40)) as app:
        await turn_to(app, "carry over")
        await app.until(lambda: "After it" in app.text)
        assert "Holidays are requested in the portal" in app.text
        await app.pilot.resize_terminal(80, 24)
        await app.settled()
        assert "After it" not in app.text


async def test_a_pause_hides_the_item_and_no_time_counts(stage: Store, database: Path) -> None:
    async with reviewing(database) as app:
        passage = app.passage.split()[0]
        assert passage in app.text
        await app.press("j")
        held_until = queue_left(stage, -1).next_free
        await app.press("p", after=3)
        assert "Paused" in app.text
        assert passage not in app.text
        await app.press("a", "1", "x", "u", "j", "n", "slash", "c", "escape", "enter", after=61)
        assert len(app.app.screen_stack) == 1
        assert events(stage) == []
        assert queue_left(stage, -1).next_free == held_until
        await app.press("p", after=5)
        assert "Paused" not in app.text
        renewed = queue_left(stage, -1).next_free
        assert renewed is not None
        assert held_until is not None
        assert renewed > held_until
        await app.press("d", after=0.1)
        assert "less than 250 ms" in app.text
        await app.press("d", after=2)
    assert events(stage) == [("vote", None)]
    with stage.read() as connection:
        [dwell] = connection.execute(table(ReviewEvent).select()).all()
    assert dwell.dwell_ms == 6100


async def test_a_pause_keeps_the_place_in_a_long_passage(stage: Store, database: Path) -> None:
    async with reviewing(database) as app:
        await turn_to(app, "On planning")
        await app.press("space", "space")
        above = app.text.split("\n")[1:20]  # what is counted and said stands around it
        await app.press("p", "p")
        assert app.text.split("\n")[1:20] == above


async def test_other_keys_do_what_the_table_says(stage: Store, database: Path) -> None:
    keys = {"skip": "u", "undo": "x,Z", "answer_1": "é", "context": "y", "pause": "f9"}
    async with reviewing(database, keys=keys) as app:
        assert "x undo  u skip" in app.text
        assert "é/1 not relevant" in app.text
        await app.press("é", "a", "u")
        assert [kind for kind, _ in events(stage)] == ["vote", "skip"]
        await app.press("Z", "x")
        assert [kind for kind, _ in events(stage)] == ["vote", "skip", "undo"]
        await app.press("c")
        assert len(app.app.screen_stack) == 1
        await app.press("y")
        assert "Query and context" in app.text
        await app.press("y", "f9")
        assert "Paused" in app.text
        assert "F9 goes on" in app.text
        await app.press("p", "f9", "question_mark")
        assert "x Z" in app.text
        assert "Paused" not in app.text


async def test_keys_that_clash_end_it_before_it_begins(stage: Store) -> None:
    def never() -> None:
        raise AssertionError

    with pytest.raises(UsageError, match=r"labeler\.toml, review\.keys\.skip"):
        ReviewApp(Seat("ana", keys={"skip": "u"}), never, HandClock())  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (200, 60)])
async def test_the_line_of_keys_fits_and_keeps_help(
    stage: Store, database: Path, size: tuple[int, int]
) -> None:
    async with reviewing(database, size=size) as app:
        keys = app.text.splitlines()[-1]
        assert keys.rstrip().endswith(("? help", "q quit"))
        assert "…" not in keys
        assert "? help" in keys
        assert "u undo" in keys
