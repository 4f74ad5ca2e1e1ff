"""A scripted reviewer clears a queue in whatever way comes to mind, and keeps an own account.

What was done is written down from what the screen showed and which keys were pressed, nothing
else. At every restart and at the end the database must hold just that, event by event.
LABELER_SCRIPTED says how many items there are.
"""

from __future__ import annotations

import math
import os
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.assessment.rubric import default_rubric
from labeler.calibration.policies import UNCALIBRATED
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.labels import NATIVE
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.route import route_pool
from labeler.queue.sitting.answers import CANT_JUDGE_REASONS
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.judgments import Judgment
from labeler.records.pools import Item
from labeler.records.project import Text
from labeler.records.queries import Query
from labeler.records.queue import ReviewEvent, Task
from labeler.records.scales import ScaleLevel
from labeler.store.database import Store
from tests.small import write_jsonl, write_run
from tests.tui.driving import Driver, HandClock, reviewing

pytestmark = pytest.mark.asyncio

DEPTH = 10
QUERIES = math.ceil(int(os.environ.get("LABELER_SCRIPTED", "60")) / DEPTH)
ITEMS = QUERIES * DEPTH
SIZES = [(80, 24), (60, 16), (100, 30), (120, 40), (150, 50)]
LEVELS = sorted(NATIVE.levels, key=lambda level: level.order)
WORDS = ["odd table", "see annex", "maybe", "cut off", "twice", "q or a"]
ACTIONS = {
    "vote": 60,
    "cannot judge": 6,
    "undo": 8,
    "skip": 6,
    "flag": 3,
    "note": 3,
    "draft": 4,
    "hurry": 4,
    "resize": 3,
    "shrink": 1,
    "look": 3,
    "pause": 2,
    "restart": 2,
}

Name = tuple[str, str]
"""A query and a passage, as the screen names them."""


@dataclass(frozen=True)
class Entry:
    """One event: what was done with which item, and what it says."""

    kind: str
    of: Name
    level: str | None = None
    note: str | None = None
    dwell_ms: int | None = None
    undoes: int | None = None


def stored(store: Store) -> list[Entry]:
    """Read the same from the database, first to last."""
    event, judgment, level, text = (
        table(record) for record in (ReviewEvent, Judgment, ScaleLevel, Text)
    )
    task, item, query, evidence = (table(record) for record in (Task, Item, Query, Evidence))
    statement = (
        sa.select(
            event,
            query.c.external_id.label("query"),
            evidence.c.external_id.label("passage"),
            level.c.name.label("level"),
            text.c.body.label("note"),
        )
        .join(task, task.c.id == event.c.task_id)
        .join(item, item.c.id == task.c.item_id)
        .join(query, query.c.id == item.c.query_id)
        .join(evidence, evidence.c.id == item.c.evidence_id)
        .outerjoin(judgment, judgment.c.id == event.c.judgment_id)
        .outerjoin(level, level.c.id == judgment.c.level_id)
        .outerjoin(text, text.c.id == event.c.note_id)
        .order_by(event.c.id)
    )
    with store.read() as connection:
        rows = connection.execute(statement).all()
    places = {row.id: place for place, row in enumerate(rows)}
    return [
        Entry(
            row.kind,
            (row.query, row.passage),
            row.level,
            row.note,
            row.dwell_ms,
            places.get(row.undoes_id),
        )
        for row in rows
    ]


@dataclass
class Script:
    """The reviewer, and the account that is kept."""

    store: Store
    clock: HandClock
    source: random.Random
    account: list[Entry] = field(default_factory=list)
    standing: list[int] = field(default_factory=list)
    """The places in the account of votes that stand, the last one last."""
    left: list[int] = field(default_factory=list)
    """The places of skips in this sitting since which no skipped items were asked for."""
    drafts: dict[Name, str] = field(default_factory=dict)
    skipped: set[Name] = field(default_factory=set)
    """Whatever was skipped at any time."""
    closed: set[Name] = field(default_factory=set)
    """What isn't shown in this sitting, until skipped items are asked for."""
    item: Name | None = None
    since: float = 0.0
    done: Counter[str] = field(default_factory=Counter)

    async def sit(self, app: Driver) -> bool:
        """Work until the next restart; tell whether all is done."""
        self.item, self.closed = None, set(self.skipped)
        self.left.clear()
        self.look_up(app)
        while True:
            if self.item is None:
                if self.source.random() < 0.1 and (self.standing or self.left):
                    await self.undo(app)
                elif self.closed - self.voted_on:
                    assert "that you skipped" in app.text
                    await app.press("w")
                    self.closed.clear()
                    self.left.clear()
                    self.look_up(app)
                else:
                    assert "All done" in app.text
                    return True
                continue
            action = self.source.choices(list(ACTIONS), list(ACTIONS.values()))[0]
            self.done[action] += 1
            if action == "restart":
                await self.leave(app)
                return False
            await getattr(self, action.replace(" ", "_"))(app)
            self.look_up(app)

    def look_up(self, app: Driver) -> None:
        """Read from the screen which item is to be judged; none twice that is done."""
        found = re.search(r"question (q\d+)", app.text), re.search(r"passage (c\d+)", app.text)
        shown = (found[0][1], found[1][1]) if found[0] and found[1] else None
        if shown == self.item:
            return
        self.item, self.since = shown, self.clock.now
        assert shown not in self.voted_on | self.closed

    @property
    def voted_on(self) -> set[Name]:
        return {self.account[place].of for place in self.standing}

    @property
    def of(self) -> Name:
        assert self.item is not None
        return self.item

    def write_down(self, kind: str, *, level: str | None = None, note: str | None = None) -> None:
        if kind in {"vote", "skip"} and (draft := self.drafts.pop(self.of, "")):
            self.write_down("note", note=draft)
        dwell = round((self.clock.now - self.since) * 1000) if kind in {"vote", "skip"} else None
        self.account.append(Entry(kind, self.of, level, note, dwell))
        if kind == "vote":
            self.standing.append(len(self.account) - 1)

    def seconds(self) -> float:
        return self.source.choice([0.3, 0.7, 1.0, 4.0, 20.0, 90.0])

    async def vote(self, app: Driver) -> None:
        place = self.source.randrange(len(LEVELS))
        await app.press(self.source.choice([f"{place + 1}", "asd"[place]]), after=self.seconds())
        self.write_down("vote", level=LEVELS[place].name)

    async def hurry(self, app: Driver) -> None:
        """Vote, and press another label before the next item can have been read."""
        await app.press("a", after=self.seconds())
        self.write_down("vote", level=LEVELS[0].name)
        self.look_up(app)
        await app.press("d", after=0.1)
        if self.item is not None:
            assert "not counted" in app.text

    async def cannot_judge(self, app: Driver) -> None:
        reason = self.source.randrange(len(CANT_JUDGE_REASONS))
        await app.press(self.source.choice("f4"))
        if self.source.random() < 0.3:
            await app.press("escape")
            return
        await app.press(f"{reason + 1}", after=self.seconds())
        self.write_down("vote", note=CANT_JUDGE_REASONS[reason])

    async def undo(self, app: Driver) -> None:
        await app.press(self.source.choice(["u", "ctrl+z"]))
        if self.left and self.left[-1] > (self.standing or [-1])[-1]:
            back = self.account[self.left.pop()].of
            self.closed.discard(back)
            self.look_up(app)
            assert self.item == back
            return
        if not self.standing:
            assert "there is no vote to take back" in app.text
            return
        place = self.standing.pop()
        self.account.append(Entry("undo", self.account[place].of, undoes=place))
        self.closed.discard(self.account[place].of)
        self.look_up(app)
        assert self.item == self.account[place].of

    async def skip(self, app: Driver) -> None:
        await app.press("x", after=self.seconds())
        self.write_down("skip")
        self.skipped.add(self.of)
        self.closed.add(self.of)
        self.left.append(len(self.account) - 1)

    async def flag(self, app: Driver) -> None:
        words = self.source.choice(WORDS)
        await app.press("g")
        await app.write(words)
        await app.press(key := self.source.choice(["enter", "escape"]))
        if key == "enter":
            self.write_down("flag", note=words)

    async def note(self, app: Driver) -> None:
        words = await self.begin_note(app)
        await app.press("enter")
        self.drafts.pop(self.of, None)
        self.write_down("note", note=words)

    async def draft(self, app: Driver) -> None:
        words = await self.begin_note(app)
        await app.press("escape")
        self.drafts[self.of] = words

    async def begin_note(self, app: Driver) -> str:
        await app.press("n")
        words = self.source.choice(WORDS)
        await app.write(words)
        return self.drafts.get(self.of, "") + words

    async def resize(self, app: Driver) -> None:
        await app.pilot.resize_terminal(*self.source.choice(SIZES))
        await app.settled()

    async def shrink(self, app: Driver) -> None:
        """In a terminal that is too small keys do nothing."""
        await app.pilot.resize_terminal(*self.source.choice([(59, 24), (80, 15), (20, 5)]))
        await app.settled()
        await app.press("a", "x", "u", "2")
        await self.resize(app)

    async def look(self, app: Driver) -> None:
        """Look at another page, or up and down the passage; no key there is a label."""
        page = self.source.choice(["c", "r", "question_mark"])
        await app.press(page, "a", "x", "escape", "space", "k", "h")

    async def pause(self, app: Driver) -> None:
        """Hide the item; the time stands still."""
        await app.press("p", "a", "x")
        await app.press("p", after=300.0)
        self.since += 302.0

    async def leave(self, app: Driver) -> None:
        """End, by the key or from outside; a draft becomes a note when it is ended by the key."""
        drafts, self.drafts = self.drafts, {}
        if not drafts and self.source.random() < 0.5:
            return
        self.clock.now += 1
        await app.pilot.press("q")
        await app.until(lambda: not app.app.is_running)
        for of, words in drafts.items():
            self.account.append(Entry("note", of, note=words))


@pytest.fixture
def queue(sqlite_store: Store, own_folder: Path) -> Store:
    """Items that wait for one vote each."""
    names = [f"c{number:02d}" for number in range(DEPTH)]
    texts: list[dict[str, object]] = [{"_id": name, "text": f"passage {name}"} for name in names]
    keys = [f"q{number:03d}" for number in range(QUERIES)]
    queries: list[dict[str, object]] = [{"_id": key, "text": f"question {key}"} for key in keys]
    corpus = write_jsonl(own_folder / "corpus.jsonl", texts)
    import_corpus(sqlite_store, [corpus], CorpusOptions())
    import_queries(
        sqlite_store, [write_jsonl(own_folder / "queries.jsonl", queries)], QueryOptions()
    )
    run = write_run(own_folder / "one.run", "one", dict.fromkeys(keys, names))
    import_runs(sqlite_store, [run], RunOptions())
    create_pool(sqlite_store, "p", PoolOptions(depth=DEPTH, rubric=default_rubric()))
    assert route_pool(sqlite_store, "p", UNCALIBRATED).to_people == ITEMS
    return sqlite_store


async def test_the_record_is_what_a_scripted_reviewer_did(queue: Store, database: Path) -> None:
    clock = HandClock()
    script = Script(queue, clock, random.Random(500))  # noqa: S311 - repeatable, not secret
    sittings, is_done = 0, False
    while not is_done:
        async with reviewing(database, size=script.source.choice(SIZES), clock=clock) as app:
            is_done = await script.sit(app)
        sittings += 1
        assert stored(queue) == script.account
    votes = [script.account[place] for place in script.standing]
    assert len(votes) == len({vote.of for vote in votes}) == ITEMS
    with queue.read() as connection:
        labels = labels_in_force(connection, items_of_pool(1)).values()
    grades = {level.name: level.grade for level in LEVELS}
    given = Counter(grades[vote.level] if vote.level else None for vote in votes)
    assert Counter(label.grade for label in labels) == given
    print(f"{ITEMS} items, {sittings} sittings, {len(script.account)} events: {script.done}")
