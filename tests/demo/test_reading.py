from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from labeler.assessment.rubric import parse_rubric
from labeler.demo.project import Conditions, DemoProject, Product, Region, describe_traps
from labeler.demo.reading import DOMAINS, faults_in, read_demo
from labeler.labels import NATIVE

_DOCS = Path(__file__).resolve().parents[2] / "docs" / "demo.md"


@pytest.fixture(scope="module")
def demo() -> DemoProject:
    return read_demo()


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _overlap(left: str, right: str) -> float:
    """Give the Jaccard similarity of the words of two texts."""
    one, other = set(_words(left)), set(_words(right))
    return len(one & other) / len(one | other)


def test_it_is_as_large_as_promised(demo: DemoProject) -> None:
    assert len(demo.documents) >= 55
    assert len(demo.chunks) >= 190
    assert len(demo.queries) >= 80
    assert {document.domain for document in demo.documents} == set(DOMAINS)
    per_domain = Counter(query.domain for query in demo.queries)
    assert len(per_domain) == 4
    assert min(per_domain.values()) >= 15


def test_conditions_and_group_keys_are_of_every_kind(demo: DemoProject) -> None:
    conditions = [query.conditions for query in demo.queries]
    assert {one.region for one in conditions} == {None, *Region}
    assert {one.product for one in conditions} == {None, *Product}
    assert all(one.date is None or isinstance(one.date, dt.date) for one in conditions)
    assert sum(one.date is not None for one in conditions) >= 30
    assert sum(one.audience is not None for one in conditions) >= 3
    groups = [query.groups for query in demo.queries]
    for key in ("conversation", "template", "entity", "source_document"):
        values = Counter(getattr(one, key) for one in groups)
        assert sum(count > 1 for name, count in values.items() if name is not None) >= 3, key
    assert {query.origin for query in demo.queries} == {"manual"}
    assert len({query.language for query in demo.queries}) >= 3
    assert len({query.weight for query in demo.queries}) >= 5


def test_the_kinds_of_wording_are_there(demo: DemoProject) -> None:
    slices = Counter(name for query in demo.queries for name in query.slices)
    for name in ("keyword", "question", "typo", "paraphrase", "multi-part", "older-version"):
        assert slices[name] >= 5, name
    assert slices["unanswerable"] == 2


def test_superseded_versions_and_shared_evidence_are_there(demo: DemoProject) -> None:
    assert sum(document.supersedes is not None for document in demo.documents) >= 6
    carriers = Counter(name for chunk in demo.chunks for name in chunk.evidence_ids)
    assert sum(count > 1 for count in carriers.values()) >= 10
    assert sum(len(chunk.evidence_ids) > 1 for chunk in demo.chunks) >= 10


def test_near_duplicates_are_near_and_other_chunks_are_not(demo: DemoProject) -> None:
    texts = {chunk.id: chunk.text for chunk in demo.chunks}
    pairs = [pair for trap in demo.traps for pair in trap.near_duplicates]
    assert len(pairs) >= 15
    for left, right in pairs:
        assert left != right
        assert texts[left] != texts[right]
        assert _overlap(texts[left], texts[right]) >= 0.55, (left, right)
    every = sorted(_overlap(one, other) for one, other in combinations(texts.values(), 2))
    assert every[int(0.99 * len(every))] < 0.35


def test_identical_passages_are_identical(demo: DemoProject) -> None:
    texts = {chunk.id: chunk.text for chunk in demo.chunks}
    for trap in demo.traps:
        assert len({texts[name] for name in trap.identical}) <= 1
    repeated = [text for text, count in Counter(texts.values()).items() if count > 1]
    listed = {texts[name] for trap in demo.traps for name in trap.identical}
    assert set(repeated) == listed


def test_every_domain_and_every_special_slice_has_a_trap(demo: DemoProject) -> None:
    trapped = {name for trap in demo.traps for name in trap.queries}
    for query in demo.queries:
        if {"unanswerable", "typo", "other-language", "follow-up"} & set(query.slices):
            assert query.id in trapped, query.id
    by_id = {query.id: query for query in demo.queries}
    assert {by_id[name].domain for name in trapped} == set(DOMAINS)


_MEANT = {
    "ret-14": "returns-faq#gift",
    "bil-13": "failed-payment#pause",
    "sec-05": "account-recovery#lost-phone",
    "dev-17": "perch-battery#life",
    "dev-21": "kiln-use#child-lock",
    "dev-28": "notifications#too-many",
}


def test_queries_with_no_word_in_common_have_none(demo: DemoProject) -> None:
    trap = next(trap for trap in demo.traps if trap.name == "no word in common")
    queries = {query.id: query.text for query in demo.queries}
    texts = {chunk.id: chunk.text for chunk in demo.chunks}
    assert set(trap.queries) == set(_MEANT)
    stop = {"that", "this", "what", "will", "with", "only", "could", "every", "keep", "from"}
    for query_id, chunk_id in _MEANT.items():
        shared = set(_words(queries[query_id])) & set(_words(texts[chunk_id]))
        assert not {word for word in shared if len(word) > 3} - stop, (query_id, shared)


def test_unanswerable_queries_name_no_source(demo: DemoProject) -> None:
    for query in demo.queries:
        if "unanswerable" in query.slices:
            assert query.groups.source_document is None
            assert query.need is not None
            assert not query.required_evidence


def test_the_rubric_spells_the_conditions_out(demo: DemoProject) -> None:
    rubric = parse_rubric(demo.rubric, path="rubric.toml")
    assert rubric.scale is NATIVE
    assert set(rubric.guides) == {level.name for level in NATIVE.levels}
    for condition in ("Product:", "Region:", "Date:", "Audience:"):
        assert condition in rubric.instructions
    assert all(guide.examples for guide in rubric.guides.values())


def test_the_page_shows_the_counts_and_the_traps_of_the_data(demo: DemoProject) -> None:
    page = _DOCS.read_text(encoding="utf-8")
    assert describe_traps(demo.traps) in page
    assert f"{len(demo.documents)} documents with {len(demo.chunks)} chunks" in page
    assert f"{len(demo.queries)} queries" in page


def test_the_shipped_sample_has_no_faults(demo: DemoProject) -> None:
    assert faults_in(demo) == []


def test_faults_are_found(demo: DemoProject) -> None:
    document, chunk, query, trap = (
        demo.documents[1],
        demo.chunks[0],
        demo.queries[0],
        demo.traps[0],
    )
    assert document.supersedes is not None
    broken = replace(
        demo,
        documents=(
            *demo.documents,
            demo.documents[0],
            replace(document, id="a", supersedes="nowhere"),
            replace(document, id="b", effective_date=dt.date(2020, 1, 1)),
            replace(document, id="c", region=Region.CA),
        ),
        chunks=(
            *demo.chunks,
            replace(chunk, id="x#copy"),
            replace(chunk, id="x#short", text="too short", evidence_ids=("no-fact",)),
        ),
        facts={**demo.facts, "orphan": "carried by nobody"},
        queries=(
            *demo.queries,
            replace(query, id="q1", domain="cooking"),
            replace(query, id="q2", weight=0.0),
            replace(query, id="q3", groups=replace(query.groups, source_document="nowhere")),
            replace(query, id="q4", required_evidence=("nothing",)),
        ),
        traps=(*demo.traps, replace(trap, name="new", queries=("q9",), documents=("d9",))),
    )
    found = faults_in(broken)
    for expected in (
        f"document '{demo.documents[0].id}' stands twice",
        "'a' supersedes 'nowhere', which doesn't exist",
        f"'b' supersedes '{document.supersedes}', which isn't older",
        f"'c' supersedes '{document.supersedes}' of another region or product",
        f"'x#copy' has the text of '{chunk.id}', and no trap says so",
        "'x#short' has 2 words",
        "'x#short' carries the evidence 'no-fact', which doesn't exist",
        "the evidence 'orphan' is carried by no chunk",
        "query 'q1' has the unknown domain 'cooking'",
        "query 'q2' has the weight 0.0",
        "query 'q3' comes from 'nowhere', which doesn't exist",
        "query 'q4' requires the evidence 'nothing', which doesn't exist",
        "trap 'new' names the query 'q9', which doesn't exist",
        "trap 'new' names the document 'd9', which doesn't exist",
    ):
        assert expected in found


def test_conditions_become_text() -> None:
    conditions = Conditions(Product.RILL_2, Region.EU, dt.date(2026, 3, 1))
    assert conditions.to_mapping() == {"product": "rill-2", "region": "EU", "date": "2026-03-01"}
    assert Conditions().to_mapping() == {}
