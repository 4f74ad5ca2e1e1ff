"""Plots of plain characters: what is drawn is what was counted, in the room that there is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from labeler.evaluation.reliability import reliability_bins
from tui.widgets.plots import Span, bar, bars, columns, intervals, reliability, stacked, titled

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
sizes = st.lists(st.tuples(names, st.integers(0, 10**6)), min_size=1, max_size=12)


def texts(lines: list) -> list[str]:  # type: ignore[type-arg]
    return [one.plain for one in lines]


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(1, 200))
def test_a_bar_is_as_long_as_its_share_and_never_hides_a_count(
    value: float, more: float, width: int
) -> None:
    drawn = bar(value, value + more, width)
    assert cell_len(drawn) <= width + 1
    assert bool(drawn) == (value > 0)
    if value > 0:
        assert abs(cell_len(drawn) - width * value / (value + more)) <= 1


@given(sizes, st.integers(60, 160))
def test_bars_fit_and_keep_names_apart(rows: list[tuple[str, int]], width: int) -> None:
    drawn = texts(bars([(name, float(size), f"{size:,}") for name, size in rows], width))
    assert len(drawn) == len(rows)
    for told, (_, size) in zip(drawn, rows, strict=True):
        assert cell_len(told) <= width
        assert told.endswith(f"{size:,}")
        assert "\n" not in told


def test_bars_of_one_length_and_of_nothing() -> None:
    assert bars([], 80) == []
    assert texts(bars([("a", 0.0, "0"), ("bb", 0.0, "0")], 20)) == ["a   0", "bb  0"]
    assert texts(bars([("a", 2.0, "2"), ("b", 1.0, "1")], 14))[1] == "b ████▌ 1"


def test_an_interval_has_its_value_and_its_ends() -> None:
    drawn = texts(
        intervals(
            [
                Span("all", 0.5, 0.0, 1.0, "x"),
                Span("none", None, None, None, "undef."),
                Span("out", 1.0, 0.9, 1.3, "y"),
            ],
            27,
        )
    )
    assert drawn[0].split()[1].startswith("├")
    assert drawn[0].split()[1].endswith("┤")
    assert drawn[0].split()[1].count("o") == 1
    assert set(drawn[1].split()[1]) == {"·"}
    assert drawn[2].split()[1].endswith("o")
    assert drawn[3].split() == ["0", "0.5", "1"]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=200),
    st.integers(40, 120),
)
def test_a_reliability_diagram_shows_every_bin(pairs: list[tuple[float, bool]], width: int) -> None:
    found = reliability_bins(
        np.array([one for one, _ in pairs]), np.array([one for _, one in pairs], dtype=np.bool_)
    )
    drawn = texts(reliability(found, width))
    assert len(drawn) == 14
    assert all(cell_len(row) <= width for row in drawn[1:])
    marks = sum(row[5:].count("o") for row in drawn[1:12])
    assert 1 <= marks <= len(found)
    across = len(drawn[1][5:])
    for one in found:
        row = drawn[1 + 10 - round(one.share * 10)][5:]
        assert row[round(one.mean_confidence * (across - 1))] == "o"


@given(
    st.lists(st.tuples(names, st.lists(st.integers(0, 1000), min_size=3, max_size=3)), min_size=1),
    st.integers(60, 160),
)
def test_stacked_bars_are_equally_long(rows: list[tuple[str, list[int]]], width: int) -> None:
    drawn = texts(stacked([(name, parts, "|") for name, parts in rows], "#+-", width))
    assert len({cell_len(told) for told in drawn}) == 1
    assert cell_len(drawn[0]) <= width


def test_stacked_parts_are_in_proportion() -> None:
    (told,) = texts(stacked([("r", [2, 1, 1], "ok")], "#+-", 46))
    assert (told.count("#"), told.count("+"), told.count("-")) == (20, 10, 10)


cells = st.one_of(st.none(), st.integers(), st.floats(0, 1), names)


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8), st.integers(60, 120))
def test_tables_fit_and_are_aligned(rows: list[tuple[object, object, object]], width: int) -> None:
    drawn = texts(columns(["first", "second", "third"], rows, width))
    assert len(drawn) == len(rows) + 1
    assert all(cell_len(told) <= width for told in drawn)
    assert all("\n" not in told and "\x1b" not in told for told in drawn)


def test_numbers_are_set_to_the_right_and_none_is_a_dash() -> None:
    drawn = texts(columns(["who", "n"], [("ana", 5), ("bo", 1200), ("cy", None)], 80))
    assert drawn == ["who      n", "ana      5", "bo   1,200", "cy       -"]
    assert columns(["who"], [], 80) == []


@pytest.mark.parametrize("lines", [0, 2])
def test_a_title_stands_over_lines_alone(lines: int) -> None:
    drawn = titled("what", bars([("a", 1.0, "1")] * lines, 40))
    assert len(drawn) == (lines + 2 if lines else 0)
