"""The order of the queue: blocks of a query, doubtful ones first, and no item last for ever."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.assessment.people_labels import WARM_START
from labeler.errors import UsageError
from labeler.queue.interleaving import Early, rate_of
from labeler.queue.order import (
    BLOCK_SIZE,
    DEFAULT_ORDER,
    LONGEST_WAITING,
    ORDERS,
    ItemWorth,
    Order,
    order_named,
    place_items,
)

SEED = "pool digest"


BY_DOUBT = Order("doubt", lambda item, _: item.doubt, starts_warm=False)


def in_order(
    queries: dict[int, int], doubts: dict[int, float], since: dict[int, int] | None = None
) -> list[int]:
    known = {
        item: ItemWorth(doubt, since=(since or {}).get(item)) for item, doubt in doubts.items()
    }
    places = place_items(BY_DOUBT, queries, known, seed=SEED)
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


ITEMS = st.dictionaries(
    st.integers(1, 80),
    st.builds(
        ItemWorth,
        doubt=st.floats(0, 1),
        relevance=st.none() | st.floats(0, 1),
        spread=st.floats(0, 1),
        reach=st.floats(0, 30),
        since=st.none() | st.integers(1, 9),
    ),
)


def placed(
    name: str, items: dict[int, ItemWorth], votes: dict[int, int] | None = None
) -> list[int]:
    """Place items of five queries, and give them in their order."""
    queries = {item: item % 5 for item in items}
    places = place_items(ORDERS[name], queries, items, seed=SEED, votes=votes)
    assert sorted(places.values()) == list(range(len(items)))
    return sorted(places, key=lambda item: places[item])


@given(
    st.sampled_from(sorted(ORDERS)), ITEMS, st.dictionaries(st.integers(0, 4), st.integers(0, 6))
)
def test_blocks_are_of_one_query_and_hold_ten_at_most(
    name: str, items: dict[int, ItemWorth], votes: dict[int, int]
) -> None:
    ordered = placed(name, items, votes)
    runs = [list(run) for _, run in groupby(ordered, key=lambda item: item % 5)]
    # Two blocks of one query may follow one another; no block is longer than ten.
    assert sum(len(run) for run in runs) == len(items)
    blocks = sum(-(-len(run) // BLOCK_SIZE) for run in runs)
    queries = len({item % 5 for item in items})
    warm = queries if ORDERS[name].starts_warm else 0
    assert blocks <= len(items) // BLOCK_SIZE + queries + warm


@given(st.sampled_from(sorted(ORDERS)), ITEMS)
def test_the_same_seed_gives_the_same_order_whatever_the_order_of_the_input(
    name: str, items: dict[int, ItemWorth]
) -> None:
    assert placed(name, items) == placed(name, dict(reversed(items.items())))


def test_the_first_votes_of_each_query_come_before_what_is_worth_most() -> None:
    items = {item: ItemWorth(item / 100) for item in range(1, 61)}
    ordered = placed("value", items, votes={0: 4, 1: 3})
    warm = ordered[: 0 + 1 + 3 * WARM_START]
    assert Counter(item % 5 for item in warm) == {1: 1, 2: 4, 3: 4, 4: 4}
    # They are drawn, not chosen: what is worth most isn't what comes first.
    chosen = sorted((item for item in items if item % 5 == 2), reverse=True)[:WARM_START]
    assert {item for item in warm if item % 5 == 2} != set(chosen)
    assert ordered[len(warm)] % 5 in {0, 1, 2, 3, 4}


@pytest.mark.parametrize("name", ["random", "oldest"])
def test_orders_that_trust_no_score_have_no_warm_start(name: str) -> None:
    items = {item: ItemWorth(0.5, since=item) for item in range(1, 61)}
    assert placed(name, items) == placed(name, items, votes=dict.fromkeys(range(5), 9))


def warmed(name: str, items: dict[int, ItemWorth]) -> list[int]:
    return placed(name, items, votes=dict.fromkeys(range(5), WARM_START))


def test_what_each_order_goes_by() -> None:
    items = {
        1: ItemWorth(doubt=0.4, relevance=0.05, spread=0.2, reach=0.0, since=5),
        2: ItemWorth(doubt=0.6, relevance=0.45, spread=0.0, reach=0.0, since=4),
        3: ItemWorth(doubt=0.1, relevance=0.36, spread=1.0, reach=9.0, since=3),
        4: ItemWorth(doubt=0.0, relevance=0.99, spread=0.5, reach=0.0, since=2),
    }
    # One item a query, and none waits longer than another but for 'oldest'.
    same = {item: replace(known, since=1) for item, known in items.items()}
    assert warmed("margin", same) == [2, 3, 1, 4]
    assert warmed("value", same) == [3, 2, 1, 4]
    assert warmed("dispute", same) == [3, 4, 1, 2]
    assert warmed("oldest", items) == [4, 3, 2, 1]


def test_where_nothing_is_scored_doubt_decides() -> None:
    items = {1: ItemWorth(0.2), 2: ItemWorth(0.9), 3: ItemWorth(0.5)}
    assert warmed("margin", items) == warmed("value", items) == [2, 3, 1]


def test_reach_decides_among_the_equally_doubtful() -> None:
    items = {item: ItemWorth(0.5, relevance=0.5, reach=float(item)) for item in range(1, 5)}
    assert warmed("value", items) == [4, 3, 2, 1]


def test_random_favours_no_query() -> None:
    """The first block comes as often from a small query as from a large one."""
    queries = {item: int(item <= 10) for item in range(1, 111)}
    items = {item: ItemWorth(0.5) for item in queries}
    first = Counter[int]()
    for seed in range(300):
        places = place_items(ORDERS["random"], queries, items, seed=str(seed))
        first[queries[min(places, key=lambda item: places[item])]] += 1
    # One of eleven blocks is of the small query.
    assert 10 <= first[1] <= 50


def test_every_order_has_a_digest_of_its_own() -> None:
    assert DEFAULT_ORDER in ORDERS
    assert len({order.digest for order in ORDERS.values()}) == len(ORDERS)
    assert {order_named(name).name for name in ORDERS} == set(ORDERS)


def test_an_order_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="there is no order 'best'") as caught:
        order_named("best")
    assert caught.value.hint == "orders: value, margin, dispute, random, oldest"


@given(
    st.integers(1, 6),
    st.lists(st.integers(1, 40), min_size=1, max_size=30),
    st.floats(0.05, 1.0),
)
def test_drawn_items_come_first_among_others_at_the_rate(
    query_count: int, drawn: list[int], rate: float
) -> None:
    items = {item: ItemWorth(0.5, relevance=item / 300) for item in range(240)}
    queries = {item: item % query_count for item in items}
    early = Early(frozenset(drawn), rate)
    places = place_items(ORDERS["margin"], queries, items, seed=SEED, early=early)
    assert sorted(places.values()) == list(range(240))
    warm = WARM_START * query_count
    last = max(places[item] for item in drawn)
    of_query = Counter(queries[item] for item in early.items)
    company = sum(math.ceil(count / rate) for count in of_query.values())
    assert last < warm + company


def test_drawn_items_are_spread_evenly_and_the_best_of_their_query_go_with_them() -> None:
    items = {item: ItemWorth(0.5, relevance=item / 1000) for item in range(300)}
    queries = {item: item % 3 for item in items}
    drawn = frozenset(range(60))
    votes = dict.fromkeys(range(3), WARM_START)
    places = place_items(
        ORDERS["margin"], queries, items, seed=SEED, votes=votes, early=Early(drawn, 0.4)
    )
    ordered = sorted(places, key=places.__getitem__)
    assert drawn <= set(ordered[:150])
    blocks = [ordered[start : start + BLOCK_SIZE] for start in range(0, 150, BLOCK_SIZE)]
    assert {len(drawn & set(block)) for block in blocks} == {4}
    assert all(len({queries[item] for item in block}) == 1 for block in blocks)
    # Nothing of the order inside tells them: they stand at every spot of a block.
    spots = {spot for block in blocks for spot, item in enumerate(block) if item in drawn}
    assert spots == set(range(BLOCK_SIZE))
    # What goes with them is what the order would have asked for first.
    assert set(ordered[:150]) - drawn == set(range(210, 300))


def test_the_rate_keeps_to_a_third_of_the_frame_and_leaves_room_for_others() -> None:
    assert rate_of(30, 900) == pytest.approx(0.1)
    assert rate_of(600, 900) == 0.75
    assert 0 < rate_of(0, 900) <= 0.75
    assert 0 < rate_of(0, 0) <= 0.75
