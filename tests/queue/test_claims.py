"""Claims by pool: the same items in the same order, however large the pool is."""

from __future__ import annotations

from pathlib import Path

import pytest

from labeler.assessment.rubric import default_rubric
from labeler.calibration.policies import UNCALIBRATED
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue import front
from labeler.queue.claims import claim, queue_left, release
from labeler.queue.filters import QueueFilter
from labeler.queue.route import route_pool
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from labeler.store.registry import assessor_key, pool_named
from tests.small import pooled


@pytest.mark.parametrize("largest_small_pool", [0, 10_000])
def test_a_pool_is_claimed_in_the_order_of_the_queue(
    store: Store, own_folder: Path, monkeypatch: pytest.MonkeyPatch, largest_small_pool: int
) -> None:
    monkeypatch.setattr(front, "_SMALL_POOL", largest_small_pool)
    monkeypatch.setattr(front, "_NEAREST", 2)
    pooled(store, own_folder)
    create_pool(store, "top", PoolOptions(depth=1, rubric=default_rubric()))
    route_pool(store, "p", UNCALIBRATED)
    with store.write("review start") as tx:
        ana = assessor_key(tx, AssessorKind.PERSON, "ana")
        top = int(pool_named(tx.connection, "top").id)
    everything = [one.item_id for one in claim(store, ana, 100)]
    release(store, ana)
    of_top = [one.item_id for one in claim(store, ana, 100, only=QueueFilter(top))]
    assert 0 < len(of_top) < len(everything)
    assert of_top == [item for item in everything if item in of_top]
    assert claim(store, ana, 100, only=QueueFilter(top)) == []
    assert queue_left(store, ana, QueueFilter(top)).waiting == 0
    assert queue_left(store, ana).waiting == len(everything) - len(of_top)
