"""Labels of one person far from calibrated scores come back, blind, as a further vote."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.blind_judgments import read_blind_judgments
from labeler.assessment.decisions import record_withdrawals, settle_items, votes_on
from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.assessment.people_labels import items_in_dispute, read_people_labels
from labeler.calibration.calibrate import calibrate_pool
from labeler.calibration.policies import NINE_OF_TEN
from labeler.labels import NATIVE, Grade
from labeler.queue.claims import queue_left
from labeler.queue.counts import count_queue
from labeler.queue.disputes import list_disputes
from labeler.queue.own_second_look import claim_own_second_look
from labeler.queue.reasons import SECOND_LOOK
from labeler.queue.repeats import read_repeats
from labeler.queue.route import route_pool
from labeler.queue.second_look import is_far
from labeler.queue.sitting.session import ReviewSession
from labeler.records import table
from labeler.records.judgments import Basis, CorrectionTarget
from labeler.records.project import Revision
from labeler.records.queue import Assignment, AssignmentState, VotePurpose
from labeler.records.scales import Assessor
from labeler.records.scores import Calibration
from labeler.reports.reliability import read_reliability
from labeler.store.database import Store
from labeler.store.projections import rebuild
from tests.conftest import Ticking
from tests.scored import judged_pool, score, vote, wanted_votes

FULLY, PARTIALLY, NOT = Grade


@pytest.fixture
def slipped(sqlite_store: Store, own_folder: Path) -> int:
    """One vote for relevant where the scores are sure of the contrary; give the item."""
    items = judged_pool(sqlite_store, own_folder, queries=2, passages=30)
    score(sqlite_store, items, lambda _: 0.5)
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    vote(sqlite_store, items[:10], lambda item: FULLY if item == items[0] else NOT)
    score(sqlite_store, items, lambda _: 0.99, name="a later fit")
    return items[0]


def purposes(store: Store, item: int) -> list[tuple[str, str]]:
    slot = table(Assignment)
    with store.read() as connection:
        rows = connection.execute(
            sa.select(slot.c.purpose, slot.c.state)
            .where(slot.c.item_id == item)
            .order_by(slot.c.id)
        )
        return [(str(purpose), str(state)) for purpose, state in rows]


def basis_of(store: Store, item: int) -> Basis | None:
    with store.read() as connection:
        label = labels_in_force(connection, items_of_pool(1)).get(item)
    return None if label is None else label.basis


@pytest.mark.parametrize(
    ("grade", "probabilities", "far"),
    [
        (FULLY, (0.97, 0.02, 0.01), True),
        (PARTIALLY, (0.97, 0.02, 0.01), True),
        (FULLY, (0.9, 0.05, 0.05), False),
        (NOT, (0.03, 0.5, 0.47), True),
        (NOT, (0.97, 0.02, 0.01), False),
        # How relevant a relevant passage is, is no slip.
        (FULLY, (0.01, 0.98, 0.01), False),
    ],
)
def test_only_the_relevance_boundary_counts(
    grade: Grade, probabilities: tuple[float, float, float], far: bool
) -> None:
    assert is_far(grade, probabilities) is far


def test_a_slip_comes_back_once_as_a_further_vote(sqlite_store: Store, slipped: int) -> None:
    report = route_pool(sqlite_store, "p", NINE_OF_TEN)
    assert report.second_looks == 1
    assert purposes(sqlite_store, slipped)[-1] == (
        VotePurpose.OVERLAP.value,
        AssignmentState.WAITING.value,
    )
    # Its label stays in force meanwhile.
    assert basis_of(sqlite_store, slipped) is Basis.ONE_REVIEWER
    again = route_pool(sqlite_store, "p", NINE_OF_TEN)
    assert (again.revision, again.second_looks) == (None, 1)
    with sqlite_store.read() as connection:
        assert count_queue(connection).by_reason[SECOND_LOOK] == 1


def test_whoever_made_it_is_not_asked_again_and_another_is(
    sqlite_store: Store, slipped: int
) -> None:
    # Bo reviews, too: so it waits for him.
    vote(sqlite_store, [max(wanted_votes(sqlite_store))], lambda _: NOT, who="bo")
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    seen: dict[str, set[int]] = {}
    for name in ("ana", "bo"):
        session = ReviewSession(sqlite_store, name, limit=70)
        seen[name] = set()
        while session.current is not None:
            seen[name].add(session.current.claim.item_id)
            session.vote(session.current.block.rubric.scale.levels[-1])
        session.close()
    assert slipped not in seen["ana"]
    assert slipped in seen["bo"]
    # They contradict each other, so a third person settles it.
    assert basis_of(sqlite_store, slipped) is None


def looked_at_again(store: Store, clock: Ticking, slipped: int, say: Grade) -> list[int]:
    """Have the only reviewer come back another day; give what is shown, in order."""
    clock.advance(timedelta(days=1).total_seconds())
    session, seen = ReviewSession(store, "ana"), []
    while (shown := session.current) is not None:
        seen.append(shown.claim.item_id)
        session.vote(NATIVE.level_for(say if seen[-1] == slipped else NOT))
    session.close()
    return seen


def test_nobody_but_who_made_it_gets_it_on_another_day_among_others(
    sqlite_store: Store, slipped: int, clock: Ticking
) -> None:
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    with sqlite_store.read() as connection:
        waiting = queue_left(sqlite_store, 1).waiting
        ana = connection.execute(
            sa.select(table(Assessor).c.id).where(table(Assessor).c.name == "ana")
        ).scalar_one()
    # Not on the same day, with hardly anything in between.
    assert claim_own_second_look(sqlite_store, ana, lambda: 0.0) is None
    seen = looked_at_again(sqlite_store, clock, slipped, FULLY)
    assert seen.count(slipped) == 1
    assert len(seen) > waiting // 2
    assert basis_of(sqlite_store, slipped) is Basis.ONE_REVIEWER
    # It was looked at, so nobody is asked again.
    assert route_pool(sqlite_store, "p", NINE_OF_TEN).second_looks == 0
    assert slipped not in wanted_votes(sqlite_store)
    # Doubt picked it, so it says nothing of how steady the reviewer is.
    with sqlite_store.read() as connection:
        assert read_repeats(connection) == ()
    before, after = rebuild(sqlite_store)
    assert before == after


def said_of(store: Store, item: int) -> tuple[Grade | None, int]:
    """Give what calibration is told of an item, and how many disputes it leaves out."""
    with store.read() as connection:
        labels = read_people_labels(connection, 1)
        disputed = items_in_dispute(connection, None)
    assert (item in disputed) <= (item not in labels.grades)
    return labels.grades.get(item), labels.disputed


def test_a_label_in_dispute_with_oneself_is_no_evidence_until_it_is_settled(
    sqlite_store: Store, slipped: int, clock: Ticking
) -> None:
    before = route_pool(sqlite_store, "p", NINE_OF_TEN).ledgers
    assert said_of(sqlite_store, slipped) == (FULLY, 0)
    looked_at_again(sqlite_store, clock, slipped, NOT)
    assert said_of(sqlite_store, slipped) == (None, 1)
    ledgers = route_pool(sqlite_store, "p", NINE_OF_TEN).ledgers
    assert (before.disputed, ledgers.disputed) == (0, 1)
    assert calibrate_pool(sqlite_store, "p").disputed == 1
    with sqlite_store.read() as connection:
        compared = read_reliability(connection, "p")
        known = len(read_people_labels(connection, 1).grades)
        newest = connection.execute(sa.select(sa.func.max(table(Revision).c.id))).scalar_one()
    assert sum(one.items + one.without_confidence for one in compared) == known
    vote(sqlite_store, [slipped], lambda _: PARTIALLY, who="bo")
    assert said_of(sqlite_store, slipped) == (PARTIALLY, 0)
    assert route_pool(sqlite_store, "p", NINE_OF_TEN).ledgers.disputed == 0
    with sqlite_store.read() as connection:
        assert items_in_dispute(connection, items_of_pool(1), newest) == {slipped}


def test_where_the_first_of_two_labels_is_corrected_the_second_one_counts(
    sqlite_store: Store, slipped: int, clock: Ticking
) -> None:
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    looked_at_again(sqlite_store, clock, slipped, NOT)
    with sqlite_store.write("the first vote was a slip") as tx:
        first = min(votes_on(tx.connection, [slipped])[slipped], key=lambda one: one.judgment_id)
        record_withdrawals(
            tx, CorrectionTarget.JUDGMENT, "ana", "a slip", judgments=[first.judgment_id]
        )
        settle_items(tx, [slipped])
    assert said_of(sqlite_store, slipped) == (NOT, 0)


def test_who_contradicts_themself_is_in_dispute_and_the_lead_sees_both_votes(
    sqlite_store: Store, slipped: int, clock: Ticking
) -> None:
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    looked_at_again(sqlite_store, clock, slipped, NOT)
    assert basis_of(sqlite_store, slipped) is None
    with sqlite_store.read() as connection:
        (dispute,) = list_disputes(connection, None, now=clock())
        said = {(vote.grade, vote.looks_again) for vote in votes_on(connection, [slipped])[slipped]}
        judged = read_blind_judgments(connection, None, None)
    assert dispute.item_id == slipped
    assert said == {(FULLY, False), (NOT, True)}
    # Agreement of people with judges goes by the first votes.
    assert sum(one.item_id == slipped for one in judged.judgments) == 2
    assert ReviewSession(sqlite_store, "ana").current is None
    # Somebody else settles it.
    vote(sqlite_store, [slipped], lambda _: NOT, who="bo")
    assert basis_of(sqlite_store, slipped) is Basis.ADJUDICATION


def test_a_second_look_that_is_taken_back_is_shown_again(
    sqlite_store: Store, slipped: int, clock: Ticking
) -> None:
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    clock.advance(timedelta(days=1).total_seconds())
    session = ReviewSession(sqlite_store, "ana")
    while (shown := session.current) is not None and shown.claim.item_id != slipped:
        session.vote(NATIVE.level_for(NOT))
    session.vote(NATIVE.level_for(NOT))
    assert basis_of(sqlite_store, slipped) is None
    assert session.undo()
    assert basis_of(sqlite_store, slipped) is Basis.ONE_REVIEWER
    shown = session.current
    assert shown is not None
    assert shown.claim.item_id == slipped
    session.vote(NATIVE.level_for(FULLY))
    assert basis_of(sqlite_store, slipped) is Basis.ONE_REVIEWER


def test_while_somebody_else_reviews_it_waits_for_them(
    sqlite_store: Store, slipped: int, clock: Ticking
) -> None:
    others = [item for item in wanted_votes(sqlite_store) if item != slipped]
    clock.advance(timedelta(days=1).total_seconds())
    vote(sqlite_store, others[:1], lambda _: NOT, who="bo")
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    assert slipped not in looked_at_again(sqlite_store, clock, slipped, FULLY)
    # Who hasn't voted for two weeks is waited for no longer.
    clock.advance(timedelta(days=14).total_seconds())
    assert slipped in looked_at_again(sqlite_store, clock, slipped, FULLY)


def test_two_who_agree_are_a_consensus_and_nobody_is_asked_again(
    sqlite_store: Store, slipped: int
) -> None:
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    vote(sqlite_store, [slipped], lambda _: FULLY, who="bo")
    assert basis_of(sqlite_store, slipped) is Basis.CONSENSUS
    assert route_pool(sqlite_store, "p", NINE_OF_TEN).second_looks == 0


def test_scores_that_change_their_mind_take_it_back(sqlite_store: Store, slipped: int) -> None:
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    with sqlite_store.read() as connection:
        items = sorted(connection.execute(items_of_pool(1)).scalars())
    score(sqlite_store, items, lambda _: 0.6, name="the latest fit")
    report = route_pool(sqlite_store, "p", NINE_OF_TEN)
    assert report.second_looks == 0
    assert slipped not in wanted_votes(sqlite_store)


def test_scores_that_are_not_calibrated_accuse_nobody(
    sqlite_store: Store, own_folder: Path
) -> None:
    items = judged_pool(sqlite_store, own_folder, queries=1, passages=12)
    score(sqlite_store, items, lambda _: 0.5)
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    vote(sqlite_store, items[:2], lambda _: FULLY)
    score(sqlite_store, items, lambda _: 0.99, calibration=Calibration.UNCALIBRATED, name="bad")
    assert route_pool(sqlite_store, "p", NINE_OF_TEN).second_looks == 0
