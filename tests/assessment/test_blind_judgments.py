"""Agreement uses blind votes: what counts after corrections, reveals and changes of mind."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.blind_judgments import (
    BlindJudgment,
    Sight,
    counts_as_blind,
    read_blind_judgments,
)
from labeler.assessment.corrections import Correction, correct
from labeler.calibration.policies import UNCALIBRATED
from labeler.imports.labels import LabelOptions, import_labels
from labeler.labels import NATIVE, Outcome
from labeler.queue.route import route_pool
from labeler.queue.sitting.session import ReviewSession
from labeler.records import table
from labeler.records.judgments import CorrectionTarget
from labeler.records.queue import EventKind, ReviewEvent
from labeler.records.scales import Assessor
from labeler.reports.answers import answers_of_assessors, levels_by_key
from labeler.store.database import Store
from tests.small import pooled, write_jsonl

FULLY, PARTIALLY, NOT = NATIVE.levels
VOTE, JUDGMENT = CorrectionTarget.VOTE, CorrectionTarget.JUDGMENT
GIVEN = BlindJudgment(5, 1, 2, Outcome.JUDGED, 7, None, revision=10)


def sight(
    withdrawn: tuple[int, CorrectionTarget] | None = None,
    revealed: int | None = None,
    corrections: frozenset[int] = frozenset(),
) -> Sight:
    return Sight(
        {} if withdrawn is None else {5: withdrawn},
        {} if revealed is None else {(2, 1): revealed},
        corrections,
    )


@pytest.mark.parametrize(
    ("seen", "counts"),
    [
        (sight(), True),
        (sight(withdrawn=(11, VOTE)), False),
        (sight(withdrawn=(11, JUDGMENT)), False),
        (sight(revealed=9), False),
        (sight(revealed=11), True),
        # Changed after the reveal: the blind vote still is what the reviewer thought unaided.
        (sight(withdrawn=(12, VOTE), revealed=11), True),
        # Taken back before it: no vote stood when the labels were shown.
        (sight(withdrawn=(11, VOTE), revealed=12), False),
        # Withdrawn since it was wrong, by whoever leads the work.
        (sight(withdrawn=(12, JUDGMENT), revealed=11), False),
        (sight(corrections=frozenset({10})), False),
        (sight(corrections=frozenset({11})), True),
    ],
)
def test_which_judgment_counts(seen: Sight, counts: bool) -> None:
    assert counts_as_blind(GIVEN, seen) is counts


def test_a_reveal_to_somebody_else_or_of_another_item_changes_nothing() -> None:
    assert counts_as_blind(GIVEN, Sight({}, {(3, 1): 9, (2, 8): 9}, frozenset()))


def codes(store: Store, as_of: int | None = None) -> tuple[dict[str, dict[int, int]], int]:
    """Give each assessor's codes by item, and how many labels were not given blind."""
    with store.read() as connection:
        read = read_blind_judgments(connection, None, as_of)
        levels = levels_by_key(connection)
        return {
            one.name: {
                item: levels[answer][1].code if answer > 0 else answer
                for item, answer in one.of.items()
            }
            for one in answers_of_assessors(connection, read)
        }, read.not_blind


def reveal(store: Store) -> None:
    """Show others' labels of the one item that was voted on to its reviewer."""
    event = table(ReviewEvent)
    with store.write("review reveal") as tx:
        vote = tx.connection.execute(
            sa.select(event).where(event.c.kind == EventKind.VOTE.value)
        ).one()
        tx.connection.execute(
            sa.insert(event).values(
                event_key=str(uuid.uuid4()),
                task_id=vote.task_id,
                assessor_id=vote.assessor_id,
                kind=EventKind.REVEAL.value,
                at=tx.clock(),
                revision_id=tx.revision_id,
            )
        )


def test_a_change_of_mind_counts_before_a_reveal_and_not_after_it(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    route_pool(store, "p", UNCALIBRATED)
    session = ReviewSession(store, "ana")
    shown = session.current
    assert shown is not None
    item = shown.claim.item_id
    session.vote(FULLY)
    assert codes(store) == ({"ana": {item: FULLY.code}}, 0)
    assert session.undo()
    assert codes(store) == ({}, 0)
    # What was taken back is a vote no more.
    session.vote(PARTIALLY)
    assert codes(store) == ({"ana": {item: PARTIALLY.code}}, 0)


def test_a_vote_after_a_reveal_leaves_the_blind_one_in_place(
    store: Store, own_folder: Path
) -> None:
    pooled(store, own_folder)
    route_pool(store, "p", UNCALIBRATED)
    session = ReviewSession(store, "ana")
    shown = session.current
    assert shown is not None
    item = shown.claim.item_id
    session.vote(NOT)
    reveal(store)
    assert session.undo()
    session.vote(FULLY)
    assert codes(store) == ({"ana": {item: NOT.code}}, 1)


def test_a_correction_is_no_blind_label(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    rows: list[dict[str, object]] = [
        {"query_id": "q1", "doc_id": "c03", "label": "fully", "rater": "ana"},
        {"query_id": "q1", "doc_id": "c04", "label": "not", "rater": "ana"},
    ]
    report = import_labels(store, [write_jsonl(own_folder / "l.jsonl", rows)], LabelOptions())
    wrong = Correction(CorrectionTarget.JUDGMENT, "c03", query="q1", level="not")
    correct(store, wrong, "a slip")
    found, not_blind = codes(store)
    assert list(found) == ["ana"]
    assert list(found["ana"].values()) == [0]
    assert not_blind == 1
    with store.read() as connection:
        names = connection.execute(sa.select(sa.func.count()).select_from(table(Assessor)))
        assert names.scalar() == 2
    before, _ = codes(store, as_of=report.revision)
    assert sorted(before["ana"].values()) == [0, 2]
