"""Eight reviewers in eight processes that are killed, with clocks that jump, on an overlap of two.

LABELER_ITEMS says how many items there are, LABELER_KILLS_EACH how often each process is killed.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import random
import signal
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from labeler.assessment.rubric import default_rubric
from labeler.calibration.policies import UNCALIBRATED
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.claims import claim, release
from labeler.queue.route import route_pool
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.queue import Assignment, AssignmentState, EventKind, ReviewEvent
from labeler.records.scales import AssessorKind
from labeler.store.database import open_store, utc_now
from labeler.store.location import Location
from labeler.store.maintenance import check
from labeler.store.projections import judgments_in_force
from labeler.store.registry import assessor_key
from tests.queue.shaky_voter import read_log, work_off
from tests.small import write_jsonl, write_run

DEPTH = 20
QUERIES = math.ceil(int(os.environ.get("LABELER_ITEMS", "60")) / DEPTH)
ITEMS = QUERIES * DEPTH
KILLS_EACH = int(os.environ.get("LABELER_KILLS_EACH", "1"))
PEOPLE = ("ana", "bo", "cy", "dee", "eli", "fay", "gus", "hal")
PATIENCE = 3600.0
PRELOADED = ["alembic.command", "labeler.queue.undo", "labeler.store.maintenance"]
"""What a process needs most of its start for; the server that forks them has it loaded."""

_ASSIGNMENT, _EVENT, _JUDGMENT = table(Assignment), table(ReviewEvent), table(Judgment)
_OPEN = _ASSIGNMENT.c.state != AssignmentState.DONE.value


@pytest.fixture
def queue(location: Location, tmp_path: Path) -> Location:
    """Items that wait for two votes each."""
    names = [f"c{number:02d}" for number in range(DEPTH)]
    texts: list[dict[str, object]] = [{"_id": name, "text": f"passage {name}"} for name in names]
    keys = [f"q{number:04d}" for number in range(QUERIES)]
    queries: list[dict[str, object]] = [{"_id": key, "text": f"question {key}"} for key in keys]
    with open_store(location, create=True) as store:
        import_corpus(store, [write_jsonl(tmp_path / "corpus.jsonl", texts)], CorpusOptions())
        import_queries(store, [write_jsonl(tmp_path / "queries.jsonl", queries)], QueryOptions())
        run = write_run(tmp_path / "one.run", "one", dict.fromkeys(keys, names))
        import_runs(store, [run], RunOptions())
        create_pool(store, "p", PoolOptions(depth=DEPTH, rubric=default_rubric()))
        route_pool(store, "p", replace(UNCALIBRATED, overlap=2))
        with store.read() as connection:
            places = sa.select(sa.func.count()).select_from(_ASSIGNMENT)
            assert connection.execute(places).scalar_one() == 2 * ITEMS
    return location


@dataclass
class Seat:
    """A reviewer's process, started again whenever it was killed."""

    name: str
    address: str
    log: Path
    process: BaseProcess | None = None
    begun: int = 0
    kills: int = 0
    at: float = math.inf
    """When it is to be killed; not before it is at work."""

    def start(self) -> None:
        self.begun += 1
        self.at = math.inf
        arguments = (self.address, self.name, str(self.begun), str(self.log))
        context = multiprocessing.get_context("forkserver")
        self.process = context.Process(target=work_off, args=arguments, daemon=True)
        self.process.start()

    @property
    def is_at_work(self) -> bool:
        assert self.process is not None
        return any(line.get("began") == self.process.pid for line in read_log(self.log))

    @property
    def votes(self) -> int:
        return sum("told" in line for line in read_log(self.log))

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.join()
        # It may have ended by itself just before.
        assert self.process.exitcode in {-signal.SIGKILL, 0}
        self.kills += 1


@dataclass
class Office:
    """All reviewers."""

    seats: list[Seat]
    source: random.Random = field(default_factory=lambda: random.Random(8))  # noqa: S311 - repeatable

    def begin(self) -> None:
        """Let all work, and kill all at once after a while."""
        for seat in self.seats:
            seat.start()
        end = time.monotonic() + PATIENCE
        while sum(seat.votes for seat in self.seats) < ITEMS // 2:
            assert time.monotonic() < end
            time.sleep(0.05)
        for seat in self.seats:
            seat.kill()

    def finish(self, kills_each: int) -> None:
        """Let all work to the end; kill each some times."""
        for seat in self.seats:
            seat.kills = 0
            seat.start()
        end = time.monotonic() + PATIENCE
        working = list(self.seats)
        while working:
            working = [seat for seat in working if self._goes_on(seat, kills_each)]
            assert time.monotonic() < end
            time.sleep(0.02)

    def _goes_on(self, seat: Seat, kills_each: int) -> bool:
        """Look after a seat; tell whether its process works."""
        assert seat.process is not None
        if not seat.process.is_alive():
            assert seat.process.exitcode == 0
            return False
        if seat.kills < kills_each:
            if seat.at == math.inf and seat.is_at_work:
                seat.at = time.monotonic() + self.source.uniform(0, 0.3)
            if time.monotonic() >= seat.at:
                seat.kill()
                seat.start()
        return True


def assert_no_lease_is_stuck(location: Location) -> int:
    """After the last lease's time, a newcomer is given everything that isn't done; count it."""
    with open_store(location) as store, store.read() as connection:
        last = connection.execute(sa.select(sa.func.max(_ASSIGNMENT.c.leased_until))).scalar()
        wanted = set(connection.execute(sa.select(_ASSIGNMENT.c.item_id).where(_OPEN)).scalars())
    later = max(last or utc_now(), utc_now()) + timedelta(seconds=1)
    with open_store(location, clock=lambda: later) as store:
        with store.write("review start", actor="new") as tx:
            newcomer = assessor_key(tx, AssessorKind.PERSON, "new")
        assert {held.item_id for held in claim(store, newcomer, 2 * ITEMS)} == wanted
        release(store, newcomer)
    return len(wanted)


def assert_two_votes_each(location: Location) -> None:
    with open_store(location) as store:
        with store.read() as connection:
            counting = connection.execute(
                sa.select(_JUDGMENT.c.item_id, _JUDGMENT.c.assessor_id).where(judgments_in_force())
            ).all()
            places = connection.execute(
                sa.select(_ASSIGNMENT.c.item_id, _ASSIGNMENT.c.assessor_id, _ASSIGNMENT.c.state)
            ).all()
        assert all(not finding.problems for finding in check(store))
    voters = defaultdict(set)
    for item, person in counting:
        voters[item].add(person)
    assert len(voters) == ITEMS
    assert len(counting) == 2 * ITEMS
    assert {len(people) for people in voters.values()} == {2}
    assert {state for _, _, state in places} == {AssignmentState.DONE.value}
    assert Counter((item, person) for item, person, _ in places) == Counter(map(tuple, counting))


def assert_nothing_is_lost(location: Location, lines: list[dict[str, Any]]) -> Counter[str]:
    """Compare what the processes said and were told with what is stored, key by key."""
    with open_store(location) as store, store.read() as connection:
        known = {
            str(event.event_key): event for event in connection.execute(sa.select(_EVENT)).all()
        }
        standing = {
            str(key)
            for (key,) in connection.execute(
                sa.select(_EVENT.c.event_key)
                .join(_JUDGMENT, _JUDGMENT.c.id == _EVENT.c.judgment_id)
                .where(judgments_in_force())
            )
        }
    votes = {line["vote"]: line["place"][2] for line in lines if "vote" in line}
    undone = {line["undo"]: line["of"] for line in lines if "undo" in line}
    told = {line["told"]: line["became"] for line in lines if "told" in line}
    assert told.keys() == votes.keys() | undone.keys()
    assert votes.keys() == {key for key, one in known.items() if one.kind == EventKind.VOTE.value}
    stored = {key for key, one in known.items() if one.kind == EventKind.UNDO.value}
    assert stored == {key for key in undone if told[key] == "undone"} | (
        stored & {key for key in undone if told[key] == "nothing"}
    )
    assert all(known[key].undoes_id == known[undone[key]].id for key in stored)
    taken_back = {undone[key] for key in stored}
    counted = {key for key in votes if told[key] == "counted"}
    extra = {key for key in votes if told[key] == "extra"}
    assert counted - taken_back <= standing
    assert not standing & (extra | taken_back)
    return Counter(told.values())


def test_eight_processes_lose_nothing_and_give_each_item_two_votes(
    queue: Location, tmp_path: Path
) -> None:
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    office = Office([Seat(name, queue.address, tmp_path / f"{name}.log") for name in PEOPLE])
    begin = time.monotonic()
    office.begin()
    left = assert_no_lease_is_stuck(queue)
    assert left, "the kill of all came too late"
    office.finish(KILLS_EACH)
    took = time.monotonic() - begin
    assert_two_votes_each(queue)
    lines = [line for seat in office.seats for line in read_log(seat.log)]
    told = assert_nothing_is_lost(queue, lines)
    starts = sum("began" in line for line in lines)
    print(f"{ITEMS} items, {starts} starts, {left} left at the kill of all, {took:.0f} s: {told}")
