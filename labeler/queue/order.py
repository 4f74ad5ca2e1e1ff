"""The order of the queue: blocks of one query, those that are worth most first, shuffled inside.

Judging one query at a time raises quality, and earlier passages prime later judgments: so a block
holds at most ten items of a query, in an order that tells nothing of their ranks.

Until a query has a few votes nobody knows how its passages are judged there, so these come first:
error goes by query, and an order that trusts scores before then can make labels worse.

Drawn items that an acceptance or an estimate waits for come next, at a constant rate among others
of their query.

Nobody's item waits for ever: one block in four is the one that has waited longest, the first among
them, whatever those are worth that came later.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from labeler.assessment.people_labels import WARM_START
from labeler.errors import UsageError
from labeler.queue.interleaving import Early, interleaved

__all__ = [
    "BLOCK_SIZE",
    "DEFAULT_ORDER",
    "LONGEST_WAITING",
    "ORDERS",
    "ItemWorth",
    "Order",
    "order_named",
    "place_items",
]

BLOCK_SIZE = 10

LONGEST_WAITING = 4
"""The first of so many blocks is the one that has waited longest."""

SHARE_OF_REPORTS = 0.1
"""What the reach into reports adds to an item's worth, where the reach is that of the mean item.

Every label counts once in the set of labels, and again in the metrics of the runs that rank it
high. Of 0, 0.1 and 0.2 on 33 queries of TREC DL 2019, after a tenth of the reviews: the error of
nDCG@10 is 0.15, 0.01 and 0.02; labels of the whole pool take about as many votes with 0.1 as with
0, and some more with 0.2.
"""


@dataclass(frozen=True, slots=True)
class ItemWorth:
    """What an order knows of one item.

    Attributes:
        doubt: How likely its label is wrong, in [0, 1].
        relevance: The probability that it is relevant, in [0, 1]; None where nothing gives one.
        spread: How far judges differ on it, in [0, 1]: 0 where they agree or there is one.
        reach: How far its label moves what reports give of runs, against the mean item of the
            pool: 0 where no run ranks it high, 1 for the mean. Orders may use ranks of runs; the
            label model may not.
        since: The revision since which it has been waiting; None when it is new.
    """

    doubt: float
    relevance: float | None = None
    spread: float = 0.0
    reach: float = 1.0
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """A way to order the queue.

    Attributes:
        name: What it is called on the command line.
        worth: What an item is worth, more first, by what is known of it and a number in [0, 1)
            drawn for it.
        block: What a block is worth, by the worth of its items.
        starts_warm: Whether the first votes of each query come before everything else.
    """

    name: str
    worth: Callable[[ItemWorth, float], float]
    block: Callable[[Sequence[float]], float] = fmean
    starts_warm: bool = True

    @property
    def digest(self) -> str:
        """Names the order with everything that decides it, for what it decided."""
        parts = [self.name, BLOCK_SIZE, LONGEST_WAITING, self.starts_warm and WARM_START]
        if self.name == DEFAULT_ORDER:
            parts.append(SHARE_OF_REPORTS)
        return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()


def _value(item: ItemWorth, _: float) -> float:
    """Chance that the label is wrong, times what it can move: the labels, and reports of runs.

    Wrong is a label on the other side of the relevance boundary: decisions and most numbers turn
    on that.
    """
    wrong = item.doubt if item.relevance is None else min(item.relevance, 1.0 - item.relevance)
    return wrong * (1.0 + SHARE_OF_REPORTS * item.reach)


def _margin(item: ItemWorth, _: float) -> float:
    """Nearness to the relevance boundary; where no probability is known, the doubt."""
    if item.relevance is None:
        return item.doubt
    return 1.0 - 2.0 * abs(item.relevance - 0.5)


def _dispute(item: ItemWorth, _: float) -> float:
    return item.spread


def _random(_: ItemWorth, drawn: float) -> float:
    return drawn


def _scattered(drawn: Sequence[float]) -> float:
    """Give a number in [0, 1) that is as likely to be any for a large query as for a small one."""
    return math.fsum(drawn) * 1e6 % 1.0


def _oldest(item: ItemWorth, _: float) -> float:
    return -math.inf if item.since is None else -float(item.since)


DEFAULT_ORDER = "value"

ORDERS: Mapping[str, Order] = {
    order.name: order
    for order in (
        Order(DEFAULT_ORDER, _value),
        Order("margin", _margin),
        Order("dispute", _dispute),
        Order("random", _random, _scattered, starts_warm=False),
        Order("oldest", _oldest, starts_warm=False),
    )
}
"""Every order by its name."""


def order_named(name: str) -> Order:
    """Give an order by its name.

    Raises:
        UsageError: When there is none of that name.
    """
    if name not in ORDERS:
        raise UsageError(f"there is no order '{name}'", hint=f"orders: {', '.join(ORDERS)}")
    return ORDERS[name]


def place_items(
    order: Order,
    queries: Mapping[int, int],
    items: Mapping[int, ItemWorth],
    *,
    seed: str,
    votes: Mapping[int, int] | None = None,
    early: Early | None = None,
) -> dict[int, int]:
    """Give each item its place in the queue, lowest first.

    Args:
        order: How they are ordered.
        queries: The query of each item.
        items: What is known of each item; just these are placed.
        seed: Decides the shuffle; the same seed gives the same order.
        votes: How many items of each query people have judged; one that isn't there has none.
        early: Drawn items that come first, among others of their query, whatever they are worth.

    Returns:
        Item to place, from 0.
    """
    drawn = {item: _number(seed, item) for item in items}
    worth = {item: order.worth(known, drawn[item]) for item, known in items.items()}
    by_query: dict[int, list[int]] = defaultdict(list)
    for item in sorted(items):
        by_query[queries[item]].append(item)
    first = early or Early()
    warm: list[_Block] = []
    mixed: list[_Block] = []
    blocks: list[_Block] = []
    for query, own in by_query.items():
        own.sort(key=lambda item: drawn[item])
        # Drawn, not chosen by worth: what is doubtful doesn't tell how the rest is judged.
        wanted = WARM_START - (votes or {}).get(query, 0) if order.starts_warm else 0
        start, rest = own[: max(wanted, 0)], own[max(wanted, 0) :]
        if start:
            warm.append(_Block(0.0, query, start))
        asked = [item for item in rest if item in first.items]
        others = [item for item in rest if item not in first.items]
        others.sort(key=lambda item: (-worth[item], drawn[item], item))
        among = interleaved(asked, others, first.rate)
        mixed += _cut(order, query, among, worth, drawn, others)
        blocks += _cut(order, query, others[len(among) - len(asked) :], worth, drawn, others)
    waiting = {item: known.since for item, known in items.items() if known.since is not None}
    ordered: list[int] = []
    for part_of_queue in (warm, mixed, blocks):
        part_of_queue.sort(key=lambda block: (-block.worth, _number(seed, block.query)))
        for block_items in _fairly([block.items for block in part_of_queue], waiting):
            ordered += block_items
    return {item: place for place, item in enumerate(ordered)}


@dataclass(slots=True)
class _Block:
    worth: float
    query: int
    items: list[int]


def _cut(
    order: Order,
    query: int,
    items: Sequence[int],
    worth: Mapping[int, float],
    drawn: Mapping[int, float],
    others: Sequence[int],
) -> list[_Block]:
    """Cut one query's items into blocks, each as much worth as the others in it, and shuffled."""
    telling = set(others)
    found = []
    for start in range(0, len(items), BLOCK_SIZE):
        part = list(items[start : start + BLOCK_SIZE])
        told = [item for item in part if item in telling] or part
        together = order.block([worth[item] for item in told])
        part.sort(key=lambda item: (drawn[item], item))
        found.append(_Block(together, query, part))
    return found


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


def _number(seed: str, key: int) -> float:
    """Give a number in [0, 1) that follows from seed and key, and tells nothing of the key."""
    digest = hashlib.sha256(f"{seed}\n{key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
