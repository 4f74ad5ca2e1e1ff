"""Score versions: what they say of some of their items."""

from __future__ import annotations

import numpy as np
import pytest

from labeler.assessment.item_scores import ItemScores
from labeler.errors import UsageError
from labeler.records.scores import Calibration

ROWS = [[0.7, 0.2, 0.1], [0.25, 0.5, 0.25], [0.0, 0.1, 0.9]]


def scores(items: tuple[int, ...] = (3, 5, 8)) -> ItemScores:
    return ItemScores(
        "s", Calibration.CALIBRATED, "{}", 100, 9, np.array(items), np.array(ROWS, dtype=np.float64)
    )


@pytest.mark.parametrize(
    ("items", "expected"),
    [({3}, 0.7), ({5, 8}, 0.7), ({3, 4, 5}, 0.6), ({4}, None), (set(), None)],
)
def test_how_many_labels_are_expected_to_be_right(items: set[int], expected: float | None) -> None:
    assert scores().expected_right(items) == pytest.approx(expected)


def test_items_come_once_and_in_order() -> None:
    with pytest.raises(UsageError, match="ascending"):
        scores((3, 3, 8))
