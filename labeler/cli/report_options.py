"""Options that the reports on runs share."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

__all__ = ["Labels", "OrderRule", "PoolName", "Relevant", "RubricName", "Runs", "SnapshotName"]

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
