"""Options that the reports on runs share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from labeler.reports.scope import ScopeOptions

__all__ = [
    "Labels",
    "OrderRule",
    "PoolName",
    "Relevant",
    "RubricName",
    "Runs",
    "SnapshotName",
    "scope_of",
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


def scope_of(
    *,
    pool: str | None,
    runs: tuple[str, ...],
    labels: Literal["human", "human+auto"],
    relevant: Literal["partially", "fully"],
    order: Literal["score", "rank"] | None,
    as_of: int | None,
    snapshot: str | None = None,
    rubric: str | None = None,
) -> ScopeOptions:
    """Say what a report looks at, from the options as they are typed."""
    from labeler.assessment.label_states import LabelSource
    from labeler.labels import Grade
    from labeler.reports.scope import ScopeOptions

    return ScopeOptions(
        pool=pool,
        runs=runs,
        snapshot=snapshot,
        rubric=rubric,
        source=LabelSource(labels),
        least=Grade(f"{relevant}_relevant"),
        order=order,
        as_of=as_of,
    )
