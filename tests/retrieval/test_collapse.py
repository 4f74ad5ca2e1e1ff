"""Evidence is collapsed before the cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labeler.retrieval.collapse import Pooled, collapse


def test_a_second_chunk_of_the_same_evidence_makes_room_for_another() -> None:
    carried = {1: [10], 2: [10], 3: [30], 4: [40]}
    taken, read = collapse([1, 2, 3, 4], carried, depth=2)
    assert taken == [Pooled(10, rank=1, raw_rank=1), Pooled(30, rank=2, raw_rank=3)]
    assert read == [1, 2, 3]


def test_a_chunk_with_two_facts_brings_both_with_its_raw_rank() -> None:
    taken, _ = collapse([5, 6], {5: [50, 51], 6: [60]}, depth=3)
    assert taken == [Pooled(50, 1, 1), Pooled(51, 2, 1), Pooled(60, 3, 2)]


def test_a_short_list_gives_what_it_has() -> None:
    assert collapse([], {}, depth=10) == ([], [])


@given(
    st.lists(st.integers(0, 20), max_size=30, unique=True),
    st.dictionaries(
        st.integers(0, 20),
        st.lists(st.integers(100, 110), min_size=1, max_size=3, unique=True),
    ),
    st.integers(1, 12),
)
def test_the_cut_is_at_different_evidences(
    chunks: list[int], some: dict[int, list[int]], depth: int
) -> None:
    carried = {chunk: some.get(chunk, [1000 + chunk]) for chunk in chunks}
    taken, read = collapse(chunks, carried, depth)
    evidences = [one.evidence for one in taken]
    distinct = list(dict.fromkeys(one for chunk in chunks for one in carried[chunk]))
    assert evidences == distinct[:depth]
    assert [one.rank for one in taken] == list(range(1, len(taken) + 1))
    assert all(one.evidence in carried[chunks[one.raw_rank - 1]] for one in taken)
    assert read == chunks[: len(read)]
    # A deeper pool holds a shallower one.
    assert collapse(chunks, carried, depth + 1)[0][: len(taken)] == taken
