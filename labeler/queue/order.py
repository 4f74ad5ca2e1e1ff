"""The order of the queue: blocks of one query, the most doubtful first, shuffled inside.

Judging one query at a time raises quality, and earlier passages prime later judgments: so a block
holds at most ten items of a query, in an order that tells nothing of their ranks.

Nobody's item waits for ever: one block in four is the one that has waited longest, the first among
them, however doubtful those are that came later.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence

__all__ = ["BLOCK_SIZE", "LONGEST_WAITING", "queue_order"]

BLOCK_SIZE = 10

LONGEST_WAITING = 4
"""The first of so many blocks is the one that has waited longest."""


def queue_order(
    queries: Mapping[int, int],
    doubts: Mapping[int, float],
    *,
    seed: str,
    since: Mapping[int, int] | None = None,
) -> dict[int, int]:
    """Give each item its place in the queue, lowest first.

    Args:
        queries: The query of each item.
        doubts: How likely each item's label is wrong, in [0, 1]; just these items are placed.
        seed: Decides the shuffle; the same seed gives the same order.
        since: The revision since which an item has been waiting; one that isn't there is new.

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
    ordered = [
        item for block in _fairly([block[2] for block in blocks], since or {}) for item in block
    ]
    return {item: place for place, item in enumerate(ordered)}


def _fairly(blocks: Sequence[list[int]], since: Mapping[int, int]) -> list[list[int]]:
    """Put the longest waiting of what is left first among every four blocks."""

    def waiting_since(place: int) -> tuple[float, int]:
        return min((since.get(item, math.inf) for item in blocks[place]), default=math.inf), place

    oldest = deque(sorted(range(len(blocks)), key=waiting_since))
    others = deque(range(len(blocks)))
    taken: dict[int, None] = {}
    while len(taken) < len(blocks):
        source = others if len(taken) % LONGEST_WAITING else oldest
        while source[0] in taken:
            source.popleft()
        taken[source.popleft()] = None
    return [blocks[place] for place in taken]


def _keyed(seed: str, item: int) -> bytes:
    return hashlib.sha256(f"{seed}\n{item}".encode()).digest()
