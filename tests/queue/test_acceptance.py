"""Routing under a target: an audit of frozen scores decides what is accepted, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.item_scores import ItemScores
from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.assessment.people_labels import WARM_START
from labeler.assessment.reading import blocks_of
from labeler.calibration.policies import NINE_OF_TEN, UNCALIBRATED, TargetPolicy
from labeler.draws.audit_ledger import DrawnLabel, share_right
from labeler.errors import UsageError
from labeler.labels import Grade
from labeler.queue.route import RouteReport, route_pool
from labeler.queue.route_plan import plan_route
from labeler.records import table
from labeler.records.judgments import Basis, DecisionSupport
from labeler.records.queue import Assignment, AssignmentState, VotePurpose
from labeler.records.sampling import Draw, Stratum
from labeler.records.scores import Calibration
from labeler.store.database import Store
from labeler.store.projections import rebuild
from tests.scored import judged_pool, score, vote, wanted_votes
from tests.small import HandJudge, judge

FULLY, PARTIALLY, NOT = Grade


def falling(place: int) -> float:
    """Fall from nearly sure to doubtful over 400 items."""
    return 0.999 - 0.3 * (place / 400) ** 6


def drawn(store: Store) -> list[int]:
    return [item for item, why in wanted_votes(store).items() if why == VotePurpose.AUDIT.value]


def draws(store: Store) -> dict[int, float]:
    draw = table(Draw)
    with store.read() as connection:
        rows = connection.execute(sa.select(draw.c.item_id, draw.c.probability))
        return {int(item): float(probability) for item, probability in rows}


@pytest.fixture
def items(sqlite_store: Store, own_folder: Path) -> list[int]:
    return judged_pool(sqlite_store, own_folder)


@pytest.fixture
def scores(sqlite_store: Store, items: list[int]) -> ItemScores:
    return score(sqlite_store, items, falling)


def test_an_audit_without_errors_accepts_what_it_aimed_at(store: Store, own_folder: Path) -> None:
    score(store, judged_pool(store, own_folder), falling)
    first = route_pool(store, "p", NINE_OF_TEN)
    assert (first.policy, first.instead_of, first.accepted) == ("nine-of-ten", "", {})
    # All wait for people until the audit has shown something; who votes can't tell them apart.
    assert first.to_people == 400
    assert first.reasons["awaits_audit"] + first.reasons["low_confidence"] == 400
    plan = plan_route(store, "p", NINE_OF_TEN)
    assert plan.is_frozen
    assert plan.audit_votes == sum(verdict.pending for verdict in first.audit)
    assert route_pool(store, "p", NINE_OF_TEN).revision is None

    vote(store, drawn(store), lambda _: NOT)
    second = route_pool(store, "p", NINE_OF_TEN)
    assert second.accepted == plan.accepted_later
    assert second.settled_by_people == first.audited == second.ledgers.drawn_answered
    assert second.ledgers.queue == 0
    assert [step.is_shown for step in second.audit[0].steps][-1]
    assert route_pool(store, "p", NINE_OF_TEN).revision is None
    before, after = rebuild(store)
    assert before == after


def test_what_waits_is_counted_once_also_where_it_was_drawn(
    sqlite_store: Store, items: list[int]
) -> None:
    score(sqlite_store, items, lambda _: 0.6)
    report = route_pool(sqlite_store, "p", NINE_OF_TEN)
    assert report.audited > 0
    assert report.waiting == len(items) == len(in_queue(sqlite_store))


def test_the_plan_says_beforehand_what_is_drawn_and_changes_nothing(
    sqlite_store: Store, scores: ItemScores
) -> None:
    plan = plan_route(sqlite_store, "p", NINE_OF_TEN)
    assert not plan.is_frozen
    assert plan.score_version == scores.digest
    assert (plan.accepted_now, plan.to_people, draws(sqlite_store)) == ({}, 400, {})
    report = route_pool(sqlite_store, "p", NINE_OF_TEN)
    by_lot = draws(sqlite_store)
    assert len(by_lot) == sum(row.drawn for row in plan.strata) == report.audited
    need = next(need for need in plan.needs if need.votes)
    assert need.grade == "not_relevant"
    assert (need.votes_without_error or 0) >= 29
    assert sum(row.labels for row in plan.strata) == 400
    for row in plan.strata:
        # Every stratum is drawn from, in the same proportion where it is tested.
        assert 0 < row.drawn <= row.labels


def test_all_strata_are_of_one_frozen_score_version(
    sqlite_store: Store, items: list[int], scores: ItemScores
) -> None:
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    score(sqlite_store, items, lambda _: 0.6, name="a later fit")
    # A later fit moves nothing of an audit that is under way.
    assert route_pool(sqlite_store, "p", NINE_OF_TEN).reasons["awaits_audit"] > 0
    with sqlite_store.read() as connection:
        versions = set(connection.execute(sa.select(table(Stratum).c.score_version)).scalars())
    assert versions == {scores.digest}


def test_what_an_acceptance_waits_for_is_answered_in_a_third_of_the_frame(
    sqlite_store: Store, scores: ItemScores
) -> None:
    policy = TargetPolicy("sixty", votes=60)
    first = route_pool(sqlite_store, "p", policy)
    left = [sum(verdict.pending for verdict in first.audit)]
    # A third of 400, after the first four of each of four queries; routed anew in between.
    for count in (WARM_START * 4, 34, 34, 34, 34):
        vote(sqlite_store, in_queue(sqlite_store)[:count], lambda _: NOT)
        report = route_pool(sqlite_store, "p", policy)
        left.append(sum(verdict.pending for verdict in report.audit))
    assert left[0] >= 60
    assert left[-1] == 0
    # Evenly: after the first votes, each stretch brings a quarter of the draw or little more.
    brought = [before - after for before, after in pairwise(left[1:])]
    assert max(brought) <= left[0] / 4 + 5
    assert min(brought[:-1]) >= left[0] / 4 - 5


def in_queue(store: Store) -> list[int]:
    slot = table(Assignment)
    with store.read() as connection:
        rows = connection.execute(
            sa.select(slot.c.item_id)
            .where(slot.c.state == AssignmentState.WAITING.value)
            .order_by(slot.c.priority, slot.c.id)
        )
        return [int(item) for item in rows.scalars()]


def test_an_audit_that_finds_errors_accepts_nothing_and_says_why(
    sqlite_store: Store, items: list[int], scores: ItemScores
) -> None:
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    vote(sqlite_store, drawn(sqlite_store), lambda item: FULLY if item % 4 == 0 else NOT)
    report = route_pool(sqlite_store, "p", NINE_OF_TEN)
    assert report.accepted == {}
    assert "too many for 90%" in report.audit[0].why
    assert "awaits_audit" not in report.reasons


def test_who_cannot_judge_a_drawn_item_does_not_agree(
    sqlite_store: Store, scores: ItemScores
) -> None:
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    vote(sqlite_store, drawn(sqlite_store), lambda item: None if item % 4 == 0 else NOT)
    assert route_pool(sqlite_store, "p", NINE_OF_TEN).accepted == {}


def test_votes_of_the_queue_show_nothing(
    sqlite_store: Store, items: list[int], scores: ItemScores
) -> None:
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    others = set(wanted_votes(sqlite_store)) - set(drawn(sqlite_store))
    vote(sqlite_store, sorted(others)[:60], lambda _: NOT)
    report = route_pool(sqlite_store, "p", NINE_OF_TEN)
    assert (report.accepted, report.ledgers.queue, report.ledgers.drawn_answered) == ({}, 60, 0)


def test_a_rate_is_never_computed_from_votes_of_the_queue() -> None:
    with pytest.raises(UsageError, match="no rate can be computed"):
        DrawnLabel(7, None, NOT, NOT)
    with pytest.raises(UsageError):
        DrawnLabel(7, 0.0, NOT, NOT)
    drawn_ones = [DrawnLabel(1, 0.5, NOT, NOT), DrawnLabel(2, 0.25, FULLY, NOT)]
    assert share_right(drawn_ones) == pytest.approx(2 / 6)
    assert share_right([]) is None


@pytest.mark.parametrize("calibration", [None, Calibration.UNCALIBRATED])
def test_without_calibrated_scores_the_plain_policy_stays_and_says_so(
    sqlite_store: Store, items: list[int], calibration: Calibration | None
) -> None:
    if calibration is not None:
        score(sqlite_store, items, falling, calibration=calibration)
    report = route_pool(sqlite_store, "p", NINE_OF_TEN)
    assert report.policy == UNCALIBRATED.name
    assert "'nine-of-ten' can't be applied yet" in report.instead_of
    assert (sum(report.accepted.values()), report.audit) == (400, ())
    plan = plan_route(sqlite_store, "p", NINE_OF_TEN)
    assert (plan.policy, plan.accepted_now) == ("uncalibrated", report.accepted)


def test_calibration_takes_back_what_the_plain_policy_had_accepted(
    sqlite_store: Store, items: list[int]
) -> None:
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    score(sqlite_store, items, falling)
    report = route_pool(sqlite_store, "p", NINE_OF_TEN)
    assert (report.withdrawn, report.accepted) == (400, {})


def test_a_target_that_cannot_be_reached_accepts_nothing_and_says_why(
    sqlite_store: Store, items: list[int]
) -> None:
    score(sqlite_store, items, lambda _: 0.85)
    plan = plan_route(sqlite_store, "p", NINE_OF_TEN)
    need = next(need for need in plan.needs if need.grade == "not_relevant")
    assert (need.votes, plan.audit_votes, plan.accepted_later) == (0, 0, {})
    assert "0.85, which can't show 90%" in need.why_not
    report = route_pool(sqlite_store, "p", NINE_OF_TEN)
    assert report.accepted == {}
    # The random audit is always on, all the same.
    assert report.audited > 0


def test_a_further_look_draws_as_much_again_and_shares_the_risk(
    sqlite_store: Store, scores: ItemScores
) -> None:
    policy = TargetPolicy("two-looks", agreement=0.8, looks=2)
    first = route_pool(sqlite_store, "p", policy)
    asked = drawn(sqlite_store)
    vote(sqlite_store, asked, lambda item: FULLY if item % 4 == 0 else NOT)
    second = route_pool(sqlite_store, "p", policy)
    assert second.audit[0].risk == pytest.approx(0.025)
    assert (second.audit[0].looks, second.accepted) == (2, {})
    again = set(drawn(sqlite_store))
    assert not again & set(asked)
    tested = sum(part.drawn for part in first.audit[0].strata)
    assert len(again) == tested
    vote(sqlite_store, again, lambda _: NOT)
    third = route_pool(sqlite_store, "p", policy)
    assert third.audit[0].looks == 2
    assert sum(part.answered for part in third.audit[0].strata) == 2 * tested
    assert route_pool(sqlite_store, "p", policy).revision is None


def test_a_new_audit_freezes_what_is_left_and_keeps_what_was_shown(
    sqlite_store: Store, items: list[int], scores: ItemScores
) -> None:
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    vote(sqlite_store, drawn(sqlite_store), lambda _: NOT)
    before = route_pool(sqlite_store, "p", NINE_OF_TEN).accepted
    score(sqlite_store, items, lambda _: 0.97, name="a later fit")
    report = route_pool(sqlite_store, "p", NINE_OF_TEN, new_audit=True)
    assert report.accepted == before
    assert report.audited > 0
    with sqlite_store.read() as connection:
        frames = connection.execute(
            sa.select(sa.func.count(sa.distinct(table(Stratum).c.frame_id)))
        ).scalar_one()
    assert frames == 2


def test_what_is_accepted_rests_on_the_judges_and_names_the_policy(
    sqlite_store: Store, items: list[int], scores: ItemScores
) -> None:
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    vote(sqlite_store, drawn(sqlite_store), lambda _: NOT)
    report = route_pool(sqlite_store, "p", NINE_OF_TEN)
    with sqlite_store.read() as connection:
        labels = labels_in_force(connection, items_of_pool(1))
        supported = set(
            connection.execute(sa.select(table(DecisionSupport).c.decision_id)).scalars()
        )
    accepted = [label for label in labels.values() if label.basis is Basis.ACCEPTED]
    assert len(accepted) == report.accepted["not_relevant"]
    assert all(label.policy_id is not None for label in accepted)
    assert all(label.decision_id in supported for label in accepted)


def test_a_judge_that_objects_later_sends_an_accepted_item_to_people(
    sqlite_store: Store, items: list[int], scores: ItemScores
) -> None:
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    vote(sqlite_store, drawn(sqlite_store), lambda _: NOT)
    before = route_pool(sqlite_store, "p", NINE_OF_TEN)
    with sqlite_store.read() as connection:
        labels = labels_in_force(connection, items_of_pool(1))
        accepted = [item for item, label in labels.items() if label.basis is Basis.ACCEPTED]
        passage = blocks_of(connection, accepted[:1], seed="")[0].items[0].passage
    judge(sqlite_store, HandJudge({passage.split()[1]: (FULLY, 0.9)}, name="second"))
    after = route_pool(sqlite_store, "p", NINE_OF_TEN)
    assert after.accepted["not_relevant"] == before.accepted["not_relevant"] - 1
    assert (after.withdrawn, after.reasons["judges_disagree"]) == (1, 1)


def test_a_policy_with_another_target_draws_its_own_audit(
    sqlite_store: Store, scores: ItemScores
) -> None:
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    vote(sqlite_store, drawn(sqlite_store), lambda _: NOT)
    route_pool(sqlite_store, "p", NINE_OF_TEN)
    report: RouteReport = route_pool(sqlite_store, "p", replace(NINE_OF_TEN, agreement=0.8))
    assert report.accepted == {}
    assert report.audited > 0
