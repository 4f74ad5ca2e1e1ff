from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from labeler.calibration.features import FEATURES, WINDOW, block_features
from labeler.search.lexical import TermStatistics
from tests.hash_embedder import HashEmbedder

TEXTS = st.lists(
    st.one_of(st.text(max_size=40), st.sampled_from(["head bolts", "the head", "oil " * 40])),
    min_size=1,
    max_size=8,
)


def features(
    query: str, passages: list[str], statistics: TermStatistics | None = None
) -> NDArray[np.float64]:
    embedder = HashEmbedder()
    return block_features(
        query,
        passages,
        embedder.queries([query])[0],
        embedder.passages(passages),
        statistics or TermStatistics.from_texts(passages),
    )


def column(x: NDArray[np.float64], name: str) -> list[float]:
    return [float(value) for value in x[:, FEATURES.index(name)]]


@given(st.text(max_size=30), TEXTS, st.randoms(use_true_random=False))
def test_finite_and_the_same_bits_in_any_order(
    query: str, passages: list[str], shuffling: Random
) -> None:
    x = features(query, passages)
    assert x.shape == (len(passages), len(FEATURES))
    assert np.isfinite(x).all()
    order = list(range(len(passages)))
    shuffling.shuffle(order)
    shuffled = features(query, [passages[place] for place in order])
    assert shuffled.tobytes() == x[order].tobytes()


def test_what_the_lexical_columns_say() -> None:
    passages = [
        "Head bolts: tighten the head bolts.",
        "Drain the oil.",
        "head " + "x " * 40 + "bolts",
    ]
    x = features("head bolts", passages)
    assert column(x, "query_coverage") == pytest.approx([1, 0, 1])
    windows = column(x, "window_coverage")
    assert windows[:2] == pytest.approx([1, 0])
    assert 0 < windows[2] < 1
    shares = column(x, "bm25_share")
    assert 1 > shares[0] > shares[2] > shares[1] == 0
    assert column(x, "log_length") == pytest.approx(np.log([7, 4, 43]))


@pytest.mark.parametrize(("gap", "whole"), [(WINDOW - 2, True), (WINDOW - 1, False)])
def test_a_window_has_its_stated_width(gap: int, whole: bool) -> None:
    x = features("head bolts", ["head " + "x " * gap + "bolts", "nothing"])
    assert (column(x, "window_coverage")[0] == pytest.approx(1)) is whole


def test_columns_relative_to_the_block() -> None:
    x = features("head bolts", ["head bolts", "oil", "head gasket", "oil"])
    for name in ("cosine_in_block", "bm25_in_block"):
        assert np.mean(column(x, name)) == pytest.approx(0)
        assert np.std(column(x, name)) == pytest.approx(1)
    ranks = np.exp(column(x, "log_cosine_rank"))
    assert ranks[1] == ranks[3]
    assert ranks[0] == pytest.approx(1)
    assert ranks.sum() == pytest.approx(10)


def test_a_single_passage_and_equal_passages_have_no_place_in_the_block() -> None:
    alone = features("head bolts", ["head bolts"])
    assert column(alone, "cosine_in_block") == [0]
    assert column(alone, "log_cosine_rank") == [0]
    equal = features("head bolts", ["head bolts"] * 3)
    assert column(equal, "bm25_in_block") == [0, 0, 0]
    assert column(equal, "log_cosine_rank") == pytest.approx([np.log(2)] * 3)
