"""`labeler split edges`, `explain` and `settle`: why things belong together, and who says so."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

from cyclopts import Parameter

from labeler.cli.output import print_json, print_table, tell
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.split_output import SnapshotName, edge_facts, print_edges, score_cell

__all__ = ["edges", "explain", "settle"]


def edges(
    *,
    snapshot: SnapshotName = None,
    action: Literal["link", "review", "ignore"] = "review",
    cause: str | None = None,
    limit: int = 50,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """List edges with cause, score and evidence: by default those that wait for a person.

    Parameters
    ----------
    action
        What the edges do.
    cause
        Edges of this cause only, such as near_passage.
    limit
        How many to show, most alike first.
    """
    from labeler.splits.explaining import read_edges

    with open_project(db) as store, store.read() as connection:
        split, found = read_edges(connection, snapshot)
    wanted = [one for one in found if one.action == action and cause in {None, one.cause.value}]
    wanted.sort(key=lambda one: (-(one.score or 0.0), one.key))
    if json:
        name = None if split is None else split.name
        listed = [edge_facts(one) for one in wanted[:limit]]
        print_json({"split": name, "total": len(wanted), "edges": listed})
        return
    print_table(
        ["left", "right", "cause", "score", "evidence"],
        [[one.left, one.right, one.cause, score_cell(one), one.evidence] for one in wanted[:limit]],
    )
    if len(wanted) > limit:
        tell(f"{len(wanted) - limit:,} more; --limit shows them")


def explain(
    one: str,
    other: str,
    /,
    *,
    snapshot: SnapshotName = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Show the chain of edges that puts two documents or queries into one group.

    Parameters
    ----------
    one
        A document or query by its id; `document:ID` or `query:ID` where both have it.
    other
        The other.
    """
    from labeler.splits.explaining import explain as explained

    with open_project(db) as store, store.read() as connection:
        found = explained(connection, one, other, snapshot=snapshot)
    if json:
        print_json(
            {
                "left": found.left,
                "right": found.right,
                "split": found.split,
                "places": [
                    None if one is None else {"group": one.group, "part": one.part.value}
                    for one in found.places
                ],
                "chain": [edge_facts(edge) for edge in found.chain],
                "between": [edge_facts(edge) for edge in found.between],
            }
        )
        return
    for node, place in zip((found.left, found.right), found.places, strict=True):
        where = "no part" if place is None else f"group {place.group}, {place.part}"
        print(f"{node}: {where if found.split else 'planned, not frozen'}")
    if found.chain:
        print(f"{len(found.chain)} links between them:")
        print_edges(found.chain)
    elif found.left == found.right:
        print("they are one and the same")
    else:
        print("no chain of links leads from one to the other")
    if found.between:
        print("edges that don't link:")
        print_edges(found.between)


def settle(
    one: str,
    other: str,
    /,
    *,
    link: Annotated[bool, Parameter(negative="")] = False,
    ignore: Annotated[bool, Parameter(negative="")] = False,
    why: str,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Settle the edges of likeness between two: they belong together, or they don't.

    What is said is appended with who and why; the latest word counts when a split is frozen.
    Shared keys and equal texts are facts and stay links.

    Parameters
    ----------
    one
        A document or query.
    other
        The other.
    link
        They belong together.
    ignore
        They don't, although they look alike.
    why
        The reason.
    """
    from labeler.errors import UsageError
    from labeler.records.splits import EdgeAction
    from labeler.splits.rulings import settle_edge

    if link == ignore:
        raise UsageError("say either --link or --ignore")
    action = EdgeAction.LINK if link else EdgeAction.IGNORE
    with open_project(db) as store:
        ruling = settle_edge(store, one, other, action, why)
    if json:
        print_json({**asdict(ruling), "action": ruling.action.value})
    else:
        print(f"{ruling.left} and {ruling.right}: {ruling.words}")
