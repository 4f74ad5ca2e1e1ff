from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeler.search.tfidf import TfIdf

TEXTS = st.lists(st.text(alphabet="ab cdé中", max_size=20), min_size=1, max_size=8)


@settings(deadline=None)  # the first call loads scipy
@given(TEXTS)
def test_cosines_are_symmetric_and_1_with_oneself(texts: list[str]) -> None:
    vectors = TfIdf(texts)
    rows = np.arange(len(texts))
    found = vectors.similarity(rows, rows)
    assert found == pytest.approx(found.T)
    assert found.min() >= 0
    assert found.max() <= 1
    worded = vectors.lengths > 0
    assert np.diag(found)[worded] == pytest.approx(np.ones(worded.sum()))


@given(TEXTS, st.text(alphabet="abcd é中", max_size=12))
def test_a_row_does_not_depend_on_the_rows_beside_it(texts: list[str], query: str) -> None:
    vectors = TfIdf(texts)
    together = vectors.cosine_and_coverage(query, np.arange(len(texts)))
    alone = [
        vectors.cosine_and_coverage(query, np.array([place]))[0] for place in range(len(texts))
    ]
    assert np.array(alone).tobytes() == together.tobytes()
    assert ((together >= 0) & (together <= 1)).all()


def test_cosine_and_coverage_by_hand() -> None:
    vectors = TfIdf(["red red fox", "red hen", "blue sky"])
    red, hen = math.log(1 + 3 / 2), math.log(1 + 3 / 1)
    found = vectors.cosine_and_coverage("Red hen!", np.array([0, 1, 2]))
    length = math.hypot(red, hen)
    first = (1 + math.log(2)) * red
    # 'fox' weighs as much as 'hen': each stands in one of the three texts.
    assert found[0] == pytest.approx(
        [first * red / math.hypot(first, hen) / length, red / (red + hen)]
    )
    assert found[1] == pytest.approx([1, 1])
    assert found[2].tolist() == [0, 0]


def test_a_query_of_unknown_words_is_like_nothing() -> None:
    found = TfIdf(["red fox", ""]).cosine_and_coverage("zebra", np.array([0, 1]))
    assert found.tolist() == [[0, 0], [0, 0]]
