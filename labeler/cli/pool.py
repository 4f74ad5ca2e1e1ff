"""`labeler pool`: make pools, show them, plan their depth."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from labeler.cli.output import print_facts, print_json, print_table, working
from labeler.cli.project import Database, JsonOutput, open_project

app = App(name="pool", help="Make pools from runs, show them, plan their depth.")

Runs = Annotated[
    tuple[str, ...],
    Parameter(
        name="--runs",
        consume_multiple=True,
        negative="",
        help="Names or patterns of runs, such as 'bm25-*'; all runs by default.",
    ),
]
OrderRule = Annotated[
    Literal["score", "rank"],
    Parameter(
        name="--order",
        help="score: as trec_eval orders, by score, then document id, both descending. "
        "rank: by the rank column.",
    ),
]
SnapshotName = Annotated[
    str | None, Parameter(name="--snapshot", help="The snapshot that the runs stand on.")
]


@app.command
def create(
    name: str,
    /,
    *,
    depth: int,
    runs: Runs = (),
    snapshot: SnapshotName = None,
    order: OrderRule = "score",
    extends: str | None = None,
    judged_queries: Annotated[bool, Parameter(negative="")] = False,
    rubric: Path | None = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Make an immutable pool: the union of the top of each run, evidence collapsed before the cut.

    Parameters
    ----------
    name
        The pool's name.
    depth
        How many evidences to take from the top of each run.
    extends
        A pool whose candidates are taken over; the new pool holds both.
    judged_queries
        Leave out queries for which nothing was judged yet.
    rubric
        The rubric file; the shipped one by default.
    """
    from labeler.assessment.rubric import default_rubric, read_rubric
    from labeler.pools.create import PoolOptions, create_pool

    options = PoolOptions(
        depth=depth,
        rubric=read_rubric(rubric) if rubric is not None else default_rubric(),
        runs=runs,
        snapshot=snapshot,
        order=order,
        extends=extends,
        only_judged=judged_queries,
    )
    with open_project(db) as store, working("pooling"):
        report = create_pool(store, name, options)
    if json:
        print_json(asdict(report))
        return
    print_facts(
        {
            "pool": report.name,
            "digest": report.digest,
            "snapshot": report.snapshot,
            "queries": report.queries,
            "runs": report.runs,
            "passages (query, chunk)": report.passages,
            "candidates (query, evidence)": report.candidates,
            "from one system only": report.from_one_system,
            "without text": report.without_text,
        }
    )
    if report.revision is None:
        print("nothing changed: this pool is there already")


@app.command
def show(name: str, /, *, db: Database = None, json: JsonOutput = False) -> None:
    """Show a pool: what each run brought, and how far it is judged.

    Parameters
    ----------
    name
        The pool's name.
    """
    from labeler.pools.show import ItemStatus, show_pool

    with open_project(db) as store, store.read() as connection:
        view = show_pool(connection, name)
    if json:
        print_json(asdict(view))
        return
    statuses = list(ItemStatus)
    print_table(
        ["run", "role", "depth", "candidates", "it alone", *statuses],
        [
            [
                share.run,
                share.role,
                share.depth,
                share.candidates,
                share.from_it_alone,
                *(share.by_status.get(status, 0) for status in statuses),
            ]
            for share in view.runs
        ],
    )
    print()
    print_table(
        ["role", "candidates", *statuses],
        [
            [role, sum(counts.values()), *(counts.get(status, 0) for status in statuses)]
            for role, counts in view.by_role.items()
        ],
    )
    print()
    print_facts(
        {
            "pool": view.name,
            "digest": view.digest,
            "snapshot": view.snapshot,
            "rubric": view.rubric,
            "depth": view.depth,
            "order": view.order,
            "queries": view.queries,
            "passages (query, chunk)": view.passages,
            "candidates (query, evidence)": view.candidates,
            "from one system only": view.from_one_system,
            "added by people": view.by_people,
            **{str(status): view.by_status.get(status, 0) for status in statuses},
        }
    )


@app.command
def plan(
    *,
    depths: Annotated[tuple[int, ...], Parameter(consume_multiple=True, negative="")] = (
        *(1, 3, 5, 10, 20, 50, 100),
    ),
    runs: Runs = (),
    snapshot: SnapshotName = None,
    order: OrderRule = "score",
    judged_queries: Annotated[bool, Parameter(negative="")] = False,
    queries: Path | None = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Tell for each depth how many candidates it gives and how many labels it would cost.

    Parameters
    ----------
    depths
        The depths to compare.
    judged_queries
        Count only queries for which something was judged.
    queries
        A file with the ids of the queries to count, one a line, such as those of dev.
    """
    from labeler.formats.text_file import read_text_file
    from labeler.pools.plan import plan_depths

    names = read_text_file(queries).split("\n") if queries is not None else []
    with open_project(db) as store, store.read() as connection, working("counting"):
        costs = plan_depths(
            connection,
            depths,
            runs=runs,
            snapshot=snapshot,
            order=order,
            only_judged=judged_queries,
            queries=[stripped for one in names if (stripped := one.strip())],
        )
    if json:
        print_json({"depths": [asdict(cost) for cost in costs]})
        return
    print_table(
        ["depth", "candidates", "new", "one system", "no text", "labelled", "to label"],
        [list(asdict(cost).values()) for cost in costs],
    )


@app.command(name="list")
def list_pools(*, db: Database = None, json: JsonOutput = False) -> None:
    """List the pools."""
    from labeler.pools.listing import list_pools as rows_of

    with open_project(db) as store, store.read() as connection:
        rows = rows_of(connection)
    if json:
        print_json({"pools": rows})
    elif rows:
        print_table(list(rows[0]), [list(row.values()) for row in rows])
    else:
        print("no pools yet: `labeler pool create NAME --depth 10`")
