"""Search without an index: it finds what an index finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.search.lexical import LexicalIndex, TermStatistics, bm25
from labeler.search.scan import scan
from labeler.search.words import tokens

TEXTS = st.text(st.sampled_from("abAß \u0130ﬁ\u0301über-1 漢字かな한국 كتاب\u064f."), max_size=12)


@given(st.dictionaries(st.text("xyz", min_size=1, max_size=3), TEXTS, max_size=6), TEXTS)
def test_it_finds_the_texts_that_an_index_finds(texts: dict[str, str], query: str) -> None:
    found = scan(texts.items(), tokens(query), 10)
    assert {key for key, _ in found} == {key for key, _ in LexicalIndex(texts).search(query, 10)}
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


def test_scores_of_texts_of_one_length_are_those_of_bm25() -> None:
    texts = {"a": "red dog ran", "b": "red red dog", "c": "cat cat cat"}
    statistics = TermStatistics.from_texts(texts.values())
    found = scan(texts.items(), {"red", "dog"}, 10)
    assert [key for key, _ in found] == ["b", "a"]
    for key, score in found:
        assert score == pytest.approx(bm25(["red", "dog"], tokens(texts[key]), statistics))


def test_ties_go_by_id_descending_and_depth_cuts() -> None:
    assert [key for key, _ in scan([("a", "red"), ("b", "red")], {"red"}, 5)] == ["b", "a"]
    assert (
        scan([("a", "red"), ("b", "red")], {"red"}, 1)
        == scan([("b", "red"), ("a", "red")], {"red"}, 2)[:1]
    )
    assert scan([("a", "red")], (), 5) == []
    assert scan([], {"red"}, 5) == []
    assert scan([("a", "red")], {"red"}, 0) == []
