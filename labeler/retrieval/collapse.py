"""Evidence collapsed before the cut: a pure function over one run's chunks for one query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Pooled", "collapse"]


@dataclass(frozen=True, slots=True)
class Pooled:
    """One evidence that a run brings, with its rank among evidences and that of its chunk."""

    evidence: int
    rank: int
    raw_rank: int


def collapse(
    chunks: Iterable[int], carried: Mapping[int, Sequence[int]], depth: int
) -> tuple[list[Pooled], list[int]]:
    """Take the top of one run for one query.

    Chunks that carry an evidence which a better chunk brought already add nothing, so the cut is
    at ``depth`` different evidences. Evidences of one chunk follow each other in a fixed order.

    Args:
        chunks: The chunks, best first.
        carried: The evidences of each chunk, in their fixed order; each chunk has at least one.
        depth: How many evidences to take, 1 or more.

    Returns:
        The evidences taken, and the chunks that had to be read for them.
    """
    taken: list[Pooled] = []
    read: list[int] = []
    seen: set[int] = set()
    for raw_rank, chunk in enumerate(chunks, 1):
        read.append(chunk)
        for evidence in carried[chunk]:
            if evidence in seen:
                continue
            seen.add(evidence)
            taken.append(Pooled(evidence, len(taken) + 1, raw_rank))
            if len(taken) == depth:
                return taken, read
    return taken, read
