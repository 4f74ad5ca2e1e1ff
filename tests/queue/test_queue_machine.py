"""The queue as a state machine: whatever reviewers do, in any order, these things hold."""

from __future__ import annotations

import tempfile
from datetime import timedelta
from pathlib import Path

import sqlalchemy as sa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.calibration.policies import UNCALIBRATED
from labeler.labels import NATIVE, Grade, Level
from labeler.queue.route import route_pool
from labeler.queue.sitting.session import ReviewSession
from labeler.queue.votes import Saved
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.queue import Assignment, AssignmentState
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from labeler.store.projections import projection_digest, rebuild, refresh
from tests.conftest import Ticking
from tests.small import HandJudge, judge, pooled

PEOPLE = ("ana", "bo", "cy")


class Queue(RuleBasedStateMachine):
    """Three reviewers, a lead who routes, and time that passes."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Ticking()
        folder = Path(self.folder.name)
        self.store: Store = open_store(
            Location(str(folder / "queue.db")), create=True, clock=self.clock
        )
        pooled(self.store, folder, depth=2)
        judge(self.store, HandJudge({"c03": (Grade.FULLY_RELEVANT, 0.6)}))
        route_pool(self.store, "p", UNCALIBRATED)
        self.sessions = {name: ReviewSession(self.store, name) for name in PEOPLE}
        self.counted: list[tuple[str, int, Grade | None]] = []
        self.given: dict[str, list[str]] = {name: [] for name in PEOPLE}
        """What each gave in their sitting and didn't take back: votes that count, and skips."""
        self.judgments = self.count_judgments()
        with self.store.work() as connection:
            # Everything is wanted once, whether accepted or not.
            connection.execute(sa.delete(table(Assignment)))
        from labeler.queue.wanted import want_votes
        from labeler.records.queue import VotePurpose

        with self.store.write("want") as tx:
            items = [int(row[0]) for row in tx.connection.execute(items_of_pool(1))][:4]
            want_votes(tx, dict.fromkeys(items, 0), dict.fromkeys(items, VotePurpose.PRIMARY))
            refresh(tx.connection, items)

    def count_judgments(self) -> int:
        with self.store.read() as connection:
            counted = sa.select(sa.func.count()).select_from(table(Judgment))
            return int(connection.execute(counted).scalar_one())

    @rule(name=st.sampled_from(PEOPLE), level=st.sampled_from([*NATIVE.levels, None]))
    def vote(self, name: str, level: Level | None) -> None:
        shown = self.sessions[name].current
        if shown is None:
            return
        if self.sessions[name].vote(level) is Saved.COUNTED:
            self.counted.append((name, shown.claim.item_id, level.grade if level else None))
            self.given[name].append("vote")
        self.judgments += 1

    @rule(name=st.sampled_from(PEOPLE))
    def undo(self, name: str) -> None:
        if self.given[name] and self.given[name].pop() == "skip":
            back = self.sessions[name].undo()
            assert back == ("is back" in self.sessions[name].notice)
            return
        own = [vote for vote in self.counted if vote[0] == name]
        assert self.sessions[name].undo() == bool(own)
        if own:
            last = len(self.counted) - 1 - self.counted[::-1].index(own[-1])
            del self.counted[last]

    @rule(name=st.sampled_from(PEOPLE))
    def skip(self, name: str) -> None:
        if self.sessions[name].current is not None:
            self.sessions[name].skip()
            self.given[name].append("skip")

    @rule(name=st.sampled_from(PEOPLE))
    def start_again(self, name: str) -> None:
        self.sessions[name].close()
        self.sessions[name] = ReviewSession(self.store, name, with_skipped=True)
        self.given[name].clear()

    @rule(minutes=st.sampled_from([1, 15]))
    def wait(self, minutes: int) -> None:
        self.clock.advance(timedelta(minutes=minutes).total_seconds())

    @rule()
    def route(self) -> None:
        route_pool(self.store, "p", UNCALIBRATED)
        assert route_pool(self.store, "p", UNCALIBRATED).revision is None

    @precondition(lambda self: hasattr(self, "store"))
    @invariant()
    def no_vote_is_lost_or_rewritten(self) -> None:
        assert self.count_judgments() == self.judgments

    @precondition(lambda self: hasattr(self, "store"))
    @invariant()
    def labels_are_what_the_votes_settle(self) -> None:
        with self.store.read() as connection:
            labels = labels_in_force(connection, items_of_pool(1))
        for item in {item for _, item, _ in self.counted}:
            grades = [grade for _, of, grade in self.counted if of == item]
            given = {grade for grade in grades if grade is not None}
            if len(given) == 1:
                assert labels[item].grade in given
            if not given:
                assert labels[item].grade is None

    @precondition(lambda self: hasattr(self, "store"))
    @invariant()
    def an_item_is_held_by_one_person_at_a_time(self) -> None:
        slot = table(Assignment)
        held = sa.select(slot.c.task_id, sa.func.count()).where(
            slot.c.state == AssignmentState.HELD.value
        )
        with self.store.read() as connection:
            for _, count in connection.execute(held.group_by(slot.c.task_id)):
                assert count == 1

    @precondition(lambda self: hasattr(self, "store"))
    @invariant()
    def projections_agree_with_the_log(self) -> None:
        with self.store.read() as connection:
            now = projection_digest(connection)
        assert rebuild(self.store) == (now, now)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()


TestQueue = Queue.TestCase
TestQueue.settings = settings(
    max_examples=15,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
