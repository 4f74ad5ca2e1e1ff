from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.errors import ConflictError, NotFoundError, UsageError
from labeler.records import table
from labeler.records.corpus import Document
from labeler.records.splits import EdgeAction, SplitEdge, SplitPart
from labeler.sealing.split_in_force import find_split, read_membership, split_of_snapshot
from labeler.sealing.split_texts import safe_content, sealed_texts
from labeler.splits.drafts import plan_split
from labeler.splits.explaining import explain
from labeler.splits.freezing import OversizedGroupError, freeze_split
from labeler.splits.rulings import find_node, settle_edge
from labeler.store.database import Store
from tests.hash_embedder import HashEmbedder
from tests.splits.planted import seeded, sentence, write_project


def _project(store: Store, folder: Path, count: int = 60) -> None:
    random = seeded(3)
    documents = {f"d{at:02}": [sentence(random)] for at in range(count)}
    first = documents["d00"][0].split()
    documents["d01"] = [" ".join([*first[:40], *sentence(random, 20).split()])]
    documents["d02"] = [" ".join([*first[34:], *sentence(random, 34).split()])]
    queries = {
        f"q{at:02}": {"text": sentence(random, 9), "source_document": f"d{at:02}"}
        for at in range(20)
    }
    queries["q05"]["conversation_id"] = queries["q06"]["conversation_id"] = "talk"
    write_project(store, folder, documents, queries)


def test_a_frozen_split_is_read_as_it_was_planned(store: Store, tmp_path: Path) -> None:
    _project(store, tmp_path)
    plan = plan_split(store)
    split = freeze_split(store, "main", plan).split
    with store.read() as connection:
        membership = read_membership(connection, split)
        rows = connection.execute(sa.select(table(Document).c.external_id, table(Document).c.id))
        names = {str(name): int(key) for name, key in rows}
        assert split_of_snapshot(connection, split.snapshot_id) == split
        assert find_split(connection, name="main") == find_split(connection) == split
        edges = connection.execute(sa.select(sa.func.count()).select_from(table(SplitEdge)))
        assert edges.scalar() == len(plan.edges)
    assert split.topic_measured
    for group in plan.groups:
        for node in group.members:
            if node.startswith("document:"):
                place = membership.documents[names[node.removeprefix("document:")]]
                assert (place.group, place.part, place.counts_as) == (
                    *(group.number, group.part, group.part),
                )
    assert len(membership.documents) == 60
    assert len(membership.queries) == 20


def test_the_safe_content_and_the_sealed_texts_part_the_corpus(
    sqlite_store: Store, tmp_path: Path
) -> None:
    _project(sqlite_store, tmp_path)
    split = freeze_split(sqlite_store, "main", plan_split(sqlite_store)).split
    with sqlite_store.read() as connection:
        safe = safe_content(connection, split)
        sealed = dict(sealed_texts(connection, split))
    shown = {f"chunk:{chunk.name}": chunk.text for one in safe.documents for chunk in one.chunks}
    shown |= {f"query:{one.name}": one.text for one in safe.queries}
    assert shown
    assert sealed
    assert not shown.keys() & sealed.keys()
    assert len(shown) + len(sealed) == 80
    assert not set(shown.values()) & set(sealed.values())
    assert all(one.place.part is not SplitPart.TEST for one in safe.documents)
    assert all(one.place.part is not SplitPart.TEST for one in safe.queries)


def test_freezing_again_changes_nothing_and_other_content_is_refused(
    sqlite_store: Store, tmp_path: Path
) -> None:
    _project(sqlite_store, tmp_path)
    plan = plan_split(sqlite_store)
    with pytest.raises(NotFoundError, match="no frozen split"), sqlite_store.read() as connection:
        find_split(connection)
    assert freeze_split(sqlite_store, "main", plan).is_new
    assert not freeze_split(sqlite_store, "main", plan).is_new
    other = plan_split(sqlite_store, seed="other")
    with pytest.raises(ConflictError, match="other content"):
        freeze_split(sqlite_store, "main", other)
    with pytest.raises(ConflictError, match="unseal"):
        freeze_split(sqlite_store, "second", other)
    anew = freeze_split(sqlite_store, "second", other, instead_of="main", reason="wrong seed")
    assert anew.split.scheme["instead_of"] == "main"
    with sqlite_store.read() as connection:
        assert find_split(connection).name == "second"


def test_a_plan_of_what_has_changed_since_is_refused(sqlite_store: Store, tmp_path: Path) -> None:
    _project(sqlite_store, tmp_path)
    plan = plan_split(sqlite_store)
    write_project(sqlite_store, tmp_path, {"x": ["more"]}, {"q99": {"text": "new"}}, "s2")
    with pytest.raises(ConflictError, match="changed"):
        freeze_split(sqlite_store, "main", plan)
    with pytest.raises(UsageError, match="several snapshots"):
        plan_split(sqlite_store)


def test_a_plan_is_taken_over_until_something_changes(sqlite_store: Store, tmp_path: Path) -> None:
    _project(sqlite_store, tmp_path)
    steps: list[str] = []
    first = plan_split(sqlite_store, progress=steps.append)
    assert steps
    steps.clear()
    assert plan_split(sqlite_store, progress=steps.append) == first
    assert not steps
    plan_split(sqlite_store, embedder=HashEmbedder(), progress=steps.append)
    assert "comparing meanings" in steps


def test_a_person_settles_what_waits(sqlite_store: Store, tmp_path: Path) -> None:
    _project(sqlite_store, tmp_path)
    plan = plan_split(sqlite_store)
    (waiting,) = plan.waiting
    assert (waiting.left, waiting.right) == ("document:d00", "document:d02")
    with sqlite_store.read() as connection:
        found = explain(connection, "d00", "d02")
    assert found.chain == ()
    assert found.between == (waiting,)
    with pytest.raises(UsageError, match="reason"):
        settle_edge(sqlite_store, "d02", "d00", EdgeAction.LINK, " ")
    settle_edge(sqlite_store, "d02", "d00", EdgeAction.IGNORE, "forms", actor="mo")
    settle_edge(sqlite_store, "d02", "d00", EdgeAction.LINK, "one report", actor="mo")
    settled = plan_split(sqlite_store)
    assert not settled.waiting
    split = freeze_split(sqlite_store, "main", settled).split
    with sqlite_store.read() as connection:
        found = explain(connection, "q01", "q02")
    assert found.split == split.name
    assert [edge.cause for edge in found.chain] == [
        *("source_document", "near_document", "near_document", "source_document"),
    ]
    assert "linked by mo" in found.chain[2].evidence
    assert found.places[0] == found.places[1]


def test_links_of_fact_are_not_settled_away(sqlite_store: Store, tmp_path: Path) -> None:
    _project(sqlite_store, tmp_path)
    settle_edge(sqlite_store, "q05", "q06", EdgeAction.IGNORE, "two talks")
    groups = [set(one.members) for one in plan_split(sqlite_store).groups]
    assert any({"query:q05", "query:q06"} <= one for one in groups)


def test_a_group_that_is_too_large_is_not_frozen(sqlite_store: Store, tmp_path: Path) -> None:
    _project(sqlite_store, tmp_path, 62)
    for at in range(10, 16):
        settle_edge(sqlite_store, f"d{at}", f"d{at + 1}", EdgeAction.LINK, "one manual")
    plan = plan_split(sqlite_store)
    assert [one.documents for one in plan.oversized] == [7]
    with pytest.raises(OversizedGroupError, match=r"7 documents, and 3\.1 are allowed"):
        freeze_split(sqlite_store, "main", plan)
    assert plan.oversized[0].bridges[0].edges[0].key[:2] == ("document:d12", "document:d13")


def test_with_few_groups_the_size_is_a_warning(sqlite_store: Store, tmp_path: Path) -> None:
    _project(sqlite_store, tmp_path, 20)
    plan = plan_split(sqlite_store)
    assert plan.oversized
    assert any("can't be helped" in one for one in plan.warnings)
    assert freeze_split(sqlite_store, "main", plan).is_new


def test_without_keys_topic_leakage_is_said_to_be_unmeasured(
    sqlite_store: Store, tmp_path: Path
) -> None:
    random = seeded(4)
    documents = {f"d{at}": [sentence(random)] for at in range(8)}
    write_project(sqlite_store, tmp_path, documents, {"q": {"text": "what is it"}})
    plan = plan_split(sqlite_store)
    assert any("topic leakage unmeasured" in one for one in plan.warnings)
    assert not freeze_split(sqlite_store, "main", plan).split.topic_measured


def test_an_id_that_a_document_and_a_query_have_is_ambiguous(
    sqlite_store: Store, tmp_path: Path
) -> None:
    write_project(sqlite_store, tmp_path, {"x": ["text"]}, {"x": {"text": "why"}})
    with sqlite_store.read() as connection:
        assert find_node(connection, "query:x") == "query:x"
        with pytest.raises(UsageError, match="document:x or query:x"):
            find_node(connection, "x")
        with pytest.raises(NotFoundError):
            find_node(connection, "y")
