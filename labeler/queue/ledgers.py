"""Two ledgers: votes on items that a random draw picked, and votes of the queue.

Votes that were given because an item looked doubtful improve the labels, and say nothing of how
often labels are wrong. So every figure of an audit stands beside both counts, and what computes a
rate takes drawn labels alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from labeler.errors import UsageError
from labeler.labels import Grade
from labeler.queue.audit_frames import drawn_items
from labeler.queue.standing import PoolStanding

__all__ = ["DrawnLabel", "Ledgers", "count_ledgers", "share_right"]


@dataclass(frozen=True, slots=True)
class Ledgers:
    """How many labels people gave, by what the item was picked for.

    Attributes:
        drawn: Items that a random draw picked, with a recorded probability.
        drawn_answered: Those of them that people have judged.
        queue: Items that people judged and no draw had picked.
    """

    drawn: int
    drawn_answered: int
    queue: int


@dataclass(frozen=True, slots=True)
class DrawnLabel:
    """A label of people on an item that a random draw picked, beside the label it is to check.

    Raises:
        UsageError: When there is no probability in (0, 1]: such a vote is no sample of anything.
    """

    item_id: int
    probability: float | None
    said: Grade | None
    checked: Grade

    def __post_init__(self) -> None:
        if self.probability is None or not 0 < self.probability <= 1:
            raise UsageError(
                f"item {self.item_id} was not drawn with a known probability, so no rate can be "
                "computed from it",
                hint="votes of the queue improve labels; `labeler route` and `labeler sample` draw",
            )


def count_ledgers(connection: Connection, standing: PoolStanding) -> Ledgers:
    """Count both ledgers of a pool."""
    people = standing.people.keys()
    drawn = drawn_items(connection, standing.pool_id).keys()
    return Ledgers(drawn=len(drawn), drawn_answered=len(drawn & people), queue=len(people - drawn))


def share_right(labels: Sequence[DrawnLabel]) -> float | None:
    """Estimate the share of labels that agree with people, each weighed by its probability.

    The ratio of Horvitz-Thompson totals (Hajek 1971); an abstention is no agreement.

    Returns:
        The share, or None without labels.
    """
    weights = [1 / (one.probability or 1.0) for one in labels]
    if not weights:
        return None
    right = sum(
        weight for one, weight in zip(labels, weights, strict=True) if one.said is one.checked
    )
    return right / sum(weights)
