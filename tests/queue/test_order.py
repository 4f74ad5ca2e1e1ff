"""The order of the queue: blocks of a query, doubtful ones first, and no item last for ever."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from labeler.queue.order import BLOCK_SIZE, LONGEST_WAITING, queue_order

SEED = "pool digest"


def in_order(
    queries: dict[int, int], doubts: dict[int, float], since: dict[int, int] | None = None
) -> list[int]:
    places = queue_order(queries, doubts, seed=SEED, since=since)
    assert sorted(places.values()) == list(range(len(doubts)))
    return sorted(places, key=lambda item: places[item])


doubtful = st.dictionaries(st.integers(1, 60), st.floats(0, 1), min_size=1)


@given(doubtful, st.integers(1, 9), st.dictionaries(st.integers(1, 60), st.integers(1, 5)))
def test_the_longest_waiting_item_is_in_the_first_block(
    doubts: dict[int, float], query_count: int, since: dict[int, int]
) -> None:
    queries = {item: item % query_count for item in doubts}
    waiting = {item: revision for item, revision in since.items() if item in doubts}
    ordered = in_order(queries, doubts, waiting)
    if waiting:
        oldest = min(waiting.values())
        assert any(waiting.get(item) == oldest for item in ordered[:BLOCK_SIZE])


@given(doubtful, st.integers(1, 9), st.integers(1, 5))
def test_where_all_have_waited_as_long_doubt_alone_decides(
    doubts: dict[int, float], query_count: int, revision: int
) -> None:
    queries = {item: item % query_count for item in doubts}
    same = dict.fromkeys(doubts, revision)
    assert in_order(queries, doubts, same) == in_order(queries, doubts)


def test_one_block_in_four_is_the_longest_waiting() -> None:
    queries = {item: item for item in range(1, 13)}
    doubts = {item: 1 - item / 100 for item in queries}
    since = {12: 1, 11: 2, 10: 3}
    ordered = in_order(queries, doubts, since)
    assert LONGEST_WAITING == 4
    assert ordered == [12, 1, 2, 3, 11, 4, 5, 6, 10, 7, 8, 9]


def test_nobody_starves_however_much_that_is_more_doubtful_comes_in() -> None:
    """Every round a new query with ten items arrives, the queue is made anew, ten are judged."""
    waiting = dict.fromkeys(range(30), (0, 0.01, 0))
    waiting |= {item: (1 + (item - 30) // 10, 0.02, 0) for item in range(30, 60)}
    first, served_in = set(waiting), dict[int, int]()
    queries = {item: query for item, (query, _, _) in waiting.items()}
    doubts = {item: doubt for item, (_, doubt, _) in waiting.items()}
    since = dict.fromkeys(waiting, 0)
    for round_number in range(1, 40):
        for item in range(1000 * round_number, 1000 * round_number + 10):
            queries[item], doubts[item] = round_number + 100, 1.0
        for item in in_order(queries, doubts, since)[:10]:
            del doubts[item]
            since.pop(item, None)
            served_in[item] = round_number
        since |= {item: round_number for item in doubts if item not in since}
    assert first <= served_in.keys()
    assert Counter(served_in[item] <= 6 for item in first) == {True: len(first)}
