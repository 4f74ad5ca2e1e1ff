"""Long passages: a cut that is stated, or windows that leave nothing out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labeler.judges.llm.passages import CUT_MARK, PassageLimit

TEXTS = st.text(alphabet=st.characters(codec="utf-8"), max_size=400)


def test_a_short_passage_is_shown_as_it_is() -> None:
    limit = PassageLimit(10, "cut")
    assert limit.shown("0123456789") == ("0123456789",)
    assert not limit.is_cut("0123456789")


def test_a_cut_says_so() -> None:
    limit = PassageLimit(20, "cut")  # too short to look for white space
    (shown,) = limit.shown("one two three four five six")
    assert shown == "one two three four f" + CUT_MARK
    assert limit.is_cut("one two three four five six")


def test_an_answer_at_the_end_is_in_a_window() -> None:
    passage = "filler " * 100 + "the answer is 45 Nm"
    windows = PassageLimit(100, "windows").shown(passage)
    assert "the answer is 45 Nm" in windows[-1]


@given(TEXTS, st.integers(min_value=1, max_value=60))
def test_windows_cover_every_character_and_none_is_too_long(passage: str, size: int) -> None:
    limit = PassageLimit(size, "windows")
    windows = limit.shown(passage)
    assert all(len(window) <= size for window in windows)
    assert not limit.is_cut(passage)
    start, covered = -1, 0
    for window in windows:
        start = max(covered - int(size * 0.15), start + 1)
        assert passage[start : start + len(window)] == window
        assert start <= covered
        covered = start + len(window)
    assert covered == len(passage)


@given(TEXTS, st.integers(min_value=1, max_value=60))
def test_a_cut_shows_the_beginning(passage: str, size: int) -> None:
    (shown,) = PassageLimit(size, "cut").shown(passage)
    assert passage.startswith(shown.removesuffix(CUT_MARK))
    assert len(shown.removesuffix(CUT_MARK)) <= size or len(passage) <= size
