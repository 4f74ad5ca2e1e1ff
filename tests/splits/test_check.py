from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from labeler.records import table
from labeler.records.corpus import Document
from labeler.records.queries import Query
from labeler.records.splits import (
    EdgeAction,
    Exposure,
    Split,
    SplitGroup,
    SplitMember,
    SplitPart,
)
from labeler.sealing.split_in_force import NewMember, append_members, find_split
from labeler.search.words import tokens
from labeler.splits.check import CheckReport, check_split
from labeler.splits.check_texts import CheckedText, near_across, verbatim_across
from labeler.splits.drafts import plan_split
from labeler.splits.freezing import freeze_split
from labeler.splits.plan import make_plan
from labeler.splits.rulings import settle_edge
from labeler.store.database import Store
from labeler.store.registry import text_digest
from tests.hash_embedder import HashEmbedder
from tests.splits.planted import seeded, sentence, write_project


def _frozen(store: Store, folder: Path, **more: list[str]) -> dict[str, str]:
    """Freeze 50 documents and 20 queries; give the part of each document."""
    random = seeded(6)
    documents = {f"d{at:02}": [sentence(random), sentence(random)] for at in range(50)} | more
    queries = {
        f"q{at:02}": {"text": sentence(random, 9), "source_document": f"d{at:02}"}
        for at in range(20)
    }
    write_project(store, folder, documents, queries)
    plan = plan_split(store)
    freeze_split(store, "main", plan)
    return {
        node.removeprefix("document:"): group.part.value
        for group in plan.groups
        for node in group.members
    }


def _check(store: Store, embedder: HashEmbedder | None = None) -> CheckReport:
    with store.read() as connection:
        return check_split(connection, find_split(connection), embedder)


def _broken(report: CheckReport) -> set[str]:
    return {rule.name for rule in report.rules if rule.broken}


def _key(store: Store, name: str, of: type[Document | Query] = Document) -> int:
    with store.read() as connection:
        statement = sa.select(table(of).c.id).where(table(of).c.external_id == name)
        return int(connection.execute(statement).scalar_one())


def test_a_split_as_it_was_frozen_holds(store: Store, tmp_path: Path) -> None:
    _frozen(store, tmp_path)
    report = _check(store)
    assert report.holds
    assert {rule.name: rule.checked for rule in report.rules} == {
        "one_part": 70,
        "no_link_across": 70,
        "no_key_across": 20,
        "sealed_never_shown": 70,
        "digests": 70,
        "manifest": 70,
        "no_same_words_across": 70,
        "no_near_duplicate_across": 70,
    }
    assert sum(one["documents"] for one in report.parts.values()) == 50
    assert sum(one["queries"] for one in report.parts.values()) == 20
    assert report.unplaced == 0
    assert any("no embeddings" in one for one in report.unmeasured)


def test_a_member_that_was_put_into_a_second_group_is_found(store: Store, tmp_path: Path) -> None:
    parts = _frozen(store, tmp_path)
    sealed = next(name for name, part in sorted(parts.items()) if part == "test")
    with store.write("by hand") as tx:
        group = tx.connection.execute(
            sa.select(table(SplitGroup).c.id).where(table(SplitGroup).c.part == "train").limit(1)
        ).scalar_one()
        values = {"group_id": group, "document_id": _key(store, sealed), "query_id": None}
        member = tx.connection.execute(
            sa.insert(table(SplitMember)).values(values).returning(table(SplitMember).c.id)
        ).scalar_one()
        leaf = sa.text("INSERT INTO split_leaf (member_id, digest) VALUES (:member, 'x')")
        tx.connection.execute(leaf, {"member": member})
    report = _check(store)
    assert {"one_part", "manifest", "digests"} <= _broken(report)
    (found,) = report.rules[0].findings
    assert (found.left, {found.left_part, found.right_part}) == (
        *(f"document:{sealed}", {"train", "test"}),
    )


def test_a_group_whose_part_was_changed_is_found(sqlite_store: Store, tmp_path: Path) -> None:
    _frozen(sqlite_store, tmp_path)
    with sqlite_store.work() as connection:
        # What an attacker with the file in hand could do: take the guard away first.
        connection.execute(sa.text("DROP TRIGGER guard_split_group_update"))
        connection.execute(
            sa.text(
                "UPDATE split_group SET part = 'train' WHERE id = "
                "(SELECT MIN(id) FROM split_group WHERE part = 'test')"
            )
        )
    assert _broken(_check(sqlite_store)) == {"manifest"}


def test_a_text_that_was_changed_is_found(sqlite_store: Store, tmp_path: Path) -> None:
    _frozen(sqlite_store, tmp_path)
    with sqlite_store.work() as connection:
        connection.execute(sa.text("DROP TRIGGER guard_text_update"))
        connection.execute(
            sa.text("UPDATE text SET body = 'another one' WHERE id = (SELECT MIN(id) FROM text)")
        )
    report = _check(sqlite_store)
    assert _broken(report) == {"digests"}
    (found,) = next(rule for rule in report.rules if rule.name == "digests").findings
    assert found.left == "document:d00"


def test_an_erased_text_is_not_a_changed_one(sqlite_store: Store, tmp_path: Path) -> None:
    _frozen(sqlite_store, tmp_path)
    with sqlite_store.write("erase") as tx:
        tx.connection.execute(
            sa.text(
                "INSERT INTO tombstone (text_id, reason, revision_id) "
                "SELECT MIN(id), 'personal data', :revision FROM text"
            ),
            {"revision": tx.revision_id},
        )
        tx.connection.execute(
            sa.text("UPDATE text SET body = NULL WHERE id = (SELECT MIN(id) FROM text)")
        )
    assert _check(sqlite_store).holds


def test_a_link_that_a_person_makes_across_parts_is_found(store: Store, tmp_path: Path) -> None:
    parts = _frozen(store, tmp_path)
    sealed = next(name for name, part in sorted(parts.items()) if part == "test")
    shown = next(name for name, part in sorted(parts.items()) if part == "train")
    settle_edge(store, sealed, shown, EdgeAction.LINK, "one event", actor="mo")
    assert _broken(_check(store)) == {"no_link_across"}
    settle_edge(store, sealed, shown, EdgeAction.IGNORE, "not after all", actor="mo")
    assert _check(store).holds


@pytest.mark.parametrize(
    ("copied", "cause", "rule"),
    [
        ("{}!", "normalised_text", "no_same_words_across"),
        ("{} and so on", "near_document", "no_near_duplicate_across"),
    ],
)
def test_copies_that_grouping_missed_are_found_by_the_second_way(
    sqlite_store: Store, tmp_path: Path, copied: str, cause: str, rule: str
) -> None:
    random = seeded(6)
    documents = {f"d{at:02}": [sentence(random)] for at in range(30)}
    copies = {f"c{at:02}": [copied.format(documents[f"d{at:02}"][0])] for at in range(30)}
    write_project(sqlite_store, tmp_path, documents | copies, {})
    plan = plan_split(sqlite_store)
    kept = [edge for edge in plan.edges if edge.cause != cause]
    assert len(kept) == len(plan.edges) - 30
    broken = make_plan(plan.content, kept, {}, plan.scheme)
    freeze_split(sqlite_store, "main", broken)
    part = {node: one.part for one in broken.groups for node in one.members}
    crossing = {
        (f"document:c{at:02}", f"document:d{at:02}")
        for at in range(30)
        if part[f"document:c{at:02}"] != part[f"document:d{at:02}"]
    }
    assert crossing
    report = _check(sqlite_store)
    assert _broken(report) >= {rule}
    found = next(one for one in report.rules if one.name == rule).findings
    assert {(one.left, one.right) for one in found} == crossing
    runs = next(one for one in report.listings if one.name == "verbatim_runs").findings
    assert {one.score for one in runs} == {60.0}


def test_a_sealed_document_that_a_generator_saw_is_found(store: Store, tmp_path: Path) -> None:
    parts = _frozen(store, tmp_path)
    for part, expected in (("train", set()), ("test", {"sealed_never_shown"})):
        name = next(one for one, its in sorted(parts.items()) if its == part and one[0] == "d")
        with store.write("generate") as tx:
            split = tx.connection.execute(sa.select(table(Split).c.id)).scalar_one()
            tx.connection.execute(
                sa.insert(table(Exposure)).values(
                    split_id=split,
                    document_id=_key(store, name),
                    text_digest="t",
                    generator="g",
                    digest=part,
                    revision_id=tx.revision_id,
                )
            )
        assert _broken(_check(store)) == expected


def test_later_members_are_a_part_of_the_manifest(store: Store, tmp_path: Path) -> None:
    _frozen(store, tmp_path)
    write_project(store, tmp_path, {"x": ["y"]}, {"later": {"text": "a new question"}}, "s2")
    assert _check(store).unplaced == 1
    with store.write("later") as tx:
        split = find_split(tx.connection)
        group = tx.connection.execute(
            sa.select(table(SplitGroup).c.id).where(table(SplitGroup).c.part == "test").limit(1)
        ).scalar_one()
        member = NewMember(
            group_id=group,
            name="query:later",
            digest=text_digest("a new question"),
            query_id=_key(store, "later", Query),
        )
        append_members(tx, split, [member])
    report = _check(store)
    assert report.holds
    assert report.unplaced == 0
    with store.read() as connection:
        assert find_split(connection).root_digest != split.root_digest


def test_a_query_is_not_found_in_another_part_than_its_key(
    sqlite_store: Store, tmp_path: Path
) -> None:
    parts = _frozen(sqlite_store, tmp_path)
    sealed = next(name for name, part in sorted(parts.items()) if part == "test")
    write_project(sqlite_store, tmp_path, {"x": ["y"]}, {}, "s2")
    queries = {"later": {"text": "a new question", "source_document": sealed}}
    write_project(sqlite_store, tmp_path, {"x": ["y"]}, queries, "s2")
    with sqlite_store.write("later") as tx:
        group = tx.connection.execute(
            sa.select(table(SplitGroup).c.id).where(table(SplitGroup).c.part == "dev").limit(1)
        ).scalar_one()
        member = NewMember(
            group,
            "query:later",
            text_digest("a new question"),
            query_id=_key(sqlite_store, "later", Query),
        )
        append_members(tx, find_split(tx.connection), [member])
    report = _check(sqlite_store)
    assert _broken(report) == {"no_key_across"}
    (found,) = next(rule for rule in report.rules if rule.name == "no_key_across").findings
    assert "query:later" in {found.left, found.right}
    assert {found.left_part, found.right_part} == {"dev", "test"}


@pytest.mark.parametrize(("part", "breaks"), [("dev", False), ("test", True)])
def test_a_generated_question_may_be_worded_like_an_unsealed_one_of_another_part(
    sqlite_store: Store, tmp_path: Path, part: str, breaks: bool
) -> None:
    _frozen(sqlite_store, tmp_path)
    asked = {"train": "what do people say of apples in May", part: "what do people say of pears"}
    queries = {
        f"gen-{where}": {"text": text, "origin": "synthetic"} for where, text in asked.items()
    }
    write_project(sqlite_store, tmp_path, {"x": ["y"]}, queries, "s2")
    for where, text in asked.items():
        with sqlite_store.write("later") as tx:
            groups = sa.select(table(SplitGroup).c.id).where(table(SplitGroup).c.part == where)
            member = NewMember(
                tx.connection.execute(groups.limit(1)).scalar_one(),
                f"query:gen-{where}",
                text_digest(text),
                query_id=_key(sqlite_store, f"gen-{where}", Query),
            )
            append_members(tx, find_split(tx.connection), [member])
    report = _check(sqlite_store)
    assert _broken(report) == ({"no_near_duplicate_across"} if breaks else set())
    near = next(one for one in report.listings if one.name == "near_duplicates")
    assert near.total == (0 if breaks else 1)


def test_meanings_are_compared_where_a_model_is_there(sqlite_store: Store, tmp_path: Path) -> None:
    _frozen(sqlite_store, tmp_path)
    report = _check(sqlite_store, embedder=HashEmbedder())
    assert {rule.name for rule in report.rules} >= {"no_semantic_query_across"}
    assert {one.name for one in report.listings} >= {"semantic_neighbours"}


def test_of_many_passages_those_that_share_words_with_another_part_are_embedded(
    sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = seeded(31)
    documents = {f"d{at:02}": [sentence(random)] for at in range(60)}
    shared = sentence(random, 15)  # 13 of the 58 3-grams of a text of 60 words
    for at in range(20):
        documents[f"d{at:02}"] = [f"{sentence(random, 45)} {shared}"]
    write_project(sqlite_store, tmp_path, documents, {})
    plan = plan_split(sqlite_store)
    freeze_split(sqlite_store, "main", plan)
    parts = {node: one.part for one in plan.groups for node in one.members}
    assert len({parts[f"document:d{at:02}"] for at in range(20)}) > 1
    monkeypatch.setattr("labeler.splits.check._FEW_PASSAGES", 59)
    embedder = HashEmbedder()
    report = _check(sqlite_store, embedder=embedder)
    assert embedder.embedded == 20
    assert any("20 of 60 passages were embedded" in one for one in report.unmeasured)
    monkeypatch.undo()
    assert not any("embedded" in one for one in _check(sqlite_store, HashEmbedder()).unmeasured)


_WORDY = st.lists(
    st.tuples(st.lists(st.sampled_from("abcdefgh"), max_size=24), st.sampled_from(list(SplitPart))),
    max_size=6,
).map(
    lambda rows: [
        CheckedText(f"passage:{at}", f"document:{at}", part.value, " ".join(words))
        for at, (words, part) in enumerate(rows)
    ]
)


@given(_WORDY)
def test_verbatim_runs_are_those_that_a_plain_search_finds(texts: list[CheckedText]) -> None:
    expected = {}
    for one, other in combinations(texts, 2):
        left, right = tokens(one.text), tokens(other.text)
        longest = 0
        for length in range(8, min(len(left), len(right)) + 1):
            runs = {tuple(left[at : at + length]) for at in range(len(left) - length + 1)}
            if any(tuple(right[at : at + length]) in runs for at in range(len(right) - length + 1)):
                longest = length
        if longest and one.part != other.part:
            expected[one.name, other.name] = longest
    found, common = verbatim_across(texts)
    assert {(one.left, one.right): one.score for one in found} == expected
    assert common == 0


@given(_WORDY)
def test_near_texts_across_parts_are_those_that_sets_tell(texts: list[CheckedText]) -> None:
    grams = {}
    for one in texts:
        words = tokens(one.text)
        grams[one.name] = {tuple(words[at : at + 3]) for at in range(len(words) - 2)}
    expected = {}
    for one, other in combinations(texts, 2):
        left, right = grams[one.name], grams[other.name]
        of, shared = min(len(left), len(right)), len(left & right)
        if one.part != other.part and of >= 5 and shared >= 3 and shared / of >= 0.1:
            expected[one.name, other.name] = round(shared / of, 4)
    found = near_across(texts, "passage")
    assert {(one.left, one.right): one.score for one in found} == expected
