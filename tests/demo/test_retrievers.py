from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

import pytest

from labeler.demo.project import Conditions, DemoProject, DemoRun, Document, Product, Region
from labeler.demo.reading import read_demo
from labeler.demo.retrievers import DEPTH, allowed_documents, fuse, in_force, run_retrievers
from tests.hash_embedder import HashEmbedder


def _ticking() -> Callable[[], float]:
    """A clock that goes on by a millisecond each time it is read."""
    ticks: Iterator[int] = count()
    return lambda: next(ticks) / 1000.0


@pytest.fixture(scope="module")
def demo() -> DemoProject:
    return read_demo()


@pytest.fixture(scope="module")
def runs(demo: DemoProject) -> dict[str, DemoRun]:
    found = run_retrievers(demo, HashEmbedder(), _ticking())
    return {run.retriever: run for run in found}


def test_every_retriever_finds_something_for_every_query(
    demo: DemoProject, runs: dict[str, DemoRun]
) -> None:
    assert list(runs) == ["lexical", "dense", "hybrid", "filtered"]
    chunks = {chunk.id for chunk in demo.chunks}
    for run in runs.values():
        assert list(run.hits) == [query.id for query in demo.queries]
        for query_id, hits in run.hits.items():
            ids = [chunk_id for chunk_id, _ in hits]
            scores = [score for _, score in hits]
            assert 1 <= len(ids) <= DEPTH, (run.retriever, query_id)
            assert len(set(ids)) == len(ids)
            assert set(ids) <= chunks
            assert scores == sorted(scores, reverse=True)


def test_without_an_embedder_there_are_two_that_find_something(demo: DemoProject) -> None:
    found = run_retrievers(demo, None, _ticking())
    assert [run.retriever for run in found] == ["lexical", "filtered-lexical"]
    assert all(len(hits) >= 1 for run in found for hits in run.hits.values())


def test_the_retrievers_differ(runs: dict[str, DemoRun]) -> None:
    rankings = [str(sorted(run.hits.items())) for run in runs.values()]
    assert len(set(rankings)) == len(rankings)


def test_each_text_is_embedded_once(demo: DemoProject) -> None:
    embedder = HashEmbedder()
    run_retrievers(demo, embedder, _ticking())
    assert embedder.embedded == len(demo.chunks) + len(demo.queries)


def test_latency_is_the_sum_of_the_parts_in_milliseconds(runs: dict[str, DemoRun]) -> None:
    parts = {"lexical": 1.0, "dense": 1.0, "hybrid": 3.0, "filtered": 3.0}
    for name, expected in parts.items():
        assert list(runs[name].latency_ms.values()) == pytest.approx(
            [expected] * len(runs[name].hits)
        )


def test_the_filter_keeps_to_the_conditions(demo: DemoProject, runs: dict[str, DemoRun]) -> None:
    document_of = {chunk.id: chunk.document for chunk in demo.chunks}
    for query in demo.queries:
        for chunk_id, _ in runs["filtered"].hits[query.id]:
            document = document_of[chunk_id]
            assert document.product in {None, query.conditions.product} or (
                query.conditions.product is None
            )
            assert document.region in {None, query.conditions.region} or (
                query.conditions.region is None
            )
    versions = [
        {document_of[chunk_id].id for chunk_id, _ in runs["filtered"].hits[query_id]}
        for query_id in ("bil-01", "bil-02")
    ]
    assert "watch-prices-eu-2025" not in versions[0]
    assert "watch-prices-eu-2026" not in versions[1]


def test_the_filter_lets_through_where_a_query_comes_from(demo: DemoProject) -> None:
    for query in demo.queries:
        source = query.groups.source_document
        if source is not None:
            lost = source not in allowed_documents(demo.documents, query.conditions)
            assert lost == ("metadata-too-narrow" in query.slices), query.id


def test_the_filter_falls_back_when_nothing_fits(demo: DemoProject) -> None:
    canadian = tuple(
        replace(chunk, document=replace(chunk.document, region=Region.CA)) for chunk in demo.chunks
    )
    only = replace(
        demo,
        chunks=canadian,
        documents=tuple(replace(document, region=Region.CA) for document in demo.documents),
        queries=(replace(demo.queries[0], conditions=Conditions(region=Region.UK)),),
    )
    query_id = only.queries[0].id
    runs = {run.retriever: run for run in run_retrievers(only, HashEmbedder(), _ticking())}
    assert runs["filtered"].hits[query_id] == runs["hybrid"].hits[query_id]
    lexical, filtered = run_retrievers(only, None, _ticking())
    assert filtered.hits[query_id] == lexical.hits[query_id]


def test_fusion_adds_reciprocal_ranks_and_breaks_ties_by_id() -> None:
    fused = fuse([[("a", 9.0), ("b", 8.0)], [("c", 0.5), ("a", 0.4)]])
    assert fused == [("a", 1 / 61 + 1 / 62), ("c", 1 / 61), ("b", 1 / 62)]
    assert [name for name, _ in fuse([[("a", 1.0)], [("b", 1.0)]])] == ["b", "a"]
    assert fuse([]) == []


def _document(name: str, begins: dt.date, **fields: object) -> Document:
    plain = Document(
        id=name,
        title=name,
        domain="returns",
        product=None,
        region=None,
        effective_date=begins,
        supersedes=None,
        source="",
    )
    return replace(plain, **fields)  # type: ignore[arg-type] # fields of several types


def test_a_version_is_in_force_until_its_successor_begins() -> None:
    old = _document("old", dt.date(2025, 1, 1))
    new = _document("new", dt.date(2026, 1, 1), supersedes="old")
    successors = {"old": new}
    assert not in_force(old, dt.date(2024, 12, 31), successors)
    assert in_force(old, dt.date(2025, 1, 1), successors)
    assert in_force(old, dt.date(2025, 12, 31), successors)
    assert not in_force(old, dt.date(2026, 1, 1), successors)
    assert in_force(new, dt.date(2026, 1, 1), successors)
    assert not in_force(new, dt.date(2025, 12, 31), successors)
    both = allowed_documents([old, new], Conditions())
    assert both == {"old", "new"}
    assert allowed_documents([old, new], Conditions(date=dt.date(2026, 5, 1))) == {"new"}


def test_a_document_without_product_or_region_fits_all() -> None:
    day = dt.date(2025, 1, 1)
    documents = [
        _document("all", day),
        _document("rill", day, product=Product.RILL_2),
        _document("eu", day, region=Region.EU),
    ]
    assert allowed_documents(documents, Conditions(product=Product.KILN)) == {"all", "eu"}
    assert allowed_documents(documents, Conditions(region=Region.EU)) == {"all", "rill", "eu"}
    assert allowed_documents(documents, Conditions(Product.RILL_2, Region.US)) == {"all", "rill"}
