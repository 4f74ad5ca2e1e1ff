"""What an order is told of each item; judges at chance; who is voted on twice."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.assessment.item_scores import ItemScores, add_scores
from labeler.calibration.policies import UNCALIBRATED
from labeler.labels import Grade
from labeler.queue.order import ORDERS, ItemWorth, order_named
from labeler.queue.route import route_pool
from labeler.queue.standing import read_standing
from labeler.queue.worth import influential, item_worths, reach_of_items, stand_among
from labeler.records.scores import Calibration
from labeler.store.database import Store
from labeler.store.registry import pool_named
from tests.small import HandJudge, judge, pooled

FULLY, PARTIALLY, NOT = Grade

WORTHS = st.dictionaries(
    st.integers(0, 60), st.builds(ItemWorth, st.floats(0, 1), st.floats(0, 1)), max_size=40
)


def add(store: Store, at_chance: list[str]) -> None:
    with store.read() as connection:
        row = pool_named(connection, "p")
        items = sorted(read_standing(connection, row).items)
    scores = ItemScores(
        name="by hand",
        calibration=Calibration.UNCALIBRATED,
        model=json.dumps({"judges": [{"judge": one, "health": "at chance"} for one in at_chance]}),
        labels=0,
        queries=0,
        item_ids=np.array(items, dtype=np.int64),
        probabilities=np.tile([0.7, 0.1, 0.2], (len(items), 1)),
    )
    with store.write("calibrate p") as tx:
        add_scores(tx, int(row.id), scores)


def test_disagreement_with_a_judge_at_chance_is_no_dispute(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    judge(store, HandJudge())
    judge(store, HandJudge({"c03": (FULLY, 0.99)}, name="second"))
    before = route_pool(store, "p", UNCALIBRATED)
    add(store, ["second"])
    after = route_pool(store, "p", UNCALIBRATED)
    assert (before.reasons, before.at_chance) == ({"judges_disagree": 1}, ())
    assert (after.reasons, after.at_chance) == ({}, ("second",))


def test_reach_is_the_discount_of_the_ranks_against_the_mean_item(
    sqlite_store: Store, own_folder: Path
) -> None:
    pooled(sqlite_store, own_folder)
    with sqlite_store.read() as connection:
        row = pool_named(connection, "p")
        reach = reach_of_items(connection, row.id)
        standing = read_standing(connection, row)
        worths = item_worths(standing, standing.items, reach, {next(iter(standing.items)): 3})
    assert math.fsum(reach.values()) / len(reach) == pytest.approx(1)
    assert max(reach.values()) > 1 > min(reach.values()) > 0
    assert {one.doubt for one in worths.values()} == {1.0}
    assert {one.since for one in worths.values()} == {3, None}


def test_scores_give_doubt_and_relevance(sqlite_store: Store, own_folder: Path) -> None:
    pooled(sqlite_store, own_folder)
    judge(sqlite_store, HandJudge())
    judge(sqlite_store, HandJudge({"c03": (PARTIALLY, 0.9)}, name="second"))
    add(sqlite_store, [])
    with sqlite_store.read() as connection:
        standing = read_standing(connection, pool_named(connection, "p"))
    worths = item_worths(standing, standing.items, {}, {})
    assert {round(one.doubt, 9) for one in worths.values()} == {0.3}
    assert {round(one.relevance or 0, 9) for one in worths.values()} == {0.3}
    assert sorted({one.spread for one in worths.values()}) == [0.0, 0.5]


def test_a_tenth_is_influential_and_one_at_least() -> None:
    reach = {item: float(item) for item in range(30)}
    assert influential(reach, reach) == {27, 28, 29}
    assert influential([1, 2], reach) == {2}
    assert influential([], reach) == frozenset()


@given(WORTHS, st.sampled_from(sorted(ORDERS)), st.data())
def test_drawn_items_pass_for_others(
    worths: dict[int, ItemWorth], name: str, data: st.DataObject
) -> None:
    middle = data.draw(st.sets(st.sampled_from(sorted(worths)))) if worths else set()
    order = order_named(name)
    passing = stand_among(order, worths, middle)
    others = [replace(worths[item], since=None) for item in worths.keys() - middle]
    assert passing.keys() == worths.keys()
    for item, one in passing.items():
        if others and item in middle:
            # Nothing but how long it has waited is its own.
            assert replace(one, since=None) in others
            assert one.since == worths[item].since
        elif item not in middle:
            assert one == worths[item]
