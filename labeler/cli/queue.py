"""`labeler queue`: what waits for people, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from labeler.cli.output import print_json, print_table
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.labels import Outcome

if TYPE_CHECKING:
    from labeler.queue.judged import JudgedItems


def queue(*, pool: str | None = None, db: Database = None, json: JsonOutput = False) -> None:
    """Tell what waits for people, how fast it gets done, who holds what, and what is disputed.

    It counts by state, reason, domain and reviewer, and by how judges ended on what waits; it
    tells pace and time left, and how often judges' confidence and people's votes agree.

    This is for who leads the work; a reviewer's sitting shows none of it.

    Parameters
    ----------
    pool
        Count one pool only.
    """
    from labeler.cli.queue_lead import numbers_as_json, print_numbers, read_numbers
    from labeler.queue.counts import count_queue
    from labeler.store.registry import pool_named

    with open_project(db) as store:
        with store.read() as connection:
            key = int(pool_named(connection, pool).id) if pool is not None else None
            counts = count_queue(connection, key)
        numbers = read_numbers(store, pool)
    if json:
        print_json(asdict(counts) | numbers_as_json(numbers))
        return
    for title, rows in (
        ("state", counts.by_status),
        ("reason", counts.by_reason),
        ("domain", {name or "-": count for name, count in counts.by_domain.items()}),
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
        print()
    print_numbers(numbers)
    _print_judges(counts.by_judge)
    if not counts.by_status:
        print("nothing waits for people: `labeler route POOL` fills the queue")


def _print_judges(judges: Sequence[JudgedItems]) -> None:
    """Print how judges ended on what waits, and why they gave no answer."""
    if not judges:
        return
    print_table(
        ["judge of what waits", "digest", *Outcome],
        [
            [one.judge, one.digest or "-", *(one.outcomes[outcome] for outcome in Outcome)]
            for one in judges
        ],
    )
    failed = [
        (one, name, count)
        for one in judges
        for name, count in (*one.failures.items(), ("other reasons", one.other_failures))
        if count
    ]
    if failed:
        print()
        print_table(
            ["judge of what waits", "digest", "no answer because of", "items"],
            [[one.judge, one.digest or "-", name, count] for one, name, count in failed],
        )
