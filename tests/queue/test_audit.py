"""The audit draw: stored with frame, strata and probabilities; made once; not to be told apart."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.calibration.policies import UNCALIBRATED, Policy
from labeler.labels import NATIVE, Grade
from labeler.queue.audit import Accepted, strata_of
from labeler.queue.route import route_pool
from labeler.queue.sitting.session import ReviewSession
from labeler.records import table
from labeler.records.judgments import Basis
from labeler.records.queue import ReviewEvent, VotePurpose
from labeler.records.sampling import Draw, Frame, FrameItem, Stratum
from labeler.store.database import Store
from tests.small import HandJudge, judge, pooled

POLICY = Policy("small-target", 0.95, target=0.5, confidence=0.9)
"""A target that four right labels of four can show."""


def design(store: Store) -> list[tuple[str, int, int, int, float]]:
    """Read the strata: name, phase, size, sample size and the probability of its draws."""
    stratum, draw = table(Stratum), table(Draw)
    statement = (
        sa.select(
            stratum.c.name,
            stratum.c.phase,
            stratum.c.size,
            stratum.c.sample_size,
            sa.func.max(draw.c.probability),
        )
        .join(draw, draw.c.stratum_id == stratum.c.id)
        .group_by(stratum.c.id)
        .order_by(stratum.c.id)
    )
    with store.read() as connection:
        return [tuple(row) for row in connection.execute(statement)]


def count(store: Store, of: type) -> int:
    with store.read() as connection:
        statement = sa.select(sa.func.count()).select_from(table(of))
        return int(connection.execute(statement).scalar_one())


def test_a_draw_is_sized_by_the_target_and_stored_with_its_design(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge())
    report = route_pool(store, "p", POLICY)
    assert (report.audited, sum(report.accepted.values()), report.to_people) == (4, 11, 0)
    assert report.waiting == 4
    assert sum(drawn for _, _, _, drawn, _ in design(store)) == 4
    assert sum(size for _, _, size, _, _ in design(store)) == count(store, FrameItem) == 11
    for _, phase, size, drawn, probability in design(store):
        assert phase == 1
        assert probability == pytest.approx(drawn / size)


def test_a_draw_is_made_once(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge())
    route_pool(store, "p", POLICY)
    assert route_pool(store, "p", POLICY).revision is None
    assert count(store, Draw) == 4


def test_labels_accepted_later_form_a_frame_of_their_own(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge({"c03": (Grade.FULLY_RELEVANT, 0.6)}))
    first = route_pool(store, "p", POLICY)
    judge(store, HandJudge(version="2"))
    second = route_pool(store, "p", POLICY)
    assert (first.audited, second.audited) == (4, 5)
    assert count(store, Frame) == 2
    assert [phase for _, phase, _, _, _ in design(store)][-1] == 2


def test_another_policy_draws_anew(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge())
    route_pool(store, "p", POLICY)
    assert route_pool(store, "p", UNCALIBRATED).audited == 11
    assert count(store, Frame) == 2


def test_an_audited_label_stays_in_force_until_a_person_has_voted(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge())
    route_pool(store, "p", POLICY)
    session = ReviewSession(store, "ana")
    shown = session.current
    assert shown is not None
    assert shown.claim.purpose is VotePurpose.AUDIT
    with store.read() as connection:
        before = labels_in_force(connection, items_of_pool(1))
    assert {label.basis for label in before.values()} == {Basis.ACCEPTED}
    session.vote(NATIVE.level(2))
    with store.read() as connection:
        after = labels_in_force(connection, items_of_pool(1))
        event = connection.execute(sa.select(table(ReviewEvent))).one()
    assert after[shown.claim.item_id].basis is Basis.ONE_REVIEWER
    assert after[shown.claim.item_id].grade is Grade.FULLY_RELEVANT
    # Votes for the audit and votes of the queue are two ledgers.
    assert event.purpose == VotePurpose.AUDIT.value
    again = route_pool(store, "p", POLICY)
    assert (again.audited, again.settled_by_people) == (3, 1)


def test_two_votes_where_overlap_asks_for_them(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    policy = Policy("double", 0.95, overlap=2)
    route_pool(store, "p", policy)
    for name in ("ana", "bo"):
        session = ReviewSession(store, name)
        seen = []
        while session.current is not None:
            seen.append(session.current.claim.item_id)
            session.vote(NATIVE.level(1))
        assert len(seen) == len(set(seen)) == 11
        # The first votes settle the items; the second ones stay wanted.
        route_pool(store, "p", policy)
    assert ReviewSession(store, "cy").current is None
    with store.read() as connection:
        labels = labels_in_force(connection, items_of_pool(1))
    assert {label.basis for label in labels.values()} == {Basis.CONSENSUS}


ACCEPTED = st.lists(
    st.builds(Accepted, st.integers(0, 500), st.sampled_from(list(Grade)), st.floats(0.5, 1.0)),
    unique_by=lambda one: one.item_id,
)


@given(ACCEPTED)
def test_strata_are_a_partition(accepted: list[Accepted]) -> None:
    strata = strata_of(accepted)
    members = [item for items in strata.values() for item in items]
    assert sorted(members) == sorted(one.item_id for one in accepted)
    assert all(strata.values())
    assert strata == strata_of(accepted[::-1])
