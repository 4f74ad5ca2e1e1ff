"""`labeler corpus`: list snapshots and compare them."""

from __future__ import annotations

from cyclopts import App

from labeler.cli.output import print_facts, print_json, print_table
from labeler.cli.project import Database, JsonOutput, open_project

app = App(name="corpus", help="List snapshots and compare them.")

_SHOWN = 10


@app.command(name="list")
def list_all(*, db: Database = None, json: JsonOutput = False) -> None:
    """List the snapshots."""
    from labeler.corpus.compare import list_snapshots

    with open_project(db) as store, store.read() as connection:
        rows = list_snapshots(connection)
    if json:
        print_json({"snapshots": rows})
    elif rows:
        print_table(list(rows[0]), [list(row.values()) for row in rows])
    else:
        print("no snapshots yet: `labeler import corpus FILE`")


@app.command
def diff(before: str, after: str, /, *, db: Database = None, json: JsonOutput = False) -> None:
    """Compare the evidence of two snapshots: unchanged, changed, new, gone.

    A label counts in the other snapshot where the text is just the same; else the item is unknown
    there.

    Parameters
    ----------
    before
        The one snapshot.
    after
        The other.
    """
    from labeler.corpus.compare import diff_snapshots

    with open_project(db) as store, store.read() as connection:
        found = diff_snapshots(connection, before, after)
    if json:
        print_json(
            {
                "before": found.before,
                "after": found.after,
                **{change.value: names for change, names in found.evidence.items()},
                "labelsKept": found.labels_kept,
                "labelsLost": found.labels_lost,
            }
        )
        return
    print_facts(
        {
            **{f"evidence {change}": len(names) for change, names in found.evidence.items()},
            "labels that count in both": found.labels_kept,
            "labels unknown in the second": found.labels_lost,
        }
    )
    for change, names in found.evidence.items():
        if names and change != "unchanged":
            more = f", and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
            print(f"{change}: {', '.join(names[:_SHOWN])}{more}")
