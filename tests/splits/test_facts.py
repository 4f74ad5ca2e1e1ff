from __future__ import annotations

from labeler.records.splits import EdgeAction
from labeler.splits.edges import Cause
from labeler.splits.facts import WordDigests, equal_text_edges, provenance_edges
from tests.splits.planted import content, document, query, seeded, sentence


def test_queries_of_one_key_and_their_source_document_are_tied() -> None:
    held = content(
        [document("d1", "one"), document("d2", "two", supersedes="d1")],
        [
            query("a", "x", conversation="c1"),
            query("b", "y", conversation="c1", source_document="d1"),
            query("c", "z", source_document="gone"),
            query("d", "v", source_document="gone", entity=""),
        ],
    )
    found = {(edge.left, edge.right, edge.cause) for edge in provenance_edges(held)}
    assert found == {
        ("query:a", "query:b", Cause.CONVERSATION),
        ("document:d1", "query:b", Cause.SOURCE_DOCUMENT),
        ("query:c", "query:d", Cause.SOURCE_DOCUMENT),
        ("document:d1", "document:d2", Cause.SUPERSEDES),
    }


def test_the_same_value_of_two_keys_ties_nothing() -> None:
    held = content([], [query("a", "x", conversation="7"), query("b", "y", entity="7")])
    assert list(provenance_edges(held)) == []


def test_equal_texts_are_tied_as_they_are_and_by_their_words() -> None:
    held = content(
        [
            document("d1", "Straße, 12 Ｕhr"),
            document("d2", "strasse 12 uhr"),
            document("d3", "strasse 12 uhr"),
            document("d4", "something else"),
            document("d5", "?!"),
            document("d6", "?!"),
        ],
        [query("a", "Return period?"), query("b", "return  PERIOD")],
    )
    edges = list(equal_text_edges(held, WordDigests.of(held), 10))
    assert {(edge.left, edge.right, edge.cause) for edge in edges} == {
        ("document:d2", "document:d3", Cause.EXACT_TEXT),
        ("document:d1", "document:d2", Cause.NORMALISED_TEXT),
        ("query:a", "query:b", Cause.NORMALISED_TEXT),
    }


def _passages(shared: str, count: int) -> list[tuple[str, str, Cause, EdgeAction]]:
    random = seeded(1)
    held = content([document(f"d{at}", sentence(random), shared) for at in range(count)])
    edges = equal_text_edges(held, WordDigests.of(held), 10)
    return [(edge.left, edge.right, edge.cause, edge.action) for edge in edges]


def test_a_passage_of_two_documents_ties_them() -> None:
    shared = "keep the camera out of reach of children and away from water"
    linked = ("document:d0", "document:d1", Cause.EXACT_PASSAGE, EdgeAction.LINK)
    assert _passages(shared, 2) == [linked]


def test_a_headline_and_boilerplate_tie_nothing() -> None:
    short = {action for *_, action in _passages("see also the guide", 2)}
    boilerplate = "all prices include value added tax and may change at any time"
    common = {action for *_, action in _passages(boilerplate, 11)}
    rare = {action for *_, action in _passages(boilerplate, 10)}
    assert (short, common, rare) == ({EdgeAction.IGNORE}, {EdgeAction.IGNORE}, {EdgeAction.LINK})
