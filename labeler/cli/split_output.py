"""What the commands of `labeler split` share: their options, and how edges and plans are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from labeler.cli.output import Progress, print_facts, print_table, tell

if TYPE_CHECKING:
    from labeler.providers.embeddings import Embedder
    from labeler.splits.edges import Edge
    from labeler.splits.grouping import Oversized
    from labeler.splits.plan import Plan
    from labeler.store.database import Store

__all__ = [
    "Embeddings",
    "Share",
    "SnapshotName",
    "SplitName",
    "edge_facts",
    "embedder_wanted",
    "plan_facts",
    "print_edges",
    "print_oversized",
    "print_plan",
    "score_cell",
]

SnapshotName = Annotated[
    str | None, Parameter(name="--snapshot", help="The snapshot; the only one by default.")
]
SplitName = Annotated[
    str | None, Parameter(name="--split", help="The frozen split; the newest by default.")
]
Embeddings = Annotated[
    bool | None,
    Parameter(
        name="--embeddings",
        help="Compare meanings too, by the embedded model; by default where it is installed.",
    ),
]
Share = Annotated[
    float, Parameter(help="A share of the whole; the three are brought to a sum of 1.")
]


def embedder_wanted(store: Store, wanted: bool | None, progress: Progress) -> Embedder | None:
    """Give the embedded model: None when it is not wanted, or not there and not asked for.

    Its vectors are kept in the project, where the embedded judge keeps its own.
    """
    from labeler.errors import JudgeError, MissingExtraError
    from labeler.judges.embedding_cache import stored_embedder

    if wanted is False:
        return None
    try:
        return stored_embedder(store, advance=progress.advance)
    except (JudgeError, MissingExtraError):
        if wanted:
            raise
        return None


def plan_facts(made: Plan) -> dict[str, object]:
    """Give a plan in a form for JSON."""
    sizes = sorted((len(group.members) for group in made.groups), reverse=True)
    return {
        "snapshot": made.content.snapshot,
        "seed": made.seed,
        "scheme": dict(made.scheme),
        "parts": {part.value: dict(counts) for part, counts in made.counts().items()},
        "groups": len(made.groups),
        "largest_groups": sizes[:5],
        "edges": _edge_counts(made),
        "can_freeze": made.can_freeze,
        "oversized": [
            {
                "documents": one.documents,
                "allowed": one.allowed,
                "members": list(one.members),
                "bridges": [
                    {"cut_off": bridge.cut_off, "edges": [edge_facts(e) for e in bridge.edges]}
                    for bridge in one.bridges
                ],
                "weakest": [edge_facts(edge) for edge in one.weakest],
            }
            for one in made.oversized
        ],
        "warnings": list(made.warnings),
    }


def _edge_counts(made: Plan) -> dict[str, dict[str, int]]:
    counted: dict[str, dict[str, int]] = {}
    for edge in made.edges:
        by_action = counted.setdefault(edge.cause.value, {})
        by_action[edge.action.value] = by_action.get(edge.action.value, 0) + 1
    return dict(sorted(counted.items()))


def edge_facts(edge: Edge) -> dict[str, object]:
    """Give an edge in a form for JSON."""
    return {
        "left": edge.left,
        "right": edge.right,
        "cause": edge.cause.value,
        "score": edge.score,
        "evidence": edge.evidence,
        "action": edge.action.value,
    }


def print_plan(made: Plan) -> None:
    """Print a plan: parts, edges by cause, groups, and what to know."""
    counts = made.counts()
    documents, queries = len(made.content.documents), len(made.content.queries)
    print_table(
        ["part", "share wanted", "groups", "documents", "of all", "queries", "of all"],
        [
            [
                part,
                f"{made.shares[part]:.0%}",
                one["groups"],
                one["documents"],
                f"{one['documents'] / documents:.1%}" if documents else "-",
                one["queries"],
                f"{one['queries'] / queries:.1%}" if queries else "-",
            ]
            for part, one in counts.items()
        ],
    )
    print()
    print_table(
        ["edges by cause", "link", "review", "ignore"],
        [
            [cause, *(by_action.get(name, 0) for name in ("link", "review", "ignore"))]
            for cause, by_action in _edge_counts(made).items()
        ],
    )
    print()
    sizes = sorted((len(group.members) for group in made.groups), reverse=True)
    print_facts(
        {
            "snapshot": made.content.snapshot,
            "seed": made.seed,
            "groups": len(made.groups),
            "largest groups": ", ".join(f"{size:,}" for size in sizes[:5]),
            "can be frozen": "yes" if made.can_freeze else "no",
        }
    )
    if made.oversized:
        print()
        print_oversized(made.oversized)
    for warning in made.warnings:
        tell(f"note: {warning}")


def print_oversized(oversized: Sequence[Oversized]) -> None:
    """Tell which groups are too large, and which edges hold them together."""
    for one in oversized[:3]:
        tell(
            f"too large: a group of {one.documents:,} documents, {one.allowed:,.1f} allowed, with "
            f"{one.members[0]}"
        )
        for bridge in one.bridges:
            edge = bridge.edges[0]
            tell(
                f"  bridge, cuts off {bridge.cut_off:,}: {edge.left} - {edge.right} "
                f"({edge.cause}: {edge.evidence})"
            )
        if not one.bridges:
            for edge in one.weakest:
                tell(
                    f"  weak link {score_cell(edge)}: {edge.left} - {edge.right} "
                    f"({edge.cause}: {edge.evidence})"
                )
    if len(oversized) > 3:  # noqa: PLR2004 - as many as were shown
        tell(f"too large: {len(oversized) - 3:,} more groups")


def print_edges(found: Sequence[Edge]) -> None:
    """Print edges, one a line."""
    print_table(
        ["left", "right", "cause", "score", "evidence"],
        [[one.left, one.right, one.cause, score_cell(one), one.evidence] for one in found],
    )


def score_cell(edge: Edge) -> str:
    """Give the score of an edge as a cell; a fact has none."""
    return "-" if edge.score is None else f"{edge.score:.3f}"
