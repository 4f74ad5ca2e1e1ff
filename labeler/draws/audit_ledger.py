"""Two ledgers: votes on items that a random draw picked, and votes of the queue.

Votes that were given because an item looked doubtful improve the labels, and say nothing of how
often labels are wrong. So every figure of an audit stands beside both counts, and what computes a
rate takes drawn labels alone.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from labeler.draws.audit_frames import drawn_items
from labeler.errors import UsageError
from labeler.evaluation.posterior import LabelledStratum
from labeler.evaluation.sample_estimates import DrawnStratum
from labeler.labels import Grade

__all__ = ["DrawnLabel", "Ledgers", "cells_of", "count_ledgers", "share_right"]


@dataclass(frozen=True, slots=True)
class Ledgers:
    """How many labels people gave, by what the item was picked for.

    Attributes:
        drawn: Items that a random draw picked, with a recorded probability.
        drawn_answered: Those of them that people have judged.
        queue: Items that people judged and no draw had picked.
        disputed: Items on which people contradict each other, drawn or not: they are among neither
            of these labels until somebody has settled them.
    """

    drawn: int
    drawn_answered: int
    queue: int
    disputed: int

    def facts(self) -> dict[str, str]:
        """Say both counts, as they stand beside every figure of an audit."""
        return {
            "labels of random draws": f"{self.drawn_answered:,} of {self.drawn:,} drawn",
            "labels of the queue": f"{self.queue:,}, which no rate is computed from",
            "in dispute": f"{self.disputed:,}, no evidence of anything until settled",
        }


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


def count_ledgers(
    connection: Connection,
    pool_id: int,
    judged: Collection[int],
    as_of: int | None = None,
    *,
    disputed: Collection[int] = (),
) -> Ledgers:
    """Count both ledgers of a pool.

    Args:
        connection: A transaction's connection.
        pool_id: The pool.
        judged: Its items that people have judged.
        as_of: A revision; None is the present.
        disputed: Its items in dispute.
    """
    people = set(judged)
    drawn = drawn_items(connection, pool_id, as_of).keys()
    return Ledgers(
        drawn=len(drawn),
        drawn_answered=len(drawn & people),
        queue=len(people - drawn),
        disputed=len(disputed),
    )


def cells_of(
    strata: Iterable[tuple[Collection[int], Collection[int]]],
    said: Mapping[int, Grade | None],
    retrieved: Collection[int],
    relevance: Mapping[int, float] | None = None,
) -> list[DrawnStratum]:
    """Part the strata of an audit by who retrieved what.

    Within a stratum the drawn items of a part are a random draw of that part, so the parts are
    strata themselves. An abstention is a label that was not given: the rest of the draw stands for
    it. Nothing is taken of votes on items that weren't drawn.

    Args:
        strata: The items of each stratum, and those of them that were drawn.
        said: The grade that people gave each drawn item they judged, or None.
        retrieved: Items that the system in question retrieved.
        relevance: The calibrated probability that each item is relevant, for a prior that leans on
            it; None is a neutral prior, as it is for a part with an item that has none.
    """
    cells: list[DrawnStratum] = []
    for items, drawn in strata:
        for inside in (True, False):
            members = [item for item in items if (item in retrieved) is inside]
            if not members:
                continue
            answered = [item for item in members if item in drawn and item in said]
            labelled = [item for item in answered if said[item] is not None]
            cells.append(
                DrawnStratum(
                    LabelledStratum(
                        size=len(members),
                        labelled=len(labelled),
                        relevant=sum(said[item] is not Grade.NOT_RELEVANT for item in labelled),
                        first=inside,
                        rate=_mean_relevance(members, relevance),
                    ),
                    abstained=len(answered) - len(labelled),
                    waiting=sum(item in drawn and item not in said for item in members),
                )
            )
    return cells


def _mean_relevance(members: Sequence[int], relevance: Mapping[int, float] | None) -> float | None:
    if relevance is None or any(item not in relevance for item in members):
        return None
    return math.fsum(relevance[item] for item in members) / len(members)


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
