"""Assignment: whole groups to parts, so that each part has its share of every domain."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labeler.errors import UsageError
from labeler.records.splits import SplitPart

__all__ = ["DEFAULT_SHARES", "Sized", "assign", "checked_shares"]

DEFAULT_SHARES: Mapping[SplitPart, float] = {
    SplitPart.TRAIN: 0.6,
    SplitPart.DEV: 0.2,
    SplitPart.TEST: 0.2,
}


@dataclass(frozen=True, slots=True)
class Sized:
    """A group as assignment sees it.

    Attributes:
        key: The digest of its members' names.
        domain: The domain that most of its documents, else queries, are of; "" without one.
        documents: How many documents it has.
        queries: How many queries it has.
    """

    key: str
    domain: str
    documents: int
    queries: int


def checked_shares(train: float, dev: float, test: float) -> dict[SplitPart, float]:
    """Give the shares of the parts, brought to a sum of 1.

    Raises:
        UsageError: When one is below 0, or train or test has none.
    """
    given = (train, dev, test)
    if not all(math.isfinite(one) and one >= 0 for one in given) or not train or not test:
        raise UsageError("shares are numbers of 0 or more, and train and test need one above 0")
    total = sum(given)
    return {part: one / total for part, one in zip(SplitPart, given, strict=True)}


def assign(
    groups: Sequence[Sized],
    shares: Mapping[SplitPart, float],
    seed: str,
    taken: Mapping[tuple[str, SplitPart], tuple[int, int]] | None = None,
) -> list[SplitPart]:
    """Give each group its part.

    Within a domain groups go by size, largest first, then by a hash keyed with the seed; each to
    the part with the largest relative deficit, which is the mean over the group's documents and
    queries of what the part still lacks of that kind, as a share of what it is to have. Of equal
    deficits the part with the larger share counts, so that the largest group goes to train.

    Args:
        groups: The groups, in any order.
        shares: The share of each part, of sum 1.
        seed: Decides among groups of one size, and among parts of one deficit and share.
        taken: By domain and part, documents and queries that are there already.
    """
    total: Counter[tuple[str, int]] = Counter()
    have: defaultdict[tuple[str, SplitPart, int], int] = defaultdict(int)
    for (domain, part), counts in (taken or {}).items():
        for kind, count in enumerate(counts):
            have[domain, part, kind] += count
            total[domain, kind] += count
    for group in groups:
        for kind, count in enumerate((group.documents, group.queries)):
            total[group.domain, kind] += count
    parts = [part for part in SplitPart if shares[part] > 0]
    chosen: dict[int, SplitPart] = {}

    def place(at: int) -> tuple[int, str]:
        group = groups[at]
        return -(group.documents + group.queries), _keyed(seed, group.key)

    def deficit(group: Sized, part: SplitPart) -> float:
        lacking = 0.0
        for kind, count in enumerate((group.documents, group.queries)):
            if count:
                due = shares[part] * total[group.domain, kind]
                lacking += count * (due - have[group.domain, part, kind]) / due
        return lacking / (group.documents + group.queries)

    for at in sorted(range(len(groups)), key=place):
        group = groups[at]
        part = max(
            parts,
            key=lambda one: (
                round(deficit(group, one), 9),
                shares[one],
                _keyed(seed, group.domain + one),
            ),
        )
        chosen[at] = part
        for kind, count in enumerate((group.documents, group.queries)):
            have[group.domain, part, kind] += count
    return [chosen[at] for at in range(len(groups))]


def _keyed(seed: str, key: str) -> str:
    return hashlib.sha256(f"{seed}\n{key}".encode("utf-8", "surrogatepass")).hexdigest()
