"""What the benchmarks share: time and memory of a piece of work, collections, tables of ratios."""

from __future__ import annotations

import multiprocessing
import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

_ROOT = Path(__file__).resolve().parents[2]

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Spent:
    """What a piece of work took: seconds of wall clock and of CPU, peak memory in MiB."""

    wall: float
    cpu: float
    peak: float


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a result: a figure, and how it compares with the baseline of its table."""

    name: str
    value: str
    ratio: float | None = None
    more: str = ""


def collection(name: str) -> Path:
    """Give a collection's folder; without it, say so and end the run without an error."""
    folder = Path(os.environ.get("LABELER_DATA", _ROOT.parent / "shared" / "data")) / name
    if not folder.is_dir():
        print(f"skipped: the collection '{name}' is not there; set LABELER_DATA to its parent")
        raise SystemExit(0)
    return folder


def in_own_process(work: Callable[..., Result], *arguments: Any) -> tuple[Result, Spent]:
    """Do a piece of work in a fresh process, whose peak memory (ru_maxrss) is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (work, arguments))


def _measured(work: Callable[..., Result], arguments: Sequence[Any]) -> tuple[Result, Spent]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = time.perf_counter(), time.process_time()
    result = work(*arguments)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return result, Spent(wall, cpu, (after - before) / 1024)


def cpu_seconds(work: Callable[[], object], *, rounds: int = 1) -> float:
    """Give the CPU time of the fastest of some rounds."""
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def percentile(values: Sequence[float], share: float) -> float:
    """Give the value below which a share of all lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def database_bytes(path: Path) -> int:
    """Give the size of a SQLite database with its log."""
    parts = [path, path.with_name(path.name + "-wal")]
    return sum(part.stat().st_size for part in parts if part.exists())


def print_rows(title: str, baseline: str, rows: Sequence[Row]) -> None:
    """Print a table; ratios are to the baseline that was measured in the same run."""
    print(f"\n{title}\n  baseline: {baseline}")
    width = max(len(row.name) for row in rows)
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}x"
        print(f"  {row.name:<{width}}  {row.value:>18}  {ratio:>9}  {row.more}".rstrip())
