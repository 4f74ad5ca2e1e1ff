"""What stands among the first places, whatever its label: required evidence, the right domain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.ranking import JudgedRanking, Measured, Numbers, checked, shares

__all__ = ["domain_accuracy_at", "required_coverage_at"]

UNKNOWN_DOMAIN = -1
"""The code of a document without a domain, and of a query without one."""


def required_coverage_at(
    ranking: JudgedRanking, required: Sequence[Sequence[Sequence[int]]], cutoff: int
) -> Numbers:
    """Give the share of what an answer needs that stands among the first ``cutoff`` places.

    Args:
        ranking: What was ranked.
        required: For each query its groups, each with the keys of evidence of which one is enough.
        cutoff: How many places count, 1 or more.

    Returns:
        Shape (queries,), in [0, 1]; not a number where nothing is required.
    """
    found = np.full(ranking.query_count, np.nan)
    for number, groups in enumerate(required):
        if groups:
            start = ranking.starts[number]
            end = min(ranking.starts[number + 1], start + checked(cutoff))
            top = set(ranking.evidence[start:end].tolist())
            found[number] = sum(not top.isdisjoint(group) for group in groups) / len(groups)
    return found


def domain_accuracy_at(
    ranking: JudgedRanking,
    of_queries: NDArray[np.int64],
    of_places: NDArray[np.int64],
    cutoff: int,
) -> Measured:
    """Give the share of the first ``cutoff`` returned places that are of the query's domain.

    A place whose domain isn't known is in none: it counts as wrong in the value and in the lower
    bound, as right in the upper one, and not at all in judged only.

    Args:
        ranking: What was ranked.
        of_queries: Shape (queries,): codes of domains, -1 for none.
        of_places: Shape (places,): likewise.
        cutoff: How many places count, 1 or more.

    Returns:
        Not a number where the query has no domain or nothing was returned.
    """
    top = (ranking.ranks <= checked(cutoff)) & (of_queries[ranking.query_of] != UNKNOWN_DOMAIN)
    right = ranking.count_where(top & (of_places == of_queries[ranking.query_of]))
    open_to_be = ranking.count_where(top & (of_places == UNKNOWN_DOMAIN))
    returned = ranking.count_where(top)
    value = shares(right, returned)
    return Measured(
        value=value,
        lower=value,
        upper=shares(right + open_to_be, returned),
        judged_only=shares(right, returned - open_to_be),
        part=right,
        whole=returned,
    )
