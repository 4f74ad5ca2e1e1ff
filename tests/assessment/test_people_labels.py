"""What people say of a pool, and which of their labels no doubt picked."""

from __future__ import annotations

from pathlib import Path

import pytest

from labeler.assessment.people_labels import (
    PeopleLabels,
    drawn_probabilities,
    read_people_labels,
)
from labeler.calibration.policies import Policy
from labeler.imports.labels import LabelOptions, import_labels
from labeler.labels import Grade
from labeler.queue.route import route_pool
from labeler.store.database import Store
from tests.calibrated import TopicJudge, by_query, topic_pool
from tests.scored import vote

FULLY, PARTIALLY, NOT = Grade


@pytest.fixture
def items(sqlite_store: Store, own_folder: Path) -> list[int]:
    """The items of one query, all of them waiting for two votes."""
    grades = topic_pool(sqlite_store, own_folder, [TopicJudge("one", 75)], queries=1)
    route_pool(sqlite_store, "p", Policy("two", 0.99, overlap=2))
    return by_query(grades)[0]


def read(store: Store, as_of: int | None = None) -> PeopleLabels:
    with store.read() as connection:
        return read_people_labels(connection, 1, as_of)


def test_votes_are_settled_and_disputes_and_abstentions_left_out(
    sqlite_store: Store, items: list[int]
) -> None:
    vote(sqlite_store, items[:4], lambda item: FULLY if item != items[3] else None)
    vote(sqlite_store, items[:2], lambda item: FULLY if item == items[0] else NOT, who="bo")
    labels = read(sqlite_store)
    assert labels.grades == {items[0]: FULLY, items[2]: FULLY}
    assert labels.disputed == 1


def test_the_first_votes_of_a_query_were_not_picked(sqlite_store: Store, items: list[int]) -> None:
    for item in (items[9], items[3], items[5], items[1], items[0], items[2]):
        vote(sqlite_store, [item], lambda _: FULLY)
    labels = read(sqlite_store)
    assert labels.unpicked == {items[9], items[3], items[5], items[1]}


def test_labels_without_a_task_were_not_picked(sqlite_store: Store, own_folder: Path) -> None:
    topic_pool(sqlite_store, own_folder, [TopicJudge("one", 75)], queries=1)
    path = own_folder / "people.txt"
    path.write_text("".join(f"q0 0 q0p{place} {place % 3}\n" for place in range(10)))
    import_labels(sqlite_store, [path], LabelOptions(assessor="ana", scale="native"))
    labels = read(sqlite_store)
    assert len(labels.grades) == 10
    assert labels.unpicked == labels.grades.keys()


def test_drawn_items_have_the_probability_of_their_draw(
    sqlite_store: Store, own_folder: Path
) -> None:
    """Half of what is accepted is drawn for the audit here, and nothing else is."""
    topic_pool(sqlite_store, own_folder, [TopicJudge("one", 75)], queries=4)
    report = route_pool(sqlite_store, "p", Policy("easy", 0.51, target=0.9, confidence=0.95))
    with sqlite_store.read() as connection:
        drawn = drawn_probabilities(connection, 1)
    assert len(drawn) == report.audited == 29
    assert sum(1 / share for share in drawn.values()) == pytest.approx(
        sum(report.accepted.values())
    )


def test_the_state_at_a_revision(sqlite_store: Store, items: list[int]) -> None:
    before = read(sqlite_store)
    with sqlite_store.read() as connection:
        revision = int(connection.exec_driver_sql("SELECT max(id) FROM revision").scalar_one())
    vote(sqlite_store, items[:1], lambda _: FULLY)
    assert read(sqlite_store, revision) == before
    assert read(sqlite_store).digest != before.digest


def test_digests_do_not_depend_on_the_order_of_votes(sqlite_store: Store) -> None:
    one = PeopleLabels({1: FULLY, 2: NOT}, frozenset(), 0)
    other = PeopleLabels({2: NOT, 1: FULLY}, frozenset({1}), 3)
    assert one.digest == other.digest
    assert one.digest != PeopleLabels({1: NOT, 2: NOT}, frozenset(), 0).digest
