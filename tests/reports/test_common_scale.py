from __future__ import annotations

import pytest

from labeler.labels import BINARY, NATIVE, TREC, Grade, Level, Scale
from labeler.reports.common_scale import common_scale, ranks_on

FIVE = Scale(
    "zero-to-five",
    (
        *TREC.levels,
        Level(4, "rating 4", Grade.FULLY_RELEVANT, 4.0, 4),
        Level(5, "rating 5", Grade.FULLY_RELEVANT, 5.0, 5),
    ),
)
TURNED = Scale.from_codes(
    "turned",
    {1: Grade.FULLY_RELEVANT, 2: Grade.PARTIALLY_RELEVANT, 4: Grade.NOT_RELEVANT},
)


def test_one_scale_is_common_to_itself() -> None:
    assert common_scale([TREC, TREC]) is TREC
    assert common_scale([]) is None


def test_a_scale_that_continues_another_is_common_to_both() -> None:
    assert common_scale([TREC, FIVE]) is FIVE
    assert common_scale([FIVE, TREC, TREC]) is FIVE


@pytest.mark.parametrize(
    ("one", "other"),
    [(BINARY, NATIVE), (BINARY, TREC), (NATIVE, TREC), (NATIVE, TURNED), (FIVE, BINARY)],
)
def test_codes_that_mean_different_things_are_not_compared(one: Scale, other: Scale) -> None:
    assert common_scale([one, other]) is None
    assert common_scale([other, one]) is None


def test_the_same_levels_the_other_way_round_are_not_compared() -> None:
    levels = [
        Level(level.code, level.name, level.grade, 1.0, -level.order) for level in TREC.levels
    ]
    assert common_scale([FIVE, Scale("upside-down", tuple(levels))]) is None


def test_two_scales_that_continue_a_third_in_two_ways_are_not_compared() -> None:
    other = Scale("other", (*TREC.levels, Level(4, "best", Grade.FULLY_RELEVANT, 4.0, 4)))
    assert common_scale([TREC, FIVE, other]) is None


def test_ranks_go_from_worst_to_best_whatever_the_codes() -> None:
    assert ranks_on(TREC) == {0: 0, 1: 1, 2: 2, 3: 3}
    assert ranks_on(TURNED) == {4: 0, 2: 1, 1: 2}
