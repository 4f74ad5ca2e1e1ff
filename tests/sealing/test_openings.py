from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.records import table
from labeler.records.project import Revision
from labeler.records.splits import SplitPart
from labeler.sealing.openings import (
    OpeningPurpose,
    development_queries,
    open_sealed,
    read_openings,
)
from labeler.sealing.sealed import sealed_queries
from labeler.sealing.split_in_force import find_split, read_membership
from labeler.sealing.split_texts import safe_content
from labeler.splits.assigning import checked_shares
from labeler.splits.drafts import plan_split
from labeler.splits.freezing import freeze_split
from labeler.store.database import Store
from tests.splits.planted import seeded, sentence, write_project


@pytest.fixture
def sealed(store: Store, tmp_path: Path) -> list[int]:
    """Freeze 40 queries, and give the keys of the sealed ones."""
    random = seeded(2)
    queries = {f"q{at:02}": {"text": sentence(random, 9)} for at in range(40)}
    documents = {f"d{at:02}": [sentence(random)] for at in range(40)}
    write_project(store, tmp_path, documents, queries)
    freeze_split(store, "main", plan_split(store))
    with store.read() as connection:
        (keys,) = sealed_queries(connection).values()
    assert len(keys) == 8
    return sorted(keys)


def _revisions(store: Store) -> int:
    with store.read() as connection:
        return int(connection.execute(sa.select(sa.func.count(table(Revision).c.id))).scalar_one())


def test_looking_at_what_is_not_sealed_leaves_no_trace(store: Store, sealed: list[int]) -> None:
    with store.read() as connection:
        everything = read_membership(connection, find_split(connection)).queries
    before = _revisions(store)
    others = set(everything) - set(sealed)
    assert open_sealed(store, through="report recall", queries=others) == []
    assert open_sealed(store, through="report recall", queries=[]) == []
    assert _revisions(store) == before


def test_without_a_split_there_is_nothing_to_open(sqlite_store: Store) -> None:
    assert open_sealed(sqlite_store, through="gate", queries=[1, 2]) == []
    assert _revisions(sqlite_store) == 0


def test_a_look_is_recorded_with_who_what_and_when(store: Store, sealed: list[int]) -> None:
    before = _revisions(store)
    (seal,) = open_sealed(
        store, through="gate", queries=[*sealed[:3], 9999], runs=["b", "a"], actor="mo"
    )
    assert (seal.split, seal.sealed, seal.before, seal.development) == ("main", 3, (), 0)
    one = seal.opening
    assert (one.number, one.by, one.through, one.runs) == (1, "mo", "gate", ("a", "b"))
    assert (one.revision, one.labels_revision) == (before + 1, before)
    assert one.queries == frozenset(sealed[:3])
    line, topics = seal.lines()
    assert "3 sealed queries" in line
    assert topics.startswith("topic leakage unmeasured")


def test_a_second_look_at_the_same_queries_is_stated(store: Store, sealed: list[int]) -> None:
    open_sealed(store, through="gate", queries=sealed[:2], actor="mo")
    (apart,) = open_sealed(store, through="export qrels", queries=sealed[2:4], actor="al")
    assert apart.before == ()
    (again,) = open_sealed(store, through="report recall", queries=sealed[1:3], as_of=3)
    assert [one.through for one in again.before] == ["gate", "export qrels"]
    assert (again.opening.number, again.opening.labels_revision) == (3, 3)
    assert "opened 2 times before, first by mo" in again.lines()[1]
    assert [one["by"] for one in again.facts()["opened_before"]] == ["mo", "al"]  # type: ignore[attr-defined]  # a list
    with store.read() as connection:
        assert len(read_openings(connection)) == 3


def test_what_tuning_has_seen_counts_as_development_data_from_then_on(
    store: Store, sealed: list[int]
) -> None:
    (seal,) = open_sealed(
        store,
        through="split develop",
        queries=sealed[:2],
        purpose=OpeningPurpose.TUNING,
        reason="prompt",
    )
    assert seal.development == 2
    with store.read() as connection:
        split = find_split(connection)
        assert development_queries(connection) == frozenset(sealed[:2])
        places = read_membership(connection, split).queries
        safe = {one.query_id for one in safe_content(connection, split).queries}
    assert {places[key].part for key in sealed} == {SplitPart.TEST}
    assert [places[key].counts_as for key in sealed[:3]] == ["dev", "dev", "test"]
    assert not safe & set(sealed)
    (later,) = open_sealed(store, through="report recall", queries=sealed)
    assert later.development == 2
    assert "2 queries of the sealed part are development data" in later.lines()[-2]


def test_an_opening_under_an_earlier_split_is_not_forgotten(
    store: Store, sealed: list[int]
) -> None:
    open_sealed(store, through="gate", queries=sealed, actor="mo")
    plan = plan_split(store, seed="another", shares=checked_shares(0.3, 0.1, 0.6))
    freeze_split(store, "anew", plan, instead_of="main", reason="wrong shares")
    with store.read() as connection:
        (both,) = sealed_queries(connection, sealed).values()
    assert len(both) < len(sealed)
    (seal,) = open_sealed(store, through="report recall", queries=sealed)
    assert (seal.split, seal.sealed, seal.opening.number) == ("anew", len(both), 1)
    assert [(one.split, one.by) for one in seal.before] == [("main", "mo")]


def test_texts_of_sealed_documents_are_counted_beside_no_query(
    store: Store, sealed: list[int]
) -> None:
    with store.read() as connection:
        documents = read_membership(connection, find_split(connection)).documents
    inside = [key for key, place in documents.items() if place.part is SplitPart.TEST]
    outside = [key for key in documents if key not in inside]
    assert open_sealed(store, through="export corpus", queries=(), documents=outside) == []
    (seal,) = open_sealed(store, through="export corpus", queries=(), documents=documents)
    assert (seal.sealed, seal.documents) == (0, len(inside))
    assert seal.opening.reason == f"texts of {len(inside)} sealed documents"
    (line,) = seal.lines()
    assert line.startswith(f"opening 1 of the split 'main': {seal.opening.reason}, recorded")
    (later,) = open_sealed(store, through="gate", queries=sealed)
    assert later.before == ()


def test_a_topic_is_measured_where_a_query_had_a_key(sqlite_store: Store, tmp_path: Path) -> None:
    random = seeded(3)
    queries = {
        f"q{at:02}": {"text": sentence(random, 9), "source_document": f"d{at:02}"}
        for at in range(40)
    }
    documents = {f"d{at:02}": [sentence(random)] for at in range(40)}
    write_project(sqlite_store, tmp_path, documents, queries)
    freeze_split(sqlite_store, "main", plan_split(sqlite_store))
    with sqlite_store.read() as connection:
        (keys,) = sealed_queries(connection).values()
    (seal,) = open_sealed(sqlite_store, through="gate", queries=keys)
    assert len(seal.lines()) == 1
    assert seal.facts()["topic_leakage"] == "measured"
