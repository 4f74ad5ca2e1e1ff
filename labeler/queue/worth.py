"""What an order is told of each item: doubt, spread of the judges, reach into the reports."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.assessment.pool_signals import GRADE_RANK
from labeler.assessment.samples import JudgeAnswer
from labeler.queue.order import ItemWorth, Order
from labeler.queue.standing import PoolStanding
from labeler.records import table
from labeler.records.pools import Candidate, Contribution

__all__ = ["influential", "item_worths", "reach_of_items", "stand_among"]

INFLUENTIAL_SHARE = 0.1
"""Two people vote on this share of what waits, where the most influential are voted on twice."""

_DEPTH = 10
"""Ranks that count: the depth of the metrics that reports give first."""


def reach_of_items(connection: Connection, pool_id: int) -> dict[int, float]:
    """Tell how far each item's label moves what reports give of the pooled runs.

    The sum over runs of the discount of its rank, 1 / log2(rank + 1), as in DCG (Jarvelin and
    Kekalainen 2002), over ranks up to 10, against the mean item of the pool. Orders may use it;
    the label model never does.
    """
    candidate, contribution = table(Candidate), table(Contribution)
    statement = (
        sa.select(candidate.c.item_id, contribution.c.rank)
        .outerjoin(
            contribution,
            sa.and_(contribution.c.candidate_id == candidate.c.id, contribution.c.rank <= _DEPTH),
        )
        .where(candidate.c.pool_id == pool_id)
    )
    reach: dict[int, float] = {}
    for item, rank in connection.execute(statement):
        more = 0.0 if rank is None else 1 / math.log2(rank + 1)
        reach[int(item)] = reach.get(int(item), 0.0) + more
    mean = math.fsum(reach.values()) / len(reach) if reach else 0.0
    return {item: value / mean for item, value in reach.items()} if mean > 0 else reach


def item_worths(
    standing: PoolStanding,
    items: Iterable[int],
    reach: Mapping[int, float],
    since: Mapping[int, int],
) -> dict[int, ItemWorth]:
    """Say what is known of some items.

    Args:
        standing: The pool.
        items: The items.
        reach: See `reach_of_items`.
        since: The revision since which an item has been waiting.
    """
    scored = {} if standing.scores is None else standing.scores.by_item()
    found: dict[int, ItemWorth] = {}
    for item in items:
        answers = standing.answers.get(item, ())
        probabilities = scored.get(item)
        found[item] = ItemWorth(
            doubt=_doubt(answers) if probabilities is None else 1 - max(probabilities),
            relevance=None if probabilities is None else 1 - probabilities[0],
            spread=_spread(answers),
            reach=reach.get(item, 0.0),
            since=since.get(item),
        )
    return found


def _doubt(answers: Sequence[JudgeAnswer]) -> float:
    """Give the doubt of the surest judge, in [0, 1]; 1 where none says how sure it is."""
    sure = [answer.confidence for answer in answers if answer.confidence is not None]
    return 1.0 - max(sure) if sure else 1.0


def _spread(answers: Sequence[JudgeAnswer]) -> float:
    """Give the distance between the judges that differ most, in [0, 1]."""
    said = [GRADE_RANK[answer.grade] for answer in answers if answer.grade is not None]
    return (max(said) - min(said)) / max(GRADE_RANK.values()) if said else 0.0


def stand_among(
    order: Order, worths: Mapping[int, ItemWorth], middle: Collection[int]
) -> dict[int, ItemWorth]:
    """Let items that nothing waits for pass for the one in the middle of the others.

    So nobody can tell what was drawn, or comes back, from its place.

    Args:
        order: The order.
        worths: What is known of all items.
        middle: Those that pass for another.
    """
    others = sorted(
        worths.keys() - set(middle), key=lambda item: (-order.worth(worths[item], 0.5), item)
    )
    if not others:
        return dict(worths)
    like = worths[others[len(others) // 2]]
    return {
        **worths,
        **{item: replace(like, since=worths[item].since) for item in middle},
    }


def influential(items: Collection[int], reach: Mapping[int, float]) -> frozenset[int]:
    """Choose the waiting items whose labels move the reports most: a tenth, and one at least."""
    ordered = sorted(items, key=lambda item: (-reach.get(item, 0.0), item))
    return frozenset(ordered[: math.ceil(INFLUENTIAL_SHARE * len(ordered))])
