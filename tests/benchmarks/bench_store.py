"""Time the store at a million items: inserts with and without guards, claims, votes, counts.

python tests/benchmarks/bench_store.py [items] [database]

The database is a file, which is kept and used again when it is there (filling one of a million
items takes a minute and 1 GB), or a postgresql:// address of an empty database; a temporary file
by default. Inserts are compared in scratch copies of SQLite.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from labeler.assessment.reading import blocks_of
from labeler.queue.claims import Claim, claim, queue_left, release
from labeler.queue.counts import count_queue
from labeler.queue.filters import EVERYTHING, QueueFilter, queue_filter
from labeler.queue.undo import undo_last
from labeler.queue.votes import Event, record_event
from labeler.records.queue import EventKind
from labeler.records.scales import AssessorKind
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from labeler.store.projections import rebuild
from labeler.store.registry import assessor_key
from tests.benchmarks.big_store import (
    DECISION_COLUMNS,
    ITEM_COLUMNS,
    JUDGMENT_COLUMNS,
    Keys,
    decision_rows,
    fill,
    ground,
    item_rows,
    judgment_rows,
    put,
    table_of,
)
from tests.benchmarks.measuring import Row, database_bytes, percentile, print_rows

_ROUNDS = 200
_INSERTED: dict[str, tuple[str, Callable[[Keys, int], Iterator[Sequence[Any]]]]] = {
    "item": (ITEM_COLUMNS, item_rows),
    "judgment": (JUDGMENT_COLUMNS, judgment_rows),
    "decision": (DECISION_COLUMNS, decision_rows),
}


def insert_seconds(folder: Path, items: int, *, guarded: bool) -> dict[str, tuple[int, float]]:
    """Fill a scratch database; give rows and CPU seconds of the insert, by table."""
    found = {}
    path = folder / f"{'guarded' if guarded else 'bare'}.db"
    with open_store(Location(str(path)), create=True) as store:
        if not guarded:
            with store.work() as connection:
                triggers = sa.text("SELECT name FROM sqlite_master WHERE type = 'trigger'")
                for (name,) in connection.execute(triggers).all():
                    connection.exec_driver_sql(f"DROP TRIGGER {name}")
        with store.write("bench") as tx:
            keys = ground(tx, items)
            for name, (columns, make) in _INSERTED.items():
                rows = list(make(keys, items))
                begin = time.process_time()
                put(tx, name, columns, rows)
                found[name] = len(rows), time.process_time() - begin
    path.unlink()
    return found


def compare_inserts(items: int) -> None:
    """Print rows a second with and without the triggers."""
    with tempfile.TemporaryDirectory() as folder:
        bare = insert_seconds(Path(folder), items, guarded=False)
        guarded = insert_seconds(Path(folder), items, guarded=True)
    print_rows(
        f"inserting {items:,} items, CPU",
        "the same insert into tables without triggers",
        [
            Row(
                name,
                f"{rows / seconds:,.0f} rows/s",
                seconds / bare[name][1],
                f"without guards {rows / bare[name][1]:,.0f} rows/s",
            )
            for name, (rows, seconds) in guarded.items()
        ],
    )


def timed(work: Callable[[], object], rounds: int = _ROUNDS) -> list[float]:
    """Give the milliseconds of each of some rounds."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        times.append((time.perf_counter() - begin) * 1000)
    return times


def latency(name: str, times: Sequence[float], baseline: float) -> Row:
    """Make a row of a median, with the 95th percentile beside it."""
    middle = percentile(times, 0.5)
    return Row(name, f"{middle:.2f} ms", middle / baseline, f"p95 {percentile(times, 0.95):.2f} ms")


def head_of_queue(store: Store) -> Callable[[], object]:
    """Make the baseline: the first three waiting assignments, in order, and nothing else."""
    waiting = table_of("assignment").c
    statement = (
        sa.select(waiting.id)
        .where(waiting.state == "waiting")
        .order_by(waiting.priority, waiting.id)
        .limit(3)
    )

    def read() -> None:
        with store.read() as connection:
            connection.execute(statement).all()

    return read


def vote(store: Store, reviewer: int, held: Claim) -> Callable[[], object]:
    """Make the vote on an item that is held; what the reviewer saw is read beforehand."""
    with store.read() as connection:
        block = blocks_of(connection, [held.item_id], seed="")[0]
    level = block.rubric.scale.levels[0]
    event = Event(str(uuid.uuid4()), EventKind.VOTE, block, level=level)
    return lambda: record_event(store, reviewer, held, event)


def claimed(store: Store) -> dict[str, QueueFilter]:
    """Give what is claimed, by how the result calls it."""
    with store.read() as connection:
        return {
            "claim 3": EVERYTHING,
            "... of the pool 'all'": QueueFilter(1),
            "... of 'small'": QueueFilter(2),
            "... of the domain 'late'": queue_filter(connection, domain="late"),
            "... of it in 'pt'": queue_filter(connection, domain="late", language="pt"),
            "... of the domain 'rare'": queue_filter(connection, domain="rare"),
            "... of it in 'all'": queue_filter(connection, pool="all", domain="rare"),
        }


def measure_queue(store: Store, items: int) -> None:
    """Print the times of what a reviewer and a lead do."""
    with store.write("bench") as tx:
        reviewer = assessor_key(tx, AssessorKind.PERSON, str(uuid.uuid4()))
    read = head_of_queue(store)
    read()
    bare = percentile(timed(read), 0.5)
    rows = [Row("head of the queue", f"{bare:.2f} ms", 1.0)]
    held: list[Claim] = []
    for name, only in claimed(store).items():
        times = timed(lambda only=only: held.extend(claim(store, reviewer, 3, only=only)))  # type: ignore[misc]
        rows.append(latency(name, times, bare))
    times = [timed(vote(store, reviewer, one), 1)[0] for one in held[:_ROUNDS]]
    rows.append(latency("vote", times, bare))
    undone = timed(lambda: undo_last(store, reviewer, str(uuid.uuid4())), 50)
    rows.append(latency("undo", undone, bare))
    rows.append(latency("give everything back", timed(lambda: release(store, reviewer), 1), bare))
    rows.append(latency("what is left", timed(lambda: queue_left(store, reviewer), 5), bare))
    small, late = QueueFilter(2), claimed(store)["... of the domain 'late'"]
    for name, only in (("... of 'small'", small), ("... of the domain 'late'", late)):
        times = timed(lambda only=only: queue_left(store, reviewer, only), 5)  # type: ignore[misc]
        rows.append(latency(name, times, bare))
    for name, pool in (("counts for the lead", None), ("... of 'small'", 2)):
        times = timed(lambda pool=pool: counts(store, pool), 5)  # type: ignore[misc]
        rows.append(latency(name, times, bare))
    rows.append(latency("db rebuild", timed(lambda: rebuild(store), 1), bare))
    print_rows(
        f"the queue at {items:,} items, wall clock (median)",
        "reading the first three waiting assignments",
        rows,
    )


def counts(store: Store, pool: int | None) -> object:
    """Count the queue."""
    with store.read() as connection:
        return count_queue(connection, pool)


def main(items: int, given: str | None) -> None:
    """Measure everything."""
    print(f"SQLite {sqlite3.sqlite_version}")
    compare_inserts(items)
    with tempfile.TemporaryDirectory() as folder:
        location = Location(given or str(Path(folder) / "big.db"))
        with open_store(location, create=True) as store:
            with store.read() as connection:
                there = connection.execute(
                    sa.select(sa.func.count()).select_from(table_of("assignment"))
                ).scalar_one()
            if not there:
                begin = time.process_time()
                fill(store, items)
                print(f"\nfilled in {time.process_time() - begin:.0f} s CPU")
            measure_queue(store, there or items)
        if not location.is_postgresql:
            size = database_bytes(location.path)
            print(f"\ndatabase: {size / 2**20:,.0f} MiB, {size / items:,.0f} bytes an item")


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000,
        sys.argv[2] if len(sys.argv) > 2 else None,
    )
