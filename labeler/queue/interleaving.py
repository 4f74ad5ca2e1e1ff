"""Drawn items that an acceptance or an estimate waits for, among others at a constant rate.

They come early, since labels that are right wait for them, or somebody who wants a number; and in
no run of their own, so that nobody can tell them from their place. The rate follows from the draw
and from the frame, and not from what is left of either: routing again after some votes changes
nothing of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["MOST", "Early", "company_of", "interleaved", "rate_of"]

WITHIN = 1 / 3
"""The draw is answered within this part of the frame."""

MOST = 0.75
"""Not more than this share of what comes first was drawn, so that no item is known to be one: where
a draw is more than a quarter of its frame, it takes longer than a third."""


@dataclass(frozen=True, slots=True)
class Early:
    """Items that come before the others, each among some others of its query.

    Attributes:
        items: The items.
        rate: Their share of what comes first, in (0, 1].
    """

    items: frozenset[int] = frozenset()
    rate: float = MOST


def rate_of(drawn: int, frame: int) -> float:
    """Give the share at which drawn items come, so that all have come within a third of the frame.

    Args:
        drawn: Items that were drawn, whether or not they are answered.
        frame: Items that they were drawn from.
    """
    if not drawn or not frame:
        return MOST
    return min(MOST, drawn / (WITHIN * frame))


def company_of(drawn: int, rate: float) -> int:
    """Give how many others come with so many drawn items, for these to be that share of all."""
    return math.ceil(drawn * (1 - rate) / rate - 1e-9)


def interleaved(drawn: Sequence[int], others: Sequence[int], rate: float) -> list[int]:
    """Put drawn items evenly among the first others, in their orders.

    Args:
        drawn: The drawn items; all of them come.
        others: What they stand among; as many come as the rate asks for, or all.
        rate: The share of drawn items, in (0, 1].
    """
    company = others[: company_of(len(drawn), rate)]
    placed = [
        ((number + 0.5) / len(of), item)
        for of in (drawn, company)
        for number, item in enumerate(of)
    ]
    return [item for _, item in sorted(placed)]
