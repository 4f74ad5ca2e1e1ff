"""Disputes as a state machine: whoever settles, in whatever order, these things hold."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import sqlalchemy as sa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from labeler.assessment.blind_judgments import read_blind_judgments
from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.assessment.reading import blocks_of
from labeler.calibration.policies import UNCALIBRATED
from labeler.errors import ConflictError
from labeler.labels import NATIVE, Level
from labeler.queue.adjudication import (
    decide,
    mark_rubric_unclear,
    send_back,
    take_back_decision,
)
from labeler.queue.comparison import Comparison
from labeler.queue.dispute_access import hold_dispute, look
from labeler.queue.disputes import DisputeState, list_disputes
from labeler.queue.route import route_pool
from labeler.queue.sitting.session import ReviewSession
from labeler.queue.votes import Event, record_event
from labeler.records import table
from labeler.records.judgments import Basis, Judgment
from labeler.records.queue import EventKind, ReviewEvent, Task
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from labeler.store.projections import judgments_in_force, projection_digest, rebuild
from tests.conftest import Ticking
from tests.disputed import key, person
from tests.small import HandJudge, judge, pooled

REVIEWERS, LEADS = ("ana", "bo", "cy"), ("lea", "max", "ana")
LEVELS = st.sampled_from([*NATIVE.levels, None])


class Disputes(RuleBasedStateMachine):
    """Three reviewers who contradict each other, and three who settle, one of them a reviewer."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        folder = Path(self.folder.name)
        self.clock = Ticking()
        self.store: Store = open_store(
            Location(str(folder / "queue.db")), create=True, clock=self.clock
        )
        pooled(self.store, folder, depth=1)
        judge(self.store, HandJudge())
        self.policy = replace(UNCALIBRATED, overlap=2)
        route_pool(self.store, "p", self.policy)
        for name, level in zip(REVIEWERS[:2], (NATIVE.levels[0], NATIVE.levels[-1]), strict=True):
            session = ReviewSession(self.store, name)
            for _ in range(3):
                session.vote(level)
            session.close()
        self.people = {name: person(self.store, name) for name in (*REVIEWERS, *LEADS)}
        self.looks: list[tuple[str, Comparison]] = []
        self.decisions: list[tuple[str, Comparison, str]] = []

    @rule(name=st.sampled_from(REVIEWERS), level=LEVELS)
    def vote(self, name: str, level: Level | None) -> None:
        session = ReviewSession(self.store, name)
        if session.current is not None:
            session.vote(level)
        session.close()

    @rule(name=st.sampled_from(REVIEWERS))
    def undo(self, name: str) -> None:
        session = ReviewSession(self.store, name)
        session.undo()
        session.close()

    @rule()
    def route(self) -> None:
        route_pool(self.store, "p", self.policy)

    @rule(name=st.sampled_from(LEADS), level=LEVELS, place=st.integers(0, 3))
    def settle(self, name: str, level: Level | None, place: int) -> None:
        """Vote blind where that is to be done, then look."""
        who = self.people[name]
        with self.store.read() as connection:
            found = list_disputes(connection, who, now=self.clock.now)
        if not found:
            return
        one = found[place % len(found)]
        try:
            claim = hold_dispute(self.store, who, one.item_id)
        except ConflictError:
            assert one.is_own or one.state is DisputeState.HELD
            return
        assert not one.is_own
        if claim is not None:
            assert one.state is not DisputeState.TO_COMPARE
            with self.store.read() as connection:
                (block,) = blocks_of(connection, [one.item_id], seed="")
            record_event(self.store, who, claim, Event(key(), EventKind.VOTE, block, level))
        try:
            self.looks.append((name, look(self.store, who, one.item_id, key())))
        except ConflictError:
            assert level is None or claim is None

    @rule(end=st.sampled_from(["decide", "back", "unclear"]), level=LEVELS)
    def end(self, end: str, level: Level | None) -> None:
        if not self.looks:
            return
        name, comparison = self.looks.pop()
        who, event = self.people[name], key()
        try:
            match end:
                case "decide" if level is not None:
                    decide(self.store, who, comparison, level, event)
                    self.decisions.append((name, comparison, event))
                    assert self.label(comparison.item_id) is Basis.ADJUDICATION
                case "back":
                    send_back(self.store, who, comparison, event)
                case "unclear":
                    mark_rubric_unclear(self.store, who, comparison, "why", event)
        except ConflictError as error:
            self.expect("somebody else settled", error)

    @rule()
    def take_back(self) -> None:
        if self.decisions:
            name, comparison, event = self.decisions.pop()
            try:
                take_back_decision(self.store, self.people[name], comparison, event, key())
            except ConflictError as error:
                self.expect("no longer in force", error)

    @staticmethod
    def expect(words: str, error: ConflictError) -> None:
        assert words in error.message

    def label(self, item: int) -> Basis | None:
        with self.store.read() as connection:
            label = labels_in_force(connection, items_of_pool(1)).get(item)
        return None if label is None else label.basis

    @invariant()
    def projections_agree_with_the_log(self) -> None:
        if hasattr(self, "store"):
            with self.store.read() as connection:
                now = projection_digest(connection)
            assert rebuild(self.store) == (now, now)

    @invariant()
    def nobody_has_two_votes_in_force(self) -> None:
        if not hasattr(self, "store"):
            return
        judgment = table(Judgment)
        statement = sa.select(judgment.c.item_id, judgment.c.assessor_id).where(
            judgments_in_force(), judgment.c.assessor_id.in_(self.people.values())
        )
        with self.store.read() as connection:
            counts = Counter(tuple(row) for row in connection.execute(statement))
        assert set(counts.values()) <= {1}

    @invariant()
    def agreement_never_uses_what_was_said_after_a_look(self) -> None:
        if not hasattr(self, "store"):
            return
        event, task = table(ReviewEvent), table(Task)
        looked = (
            sa.select(event.c.assessor_id, task.c.item_id, sa.func.min(event.c.revision_id))
            .join(task, task.c.id == event.c.task_id)
            .where(event.c.kind == EventKind.REVEAL.value)
            .group_by(event.c.assessor_id, task.c.item_id)
        )
        with self.store.read() as connection:
            looks = {(who, item): at for who, item, at in connection.execute(looked)}
            blind = read_blind_judgments(connection, None, None).judgments
        for one in blind:
            at = looks.get((one.assessor_id, one.item_id))
            assert at is None or one.revision < at
        # A look comes after a blind vote, and that vote counts whatever came of it since.
        voted = {(one.assessor_id, one.item_id) for one in blind}
        assert looks.keys() <= voted

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()


TestDisputes = Disputes.TestCase
TestDisputes.settings = settings(
    max_examples=20,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
