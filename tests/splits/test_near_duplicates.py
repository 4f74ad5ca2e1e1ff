from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeler.records.splits import EdgeAction
from labeler.search.words import tokens
from labeler.splits.containment import shared_counts
from labeler.splits.edges import Cause, Edge
from labeler.splits.facts import WordDigests
from labeler.splits.near_duplicates import find_near_duplicates
from labeler.splits.proposing import propose_pairs
from labeler.splits.shingles import read_shingles
from tests.splits.planted import content, document, query, seeded, sentence

_TEXTS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=14).map(" ".join), max_size=8)


def _grams(text: str) -> set[tuple[str, ...]]:
    words = tokens(text)
    return {tuple(words[at : at + 3]) for at in range(len(words) - 2)}


@given(_TEXTS)
def test_shingles_are_the_distinct_runs_of_three_words(texts: list[str]) -> None:
    shingles = read_shingles(texts)
    expected = [_grams(text) for text in texts]
    assert shingles.sizes.tolist() == [len(one) for one in expected]
    every = set().union(*expected) if expected else set()
    assert len(shingles.hashes) == len(every)
    counted = sorted(sum(gram in one for one in expected) for gram in every)
    assert sorted(shingles.frequencies.tolist()) == counted


@given(_TEXTS)
def test_shared_counts_are_those_of_sets(texts: list[str]) -> None:
    pairs = [(a, b) for a in range(len(texts)) for b in range(a)]
    counts = shared_counts(
        read_shingles(texts), np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    )
    assert counts.tolist() == [len(_grams(texts[a]) & _grams(texts[b])) for a, b in pairs]


@given(_TEXTS, st.integers(1, 3))
def test_merged_units_hold_what_their_parts_hold(texts: list[str], units: int) -> None:
    into = np.arange(len(texts), dtype=np.int64) % units
    merged = read_shingles(texts).merged(into, units)
    expected = [
        len(set().union(*(_grams(text) for text in texts[unit::units]))) for unit in range(units)
    ]
    assert merged.sizes.tolist() == expected


@given(_TEXTS)
@settings(max_examples=50)
def test_proposed_pairs_are_distinct_ordered_and_hold_every_pair_of_equal_texts(
    texts: list[str],
) -> None:
    shingles = read_shingles(texts)
    pairs = [tuple(pair) for pair in propose_pairs(shingles, shingles).tolist()]
    assert len(set(pairs)) == len(pairs)
    assert all(low < high for low, high in pairs)
    for high in range(len(texts)):
        for low in range(high):
            if _grams(texts[low]) and _grams(texts[low]) == _grams(texts[high]):
                assert (low, high) in pairs


def _edges(*texts: str, others: int = 300) -> list[Edge]:
    random = seeded(5)
    documents = [document(f"x{at}", sentence(random)) for at in range(others)]
    documents += [document(f"d{at}", text) for at, text in enumerate(texts)]
    held = content(documents)
    return find_near_duplicates(held, WordDigests.of(held)).edges


def _edited(words: list[str]) -> str:
    return " ".join("changed" if at % 10 == 5 else word for at, word in enumerate(words))


def _half(words: list[str]) -> str:
    return " ".join(words[: len(words) // 2])


def _shuffled(words: list[str]) -> str:
    return " ".join(" ".join(words[at : at + 12]) for at in (36, 12, 48, 0, 24))


@pytest.mark.parametrize("copied", [_edited, _half, _shuffled])
def test_copies_are_linked(copied: Callable[[list[str]], str]) -> None:
    original = sentence(seeded(9))
    (edge,) = _edges(original, copied(original.split()))
    assert (edge.left, edge.right, edge.cause) == (
        "document:d0",
        "document:d1",
        Cause.NEAR_DOCUMENT,
    )
    assert edge.action is EdgeAction.LINK
    assert edge.score is not None
    assert 0.5 <= edge.score <= 1


def test_what_shares_a_third_waits_for_a_person_and_a_tenth_says_nothing() -> None:
    random = seeded(10)
    original = sentence(random).split()
    third = " ".join(original[:26]) + " " + sentence(random, 34)
    tenth = " ".join(original[:8]) + " " + sentence(random, 52)
    (edge,) = _edges(" ".join(original), third, tenth)
    assert (edge.right, edge.action) == ("document:d1", EdgeAction.REVIEW)
    assert edge.evidence == "24 of 58 rare 3-grams"


def test_text_that_many_documents_share_is_not_evidence() -> None:
    random = seeded(11)
    boilerplate = sentence(random, 40)
    texts = [f"{boilerplate} {sentence(random, 20)}" for _ in range(12)]
    assert _edges(*texts) == []


def test_a_family_of_many_edited_copies_is_one_chain_of_links() -> None:
    random = seeded(12)
    original = sentence(random, 80).split()
    family = []
    for at in range(30):
        words = list(original)
        words[at * 2] = f"edit{at}"
        family.append(" ".join(words))
    edges = _edges(*family)
    joined = {"document:d0"}
    for _ in family:
        joined |= {
            end
            for edge in edges
            for end in (edge.left, edge.right)
            if joined & {edge.left, edge.right}
        }
    assert len(joined) == 30
    assert all(edge.action is EdgeAction.LINK for edge in edges)


def test_one_passage_in_two_long_documents_is_found_and_named() -> None:
    random = seeded(13)
    shared = sentence(random, 30)
    documents = [
        document("d1", sentence(random, 200), shared),
        document("d2", *(sentence(random, 200) for _ in range(3)), shared + " and more"),
        *(document(f"x{at}", sentence(random, 40)) for at in range(50)),
    ]
    held = content(documents)
    (edge,) = find_near_duplicates(held, WordDigests.of(held)).edges
    assert (edge.left, edge.right, edge.cause) == ("document:d1", "document:d2", Cause.NEAR_PASSAGE)
    assert edge.evidence == "d1#1 ~ d2#3: 28 of 28 rare 3-grams"


def test_queries_are_compared_with_queries() -> None:
    held = content(
        [document("d", "how long do I have to send something back to you")],
        [
            query("a", "how long do I have to send something back"),
            query("b", "how long do I have to send something back to you"),
            query("c", "what does the outdoor camera cost in France"),
        ],
    )
    (edge,) = find_near_duplicates(held, WordDigests.of(held)).edges
    assert (edge.left, edge.right, edge.cause) == ("query:a", "query:b", Cause.NEAR_QUERY)


def test_passages_of_one_document_make_no_edge() -> None:
    text = sentence(seeded(14))
    held = content([document("d1", text, text + " more"), document("d2", sentence(seeded(15)))])
    assert find_near_duplicates(held, WordDigests.of(held)).edges == []


def test_nothing_is_found_in_nothing() -> None:
    for held in (content([]), content([document("d")]), content([document("d", "")], [])):
        assert find_near_duplicates(held, WordDigests.of(held)).edges == []
