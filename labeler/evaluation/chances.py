"""What probabilities of relevance make of a count of relevant items."""

from __future__ import annotations

import numpy as np

from labeler.errors import UsageError
from labeler.evaluation.ranking import Numbers

__all__ = ["probability_of_at_least"]


def probability_of_at_least(count: int, probabilities: Numbers) -> float:
    """Give the probability that at least so many of some independent items are relevant.

    The count follows the Poisson binomial distribution; it is built up item by item (Chen and Liu
    1997, Statistica Sinica 7, 875-892), with all that reaches the count taken together.

    Args:
        count: 0 or more.
        probabilities: Shape (items,), each in [0, 1].

    Raises:
        UsageError: When the count is below 0 or a probability outside its range.
    """
    if count < 0 or not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise UsageError("a count is 0 or more, and probabilities lie from 0 to 1")
    if count == 0:
        return 1.0
    if count > len(probabilities):
        return 0.0
    fewer = np.zeros(count)
    fewer[0] = 1.0
    reached = 0.0
    for chance in probabilities.tolist():
        reached += float(fewer[-1]) * chance
        fewer[1:] = fewer[1:] * (1 - chance) + fewer[:-1] * chance
        fewer[0] *= 1 - chance
    return min(reached, 1.0)
