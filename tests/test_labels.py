"""Grades, states and scales."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import NotFoundError, UsageError
from labeler.labels import (
    BINARY,
    NATIVE,
    SHIPPED_SCALES,
    TREC,
    Grade,
    Level,
    Scale,
    State,
    StateCode,
    parse_scale,
    scales_that_fit,
    shipped_scale,
    state_of,
)

FULLY, PARTIALLY, NOT = Grade


def test_the_trec_scale_maps_0_and_1_to_not_2_to_partially_3_to_fully() -> None:
    assert {level.code: level.grade for level in TREC.levels} == {
        0: NOT,
        1: NOT,
        2: PARTIALLY,
        3: FULLY,
    }


def test_unknown_is_never_false() -> None:
    assert state_of(None) is State.UNKNOWN
    assert state_of(NOT) is State.NOT_RELEVANT
    assert state_of(PARTIALLY) is state_of(FULLY) is State.RELEVANT
    assert [code.value for code in StateCode] == [1, 0, -1]


@pytest.mark.parametrize("value", [1, 1.0, "1", "1.0", " 1 ", "partial", "Partially-Relevant"])
def test_one_level_written_in_many_ways(value: object) -> None:
    assert NATIVE.read(value) == NATIVE.level(1)


@pytest.mark.parametrize(
    "value",
    [
        *(True, False, None, "", "relevant", "yes", "notfully", "irrelevant.", "5.0 (Excellent)"),
        *("0.5", 0.5, "100.000", "nan", "١", 3, -1, "1e0"),
    ],
)
def test_what_is_no_level_is_never_guessed(value: object) -> None:
    assert NATIVE.read(value) is None


def test_not_relevant_never_becomes_relevant() -> None:
    for scale in SHIPPED_SCALES.values():
        for word in ("not relevant", "irrelevant", "NOT_RELEVANT"):
            level = scale.read(word)
            assert level is not None
            assert level.grade is NOT


@given(st.text(max_size=20))
def test_reading_never_raises(text: str) -> None:
    for scale in SHIPPED_SCALES.values():
        level = scale.read(text)
        assert level is None or level in scale.levels


def test_the_smallest_scale_that_holds_the_codes_comes_first() -> None:
    assert [scale.name for scale in scales_that_fit([0, 1])] == ["binary", "native", "trec-0-3"]
    assert [scale.name for scale in scales_that_fit([2])] == ["native", "trec-0-3"]
    assert scales_that_fit([4]) == []


def test_a_scale_from_codes_keeps_them_whichever_way_round_they_run() -> None:
    scale = Scale.from_codes("mapped", {1: FULLY, 2: PARTIALLY, 3: PARTIALLY, 4: NOT, -1: NOT})
    assert [level.code for level in sorted(scale.levels, key=lambda level: -level.order)] == [
        *(1, 2, 3, 4, -1)
    ]
    assert scale.level(3).gain == 1.0
    assert scale.level_for(PARTIALLY) == scale.level(3)


def test_a_grade_goes_to_the_lowest_of_its_levels() -> None:
    assert TREC.level_for(NOT) == TREC.level(0)
    assert BINARY.level_for(PARTIALLY) is None


def test_spellings_are_no_part_of_what_a_scale_means() -> None:
    wider = NATIVE.with_spellings({"E": NATIVE.level(2)})
    assert wider.digest == NATIVE.digest
    assert wider.read("e") is not None
    with pytest.raises(UsageError, match="means two levels"):
        NATIVE.with_spellings({"not": NATIVE.level(2)})


@pytest.mark.parametrize("scale", SHIPPED_SCALES.values(), ids=SHIPPED_SCALES)
def test_a_scale_comes_back_from_what_is_exported(scale: Scale) -> None:
    again = Scale.from_dict(scale.to_dict())
    assert again.digest == scale.digest
    assert again.describe() == scale.describe()


def test_a_scale_file() -> None:
    text = """
    name = "two"
    [[levels]]
    code = 9
    name = "good"
    grade = "fully_relevant"
    gain = 3.5
    [[levels]]
    code = 5
    name = "bad"
    grade = "not_relevant"
    gain = 0
    """
    scale = parse_scale(text)
    assert scale.level(9).order > scale.level(5).order
    for wrong in ("name = ", 'name = "x"', text.replace("fully_relevant", "great")):
        with pytest.raises(UsageError):
            parse_scale(wrong)


def test_levels_must_differ() -> None:
    level = Level(0, "a", NOT, 0.0, 0)
    with pytest.raises(UsageError, match="same code"):
        Scale("x", (level, Level(0, "b", FULLY, 1.0, 1)))
    with pytest.raises(UsageError, match="2 are the least"):
        Scale("x", (level,))
    with pytest.raises(UsageError, match="0 or more"):
        Scale("x", (level, Level(1, "b", FULLY, float("nan"), 1)))
    with pytest.raises(NotFoundError, match="has no code 7"):
        NATIVE.level(7)
    with pytest.raises(NotFoundError, match="no scale is called"):
        shipped_scale("five")


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("code = 1", "code = 1.7", "1.7 is no whole number"),
        ("code = 1", "code = true", "True is no whole number"),
        ('grade = "fully_relevant"', 'grade = "not_relevant"', "comes after"),
    ],
)
def test_a_scale_file_has_whole_codes_and_goes_from_best_to_worst(
    before: str, after: str, problem: str
) -> None:
    text = """
name = "two"
[[levels]]
code = 1
name = "good"
grade = "fully_relevant"
gain = 1.0
[[levels]]
code = 0
name = "fair"
grade = "partially_relevant"
gain = 0.0
"""
    assert parse_scale(text).level(1).order == 1
    assert before in text
    with pytest.raises(UsageError, match=problem):
        parse_scale(text.replace(before, after))
