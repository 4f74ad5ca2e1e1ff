"""How labels change between two judges of the same items: the share that flips, and which way.

Tables are those of `confusion_tables`: rows are the first judge's labels, columns the second's,
levels from worst to best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.agreement import Disagreement, Estimate, estimate
from labeler.evaluation.sampling import keyed_draw

__all__ = ["Flips", "choose_flips", "flips_of"]

Tables = NDArray[np.float64]
"""Shape (..., levels, levels): counts of pairs of labels."""


@dataclass(frozen=True, slots=True)
class Flips:
    """How many labels differ between two judges.

    Attributes:
        labels: Items that both gave a label.
        flipped: Those whose two labels differ.
        raised: Those to which the second gave the better label.
        lowered: Those to which the second gave the worse one.
        share: ``flipped / labels``, with an interval over clusters.
    """

    labels: int
    flipped: int
    raised: int
    lowered: int
    share: Estimate


def flips_of(tables: Tables) -> Flips:
    """Count flips, with a jackknife interval over the clusters; see `estimate`.

    Args:
        tables: Shape (clusters, levels, levels).
    """
    total = tables.sum(axis=0)
    raised, lowered = int(np.triu(total, 1).sum()), int(np.tril(total, -1).sum())
    return Flips(
        labels=int(total.sum()),
        flipped=raised + lowered,
        raised=raised,
        lowered=lowered,
        share=estimate(tables, _flipped, least=0.0),
    )


def _flipped(tables: Tables) -> Disagreement:
    """Give the share of flips as a coefficient: what "disagrees" with a flip is a label kept."""
    return Disagreement(np.trace(tables, axis1=-2, axis2=-1), tables.sum(axis=(-2, -1)))


def choose_flips(
    items: Sequence[int],
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    *,
    count: int,
    seed: int,
) -> list[int]:
    """Choose flips to look at: those across the relevance boundary first, at random among equals.

    Args:
        items: The keys of the items whose labels differ, each once.
        before: Shape (items,): the first judge's states, as numbers.
        after: Shape (items,): the second's.
        count: How many at most.
        seed: The same seed chooses the same items, whatever the order in which they come; a larger
            count keeps what a smaller one chose.
    """
    across: list[str] = []
    within: list[str] = []
    for item, one, other in zip(items, before.tolist(), after.tolist(), strict=True):
        (within if one == other else across).append(str(item))
    chosen = keyed_draw(str(seed), across, min(count, len(across)))
    chosen += keyed_draw(str(seed), within, min(count - len(chosen), len(within)))
    return [int(item) for item in chosen]
