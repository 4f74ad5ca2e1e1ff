from __future__ import annotations

import numpy as np
import pytest

from labeler.errors import UsageError
from labeler.search.dense import DenseIndex


def test_nearest_first_and_ties_by_id_descending() -> None:
    vectors = np.array([[1, 0], [0, 1], [1, 0], [0.6, 0.8]], dtype=np.float32)
    index = DenseIndex(["a", "b", "c", "d"], vectors)
    found = index.search(np.array([1, 0], dtype=np.float32), depth=3)
    assert [key for key, _ in found] == ["c", "a", "d"]
    assert [score for _, score in found] == pytest.approx([1.0, 1.0, 0.6])
    assert len(index) == 4
    assert index.search(np.array([1, 0], dtype=np.float32), depth=0) == []


@pytest.mark.parametrize("ids", [["a"], ["a", "a"]])
def test_ids_and_vectors_must_fit(ids: list[str]) -> None:
    with pytest.raises(UsageError):
        DenseIndex(ids, np.ones((2, 3), dtype=np.float32))
