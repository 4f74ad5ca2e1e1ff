"""What a sitting is asked for: domain, language, minutes; and what is told at its start."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.calibration.policies import UNCALIBRATED
from labeler.errors import NotFoundError
from labeler.imports.queries import QueryOptions, import_queries
from labeler.labels import NATIVE
from labeler.queue.claims import claim
from labeler.queue.route import route_pool
from labeler.queue.sitting.desk import Desk
from labeler.queue.sitting.journal import journal_line
from labeler.queue.sitting.orders import Fetch, Fetched, Vote
from labeler.records import table
from labeler.records.queue import Assignment, AssignmentState
from labeler.records.scales import AssessorKind
from labeler.store.database import Store, open_store
from labeler.store.journals import journal_places
from labeler.store.location import Location
from labeler.store.registry import assessor_key
from tests.small import QUERIES, pooled, write_jsonl
from tests.tui.driving import HandClock, events, reviewing
from tui.app import ReviewApp, Seat

pytestmark = pytest.mark.asyncio

ASKED = {"q1": ("returns", "en"), "q2": ("network", "pt"), "q3": ("network", "pt-BR")}


@pytest.fixture
def described(sqlite_store: Store, own_folder: Path) -> Store:
    """A routed pool whose queries have domains and languages: 11 items wait."""
    pooled(sqlite_store, own_folder)
    rows: list[dict[str, object]] = [
        {"_id": key, "text": QUERIES[key], "domain": domain, "language": language}
        for key, (domain, language) in ASKED.items()
    ]
    path = write_jsonl(own_folder / "q.jsonl", rows)
    import_queries(sqlite_store, [path], QueryOptions(update=True))
    route_pool(sqlite_store, "p", UNCALIBRATED)
    return sqlite_store


async def test_only_what_is_asked_for_is_shown(described: Store, database: Path) -> None:
    async with reviewing(database, domain="network", language="pt-br") as app:
        shown = app.sitting.current
        assert shown is not None
        total = app.sitting.tally.total
        while (shown := app.sitting.current) is not None:
            assert shown.block.query.text == QUERIES["q3"]
            await app.press("a")
        assert app.sitting.standing == total < 11
        assert f"{11 - total} items are waiting elsewhere." in app.text
        await app.press("w")
        assert app.sitting.current is not None


async def test_a_filter_that_matches_nothing_says_so_and_which_key_clears_it(
    described: Store, database: Path
) -> None:
    async with reviewing(database, pool="p", domain="returns", language="pt") as app:
        assert "0 of 11 waiting items match: pool p, domain returns, language pt." in app.text
        assert "w takes all items." in app.text
        await app.press("w")
        assert app.sitting.current is not None
        assert "0/11" in app.text


async def test_an_unknown_domain_ends_the_app_and_lists_those_that_are_known(
    described: Store, database: Path
) -> None:
    from labeler.cli.review import OpenDesk

    def open_desk() -> OpenDesk:
        return OpenDesk(str(database), "ana", None, with_skipped=False, domain="billing")

    app = ReviewApp(Seat("ana", domain="billing"), open_desk, HandClock())
    await app.run_async(headless=True, size=(80, 24))
    assert isinstance(app.error, NotFoundError)
    assert app.error.hint == "known: network, returns"


async def test_minutes_end_the_sitting_with_the_item_that_is_shown(
    queue: Store, database: Path
) -> None:
    async with reviewing(database, minutes=1) as app:
        await app.press("a", "a", after=20)
        await app.press("j", after=30)
        assert app.sitting.current is not None
        await app.press("d", after=5)
        assert "The sitting's 1 minutes are over." in app.text
        assert "3 votes saved, 0 skipped, 0 taken back" in app.text
        assert "fully relevant" not in app.text.replace("last: fully relevant", "")
        slot = table(Assignment)
        held = sa.select(slot.c.id).where(slot.c.state == AssignmentState.HELD.value)
        await app.until(lambda: not _rows(queue, held))
        await app.press("u", "s")
        assert "minutes are over" in app.text
    assert [kind for kind, _ in events(queue)] == ["vote", "vote", "vote", "undo", "vote"]


def _rows(store: Store, statement: sa.Select[int]) -> list[object]:
    with store.read() as connection:
        return list(connection.execute(statement))


async def test_a_lost_item_is_told_before_the_vote_and_the_vote_counts_where_there_is_room(
    queue: Store, database: Path
) -> None:
    async with reviewing(database) as app:
        shown = app.sitting.current
        assert shown is not None
        with open_store(Location(str(database))) as others:
            with others.write("review start") as tx:
                bo = assessor_key(tx, AssessorKind.PERSON, "bo")
            slot = table(Assignment)
            with others.work() as connection:
                past = datetime(2020, 1, 1, tzinfo=UTC)
                connection.execute(sa.update(slot).values(leased_until=past))
            (taken,) = claim(others, bo, 1)
            assert taken == shown.claim
            await app.press("j", after=61)
            assert "somebody else has this item by now: a vote is kept" in app.text
            assert app.sitting.current is shown
            desk_level = NATIVE.levels[0]
            await app.press("d")
            assert app.sitting.tally.votes == 1
            desk = Desk(others, "bo")
            late = desk.perform(Vote("late", shown, desk_level, "", 900))
            assert getattr(late, "extra", None) is True


async def test_what_a_sitting_that_broke_off_left_is_stored_and_told_at_the_start(
    queue: Store, database: Path
) -> None:
    desk = Desk(queue, "ana")
    fetched = desk.perform(Fetch(1, frozenset()))
    assert isinstance(fetched, Fetched)
    desk.close()
    vote = Vote("key", fetched.items[0], NATIVE.levels[0], "", 900)
    line = journal_line(vote, "ana", datetime.now(UTC))
    journal_places(Location(str(database)))[0].new_file().write_text(line + "\n")
    async with reviewing(database) as app:
        assert "1 event of a sitting that broke off stored now" in app.text
        assert app.sitting.current is not None
        assert app.sitting.current.claim.item_id != fetched.items[0].claim.item_id
    assert events(queue) == [("vote", None)]
