"""Time the import of runs, and where its CPU goes, against the bare loop over their lines.

python tests/benchmarks/bench_import.py [lines]

Imports the 63 runs of trec-dl-2021 after its corpus and queries, and one generated run of a million
lines (1,000 documents a query, nearly all of them distinct). Each step has a process of its own;
peak memory is its ru_maxrss above what it started with.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from labeler.formats.findings import Findings
from labeler.formats.ranking import ranked
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.run_files import read_runs
from labeler.imports.runs import RunOptions, import_runs
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.benchmarks.bench_read_run import bare_loop
from tests.benchmarks.measuring import (
    Row,
    collection,
    cpu_seconds,
    database_bytes,
    in_own_process,
    print_rows,
)

_ROUNDS = 3


def write_generated(path: Path, lines: int) -> None:
    """Write a run of a thousand documents a query out of nine million, from a fixed seed."""
    source = random.Random(7)  # noqa: S311 - a sample, not a secret
    depth = 1000
    with path.open("w", encoding="utf-8") as file:
        for query in range(lines // depth):
            scores = sorted((source.uniform(0, 30) for _ in range(depth)), reverse=True)
            documents = source.sample(range(10**6, 10**7), depth)
            file.writelines(
                f"q{query:05d} Q0 msmarco_passage_{document:08d} {rank} {score:.4f} generated\n"
                for rank, (document, score) in enumerate(zip(documents, scores, strict=True), 1)
            )


def baseline_of(files: list[Path]) -> float:
    """Give the CPU seconds of the bare loop."""

    def work() -> None:
        for file in files:
            bare_loop(file)

    return cpu_seconds(work, rounds=_ROUNDS)


def read_and_rank(files: list[Path]) -> tuple[float, float]:
    """Give the CPU seconds of reading and of ranking, the best of some rounds."""

    def read() -> None:
        runs[:] = read_runs(files, Findings(), overrides={}, lenient=False)

    runs: list[object] = []
    reading = cpu_seconds(read, rounds=_ROUNDS)
    ranking = cpu_seconds(
        lambda: [ranked(run.columns, "score") for run in runs],  # type: ignore[attr-defined]
        rounds=_ROUNDS,
    )
    return reading, ranking


def import_texts(database: Path, folder: Path) -> None:
    """Import a collection's corpus and queries."""
    with open_store(Location(str(database)), create=True) as store:
        import_corpus(store, [folder / "corpus.jsonl"], CorpusOptions())
        import_queries(store, [folder / "queries.jsonl"], QueryOptions())


def import_files(database: Path, files: list[Path]) -> int:
    """Import runs; give the number of rows."""
    with open_store(Location(str(database)), create=True) as store:
        return int(import_runs(store, files, RunOptions()).counts["rows"])


def measure(title: str, database: Path, files: list[Path]) -> None:
    """Import some files into a database and print what it took."""
    bare, _ = in_own_process(baseline_of, files)
    (reading, ranking), _ = in_own_process(read_and_rank, files)
    before = database_bytes(database)
    rows, spent = in_own_process(import_files, database, files)
    after = database_bytes(database)
    rest = spent.cpu - reading - ranking
    print_rows(
        f"{title}: {rows:,} rows, {sum(file.stat().st_size for file in files) / 2**20:.0f} MiB",
        "for line in open(path): line.split()",
        [
            Row("bare loop", f"{bare:.2f} s CPU", 1.0),
            Row("read", f"{reading:.2f} s CPU", reading / bare),
            Row("rank", f"{ranking:.2f} s CPU", ranking / bare),
            Row(
                "before the insert",
                f"{reading + ranking:.2f} s CPU",
                (reading + ranking) / bare,
                "target: at most 2x",
            ),
            Row("store (the rest)", f"{rest:.2f} s CPU", rest / bare, f"{rows / rest:,.0f} rows/s"),
            Row(
                "import",
                f"{spent.cpu:.2f} s CPU",
                spent.cpu / bare,
                f"{rows / spent.cpu:,.0f} rows/s, {spent.wall:.2f} s by the clock",
            ),
            Row("peak memory", f"{spent.peak:.0f} MiB"),
            Row(
                "database",
                f"{after / 2**20:.0f} MiB",
                more=f"{(after - before) / rows:.0f} bytes a row",
            ),
        ],
    )


def main(lines: int) -> None:
    """Measure the generated run, and the collection where it is there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sample = folder / "sample.run"
        write_generated(sample, lines)
        measure("one generated run", folder / "generated.db", [sample])
        source = collection("trec-dl-2021")
        database = folder / "collection.db"
        in_own_process(import_texts, database, source)
        measure("trec-dl-2021", database, sorted((source / "runs").glob("*.run")))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
