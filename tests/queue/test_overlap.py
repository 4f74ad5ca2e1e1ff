"""How many people vote on an item: by its reasons and the policy; and places across pools."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.rubric import default_rubric
from labeler.calibration.policies import UNCALIBRATED, Policy
from labeler.errors import UsageError
from labeler.labels import NATIVE, Grade, Outcome
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.reasons import overlap_by_reason
from labeler.queue.route import route_pool
from labeler.queue.sitting.desk import Desk
from labeler.queue.sitting.orders import Count, Counted, Fetch, Fetched, Vote
from labeler.queue.sitting.session import ReviewSession
from labeler.records import table
from labeler.records.queue import Assignment, AssignmentState, VotePurpose
from labeler.store.database import Store
from labeler.store.projections import judgments_in_force
from tests.small import HandJudge, judge, pooled

FULLY, PARTIALLY, NOT = NATIVE.levels


def open_slots(store: Store) -> dict[int, Counter[str]]:
    place = table(Assignment)
    with store.read() as connection:
        rows = connection.execute(
            sa.select(place.c.item_id, place.c.purpose).where(
                place.c.state != AssignmentState.DONE.value
            )
        )
        found: dict[int, Counter[str]] = {}
        for item, purpose in rows:
            found.setdefault(item, Counter())[purpose] += 1
    return found


def wanted(store: Store) -> Counter[int]:
    """Count how many items want how many votes."""
    return Counter(sum(purposes.values()) for purposes in open_slots(store).values())


@pytest.fixture
def judged(store: Store, own_folder: Path) -> Store:
    """Two items on which the judge abstained, one that it wasn't sure of, the rest accepted."""
    pooled(store, own_folder)
    answers: dict[str, tuple[Grade | Outcome, float]] = {
        "c03": (Outcome.ABSTAINED, 0.0),
        "c08": (Outcome.ABSTAINED, 0.0),
        "c07": (Grade.FULLY_RELEVANT, 0.6),
    }
    judge(store, HandJudge(answers))
    return store


def test_a_reason_asks_for_more_votes_than_the_policy(judged: Store) -> None:
    report = route_pool(judged, "p", UNCALIBRATED, {"judge_abstained": 3, "audit": 2})
    assert report.reasons == {"judge_abstained": 2, "low_confidence": 1}
    assert wanted(judged) == {3: 2, 1: 1, 2: report.audited}


def test_the_policy_asks_for_more_than_a_reason(judged: Store) -> None:
    two = Policy("two", 0.95, overlap=2)
    report = route_pool(judged, "p", two, {"judge_abstained": 1, "low_confidence": 3})
    assert wanted(judged) == {2: 2 + report.audited, 3: 1}


def test_routing_again_with_other_targets_brings_the_votes_in_line(judged: Store) -> None:
    for target in (1, 3, 2, 2, 1):
        route_pool(judged, "p", UNCALIBRATED, {"judge_abstained": target})
        assert [
            purposes[VotePurpose.OVERLAP.value] + 1
            for purposes in open_slots(judged).values()
            if purposes[VotePurpose.PRIMARY.value]
        ].count(target) >= 2
        assert sum(sum(one.values()) for one in open_slots(judged).values()) == (
            len(open_slots(judged)) + 2 * (target - 1)
        )


def test_a_held_vote_is_never_taken_away(judged: Store) -> None:
    route_pool(judged, "p", UNCALIBRATED, {"judge_abstained": 2, "low_confidence": 2})
    ana, bo = ReviewSession(judged, "ana"), ReviewSession(judged, "bo")
    assert ana.current is not None
    assert bo.current is not None
    held = {one.claim.assignment_id for one in (*ana._sitting.ahead, *bo._sitting.ahead)}
    route_pool(judged, "p", UNCALIBRATED)
    place = table(Assignment)
    with judged.read() as connection:
        kept = set(connection.execute(sa.select(place.c.id)).scalars())
    assert held <= kept


def test_a_target_is_reached_by_different_people(judged: Store) -> None:
    route_pool(judged, "p", UNCALIBRATED, {"judge_abstained": 3})
    for name in ("ana", "bo", "cy", "di"):
        session = ReviewSession(judged, name)
        while session.current is not None:
            session.vote(PARTIALLY)
        session.close()
    judgment = judgments_in_force()
    from labeler.records.judgments import Judgment
    from labeler.records.scales import Assessor, AssessorKind

    votes, assessor = table(Judgment), table(Assessor)
    with judged.read() as connection:
        rows = connection.execute(
            sa.select(votes.c.item_id, votes.c.assessor_id)
            .join(assessor, assessor.c.id == votes.c.assessor_id)
            .where(assessor.c.kind == AssessorKind.PERSON.value, judgment)
        ).all()
    per_item = Counter(row.item_id for row in rows)
    assert len({tuple(row) for row in rows}) == len(rows)
    assert sorted(per_item.values(), reverse=True)[:3] == [3, 3, 1]
    assert open_slots(judged) == {}


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("judges_disagre", "labeler.toml, review.overlap.judges_disagre: no such reason"),
        ("people_disagree", "review.overlap.people_disagree: a dispute is settled by one"),
    ],
)
def test_an_unknown_reason_names_the_file_and_the_key(reason: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as error:
        overlap_by_reason({"audit": 2, reason: 2})
    assert error.value.hint is not None
    assert "judges_disagree" in error.value.hint


def test_a_later_pool_can_t_overtake_for_ever_what_waits_in_an_earlier_one(
    store: Store, own_folder: Path
) -> None:
    """Places count on from the votes given, so that each pool begins where the work is."""
    pooled(store, own_folder, depth=1)
    create_pool(store, "deep", PoolOptions(depth=3, rubric=default_rubric()))
    route_pool(store, "p", UNCALIBRATED)
    session = ReviewSession(store, "ana")
    for _ in range(3):
        assert session.current is not None
        session.vote(NOT)
    session.close()
    place = table(Assignment)
    waiting = sa.select(place.c.item_id, place.c.priority).where(
        place.c.state == AssignmentState.WAITING.value
    )
    with store.read() as connection:
        before = {row.item_id: row.priority for row in connection.execute(waiting)}
    route_pool(store, "deep", UNCALIBRATED)
    with store.read() as connection:
        after = {row.item_id: row.priority for row in connection.execute(waiting)}
    assert after.keys() > before.keys()
    assert min(after.values()) >= 3
    # Routing again moves nothing: as many votes were given as places are gone.
    route_pool(store, "deep", UNCALIBRATED)
    with store.read() as connection:
        assert {row.item_id: row.priority for row in connection.execute(waiting)} == after


def test_a_reviewer_counts_items_however_many_votes_are_wanted_of_each(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    route_pool(store, "p", replace(UNCALIBRATED, overlap=3))
    items = len(open_slots(store))
    desk = Desk(store, "ana")
    assert desk.left().waiting == items
    answer = desk.perform(Fetch(3, frozenset()))
    assert isinstance(answer, Fetched)
    assert desk.left().waiting == items - 3
    assert desk.perform(Count()) == Counted(0, items)
    shown = answer.items[0]
    desk.perform(Vote("k", shown, shown.answers[0], "", 900))
    assert desk.perform(Count()) == Counted(1, items - 1)
    assert desk.left().others == 2
    ben = Desk(store, "ben").left()
    assert (ben.waiting, ben.held) == (items, 2)
