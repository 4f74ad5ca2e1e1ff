"""`labeler queue`: what waits for people, and why."""

from __future__ import annotations

from dataclasses import asdict

from labeler.cli.output import print_json, print_table
from labeler.cli.project import Database, JsonOutput, open_project


def queue(*, pool: str | None = None, db: Database = None, json: JsonOutput = False) -> None:
    """Count what waits for people: by state, by reason, by reviewer.

    This is for who leads the work; a reviewer's sitting shows none of it.

    Parameters
    ----------
    pool
        Count one pool only.
    """
    from labeler.queue.counts import count_queue
    from labeler.store.registry import pool_named

    with open_project(db) as store, store.read() as connection:
        key = int(pool_named(connection, pool).id) if pool is not None else None
        counts = count_queue(connection, key)
    if json:
        print_json(asdict(counts))
        return
    for title, rows in (
        ("state", counts.by_status),
        ("reason", counts.by_reason),
        ("votes wanted", counts.wanted_votes),
    ):
        if rows:
            print_table([title, "items"], rows.items())
            print()
    kinds = sorted({kind for events in counts.by_reviewer.values() for kind in events})
    if counts.by_reviewer:
        print_table(
            ["reviewer", *kinds],
            [
                [name, *(events.get(kind, 0) for kind in kinds)]
                for name, events in counts.by_reviewer.items()
            ],
        )
    if not counts.by_status:
        print("nothing waits for people: `labeler route POOL` fills the queue")
