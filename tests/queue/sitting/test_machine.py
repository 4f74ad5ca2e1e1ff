"""The sitting without screen and database: what it orders, and what it makes of the answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from labeler.assessment.blind import BlindItem, BlindQuery, Block
from labeler.assessment.rubric import default_rubric
from labeler.queue.claims import Claim, QueueLeft
from labeler.queue.sitting.answers import Phase
from labeler.queue.sitting.gate import UNSAVED_LIMIT, Press
from labeler.queue.sitting.machine import Sitting
from labeler.queue.sitting.orders import (
    Answer,
    Count,
    Counted,
    Done,
    Fetch,
    Fetched,
    Kept,
    Note,
    Order,
    Renew,
    Shown,
    Skip,
    TakenBack,
    TurnedDown,
    Undo,
    Vote,
)
from labeler.records.queue import VotePurpose

RUBRIC = default_rubric()


def item(number: int) -> Shown:
    block = Block(BlindQuery("q"), (BlindItem(number, f"passage {number}"),), RUBRIC)
    return Shown(Claim(number, number, number, VotePurpose.PRIMARY), block)


@dataclass
class FakeDesk:
    """A database that is a list: items 1 to n, and the votes that stand."""

    waiting: list[int] = field(default_factory=list)
    votes: list[tuple[str, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def perform(self, order: Order) -> Answer:
        match order:
            case Fetch(wanted):
                taken, self.waiting = self.waiting[:wanted], self.waiting[wanted:]
                left = None if taken else QueueLeft(0, 0, 0, None)
                return Fetched(tuple(item(number) for number in taken), left)
            case Vote(key, shown):
                self.votes.append((key, shown.claim.item_id))
                return Kept(key)
            case Note(key, _, text):
                self.notes.append(text)
                return Kept(key)
            case Skip(key):
                return Kept(key)
            case Undo(key):
                if not self.votes:
                    return TakenBack(key, None, "there is no vote to take back")
                return TakenBack(key, item(self.votes.pop()[1]))
            case Count():
                return Counted(len(self.votes), len(self.waiting))
            case _:
                return Done()


def begun(items: int = 9) -> tuple[Sitting, FakeDesk]:
    keys = count()
    sitting, desk = (
        Sitting(new_key=lambda: f"key {next(keys)}"),
        FakeDesk(list(range(1, items + 1))),
    )
    sitting.begin()
    perform(sitting, desk)
    return sitting, desk


def perform(sitting: Sitting, desk: FakeDesk) -> list[Order]:
    done = []
    while orders := sitting.take_orders():
        for order in orders:
            sitting.answered(desk.perform(order))
        done += orders
    return done


def press(sitting: Sitting, key: str, at: float, place: int) -> bool:
    if sitting.current is not None:
        sitting.painted(sitting.current, at - 1)
    sitting.pressed(Press(key, at))
    return sitting.choose(place)


def test_the_current_item_and_two_ahead_are_held() -> None:
    sitting, _ = begun()
    assert [shown.claim.item_id for shown in sitting.ahead] == [1, 2, 3]
    press(sitting, "a", 10, 1)
    assert [type(order) for order in sitting.take_orders()] == [Vote, Fetch]


def test_an_unanswered_fetch_is_not_asked_for_twice_and_is_never_called_empty() -> None:
    sitting = Sitting()
    sitting.begin()
    assert [type(order) for order in sitting.take_orders()] == [Count, Fetch]
    assert sitting.take_orders() == []
    assert sitting.phase is Phase.WAITING


def test_an_extra_vote_is_told_and_its_undo_names_it() -> None:
    sitting, _ = begun()
    press(sitting, "a", 10, 1)
    vote, _ = sitting.take_orders()
    assert isinstance(vote, Vote)
    sitting.undo()
    (undo,) = sitting.take_orders()
    assert undo == Undo("key 1", of=vote.key)
    sitting.answered(Kept(vote.key, extra=True))
    sitting.answered(TakenBack("key 1", None, "the last vote doesn't count"))
    assert (sitting.tally.votes, sitting.tally.extra, sitting.tally.undone) == (0, 1, 0)
    assert sitting.notice == "the last vote doesn't count"
    assert sitting.standing == 0


def test_votes_wait_while_one_is_being_taken_back() -> None:
    sitting, desk = begun()
    press(sitting, "a", 10, 1)
    perform(sitting, desk)
    sitting.pressed(Press("u", 11))
    sitting.undo()
    assert not press(sitting, "d", 12, 3)
    assert sitting.notice == "not counted: the last vote is being taken back"
    perform(sitting, desk)
    assert sitting.current == item(1)
    assert press(sitting, "d", 14, 3)


def test_a_vote_that_is_turned_down_shows_its_item_again() -> None:
    sitting, _ = begun()
    press(sitting, "a", 10, 1)
    vote = sitting.take_orders()[0]
    assert isinstance(vote, Vote)
    again = item(1)
    sitting.answered(TurnedDown(vote.key, "it changed", again))
    assert sitting.current is again
    assert (sitting.standing, sitting.unsaved, sitting.tally.done) == (0, 0, 0)


def test_a_lease_of_ones_own_that_ran_out_is_not_shown_twice() -> None:
    sitting, _ = begun(items=3)
    press(sitting, "a", 10, 1)
    sitting.take_orders()
    sitting.answered(Fetched((item(2), item(3))))
    assert [shown.claim.item_id for shown in sitting.ahead] == [2, 3]


def test_leases_are_renewed_once_a_minute_by_keys() -> None:
    sitting, desk = begun()
    renewals = []
    for at in (0, 30, 59, 61, 90, 125):
        sitting.pressed(Press("j", at))
        renewals.append(any(isinstance(order, Renew) for order in perform(sitting, desk)))
    assert renewals == [False, False, False, True, False, True]


class Keys(RuleBasedStateMachine):
    """Whatever is pressed, however slowly the database answers."""

    def __init__(self) -> None:
        super().__init__()
        self.sitting, self.desk = begun(items=6)
        self.at = 100.0
        self.pending: list[Order] = []
        self.expected: list[int] = []

    def collect(self) -> None:
        self.pending += self.sitting.take_orders()

    @rule(place=st.integers(1, 3), wait=st.sampled_from([0.01, 0.3, 2.0]))
    def answer(self, place: int, wait: float) -> None:
        self.at += wait
        before = self.sitting.current
        self.sitting.pressed(Press(f"{place} {self.at}", self.at))
        if self.sitting.choose(place) and before is not None:
            self.expected.append(before.claim.item_id)
        self.collect()

    @rule()
    def paint(self) -> None:
        if self.sitting.current is not None:
            self.sitting.painted(self.sitting.current, self.at)

    @precondition(lambda self: not self.sitting.undoing)
    @rule()
    def undo(self) -> None:
        self.at += 1
        self.sitting.pressed(Press("u", self.at))
        self.sitting.undo()
        if self.expected:
            self.expected.pop()
        self.collect()

    @rule(text=st.sampled_from(["a note", " "]))
    def draft(self, text: str) -> None:
        self.sitting.keep_draft(text)

    @rule()
    def answer_one_order(self) -> None:
        if self.pending:
            self.sitting.answered(self.desk.perform(self.pending.pop(0)))
            self.collect()

    @invariant()
    def too_many_unsaved_votes_are_never_given(self) -> None:
        votes = [order for order in self.pending if isinstance(order, Vote)]
        assert len(votes) <= UNSAVED_LIMIT

    @invariant()
    def unsaved_is_what_the_database_has_not_done(self) -> None:
        waiting = [one for one in self.pending if isinstance(one, Vote | Skip | Note | Undo)]
        assert self.sitting.unsaved == len(waiting)

    def teardown(self) -> None:
        while self.pending:
            self.answer_one_order()
        assert [number for _, number in self.desk.votes] == self.expected
        assert self.sitting.standing == len(self.expected) == self.sitting.tally.done


TestKeys = Keys.TestCase
TestKeys.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
