"""The metrics by name: which measure, at which cutoff, and what a report calls it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from labeler.errors import UsageError
from labeler.evaluation.gain import GainRule, ndcg_at
from labeler.evaluation.ranking import (
    JudgedRanking,
    Measured,
    precision_at,
    recall_at,
    reciprocal_rank,
)

__all__ = ["DEFAULT_METRICS", "Kind", "Metric", "measure", "parse_metric"]


class Kind(StrEnum):
    """What is measured."""

    PRECISION = "P"
    RECIPROCAL_RANK = "MRR"
    RECALL = "known_label_recall"
    NDCG = "nDCG"


_SPELLINGS = {
    "p": Kind.PRECISION,
    "precision": Kind.PRECISION,
    "mrr": Kind.RECIPROCAL_RANK,
    "rr": Kind.RECIPROCAL_RANK,
    "recall": Kind.RECALL,
    "r": Kind.RECALL,
    "known_label_recall": Kind.RECALL,
    "ndcg": Kind.NDCG,
}
_WRITTEN = re.compile(r"([a-z_]+)(?:@([1-9][0-9]{0,5}))?(?:\[[^\]]*\])*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric.

    Attributes:
        kind: What is measured.
        cutoff: How many places count; None, for the reciprocal rank alone, is all of them.
    """

    kind: Kind
    cutoff: int | None

    @property
    def short(self) -> str:
        """The name as it is given in commands and gate files."""
        name = "recall" if self.kind is Kind.RECALL else self.kind.value
        return name if self.cutoff is None else f"{name}@{self.cutoff}"

    @property
    def name(self) -> str:
        """The name that says what it is."""
        name = self.kind.value if self.cutoff is None else f"{self.kind.value}@{self.cutoff}"
        if self.kind is Kind.NDCG:
            return f"{name}[known-ideal]"
        return name if self.kind is Kind.RECALL else f"{name}[unknown=0]"

    def full_name(self, source: str) -> str:
        """The name with whose labels it takes."""
        return f"{self.name}[{source}]"


DEFAULT_METRICS = (
    Metric(Kind.PRECISION, 5),
    Metric(Kind.PRECISION, 10),
    Metric(Kind.RECIPROCAL_RANK, None),
    Metric(Kind.RECALL, 20),
    Metric(Kind.NDCG, 10),
)
"""What a report gives when no metric is named."""


def parse_metric(text: str) -> Metric:
    """Read a metric such as ``P@5``, ``MRR``, ``recall@20`` or ``nDCG@10``.

    Raises:
        UsageError: When it is none.
    """
    found = _WRITTEN.fullmatch(text.strip().lower())
    kind = None if found is None else _SPELLINGS.get(found.group(1))
    if found is None or kind is None:
        raise UsageError(
            f"no metric is called '{text}'",
            hint="P@K, MRR, MRR@K, recall@K and nDCG@K are known, with K from 1",
        )
    cutoff = None if found.group(2) is None else int(found.group(2))
    if cutoff is None and kind is not Kind.RECIPROCAL_RANK:
        raise UsageError(f"'{text}' needs a cutoff", hint=f"such as {text.strip()}@10")
    return Metric(kind, cutoff)


def measure(metric: Metric, ranking: JudgedRanking, rule: GainRule = "linear") -> Measured:
    """Measure one run.

    Args:
        metric: What is measured.
        ranking: What the run ranked, with what is known of it.
        rule: How gains count, for nDCG.
    """
    if metric.kind is Kind.RECIPROCAL_RANK:
        return reciprocal_rank(ranking, metric.cutoff)
    cutoff = metric.cutoff or 0
    if metric.kind is Kind.PRECISION:
        return precision_at(ranking, cutoff)
    if metric.kind is Kind.RECALL:
        return recall_at(ranking, cutoff)
    return ndcg_at(ranking, cutoff, rule)
