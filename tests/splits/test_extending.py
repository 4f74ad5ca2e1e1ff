from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from labeler.records.splits import SplitPart
from labeler.sealing.split_in_force import find_split, read_membership
from labeler.sealing.split_texts import safe_content, sealed_texts
from labeler.splits.check import check_split
from labeler.splits.drafts import plan_split
from labeler.splits.edges import Cause, Edge, edge_between
from labeler.splits.extending import Extension, extend_split, place_later
from labeler.splits.freezing import freeze_split
from labeler.splits.standing import Standing, read_standing
from labeler.store.database import Store
from tests.splits.planted import seeded, sentence, write_project


def _link(one: str, other: str) -> Edge:
    return edge_between(one, other, Cause.NEAR_DOCUMENT, "", score=0.7)


def test_what_is_tied_to_one_group_joins_it_and_takes_its_friends_along() -> None:
    edges = [_link("a", "old1"), _link("a", "b"), _link("c", "d")]
    placed = place_later(["a", "b", "c", "d", "e"], {"old1": 1, "old2": 2}, edges)
    assert placed.joining == {"a": 1, "b": 1}
    assert sorted(placed.making) == [("c", "d"), ("e",)]
    assert placed.quarantined == {}


def test_what_would_join_two_is_quarantined_alone() -> None:
    edges = [_link("a", "old1"), _link("a", "old2"), _link("a", "b"), _link("c", "old2")]
    placed = place_later(["a", "b", "c"], {"old1": 1, "old2": 2}, edges)
    assert placed.quarantined == {"a": (1, 2)}
    assert placed.joining == {"c": 2}
    assert list(placed.making) == [("b",)]


def test_a_chain_that_ties_two_groups_is_quarantined_as_a_whole() -> None:
    edges = [_link("a", "old1"), _link("a", "b"), _link("b", "c"), _link("c", "old2")]
    placed = place_later(["a", "b", "c"], {"old1": 1, "old2": 2}, edges)
    assert placed.quarantined == dict.fromkeys("abc", (1, 2))


def test_a_document_whose_new_text_is_tied_elsewhere_is_quarantined() -> None:
    edges = [_link("old1", "old2"), _link("old1", "old3")]
    placed = place_later([], {"old1": 1, "old2": 2, "old3": 1}, edges, frozenset({"old1"}))
    assert placed.quarantined == {"old1": (1, 2)}


_NODES = [f"n{at}" for at in range(6)]
_OLD = {f"o{at}": at for at in range(3)}


@given(st.lists(st.tuples(st.sampled_from([*_NODES, *_OLD]), st.sampled_from(_NODES)), max_size=12))
def test_every_later_node_has_one_place_and_no_link_leads_to_another_group(
    pairs: list[tuple[str, str]],
) -> None:
    edges = [_link(one, other) for one, other in pairs if one != other]
    placed = place_later(_NODES, _OLD, edges)
    making = {node: 100 + at for at, members in enumerate(placed.making) for node in members}
    assert sorted([*placed.joining, *making, *placed.quarantined]) == sorted(_NODES)
    where = {**_OLD, **placed.joining, **making}
    for one, other in pairs:
        if one in where and other in where:
            assert where[one] == where[other]
    assert all(len(groups) > 1 for groups in placed.quarantined.values())


def _state(store: Store) -> Standing:
    with store.read() as connection:
        return read_standing(connection, find_split(connection))


def _extended(store: Store, snapshot: str) -> Extension:
    before = _state(store)
    done = extend_split(store, snapshot=snapshot)
    after = _state(store)
    assert {node: after.groups[node] for node in before.groups} == before.groups
    assert {number: after.parts[number] for number in before.parts} == before.parts
    with store.read() as connection:
        report = check_split(connection, find_split(connection))
    assert report.holds, [rule for rule in report.rules if rule.broken]
    assert report.unplaced == len(done.quarantined)
    return done


def test_later_documents_and_queries_move_nothing(store: Store, tmp_path: Path) -> None:
    random = seeded(8)
    documents = {f"d{at:02}": [sentence(random)] for at in range(50)}
    queries = {f"q{at}": {"text": sentence(random, 8), "entity": str(at)} for at in range(10)}
    write_project(store, tmp_path, documents, queries)
    freeze_split(store, "main", plan_split(store))
    part = _state(store).part
    sealed = next(name for name in documents if part(f"document:{name}") is SplitPart.TEST)
    shown = next(name for name in documents if part(f"document:{name}") is SplitPart.TRAIN)
    later = {name: texts for name, texts in documents.items() if name != "d49"}
    later |= {
        "copy": [documents[sealed][0] + " with a word more"],
        "both": [documents[sealed][0] + " " + documents[shown][0]],
        **{f"new{at:02}": [sentence(random)] for at in range(20)},
    }
    new_queries = {
        "again": {"text": "another one", "entity": "3"},
        "alone": {"text": sentence(random, 8), "entity": "new"},
    }
    write_project(store, tmp_path, later, new_queries, "s2")
    done = _extended(store, snapshot="s2")
    assert (done.joined, done.made, done.absent) == (2, 21, 1)
    state = _state(store)
    assert state.groups["document:copy"] == state.groups[f"document:{sealed}"]
    assert state.groups["query:again"] == state.groups["query:q3"]
    groups = sorted(state.groups[f"document:{name}"] for name in (sealed, shown))
    assert done.quarantined == {"document:both": tuple(groups)}
    assert {state.part(f"document:new{at:02}") for at in range(20)} == set(SplitPart)
    with store.read() as connection:
        split = find_split(connection, snapshot="s2")
        assert find_split(connection, snapshot="s1").id == split.id
        safe = {one.name for one in safe_content(connection, split).documents}
        hidden = {name for name, _ in sealed_texts(connection, split)}
        assert len(read_membership(connection, split).quarantined_documents) == 1
    assert not safe & {"both", "copy", sealed}
    assert {"chunk:both#0", "chunk:copy#0"} <= hidden
    again = extend_split(store, snapshot="s2")
    assert (again.joined, again.made, again.split) == (0, 0, split)


def test_the_parts_keep_their_shares_as_documents_come(sqlite_store: Store, tmp_path: Path) -> None:
    random = seeded(9)
    documents = {f"d{at:03}": [sentence(random, 12)] for at in range(60)}
    write_project(sqlite_store, tmp_path, documents, {})
    freeze_split(sqlite_store, "main", plan_split(sqlite_store))
    sizes = []
    for step in range(3):
        documents |= {f"e{step}{at:02}": [sentence(random, 12)] for at in range(20)}
        write_project(sqlite_store, tmp_path, documents, {}, f"later{step}")
        _extended(sqlite_store, snapshot=f"later{step}")
        state = _state(sqlite_store)
        sizes.append([sum(state.part(n) is part for n in state.groups) for part in SplitPart])
    assert sizes == [[48, 16, 16], [60, 20, 20], [72, 24, 24]]
    assert all(
        one <= other
        for before, after in pairwise(sizes)
        for one, other in zip(before, after, strict=True)
    )


def test_a_changed_document_that_is_now_like_a_sealed_one_is_taken_out(
    sqlite_store: Store, tmp_path: Path
) -> None:
    random = seeded(10)
    documents = {f"d{at:02}": [sentence(random)] for at in range(50)}
    write_project(sqlite_store, tmp_path, documents, {})
    freeze_split(sqlite_store, "main", plan_split(sqlite_store))
    part = _state(sqlite_store).part
    sealed = next(name for name in documents if part(f"document:{name}") is SplitPart.TEST)
    shown = next(name for name in documents if part(f"document:{name}") is SplitPart.TRAIN)
    changed = documents | {shown: [documents[sealed][0] + " once more"]}
    write_project(sqlite_store, tmp_path, changed, {}, "s2")
    done = _extended(sqlite_store, snapshot="s2")
    assert list(done.quarantined) == [f"document:{shown}"]
    with sqlite_store.read() as connection:
        safe = safe_content(connection, find_split(connection))
    assert shown not in {one.name for one in safe.documents}
