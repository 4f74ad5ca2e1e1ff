"""The sitting without screen and database: what it orders, and what it makes of the answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from labeler.assessment.blind import BlindItem, BlindQuery, Block
from labeler.assessment.rubric import default_rubric
from labeler.queue.claims import Claim, QueueLeft
from labeler.queue.comparison import LetteredJudgment
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
    GiveBack,
    HoldAgain,
    Kept,
    Look,
    Note,
    Order,
    Renew,
    Renewed,
    Revealed,
    Shown,
    Skip,
    TakenBack,
    TurnedDown,
    Undo,
    Vote,
)
from labeler.records.queue import VotePurpose
from labeler.settings import Reveal

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
    given_back: list[int] = field(default_factory=list)
    gone: set[int] = field(default_factory=set)

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
            case HoldAgain(skip) if skip.shown.claim.item_id in self.gone:
                return TakenBack(skip.key, None, "it is with somebody else")
            case HoldAgain(skip):
                return TakenBack(skip.key, skip.shown)
            case GiveBack(claims):
                self.given_back += [claim.item_id for claim in claims]
                return Done()
            case Count():
                return Counted(len(self.votes), len(self.waiting))
            case _:
                return Done()


def begun(
    items: int = 9,
    *,
    limit: int | None = None,
    minutes: float | None = None,
    reveal: Reveal = Reveal.NEVER,
) -> tuple[Sitting, FakeDesk]:
    keys = count()
    sitting = Sitting(limit, minutes, reveal, new_key=lambda: f"key {next(keys)}")
    desk = FakeDesk(list(range(1, items + 1)))
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


def where(sitting: Sitting) -> tuple[Phase, Shown | None]:
    return sitting.phase, sitting.current


def press(sitting: Sitting, key: str, at: float, place: int) -> bool:
    if sitting.current is not None:
        sitting.painted(sitting.current, at - 1)
    sitting.pressed(Press(key, at))
    return sitting.choose(place)


def undone(sitting: Sitting, desk: FakeDesk, at: float) -> Shown | None:
    sitting.pressed(Press("u", at))
    assert sitting.undo()
    perform(sitting, desk)
    return sitting.current


def test_undo_brings_back_what_was_skipped_before_the_vote_before_it() -> None:
    sitting, desk = begun()
    press(sitting, "a", 1, 1)
    for at in (3, 5):
        assert sitting.current is not None
        sitting.painted(sitting.current, at - 1)
        sitting.pressed(Press("x", at))
        assert sitting.skip_by_key()
        perform(sitting, desk)
    assert sitting.current == item(4)
    assert [undone(sitting, desk, at) for at in (7, 9)] == [item(3), item(2)]
    assert desk.votes, "the vote stands while skips are taken back"
    assert sitting.tally.skipped == 0
    assert undone(sitting, desk, 11) == item(1)
    assert not desk.votes
    assert sitting.tally.undone == 1


def test_a_skipped_item_that_others_have_costs_no_vote() -> None:
    sitting, desk = begun()
    press(sitting, "a", 1, 1)
    sitting.skip()
    perform(sitting, desk)
    desk.gone.add(2)
    assert undone(sitting, desk, 3) == item(3)
    assert sitting.notice == "it is with somebody else"
    assert len(desk.votes) == sitting.tally.skipped == 1
    assert undone(sitting, desk, 5) == item(1)


def test_nothing_is_voted_on_while_a_skip_is_taken_back() -> None:
    sitting, desk = begun()
    sitting.skip()
    perform(sitting, desk)
    sitting.pressed(Press("u", 3))
    sitting.undo()
    assert not press(sitting, "a", 5, 1)
    assert "being taken back" in sitting.notice
    perform(sitting, desk)
    assert press(sitting, "a", 7, 1)


def test_the_current_item_and_two_ahead_are_held() -> None:
    sitting, _ = begun()
    assert [shown.claim.item_id for shown in sitting.ahead] == [1, 2, 3]
    press(sitting, "a", 10, 1)
    assert [type(order) for order in sitting.take_orders()] == [Vote, Fetch]


def test_an_unanswered_fetch_is_not_asked_for_twice_and_is_never_called_empty() -> None:
    sitting = Sitting()
    sitting.begin()
    assert [type(order) for order in sitting.take_orders()] == [Fetch, Count]
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
    assert sitting.notice == "not counted: the last one is being taken back"
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


def test_minutes_end_the_sitting_after_the_item_that_is_shown() -> None:
    sitting, desk = begun(minutes=1)
    for key, at, place in (("a", 10, 1), ("s", 68, 2)):
        assert press(sitting, key, at, place)
        perform(sitting, desk)
    sitting.pressed(Press("j", 80))
    assert sitting.current == item(3)
    assert press(sitting, "d", 90, 3)
    perform(sitting, desk)
    assert where(sitting) == (Phase.ENDED, None)
    assert desk.given_back == [4, 5]
    assert sitting.take_orders() == []
    sitting.pressed(Press("u", 95))
    assert sitting.undo()
    perform(sitting, desk)
    assert sitting.current == item(3)
    assert press(sitting, "s", 99, 2)
    assert sitting.phase is Phase.ENDED


def test_at_its_limit_a_sitting_lets_others_have_what_it_held_ahead() -> None:
    sitting, desk = begun(limit=1)
    sitting.keep_draft("seen")
    press(sitting, "a", 10, 1)
    perform(sitting, desk)
    assert sitting.phase is Phase.ENDED
    assert (desk.given_back, desk.notes) == ([2, 3], ["seen"])


def test_what_is_fetched_after_the_end_is_given_back() -> None:
    sitting = Sitting(limit=1)
    sitting.begin()
    sitting.take_orders()
    sitting.answered(Fetched((item(1),)))
    press(sitting, "a", 10, 1)
    sitting.take_orders()
    sitting.answered(Fetched((item(2), item(3))))
    (order,) = sitting.take_orders()
    assert order == GiveBack((item(2).claim, item(3).claim))
    assert sitting.ahead == ()


def test_finishing_early_ends_the_sitting() -> None:
    sitting, desk = begun()
    sitting.finish()
    perform(sitting, desk)
    assert (sitting.phase, desk.given_back) == (Phase.ENDED, [1, 2, 3])


def test_a_lost_item_is_told_before_the_vote_and_those_ahead_are_let_go() -> None:
    sitting, _ = begun()
    sitting.answered(Renewed(frozenset({1, 3})))
    assert sitting.notice.startswith("somebody else has this item by now: a vote is kept")
    assert [shown.claim.item_id for shown in sitting.ahead] == [1, 2]
    assert press(sitting, "a", 10, 1)
    sitting.answered(Renewed(frozenset({3})))
    assert sitting.notice == ""


def test_a_lost_item_is_told_when_the_vote_was_the_key_that_asked() -> None:
    sitting, _ = begun()
    press(sitting, "a", 10, 1)
    sitting.answered(Renewed(frozenset({1})))
    assert sitting.notice.startswith("somebody else had that item by then: your vote is kept")


def test_the_first_key_after_a_long_look_renews_the_leases() -> None:
    sitting, desk = begun()
    assert sitting.current is not None
    sitting.painted(sitting.current, 100)
    sitting.pressed(Press("j", 800))
    assert any(isinstance(order, Renew) for order in perform(sitting, desk))


def said(shown: Shown, key: str) -> Revealed:
    judgment = LetteredJudgment("A", RUBRIC.scale.levels[0], "a quote", ("a reason",))
    return Revealed(key, shown, RUBRIC.scale.levels[0], (judgment,))


def looks(orders: list[Order]) -> list[Look]:
    return [order for order in orders if isinstance(order, Look)]


@pytest.mark.parametrize("policy", [Reveal.NEVER, Reveal.END])
def test_nothing_is_asked_of_judges_in_the_middle_of_a_sitting(policy: Reveal) -> None:
    sitting, desk = begun(reveal=policy)
    press(sitting, "a", 10, 1)
    assert looks(perform(sitting, desk)) == []
    assert not sitting.may_reveal
    sitting.ask_what_judges_said()
    assert looks(perform(sitting, desk)) == []


def test_at_once_it_is_asked_for_when_the_vote_is_on_disk() -> None:
    sitting, desk = begun(reveal=Reveal.AT_ONCE)
    press(sitting, "a", 10, 1)
    vote, *rest = sitting.take_orders()
    assert isinstance(vote, Vote)
    assert looks(rest) == []
    sitting.answered(Kept(vote.key))
    (look,) = looks(sitting.take_orders())
    assert (look.of, look.shown) == (vote.key, item(1))
    assert where(sitting) == (Phase.JUDGING, item(2))
    sitting.answered(said(item(1), vote.key))
    assert where(sitting) == (Phase.REVEALED, None)
    assert sitting.revealed == said(item(1), vote.key)
    # No key labels what lies underneath.
    assert not press(sitting, "d", 20, 3)
    assert not sitting.skip_by_key()
    sitting.go_on()
    assert sitting.current == item(2)
    sitting.pressed(Press("d", 21))
    assert not sitting.choose(3)
    assert sitting.notice == "not counted: the item wasn't on the screen yet"
    assert press(sitting, "d", 22, 3)
    perform(sitting, desk)


def test_what_comes_after_the_next_key_is_not_shown() -> None:
    sitting, _ = begun(reveal=Reveal.AT_ONCE)
    press(sitting, "a", 10, 1)
    vote = sitting.take_orders()[0]
    assert isinstance(vote, Vote)
    sitting.answered(Kept(vote.key))
    sitting.pressed(Press("j", 11))
    sitting.answered(said(item(1), vote.key))
    assert sitting.phase is Phase.JUDGING
    assert sitting.all_revealed == (said(item(1), vote.key),)


def test_a_vote_that_a_held_key_may_have_given_shows_nothing() -> None:
    sitting, desk = begun(reveal=Reveal.AT_ONCE)
    sitting.pressed(Press("a", 9.2))
    press(sitting, "a", 10, 1)
    assert looks(perform(sitting, desk)) == []


@pytest.mark.parametrize("extra", [True, False])
def test_a_vote_that_does_not_count_shows_nothing(extra: bool) -> None:
    sitting, _ = begun(reveal=Reveal.AT_ONCE)
    press(sitting, "a", 10, 1)
    vote = sitting.take_orders()[0]
    assert isinstance(vote, Vote)
    sitting.answered(Kept(vote.key, extra=True) if extra else TurnedDown(vote.key, "it", item(1)))
    assert looks(sitting.take_orders()) == []


def test_taking_back_closes_what_judges_said() -> None:
    sitting, desk = begun(reveal=Reveal.AT_ONCE)
    press(sitting, "a", 10, 1)
    vote = sitting.take_orders()[0]
    assert isinstance(vote, Vote)
    sitting.answered(desk.perform(vote))
    sitting.take_orders()
    sitting.answered(said(item(1), vote.key))
    sitting.pressed(Press("u", 12))
    assert sitting.undo()
    assert sitting.phase is not Phase.REVEALED
    perform(sitting, desk)
    assert sitting.current == item(1)
    press(sitting, "s", 14, 2)
    assert looks(perform(sitting, desk)) == []


def test_at_the_end_it_may_be_asked_for_once() -> None:
    sitting, desk = begun(limit=2, reveal=Reveal.END)
    for at in (10, 20):
        press(sitting, "a", at, 1)
        perform(sitting, desk)
    assert sitting.may_reveal
    sitting.ask_what_judges_said()
    asked = looks(perform(sitting, desk))
    assert [look.shown for look in asked] == [item(1), item(2)]
    for look in asked:
        sitting.answered(said(look.shown, look.of))
    assert (sitting.phase, len(sitting.all_revealed)) == (Phase.ENDED, 2)
    assert not sitting.may_reveal


class Keys(RuleBasedStateMachine):
    """Whatever is pressed, however slowly the database answers."""

    def __init__(self) -> None:
        super().__init__()
        self.sitting, self.desk = begun(items=6)
        self.at = 100.0
        self.pending: list[Order] = []
        self.expected: list[int | None] = []
        """The items that were voted on, and None for each skip."""

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

    @rule()
    def skip(self) -> None:
        self.at += 1
        self.sitting.pressed(Press("x", self.at))
        if self.sitting.skip_by_key():
            self.expected.append(None)
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
        voted = [one for one in self.expected if one is not None]
        assert [number for _, number in self.desk.votes] == voted
        assert self.sitting.standing == len(voted) == self.sitting.tally.done
        assert self.sitting.tally.skipped == len(self.expected) - len(voted)


TestKeys = Keys.TestCase
TestKeys.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
