"""Time read_run and ranked on a generated run, against the bare loop over its lines.

python tests/benchmarks/bench_read_run.py [lines]

Prints rows a second, CPU seconds (the best of three; the bare loop in the same process), the ratio
of read_run to the bare loop, which should stay below 2, and the peak memory above the start.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from labeler.formats.findings import Findings
from labeler.formats.ranking import ranked
from labeler.formats.trec import read_run

_DEPTH = 1000
_ROUNDS = 3


def write_sample(path: Path, lines: int, *, shuffled: bool) -> None:
    """Write a run of 1,000 documents a query, with some tied scores, from a fixed seed."""
    random_source = random.Random(7)  # noqa: S311 - a sample, not a secret
    with path.open("w", encoding="utf-8") as file:
        for begin in range(0, lines, _DEPTH):
            query = f"q{begin // _DEPTH:05d}"
            depth = min(_DEPTH, lines - begin)
            scores = sorted((random_source.uniform(0, 30) for _ in range(depth)), reverse=True)
            rows = [
                f"{query} Q0 msmarco_passage_{random_source.randrange(10**6, 10**7):08d}"
                f" {rank} {score:.4f} sample-run\n"
                for rank, score in enumerate(scores, 1)
            ]
            if shuffled:
                random_source.shuffle(rows)
            file.writelines(rows)


def bare_loop(path: Path) -> None:
    """Do what no reader can avoid."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            line.split()


def cpu_seconds(work: Callable[[], object]) -> float:
    """Give the CPU time of the fastest of a few rounds."""
    times = []
    for _ in range(_ROUNDS):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def peak_megabytes() -> float:
    """Give the highest memory of the process so far (Linux counts it in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(lines: int) -> None:
    """Measure sorted and shuffled rows, and a file with a comment in every block."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.run"
        for name in ("sorted", "shuffled", "with comments"):
            write_sample(path, lines, shuffled=name == "shuffled")
            if name == "with comments":
                rows = path.read_text().splitlines(keepends=True)
                commented = [line if i % 1000 else "# note\n" + line for i, line in enumerate(rows)]
                path.write_text("".join(commented))
                del rows, commented
            before = peak_megabytes()
            columns = read_run(path, Findings())
            if columns is None:
                raise SystemExit("the sample was refused")
            ranked(columns, "score")
            peak = peak_megabytes() - before
            bare = cpu_seconds(lambda: bare_loop(path))
            read = cpu_seconds(lambda: read_run(path, Findings()))
            order = cpu_seconds(lambda columns=columns: ranked(columns, "score"))  # type: ignore[misc]
            print(
                f"{name}: {len(columns):,} rows, {path.stat().st_size / 2**20:.0f} MiB\n"
                f"  bare loop {bare:.3f} s; read_run {read:.3f} s = {read / bare:.2f} x,"
                f" {len(columns) / read:,.0f} rows/s\n"
                f"  ranked {order:.3f} s = {order / bare:.2f} x; peak memory +{peak:.0f} MiB"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
