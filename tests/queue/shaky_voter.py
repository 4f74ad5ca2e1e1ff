"""A reviewer in a process of its own, with a clock that jumps; run by test_eight_processes.py.

It votes until nothing is wanted of anybody any more, and takes a vote back now and then. Before
each step it says in its log what it is about to do, and after it what it was told. Started again
on the same log, it first does anew what it wasn't told of, with the same key, as a journal is
replayed; what it had held it gives back, or leaves until its lease ends.
"""

from __future__ import annotations

import json
import os
import random
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa

from labeler.assessment.reading import blocks_of
from labeler.errors import DatabaseBusyError
from labeler.queue.claims import LEASE, Claim, claim, release
from labeler.queue.undo import undo_last
from labeler.queue.votes import Event, record_event
from labeler.records import table
from labeler.records.queue import Assignment, AssignmentState, EventKind, VotePurpose
from labeler.records.scales import AssessorKind
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from labeler.store.registry import assessor_key

__all__ = ["read_log", "work_off"]

JUMPS = [timedelta(minutes=minutes) for minutes in (-60, -11, -5, 1, 6, 11, 60)]
_ASSIGNMENT = table(Assignment)

_T = TypeVar("_T")


@dataclass
class JumpingClock:
    """The machine's clock, set forward and back."""

    ahead: timedelta = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def jump_past(self, then: datetime) -> None:
        self.ahead = max(self.ahead, then - datetime.now(UTC) + timedelta(seconds=1))


def read_log(path: Path) -> Iterator[dict[str, Any]]:
    """Give the lines of a log; the last one may be cut."""
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.endswith("\n"):
                yield json.loads(line)


@dataclass
class Reviewer:
    """One reviewer at work."""

    store: Store
    clock: JumpingClock
    source: random.Random
    log: Path
    key: int = field(init=False)

    def say(self, **what: object) -> None:
        with self.log.open("ab", buffering=0) as log:
            log.write(json.dumps(what).encode() + b"\n")

    def vote(self, key: str, held: Claim) -> str:
        with self.store.read() as connection:
            block = blocks_of(connection, [held.item_id], seed="")[0]
        # All say the same of an item: a contradiction would ask for a third vote.
        levels = block.rubric.scale.levels
        event = Event(key, EventKind.VOTE, block, level=levels[held.item_id % len(levels)])
        became = record_event(self.store, self.key, held, event).value
        self.say(told=key, became=became)
        return str(became)

    def undo(self, key: str, of: str) -> Claim | None:
        held = undo_last(self.store, self.key, key, of=of)
        self.say(told=key, became="nothing" if held is None else "undone")
        return held

    def vote_newly(self, held: Claim) -> None:
        key = str(uuid.uuid4())
        place = [held.assignment_id, held.task_id, held.item_id, held.purpose.value]
        self.say(vote=key, place=place)
        if patiently(lambda: self.vote(key, held)) == "counted" and self.source.random() < 0.05:
            undo = str(uuid.uuid4())
            self.say(undo=undo, of=key)
            again = patiently(lambda: self.undo(undo, key))
            if again is not None:
                self.vote_newly(again)

    def do_anew(self) -> None:
        """Do again what it isn't known of whether it was done."""
        lines = list(read_log(self.log))
        told = {line["told"] for line in lines if "told" in line}
        for line in lines:
            if "vote" in line and (vote := line["vote"]) not in told:
                place, task, item, purpose = line["place"]
                held = Claim(place, task, item, VotePurpose(purpose))
                patiently(lambda vote=vote, held=held: self.vote(vote, held))  # type: ignore[misc]
            if "undo" in line and (undo := line["undo"]) not in told:
                patiently(lambda undo=undo, of=line["of"]: self.undo(undo, of))  # type: ignore[misc]

    def work_off(self) -> None:
        while patiently(self.wanted):
            if self.source.random() < 0.1:
                self.clock.ahead += self.source.choice(JUMPS)
            claims = patiently(lambda: claim(self.store, self.key, 3))
            for held in claims:
                time.sleep(self.source.uniform(0, 0.02))
                self.vote_newly(held)
            if not claims:
                patiently(self.wait)

    def wanted(self) -> int:
        open_ = sa.select(sa.func.count()).where(_ASSIGNMENT.c.state != AssignmentState.DONE.value)
        with self.store.read() as connection:
            return int(connection.execute(open_).scalar_one())

    def wait(self) -> None:
        """Let the time pass until the first lease ends."""
        time.sleep(0.02)
        with self.store.read() as connection:
            first = connection.execute(sa.select(sa.func.min(_ASSIGNMENT.c.leased_until))).scalar()
        # Not always: those whose clocks are right wait as long as others work.
        if first is not None and self.source.random() < 0.2:
            assert first < self.clock() + LEASE + timedelta(days=1000)
            self.clock.jump_past(first)


def patiently(work: Callable[[], _T]) -> _T:
    """Do something, however long the others keep the database."""
    while True:
        try:
            return work()
        except DatabaseBusyError:
            continue


def work_off(address: str, name: str, seed: str, log: str) -> None:
    """Review until nothing is wanted any more."""
    clock = JumpingClock()
    with open_store(Location(address), clock=clock) as store:
        reviewer = Reviewer(store, clock, random.Random(f"{seed} {name}"), Path(log))  # noqa: S311 - repeatable, not secret

        def begin() -> int:
            with store.write("review start", actor=name) as tx:
                return assessor_key(tx, AssessorKind.PERSON, name)

        reviewer.key = patiently(begin)
        reviewer.say(began=os.getpid())
        reviewer.do_anew()
        if reviewer.source.random() < 0.5:
            patiently(lambda: release(store, reviewer.key))
        reviewer.work_off()
