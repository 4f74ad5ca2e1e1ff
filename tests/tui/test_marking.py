"""What stands out in a passage: whole words of the query, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.assessment.blind import BlindQuery
from tui.marking import query_terms, stretches, terms_in


def marked(query: str, text: str, language: str | None = None) -> list[str]:
    terms = query_terms(BlindQuery(query, language=language))
    return [text[start:end] for start, end in terms_in(text, 0, len(text), terms)]


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("Can I carry leave over?", "Leave that is LEAVE; leaves, unleave.", ["Leave", "LEAVE"]),
        ("prazo de férias", "As ferias têm prazo. FÉRIAS! feriado", ["ferias", "prazo", "FÉRIAS"]),
        ("cafe\u0301", "Café, cafe\u0301 and cafe", ["Café", "cafe\u0301", "cafe"]),
        ("أين المدرسة", "المَدْرَسَة الكبيرة، مدرسة", ["المَدْرَسَة"]),
        ("年次休暇", "有給の年次休暇は年に", ["年次", "次休", "休暇"]),
        ("연차 휴가", "연차는 휴가 연차", ["연차", "휴가", "연차"]),
        ("iphone 15", "ｉＰｈｏｎｅ １５, iPhone15", ["ｉＰｈｏｎｅ", "１５"]),
        ("is it", "It is what it is", ["It", "is", "it", "is"]),
        ("", "anything", []),
    ],
)
def test_words_of_the_query_stand_out(query: str, text: str, expected: list[str]) -> None:
    assert marked(query, text) == expected


@given(st.text(st.sampled_from("ab cé漢字。「\n"), max_size=60), st.data())
def test_a_part_shows_what_the_whole_would(text: str, data: st.DataObject) -> None:
    terms = frozenset({"ab", "a", "ce", "漢字"})
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    whole = terms_in(text, 0, len(text), terms)
    inside = [(max(a, start), min(b, end)) for a, b in whole if b > start and a < end]
    assert list(terms_in(text, start, end, terms)) == inside


def test_a_word_longer_than_its_surroundings_is_not_taken_for_another() -> None:
    text = "x" * 1000
    assert list(terms_in(text, 500, 580, frozenset({"x" * 480}))) == []


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.sampled_from("pq"))))
def test_stretches_cover_a_line_once_and_later_marks_win(marks: list[tuple[int, int, str]]) -> None:
    parts = list(stretches(5, 15, marks))
    assert [place for start, end, _ in parts for place in range(start, end)] == list(range(5, 15))
    for start, end, style in parts:
        for place in range(start, end):
            over = [one for first, last, one in marks if first <= place < last]
            assert style == (over[-1] if over else "")
