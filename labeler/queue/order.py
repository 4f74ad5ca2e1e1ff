"""The order of the queue: blocks of one query, the most doubtful first, shuffled inside.

Judging one query at a time raises quality, and earlier passages prime later judgments: so a block
holds at most ten items of a query, in an order that tells nothing of their ranks.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping

__all__ = ["BLOCK_SIZE", "queue_order"]

BLOCK_SIZE = 10


def queue_order(
    queries: Mapping[int, int], doubts: Mapping[int, float], *, seed: str
) -> dict[int, int]:
    """Give each item its place in the queue, lowest first.

    Args:
        queries: The query of each item.
        doubts: How likely each item's label is wrong, in [0, 1]; just these items are placed.
        seed: Decides the shuffle; the same seed gives the same order.

    Returns:
        Item to place, from 0.
    """
    by_query: dict[int, list[int]] = defaultdict(list)
    for item in doubts:
        by_query[queries[item]].append(item)
    blocks: list[tuple[float, int, list[int]]] = []
    for query, items in by_query.items():
        items.sort(key=lambda item: (-doubts[item], item))
        for start in range(0, len(items), BLOCK_SIZE):
            block = items[start : start + BLOCK_SIZE]
            mean = sum(doubts[item] for item in block) / len(block)
            blocks.append((-mean, query, sorted(block, key=lambda item: _keyed(seed, item))))
    blocks.sort(key=lambda block: block[:2])
    ordered = [item for _, _, block in blocks for item in block]
    return {item: place for place, item in enumerate(ordered)}


def _keyed(seed: str, item: int) -> bytes:
    return hashlib.sha256(f"{seed}\n{item}".encode()).digest()
