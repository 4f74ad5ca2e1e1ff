"""Texts as lines: nothing is lost but blanks, and no line is wider than its place."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.text import displayed
from tui.wrapping import WrappedText, wrapped

_SIGNS = st.sampled_from("ab  \n漢字、「」か\u3099ー\u0301مرحبا\u064e👨\u200dé\ufe0f🏽🇩🇪각\u3000")


@given(
    st.one_of(st.text(_SIGNS, max_size=200), st.text(max_size=100)), st.integers(2, 30)
)  # fmt: skip
@settings(max_examples=1000)
def test_lines_hold_the_whole_text_and_fit(raw: str, width: int) -> None:
    text = displayed(raw)
    lines = list(wrapped(text, width))
    assert all(cell_len(text[start:end]) <= width for start, end in lines)
    assert all("\n" not in text[start:end] for start, end in lines)
    places = [place for line in lines for place in line]
    assert places == sorted(places)
    gaps = [text[one[1] : other[0]] for one, other in pairwise(lines)]
    assert all(not gap.strip() for gap in [text[: lines[0][0]], *gaps, text[lines[-1][1] :]])
    assert len(lines) >= text.count("\n") + 1


def told(text: str, width: int) -> list[str]:
    return [text[start:end] for start, end in wrapped(text, width)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("one two three", ["one two", "three"]),
        ("onetwothreefour", ["onetwoth", "reefour"]),
        ("ab onetwothree x", ["ab", "onetwoth", "ree x"]),
        ("  in\n\n  out", ["  in", "", "  out"]),
        ("exactly8 and", ["exactly8", "and"]),
        ("ab 漢字漢字", ["ab 漢字", "漢字"]),
        ("漢字漢字。字", ["漢字漢", "字。字"]),
        ("漢字漢「字」", ["漢字漢", "「字」"]),
        ("ééé ééé éé", ["ééé ééé", "éé"]),
    ],
)
def test_where_lines_end(text: str, lines: list[str]) -> None:
    assert told(text, 8) == lines


@pytest.mark.parametrize("unit", ["word ", "字", "x", "é w "])
def test_a_long_text_grows_line_by_line(unit: str) -> None:
    text = unit * 20_000
    lines = WrappedText(text, 40)
    lines.grow(10)
    assert (len(lines), lines.is_complete) == (10, False)
    assert lines.span(lines.line_at(len(text) // 2))[0] <= len(text) // 2
    while not lines.is_complete:
        lines.grow(100)
    assert len(lines) == len(told(text, 40))
