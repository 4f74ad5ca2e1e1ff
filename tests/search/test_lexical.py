from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.search.lexical import LexicalIndex, TermStatistics, bm25, tokens

WORDS = st.lists(st.sampled_from(["bolt", "head", "torque", "oil", "the", "x"]), max_size=12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Torque the bolts to 45 Nm.", ["torque", "the", "bolts", "to", "45", "nm"]),
        (
            "snake_case, e-mail & ﬁne STRASSE straße",
            ["snake", "case", "e", "mail", "fine", "strasse", "strasse"],
        ),
        ("骨密度とは", ["骨密", "密度", "度と", "とは"]),
        ("30代 になる", ["30", "代", "にな", "なる"]),
        ("ｉＰｈｏｎｅ１５", ["iphone15"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("كِتَاب", ["كِتَاب"]),
        ("cafe\u0301", ["café"]),
        ("*** — !!! \0", []),
        ("", []),
    ],
)
def test_terms_of_many_scripts(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@given(st.text())
def test_any_text_has_terms_that_are_stable(text: str) -> None:
    found = tokens(text)
    assert all(term and not any(character.isspace() for character in term) for term in found)
    assert tokens(text.upper().lower()) is not None
    assert tokens(f" {text}\n") == found


def test_bm25_is_the_formula_worked_by_hand() -> None:
    statistics = TermStatistics.from_texts(["oil oil filter", "oil", "head bolt torque table a b"])
    # N = 3, n(oil) = 2, average length 10/3; the passage has 3 terms, oil twice.
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    norm = 0.9 * (1 - 0.4 + 0.4 * 3 / (10 / 3))
    score = bm25(["oil", "bolt"], ["oil", "oil", "filter"], statistics)
    assert score == pytest.approx(idf * 2 / (2 + norm))


@given(st.lists(WORDS, min_size=1, max_size=8), WORDS)
def test_the_index_scores_as_the_function_does(texts: list[list[str]], query: list[str]) -> None:
    corpus = {f"d{place}": " ".join(words) for place, words in enumerate(texts)}
    found = LexicalIndex(corpus).search(" ".join(query), depth=100)
    statistics = TermStatistics.from_texts(corpus.values())
    expected = {key: bm25(query, text.split(), statistics) for key, text in corpus.items()}
    assert dict(found) == pytest.approx({key: score for key, score in expected.items() if score})
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


def test_ties_come_by_id_descending_and_depth_is_kept() -> None:
    index = LexicalIndex({"a": "oil", "c": "oil", "b": "oil", "d": "water"})
    assert [key for key, _ in index.search("oil", depth=10)] == ["c", "b", "a"]
    assert [key for key, _ in index.search("oil", depth=2)] == ["c", "b"]
    assert index.search("oil", depth=0) == []
    assert index.search("nothing", depth=5) == []
    assert LexicalIndex({}).search("oil", depth=5) == []


def test_idf_falls_with_frequency_and_stays_above_zero() -> None:
    statistics = TermStatistics.from_texts(["the oil", "the bolt", "the head"])
    assert statistics.idf("unseen") > statistics.idf("oil") > statistics.idf("the") > 0
    assert TermStatistics.from_texts([]).idf("oil") > 0


def test_the_digest_is_that_of_the_counts() -> None:
    one = TermStatistics.from_texts(["the oil", "the bolt"])
    assert one.digest == TermStatistics.from_texts(["the bolt", "oil the"]).digest
    assert one.digest != TermStatistics.from_texts(["the bolt", "the the oil"]).digest
    assert one.digest != TermStatistics.from_texts(["the bolt", "the oil", "a"]).digest
