"""Options that the reports on runs share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from labeler.evaluation.metrics import Metric
    from labeler.reports.scope import ScopeOptions

__all__ = [
    "AsOf",
    "Gain",
    "Labels",
    "Metrics",
    "OrderRule",
    "OriginOfQueries",
    "Page",
    "PoolName",
    "Relevant",
    "RubricName",
    "Runs",
    "ScopeChoice",
    "SnapshotName",
    "metrics_of",
]

PoolName = Annotated[
    str | None,
    Parameter(
        name="--pool",
        help="The pool whose queries and items count. Without one: every item of the snapshot "
        "that is pooled or labelled, and the queries with a label.",
    ),
]
Runs = Annotated[
    tuple[str, ...],
    Parameter(
        name="--runs",
        consume_multiple=True,
        negative="",
        help="Names or patterns of runs, such as 'bm25-*'; the pool's, or all, by default.",
    ),
]
Labels = Annotated[
    Literal["human", "human+auto"],
    Parameter(
        name="--labels",
        help="human: what people decided. human+auto: what a policy accepted from a judge, too. "
        "It becomes a part of each metric's name.",
    ),
]
OrderRule = Annotated[
    Literal["score", "rank"] | None,
    Parameter(
        name="--order",
        help="score: as trec_eval orders. rank: by the file's rank column. As the pool was made, "
        "or by score, by default.",
    ),
]
Relevant = Annotated[
    Literal["partially", "fully"],
    Parameter(name="--relevant", help="The least grade that counts as relevant."),
]
SnapshotName = Annotated[
    str | None, Parameter(name="--snapshot", help="The snapshot that the runs stand on.")
]
RubricName = Annotated[
    str | None,
    Parameter(
        name="--rubric",
        help="The rubric by name or digest, where items of the snapshot are judged under several.",
    ),
]


Gain = Annotated[
    Literal["linear", "exponential"],
    Parameter(
        name="--gain",
        help="How a level's gain counts in nDCG: as it is, as trec_eval does, or 2^gain - 1.",
    ),
]
AsOf = Annotated[
    int | None, Parameter(name="--as-of", help="The state after this revision; now by default.")
]
Page = Annotated[
    Path | None,
    Parameter(name="--html", help="Write a page with charts to this file; it loads nothing else."),
]
Metrics = Annotated[
    tuple[str, ...],
    Parameter(
        name="--metric",
        consume_multiple=True,
        negative="",
        help="P@K, MRR, MRR@K, recall@K or nDCG@K; P@5 P@10 MRR recall@20 nDCG@10 by default.",
    ),
]


OriginOfQueries = Annotated[
    Literal["people", "synthetic"] | None,
    Parameter(
        name="--origin",
        help="people: queries that people asked. synthetic: generated ones. The two are never in "
        "one figure; people's count by default, or generated ones where there are no others.",
    ),
]


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class ScopeChoice:
    """What a report looks at, as it is typed: each attribute is an option of the command."""

    pool: PoolName = None
    labels: Labels = "human"
    relevant: Relevant = "partially"
    order: OrderRule = None
    as_of: AsOf = None
    snapshot: SnapshotName = None
    rubric: RubricName = None
    origin: OriginOfQueries = None

    def options(self, runs: tuple[str, ...], gain: Gain = "linear") -> ScopeOptions:
        """Say what is looked at."""
        from labeler.assessment.label_states import LabelSource
        from labeler.labels import Grade
        from labeler.reports.scope import ScopeOptions
        from labeler.retrieval.query_facts import AskedBy

        return ScopeOptions(
            pool=self.pool,
            runs=runs,
            snapshot=self.snapshot,
            rubric=self.rubric,
            source=LabelSource(self.labels),
            least=Grade(f"{self.relevant}_relevant"),
            order=self.order,
            gain=gain,
            as_of=self.as_of,
            asked_by=None if self.origin is None else AskedBy(self.origin),
        )


def metrics_of(typed: tuple[str, ...]) -> tuple[Metric, ...]:
    """Read metrics as they are typed; those that reports give by default where none is."""
    from labeler.evaluation.metrics import DEFAULT_METRICS, parse_metric

    return tuple(dict.fromkeys(parse_metric(one) for one in typed)) or DEFAULT_METRICS
