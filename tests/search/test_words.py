"""Where words stand: the terms are those of the search, the places those of the text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeler.search.words import Findable, compatible, tokens, words

_HARD = st.sampled_from(
    "aZé\u0301\u0327ßﬁﷺ①½ﾊﾞﾟｶ\uffa1\uffc2각ᄀ\u1161\u11a8漢字か\u3099 \n-_'\u0640م\u064eدرسة"
    "\u0e01\u0e33กำ"
    "\u0930\u093f\u0bc6\u0bbe\U0001d15e\u212b\u1e9b\u0323\u0345İı\u200d\ufe0f❤👨"
)


@given(st.one_of(st.text(), st.text(_HARD), st.text(st.characters(categories=["L", "M", "N"]))))
@settings(max_examples=1000)
def test_the_terms_are_those_of_the_search(text: str) -> None:
    found = list(words(text))
    assert [word.term for word in found] == tokens(text)
    assert all(0 <= word.start < word.end <= len(text) for word in found)
    assert [word.start for word in found] == sorted(word.start for word in found)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("The Café, closed", ["The", "Café", "closed"]),
        ("cafe\u0301 x", ["cafe\u0301", "x"]),
        ("Straße 12", ["Straße", "12"]),
        ("مَدرسة جديدة", ["مَدرسة", "جديدة"]),
        ("年次休暇", ["年次", "次休", "休暇"]),
        ("A年 b", ["A", "年", "b"]),
        ("ｶﾞｽ", ["ｶﾞｽ"]),
        ("ﬁne", ["ﬁne"]),
    ],
)
def test_places_are_those_of_the_text(text: str, places: list[str]) -> None:
    assert [text[word.start : word.end] for word in words(text)] == places


@pytest.mark.parametrize(
    ("text", "phrase", "found"),
    [
        ("Férias, as FERIAS", "ferias", ["Férias", "FERIAS"]),
        ("unused\n   leave", "unused leave", ["unused\n   leave"]),
        ("STRASSE und Straße", "straße", ["STRASSE", "Straße"]),
        ("مَدْرَسَة", "مدرسة", ["مَدْرَسَة"]),
        ("か\u3099 が", "が", ["か\u3099", "が"]),
        ("か が", "が", ["が"]),
        ("a.c abc", "a.c", ["a.c"]),
        ("हिन्दी", "हन्द", []),
        ("anything", "  ", []),
        ("anything", "\u0301", []),
        ("aaaa", "aa", ["aa", "aa"]),
    ],
)
def test_what_is_typed_is_found(text: str, phrase: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in Findable(text).places(phrase)] == found


@given(st.one_of(st.text(), st.text(_HARD)), st.data())
def test_each_part_of_a_text_is_found_in_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    part = text[start : data.draw(st.integers(start, len(text)))]
    places = Findable(text).places(part)
    assert all(0 <= one < other <= len(text) for one, other in places)
    if part.isascii() and part.strip() and text.isascii():
        assert places


def test_a_text_of_nothing_but_marks_is_normalized_in_no_time() -> None:
    # With the square of the run, this would take minutes.
    assert compatible("a" + "\u0316" * 200_000) == "a" + "\u0316" * 30


@given(st.text())
def test_ordinary_texts_are_brought_to_nfkc(text: str) -> None:
    assert compatible(text) == unicodedata.normalize("NFKC", text)
