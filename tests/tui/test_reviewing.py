"""A reviewer at the app: keys, votes on disk, undo, skip, notes, and what is never shown."""

from __future__ import annotations

import contextlib
from itertools import pairwise
from pathlib import Path

import pytest
import sqlalchemy as sa
from textual.message import Message

from labeler.assessment.blind import BlindQuery
from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.calibration.policies import UNCALIBRATED
from labeler.imports.queries import QueryOptions, import_queries
from labeler.labels import NATIVE, Outcome
from labeler.queue.route import route_pool
from labeler.queue.sitting.orders import Kept
from labeler.queue.sitting.session import ReviewSession
from labeler.records import table
from labeler.records.queue import Assignment, AssignmentState, ReviewEvent
from labeler.store.database import Store
from tests.small import QUERIES, HandJudge, judge, write_jsonl
from tests.tui.driving import events, reviewing
from tui.messages import Answered

pytestmark = pytest.mark.asyncio


def label_codes(store: Store) -> list[str]:
    """Give the grades in force, or the outcome where there is none."""
    with store.read() as connection:
        labels = labels_in_force(connection, items_of_pool(1)).values()
    return sorted(str(label.grade or label.outcome) for label in labels if label.outcome)


async def test_ten_votes_end_on_disk_by_letters_and_digits(queue: Store, database: Path) -> None:
    async with reviewing(database) as app:
        await app.press("a", "s", "d", "1", "2", "3", "a", "a", "s", "d")
        assert "10/11 90%" in app.text
        assert "1.0 s/item" in app.text
        assert "last: fully relevant · saved" in app.text
    assert events(queue) == [("vote", None)] * 10
    grades = label_codes(queue)
    assert [grades.count(name) for name in ("not_relevant", "partially_relevant")] == [4, 3]
    assert grades.count("fully_relevant") == 3


async def test_what_is_called_saved_is_on_disk_at_that_moment(queue: Store, database: Path) -> None:
    missing: list[str] = []

    def look(message: Message) -> None:
        if isinstance(message, Answered) and isinstance(message.answer, Kept):
            event = table(ReviewEvent)
            known = sa.select(event.c.id).where(event.c.event_key == message.answer.key)
            with queue.read() as connection:
                if connection.execute(known).first() is None:
                    missing.append(message.answer.key)
            seen.add(message.answer.key)

    seen: set[str] = set()
    async with reviewing(database, hook=look) as app:
        await app.press("a", "x", "d")
    assert (len(seen), missing) == (3, [])


async def test_type_ahead_puts_one_vote_on_one_item_and_says_so(
    queue: Store, database: Path
) -> None:
    async with reviewing(database) as app:
        app.clock.now += 1
        await app.pilot.press("s", "d", "a")
        await app.settled()
        assert "not counted: the item had been shown for less than 250 ms" in app.text
        app.clock.now += 0.2
        await app.pilot.press("s")
        await app.settled()
        assert "not counted: the item had been shown for less than 250 ms" in app.text
        assert len(events(queue)) == 1
        await app.press("d", after=0.1)
        assert "not counted" not in app.text
    assert label_codes(queue) == ["fully_relevant", "partially_relevant"]


async def test_a_key_held_down_gives_one_vote(queue: Store, database: Path) -> None:
    async with reviewing(database) as app:
        first = app.passage
        await app.press("a")
        second = app.passage
        # The first repeat comes after half a second, the others every 30 ms.
        await app.press("a", after=0.5)
        for _ in range(20):
            app.clock.now += 0.03
            await app.pilot.press("a")
        await app.settled()
        assert "the key is held down: the vote that it gave by itself is taken back" in app.text
        assert app.passage == second != first
        assert [kind for kind, _ in events(queue)] == ["vote", "vote", "undo"]
        assert "1/11" in app.text


async def test_undo_to_any_depth_and_across_sittings(queue: Store, database: Path) -> None:
    async with reviewing(database) as app:
        shown = []
        for key in "asd":
            shown.append(app.passage)
            await app.press(key)
    async with reviewing(database) as app:
        for passage, key in zip(reversed(shown), ("u", "ctrl+z", "u"), strict=True):
            await app.press(key)
            assert app.passage == passage
        await app.press("u")
        assert "there is no vote to take back" in app.text
    assert label_codes(queue) == []


async def test_a_query_that_is_not_that_of_the_item_before_is_marked(
    queue: Store, database: Path
) -> None:
    marked: list[bool] = []
    queries: list[BlindQuery] = []
    async with reviewing(database) as app:
        while (shown := app.sitting.current) is not None:
            queries.append(shown.block.query)
            marked.append("Q* " in app.text)
            assert ("Q  " in app.text) is not marked[-1]
            await app.press("a")
        changes = [one != before for before, one in pairwise(queries)]
        assert marked == [False, *changes]
        assert set(changes) == {True, False}
        await app.press("u")
        assert "Q  " in app.text, "the item before was this one"


async def test_undo_brings_a_skipped_item_back_and_leaves_the_vote_before_it(
    queue: Store, database: Path
) -> None:
    async with reviewing(database) as app:
        await app.press("d")
        slip = app.passage
        await app.press("x")
        assert "last: skipped, it stays in the queue · saved · u takes it back" in app.text
        assert app.passage != slip
        await app.press("u")
        assert app.passage == slip
        assert "the item that you skipped is back" in app.text
        await app.press("a")
        assert app.passage != slip
    assert [kind for kind, _ in events(queue)] == ["vote", "skip", "vote"]
    assert len(label_codes(queue)) == 2


async def test_a_skipped_item_that_somebody_took_costs_no_vote(
    queue: Store, database: Path
) -> None:
    async with reviewing(database) as app:
        await app.press("d")
        slip = app.passage
        await app.press("x")
        with contextlib.closing(ReviewSession(queue, "ben")) as ben:
            assert ben.current is not None
            assert ben.current.item.passage == slip
            at_work = app.passage
            await app.press("u")
            assert "is with somebody else by now" in app.text
            assert app.passage == at_work
    assert [kind for kind, _ in events(queue)] == ["vote", "skip"]


async def test_skipped_items_stay_and_are_taken_again_on_request(
    queue: Store, database: Path
) -> None:
    async with reviewing(database) as app:
        skipped = app.passage
        await app.press("x", *("a" * 10))
        assert "1 item waits that you skipped" in app.text
        assert "10 votes saved, 1 skipped" in app.text
        await app.press("w")
        assert app.passage == skipped
        assert skipped in app.text
        await app.press("a")
        assert "All done" in app.text
    assert len(label_codes(queue)) == 11


async def test_notes_flags_and_drafts_are_kept(queue: Store, database: Path) -> None:
    async with reviewing(database) as app:
        await app.press("n")
        await app.write("see [b]policy")
        await app.press("enter")
        await app.press("g")
        await app.write("garbled table")
        await app.press("enter")
        await app.press("n")
        await app.write("half a thought")
        await app.press("escape")
        assert len(events(queue)) == 2
        await app.press("n")
        assert "half a thought" in app.text
        await app.press("escape", "d")
    assert events(queue) == [
        ("note", "see [b]policy"),
        ("flag", "garbled table"),
        ("note", "half a thought"),
        ("vote", None),
    ]


async def test_a_draft_outlives_the_end_of_the_sitting(queue: Store, database: Path) -> None:
    async with reviewing(database) as app:
        await app.press("n")
        await app.write("unfinished")
        await app.press("escape")
        app.clock.now += 1
        await app.pilot.press("q")
        await app.until(lambda: not app.app.is_running)
    assert events(queue) == [("note", "unfinished")]


async def test_cannot_judge_asks_for_its_reason(queue: Store, database: Path) -> None:
    async with reviewing(database) as app:
        await app.press("f")
        assert "1 garbled  2 language  3 needs context  4 query unclear  5 other" in app.text
        await app.press("f", "a")
        assert "1 to 5 says why" in app.text
        assert events(queue) == []
        await app.press("escape")
        assert "f/4 can't judge" in app.text
        await app.press("4", "3")
        assert "last: can't judge (needs context) · saved" in app.text
    assert events(queue) == [("vote", "needs context")]
    assert label_codes(queue) == [Outcome.ABSTAINED.value]


@pytest.mark.parametrize("key", ["enter", "escape", "space", "backspace", "delete", "tab"])
async def test_no_label_is_on_a_key_that_people_press_without_thinking(
    queue: Store, database: Path, key: str
) -> None:
    async with reviewing(database) as app:
        await app.press(key)
        assert app.sitting.standing == 0
    assert events(queue) == []


async def test_quitting_gives_back_what_was_held(queue: Store, database: Path) -> None:
    slot = table(Assignment)
    held = sa.select(slot.c.id).where(slot.c.state == AssignmentState.HELD.value)
    async with reviewing(database) as app:
        await app.press("a")
        with queue.read() as connection:
            assert len(connection.execute(held).all()) == 3
        await app.pilot.press("q")
        await app.until(lambda: not app.app.is_running)
    with queue.read() as connection:
        assert connection.execute(held).all() == []


async def test_a_vote_on_what_changed_is_refused_and_the_item_shown_anew(
    queue: Store, database: Path, own_folder: Path
) -> None:
    async with reviewing(database) as app:
        shown = app.sitting.current
        assert shown is not None
        name = next(key for key, text in QUERIES.items() if text == shown.block.query.text)
        rows: list[dict[str, object]] = [{"_id": name, "text": "something else"}]
        path = write_jsonl(own_folder / "q.jsonl", rows)
        import_queries(queue, [path], QueryOptions(update=True))
        await app.press("d")
        assert "not saved, the item changed, see its context: query" in app.text
        assert "Q* something else" in app.text
        assert events(queue) == []
        await app.press("d")
        assert events(queue) == [("vote", None)]


async def test_a_sitting_ends_at_its_limit(queue: Store, database: Path) -> None:
    async with reviewing(database, limit=2) as app:
        await app.press("a", "a", "a")
        assert "The sitting's 2 votes are given." in app.text
        await app.press("u")
        assert app.sitting.current is not None
        await app.press("d")
    assert label_codes(queue) == ["fully_relevant", "not_relevant"]


async def test_no_screen_unblinds(queue: Store, database: Path) -> None:
    bo = ReviewSession(queue, "bo")
    bo.vote(NATIVE.levels[0])
    bo.close()
    judge(queue, HandJudge(name="by-hand"))
    route_pool(queue, "p", UNCALIBRATED)
    runs = {"lexical", "dense", "rank", "score", "coverage", "baseline", "candidate"}
    others = {"not_judged", "audit", "confidence", "by-hand", "judge:", "bo "}
    seen: list[str] = []
    async with reviewing(database, size=(120, 40)) as app:
        for key in ("c", "escape", "r", "escape", "question_mark", "escape", "a", "f", "1"):
            seen.append(app.text)
            await app.press(key)
        while app.sitting.current is not None:
            await app.press("a")
        seen.append(app.text)
    assert all(len(text) > 100 for text in seen)
    told = "\n".join(seen).casefold()
    assert "all done" in told
    assert "answers, from the worst" in told
    assert {word for word in runs | others if word in told} == set()
