"""Time pools of the 63 runs of trec-dl-2021, at depth 10 and 100, against reading their hits.

python tests/benchmarks/bench_pool.py

Each pool is made by a process of its own; peak memory is its ru_maxrss above what it started with.
"""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

from labeler.assessment.rubric import default_rubric
from labeler.pools.create import PoolOptions, PoolReport, create_pool
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.benchmarks.bench_import import import_files, import_texts
from tests.benchmarks.measuring import (
    Row,
    collection,
    cpu_seconds,
    database_bytes,
    in_own_process,
    print_rows,
)


def read_hits(database: Path) -> float:
    """Give the CPU seconds of reading every hit in order, with the driver alone."""
    raw = sqlite3.connect(database)
    statement = "SELECT query_id, chunk_id FROM hit ORDER BY run_id, query_id, rank"
    seconds = cpu_seconds(lambda: raw.execute(statement).fetchall(), rounds=3)
    raw.close()
    return seconds


def pool(database: Path, depth: int) -> PoolReport:
    """Make a pool of all runs."""
    with open_store(Location(str(database))) as store:
        options = PoolOptions(depth=depth, rubric=default_rubric())
        return create_pool(store, f"depth-{depth}", options)


def main() -> None:
    """Measure both depths."""
    source = collection("trec-dl-2021")
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "pool.db"
        in_own_process(import_texts, database, source)
        hits, _ = in_own_process(import_files, database, sorted((source / "runs").glob("*.run")))
        bare, _ = in_own_process(read_hits, database)
        rows = [Row("read the hits", f"{bare:.2f} s CPU", 1.0)]
        for depth in (10, 100):
            before = database_bytes(database)
            made, spent = in_own_process(pool, database, depth)
            grown = (database_bytes(database) - before) / 2**20
            rows.append(
                Row(
                    f"pool of depth {depth}",
                    f"{spent.cpu:.2f} s CPU",
                    spent.cpu / bare,
                    f"{made.candidates:,} candidates, {made.candidates / spent.cpu:,.0f} a second, "
                    f"peak +{spent.peak:.0f} MiB, database +{grown:.0f} MiB",
                )
            )
        print_rows(
            f"trec-dl-2021: {made.runs} runs, {hits:,} hits", "every hit read by sqlite3", rows
        )


if __name__ == "__main__":
    main()
