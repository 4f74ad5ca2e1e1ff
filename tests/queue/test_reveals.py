"""Judges' labels after the vote: stored before they are shown, and never part of agreement."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.blind_judgments import read_blind_judgments
from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.calibration.policies import UNCALIBRATED
from labeler.cli.review_lines import review_lines
from labeler.errors import DatabaseBusyError
from labeler.labels import NATIVE, Grade, Level
from labeler.queue.claims import Claim
from labeler.queue.reveals import reveal
from labeler.queue.route import route_pool
from labeler.queue.sitting.desk import Desk
from labeler.queue.sitting.orders import Done, Fetch, Fetched, Kept, Look, Revealed, Shown, Vote
from labeler.queue.sitting.session import ReviewSession
from labeler.records import table
from labeler.records.queue import EventKind, ReviewEvent
from labeler.records.scales import AssessorKind
from labeler.reports.agreement import report_agreement
from labeler.settings import Reveal
from labeler.store.database import Store
from labeler.store.registry import assessor_key
from tests.small import HandJudge, judge, pooled

FULLY, PARTIALLY, NOT = NATIVE.levels


@pytest.fixture
def queue(store: Store, own_folder: Path) -> Store:
    """A judged pool: 11 items wait, since the judge wasn't sure of any."""
    pooled(store, own_folder)
    names = [f"c{number:02d}" for number in range(1, 13)]
    judge(store, HandJudge(dict.fromkeys(names, (Grade.PARTIALLY_RELEVANT, 0.6))))
    route_pool(store, "p", UNCALIBRATED)
    return store


@pytest.fixture
def ana(queue: Store) -> int:
    with queue.write("review start") as tx:
        return assessor_key(tx, AssessorKind.PERSON, "ana")


def kinds(store: Store) -> list[str]:
    event = table(ReviewEvent)
    with store.read() as connection:
        return list(connection.execute(sa.select(event.c.kind).order_by(event.c.id)).scalars())


def voted(desk: Desk, key: str = "vote", level: Level | None = FULLY) -> Shown:
    answer = desk.perform(Fetch(1, frozenset()))
    assert isinstance(answer, Fetched)
    (shown,) = answer.items
    assert desk.perform(Vote(key, shown, level, "", 900)) == Kept(key)
    return shown


def test_nothing_is_shown_before_the_vote_is_stored(queue: Store) -> None:
    desk = Desk(queue, "ana")
    answer = desk.perform(Fetch(1, frozenset()))
    assert isinstance(answer, Fetched)
    (shown,) = answer.items
    assert desk.perform(Look("look", "vote", shown, FULLY)) == Done()
    assert kinds(queue) == []


def test_a_look_is_stored_and_gives_what_judges_said_without_their_names(queue: Store) -> None:
    desk = Desk(queue, "ana")
    shown = voted(desk)
    found = desk.perform(Look("look", "vote", shown, FULLY))
    assert isinstance(found, Revealed)
    (said,) = found.judges
    assert said.level is not None
    assert (said.letter, said.level.name) == ("A", PARTIALLY.name)
    assert "by-hand" not in repr(said)
    assert kinds(queue) == ["vote", "reveal"]
    assert desk.perform(Look("look", "vote", shown, FULLY)) == found
    assert kinds(queue) == ["vote", "reveal"]


def test_what_can_t_be_stored_is_not_shown(queue: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(queue, "ana")
    shown = voted(desk)

    def busy(*_: object, **__: object) -> None:
        raise DatabaseBusyError("another process is writing")

    monkeypatch.setattr(queue, "write", busy)
    with pytest.raises(DatabaseBusyError):
        desk.perform(Look("look", "vote", shown, FULLY))


def test_no_vote_of_somebody_else_or_on_something_else_opens_a_look(queue: Store, ana: int) -> None:
    desk = Desk(queue, "ana")
    shown, other = voted(desk), voted(desk, "other")
    with queue.write("review start") as tx:
        bo = assessor_key(tx, AssessorKind.PERSON, "bo")
    assert reveal(queue, bo, shown.claim, "k1", of="vote") == ()
    assert reveal(queue, ana, other.claim, "k2", of="vote") == ()
    claim = Claim(shown.claim.assignment_id, shown.claim.task_id, 0, shown.claim.purpose)
    assert reveal(queue, ana, claim, "k3", of="nothing") == ()
    assert "reveal" not in kinds(queue)


def test_where_no_judge_was_asked_nothing_is_shown_and_nothing_stored(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    route_pool(store, "p", UNCALIBRATED)
    desk = Desk(store, "ana")
    shown = voted(desk)
    assert desk.perform(Look("look", "vote", shown, FULLY)) == Done()
    assert kinds(store) == ["vote"]


def test_a_change_of_mind_after_the_look_is_a_new_vote_and_agreement_uses_the_blind_one(
    queue: Store,
) -> None:
    session = ReviewSession(queue, "ana", reveal=Reveal.AT_ONCE)
    shown = session.current
    assert shown is not None
    item = shown.claim.item_id
    session.vote(FULLY)
    assert session.revealed is not None
    assert session.undo()
    assert session.revealed is None
    assert session.current is not None
    assert session.current.claim.item_id == item
    session.vote(PARTIALLY)
    # What was shown of an item once isn't shown again.
    assert session.revealed is None
    session.close()
    assert kinds(queue) == ["vote", "reveal", "undo", "vote"]
    with queue.read() as connection:
        label = labels_in_force(connection, items_of_pool(1))[item]
        read = read_blind_judgments(connection, None, None)
        report = report_agreement(connection, against="ana")
    assert label.grade is Grade.PARTIALLY_RELEVANT
    people = [one for one in read.judgments if one.item_id == item and one.assessor_id != 1]
    assert read.not_blind == 1
    assert len(people) == 1
    # The blind vote and the judge differ; the one after the look would have agreed.
    (pair,) = report.pairs
    assert pair.common == 1
    assert pair.differing == 1


def test_an_undo_before_the_look_leaves_no_trace_in_what_counts_as_blind(queue: Store) -> None:
    session = ReviewSession(queue, "ana")
    assert session.current is not None
    session.vote(FULLY)
    session.undo()
    session.vote(NOT)
    session.close()
    with queue.read() as connection:
        read = read_blind_judgments(connection, None, None)
        levels = [one.level_id for one in read.judgments if one.at is not None]
    assert read.not_blind == 0
    assert len([one for one in read.judgments if one.assessor_id == 2]) <= len(levels)


def lines(store: Store, text: str, policy: Reveal, *, limit: int | None = None) -> str:
    target = io.StringIO()
    session = ReviewSession(store, "ana", reveal=policy, limit=limit)
    review_lines(session, io.StringIO(text), target)
    session.close()
    return target.getvalue()


def test_by_default_a_sitting_shows_nothing_of_judges(queue: Store) -> None:
    told = lines(queue, "1\n2\n3\nq\nv\n", Reveal.NEVER)
    assert "udges" not in told
    assert kinds(queue) == ["vote"] * 3


def test_line_mode_shows_it_at_once_and_goes_on(queue: Store) -> None:
    told = lines(queue, "3\n\n1\nu\n2\n\nq\n", Reveal.AT_ONCE)
    assert told.count("You said fully relevant. Judges said:\n  A partially relevant") == 1
    assert told.count("You said not relevant. Judges said:") == 1
    assert "the last vote is taken back" in told
    assert kinds(queue) == ["vote", "reveal", "vote", "reveal", "undo", "vote"]
    assert told.index("You said fully relevant") > told.index("fully_relevant: saved")


def test_line_mode_shows_it_at_the_end_on_request(queue: Store) -> None:
    told = lines(queue, "1\n3\nv\n", Reveal.END, limit=2)
    assert told.count("Judges said:") == 2
    assert told.index("You said not relevant") < told.index("You said fully relevant")
    assert kinds(queue) == ["vote", "vote", "reveal", "reveal"]
    assert "2 votes saved" in told


@pytest.mark.parametrize("text", ["1\nq\n\n", "1\nq\n", "1\nq\nno\n", "1\n"])
def test_line_mode_shows_nothing_at_the_end_unless_it_is_asked_to(queue: Store, text: str) -> None:
    told = lines(queue, text, Reveal.END)
    assert "Judges said:" not in told
    assert EventKind.REVEAL.value not in kinds(queue)


def test_a_judge_s_words_can_t_drive_the_terminal(store: Store, own_folder: Path) -> None:
    from labeler.assessment.blind import Block
    from labeler.assessment.verdict import Verdict
    from labeler.labels import Outcome

    hostile = "\x1b]0;owned\x07\u202egnorw"

    class Hostile(HandJudge):
        def judge(self, block: Block) -> list[Verdict]:
            level = block.rubric.scale.levels[0]
            return [
                Verdict(
                    item.item_id,
                    Outcome.JUDGED,
                    level=level,
                    confidence=0.6,
                    quote=hostile,
                    reason=hostile,
                )
                for item in block.items
            ]

    pooled(store, own_folder)
    judge(store, Hostile())
    route_pool(store, "p", UNCALIBRATED)
    told = lines(store, "1\n\nq\n", Reveal.AT_ONCE)
    assert "owned" in told
    assert not set(told) & {"\x1b", "\x07", "\u202e"}
