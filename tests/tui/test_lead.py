"""The lead's screens: counts, pace, agreement, confidence, coverage, who holds what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.calibration.policies import UNCALIBRATED
from labeler.errors import NotFoundError, UsageError
from labeler.labels import NATIVE, Grade
from labeler.queue.route import route_pool
from labeler.queue.sitting.session import ReviewSession
from labeler.records import table
from labeler.records.project import Revision
from labeler.records.scales import Assessor
from labeler.store.database import Store
from tests.small import HandJudge, judge, pooled
from tests.tui.leading import leading
from tui.key_tables import lead_tables
from tui.lead import LeadApp, LeadSeat
from tui.lead_keys import COMPARE_KEYS, LEAD_KEYS, TABS, LeadTables, lead_help, shown_keys

pytestmark = pytest.mark.asyncio

FULLY, PARTIALLY, NOT = NATIVE.levels
SIZES = [(80, 24), (120, 40)]
DIGITS = "1234567"


def vote(store: Store, name: str, levels: str, *, close: bool = True) -> None:
    """Vote f, p or n on one item after the other, five seconds each."""
    now = [0.0]
    session = ReviewSession(store, name, monotonic=lambda: now[0])
    for letter in levels:
        assert session.current is not None
        now[0] += 5
        session.vote({"f": FULLY, "p": PARTIALLY, "n": NOT}[letter])
    if close:
        session.close()
    else:
        assert session.current is not None


@pytest.fixture
def project(sqlite_store: Store, own_folder: Path) -> Store:
    """A judged project on which two people voted; ana holds three items."""
    pooled(sqlite_store, own_folder)
    judge(sqlite_store, HandJudge({"c03": (Grade.FULLY_RELEVANT, 0.6)}, name="oracle-9"))
    route_pool(sqlite_store, "p", replace(UNCALIBRATED, overlap=2))
    vote(sqlite_store, "bo", "nnfn")
    vote(sqlite_store, "ana", "nnpn", close=False)
    return sqlite_store


SHOWN = {
    "1": ("Tasks:", "audit", "Votes given by reviewer", "ana", "bo"),
    "2": ("votes left, 3 of them held; 8 given", "Left at the end of each hour", "5.0 s median"),
    "3": ("ana × bo", "oracle-9", "n=4"),
    "4": ("oracle-9", "uncalibrated", "audit draws", "confidence"),
    "5": ("Pool p", "dense", "lexical", "decided"),
    "6": ("Items held by reviewer", "ana", "3 until"),
    "7": ("settle",),
}


@pytest.mark.parametrize("size", SIZES)
async def test_every_tab_tells_its_numbers(
    project: Store, database: Path, size: tuple[int, int]
) -> None:
    async with leading(database, size=size) as app:
        for digit, tab in zip(DIGITS, TABS, strict=True):
            await app.press(digit)
            assert f"[{digit} {tab.value}]" in app.text
            for told in SHOWN[digit]:
                assert told in app.text, f"{tab} shows {told}"
            assert all(len(row) == size[0] for row in app.text.split("\n"))


async def test_a_plot_is_a_table_too(project: Store, database: Path) -> None:
    tables = {
        "1": ("reason", "votes wanted", "reviewer"),
        "2": ("hour (UTC)", "median s", "votes/h"),
        "3": ("pair", "kappa", "quadratic"),
        "4": ("confidence", "exact 95%"),
        "5": ("decided", "unjudged", "no text"),
        "6": ("evidence", "until (UTC)", "left"),
    }
    async with leading(database) as app:
        await app.press("t")
        for digit, headers in tables.items():
            await app.press(digit)
            assert all(header in app.text for header in headers)
            assert "█" not in app.text
        await app.press("t", "1")
        assert "█" in app.text
    async with leading(database, size=(120, 40)) as app:
        await app.press("5")
        assert "█" in app.text
        assert "no text" in app.text


async def test_an_empty_project_says_so_on_every_tab(sqlite_store: Store, database: Path) -> None:
    told = (
        "Nothing waits for people",
        "0 votes left; 0 given",
        "agreement needs two assessors",
        "No item has both",
        "There is no pool yet",
        "Nobody holds anything",
        "Nothing is disputed",
    )
    async with leading(database) as app:
        for digit, words in zip(DIGITS, told, strict=True):
            await app.press(digit)
            assert words in app.text
            await app.press("t", "j", "k", "space", "b", "t", "enter")
            assert words in app.text


async def test_the_numbers_are_read_again_by_themselves(queue: Store, database: Path) -> None:
    async with leading(database) as app:
        await app.press("2")
        assert "11 votes left; 0 given" in app.text
        vote(queue, "ana", "f")
        app.app._lead.tick()
        await app.settled()
        assert "11 votes left; 0 given" in app.text
        app.clock.now += 11
        app.app._lead.tick()
        await app.settled()
        assert "10 votes left; 1 given" in app.text
        vote(queue, "ana", "f")
        await app.press("r")
        assert "9 votes left; 2 given" in app.text


async def test_looking_at_numbers_writes_nothing(project: Store, database: Path) -> None:
    def written() -> tuple[int, list[str]]:
        with project.read() as connection:
            revisions = sa.select(sa.func.count()).select_from(table(Revision))
            names = connection.execute(sa.select(table(Assessor).c.name))
            count = int(connection.execute(revisions).scalar_one())
            return count, sorted(str(name) for (name,) in names)

    before = written()
    async with leading(database) as app:
        await app.press(*DIGITS, "r")
    assert written() == before


async def test_rubber_stamping_is_marked(queue: Store, database: Path) -> None:
    session = ReviewSession(queue, "ana", monotonic=lambda: 0.0)
    for _ in range(3):
        assert session.current is not None
        session.vote(FULLY)
    session.close()
    async with leading(database) as app:
        await app.press("2")
        assert "! rubber-stamping: ana" in app.text
        await app.press("t")
        assert "rubber-stamping" in app.text


async def test_a_pool_that_is_not_there_ends_the_app(project: Store, database: Path) -> None:
    from labeler.cli.project import open_project

    app = LeadApp(LeadSeat("lea", "nowhere"), lambda: open_project(str(database)))
    async with app.run_test() as pilot:
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
    assert isinstance(app.failure, NotFoundError)
    app = LeadApp(LeadSeat("lea"), lambda: open_project(str(database / "nothing.db")))
    async with app.run_test() as pilot:
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
    assert isinstance(app.failure, NotFoundError)


async def test_the_help_holds_every_key(project: Store, database: Path) -> None:
    tables = LeadTables()
    for keys in (tables.lead, tables.compare):
        for row in keys.rows:
            if row.meaning:
                assert f"{shown_keys(keys, row):<7}{row.meaning}" in lead_help()
    async with leading(database) as app:
        await app.press("question_mark")
        assert "who holds what until when" in app.text
        await app.press("escape")
        assert "[1 queue]" in app.text


async def test_resized_to_too_small_and_back(project: Store, database: Path) -> None:
    async with leading(database) as app:
        await app.pilot.resize_terminal(50, 12)
        await app.settled()
        assert "too small" in app.text
        await app.pilot.resize_terminal(120, 40)
        await app.settled()
        assert "Waiting items by reason" in app.text
        assert "votes wanted" in app.text


async def test_q_ends(project: Store, database: Path) -> None:
    async with leading(database) as app:
        await app.pilot.press("q")
        await app.pilot.pause()
        assert not app.app.is_running


async def test_the_leads_keys_are_changed_by_the_same_table(project: Store, database: Path) -> None:
    changed = {"lead_table": "f6", "scroll_down": "n", "note": "f7", "quit": "f10", "skip": "f8"}
    async with leading(database, keys=changed) as app:
        assert "F6 plot/table" in app.text
        assert "nk down, up" in app.text
        assert "F10 quit" in app.text
        before = app.text
        await app.press("t")
        assert app.text == before
        await app.press("f6")
        assert app.text != before
        await app.press("question_mark")
        assert "F6     the same as a table, or as a plot" in app.text


async def test_two_things_of_the_lead_never_have_one_key() -> None:
    with pytest.raises(UsageError, match="taken by 'lead_table'"):
        lead_tables({"lead_refresh": "t"})
    with pytest.raises(UsageError, match="taken by 'lead_unclear'"):
        lead_tables({"note": "g", "flag": "f9"})


async def test_the_docs_list_the_leads_keys() -> None:
    told = (Path(__file__).parents[2] / "docs" / "lead.md").read_text(encoding="utf-8")
    for row in (*LEAD_KEYS, *COMPARE_KEYS):
        if row.name.startswith("lead_") and not row.name.startswith("lead_tab_"):
            assert f"| `{row.name}` | {row.written} | {row.meaning} |" in told
