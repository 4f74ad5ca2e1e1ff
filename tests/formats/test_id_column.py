from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.formats import id_column
from labeler.formats.id_column import LONGEST_FIXED, IdColumn, texts_at

IDS = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=20
) | st.sampled_from(["a", "b", "aaaaaaaa", "aaaaaaaaa", "é" * 9])


def fill(column: IdColumn, blocks: list[tuple[bool, list[str]]]) -> None:
    for as_list, ids in blocks:
        raw = [key.encode() for key in ids]
        if as_list:
            column.add_list(raw)
        elif raw:
            lengths = np.array([len(key) for key in raw])
            ends = np.cumsum(lengths + 1) - 1
            padded = b" ".join(raw) + b" " + bytes(int(lengths.max()) + 8)
            column.add(texts_at(padded, ends - lengths, lengths))


def expected(blocks: list[tuple[bool, list[str]]]) -> tuple[list[str], list[int]]:
    rows = [key for _, ids in blocks for key in ids]
    distinct = list(dict.fromkeys(rows))
    return distinct, [distinct.index(key) for key in rows]


BLOCKS = st.lists(st.tuples(st.booleans(), st.lists(IDS, max_size=8)), max_size=4)


@given(BLOCKS, st.booleans())
def test_ids_are_numbered_as_they_come(blocks: list[tuple[bool, list[str]]], in_runs: bool) -> None:
    column = IdColumn(in_runs=in_runs)
    fill(column, blocks)
    distinct, codes = column.numbered()
    assert (distinct, codes.tolist()) == expected(blocks)
    assert codes.dtype == np.int32


@given(BLOCKS)
def test_colliding_hashes_change_nothing(blocks: list[tuple[bool, list[str]]]) -> None:
    column = IdColumn(in_runs=False)
    fill(column, blocks)
    with patch.object(id_column, "_hashes", lambda words: np.zeros(len(words), dtype=np.uint64)):
        distinct, codes = column.numbered()
    assert (distinct, codes.tolist()) == expected(blocks)


@pytest.mark.parametrize("in_runs", [True, False])
def test_very_long_ids_are_numbered_too(in_runs: bool) -> None:
    long = "x" * (LONGEST_FIXED + 1)
    blocks = [(False, ["a", "a", "b"]), (True, [long, "a", long]), (False, ["b"])]
    column = IdColumn(in_runs=in_runs)
    fill(column, blocks)
    distinct, codes = column.numbered()
    assert (distinct, codes.tolist()) == expected(blocks)


def test_ids_that_differ_in_the_last_byte_of_two_words_are_told_apart() -> None:
    ids = [f"aaaaaaa{one}bbbbbbb{two}" for one in "0123456789" for two in "0123456789"]
    column = IdColumn(in_runs=False)
    fill(column, [(False, ids)])
    words = np.array([key.encode() for key in ids], dtype="S16").view("<u8").reshape(-1, 2)
    assert len(np.unique(id_column._hashes(words))) == 100
    assert column.numbered()[0] == ids
