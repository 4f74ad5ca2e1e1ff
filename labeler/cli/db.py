"""`labeler db`: check, back up, rebuild."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from labeler.cli.output import print_facts, print_json, print_table, tell, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.errors import ExitCode

app = App(name="db", help="Check, back up, and rebuild the database.")


@app.command
def check(*, db: Database = None, json: JsonOutput = False) -> int:
    """Look for damage; exit 1 when there is any."""
    from labeler.store.maintenance import check as check_store

    with open_project(db) as store, working("checking"):
        findings = check_store(store)
    if json:
        print_json({one.check: [*one.problems, *one.notes] for one in findings})
    else:
        for finding in findings:
            print(f"{'ok  ' if not finding.problems else 'BAD '}  {finding.check}")
            for line in (*finding.problems, *finding.notes):
                tell(f"      {line}")
    return ExitCode.ERROR if any(finding.problems for finding in findings) else ExitCode.DONE


@app.command
def rebuild(*, db: Database = None, json: JsonOutput = False) -> None:
    """Derive labels in force and the states of tasks from the log again."""
    from labeler.store.projections import rebuild as rebuild_projections

    with open_project(db) as store, working("deriving"):
        before, after = rebuild_projections(store)
    if json:
        print_json({"before": before, "after": after, "changed": before != after})
    else:
        same = "as they were" if before == after else "changed: they had differed from the log"
        print(f"projections derived from the log: {same}")


@app.command
def backup(target: Path, *, db: Database = None, json: JsonOutput = False) -> None:
    """Write a complete copy of a SQLite database, also while others write.

    Parameters
    ----------
    target
        The file to write; it must not be there yet.
    """
    from labeler.store.maintenance import backup as write_backup

    with open_project(db) as store, working("copying"):
        size = write_backup(store, target)
    if json:
        print_json({"file": str(target), "bytes": size})
    else:
        print_facts({"backup": str(target), "bytes": size})


@app.command
def log(*, last: int = 20, db: Database = None, json: JsonOutput = False) -> None:
    """List the revisions, newest first: what `export --as-of` takes.

    Parameters
    ----------
    last
        How many.
    """
    from labeler.store.maintenance import revisions

    with open_project(db) as store, store.read() as connection:
        rows = revisions(connection, last)
    if json:
        print_json({"revisions": rows})
    elif rows:
        print_table(list(rows[0]), [list(row.values()) for row in rows])
