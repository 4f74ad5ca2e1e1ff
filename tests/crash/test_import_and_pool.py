"""An import and a pool are there as a whole or not at all, whenever the process is killed."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crash.killing import (
    assert_sound,
    contents,
    copy_of,
    counts,
    kill_after,
    kill_times,
    run_child,
    seconds_of,
)

LINES = 200_000
LINES_AT_RANDOM = 50_000
RUN_TABLES = ("run", "run_query", "hit")
POOL_TABLES = ("pool", "pool_run", "pool_query", "item", "candidate", "contribution")


@dataclass(frozen=True)
class Case:
    """A command, a database before it, and what an uninterrupted one leaves."""

    arguments: tuple[str, ...]
    database: Path
    tables: tuple[str, ...]
    after: str
    rows: dict[str, int]
    seconds: float


def write_run(path: Path, name: str, queries: int, depth: int) -> Path:
    """Write a run whose documents come from a seeded generator."""
    source = random.Random(name)  # noqa: S311 - a sample, not a secret
    with path.open("w", encoding="utf-8") as file:
        for query in range(queries):
            documents = source.sample(range(5_000), depth)
            file.writelines(
                f"q{query:03d} Q0 doc-{document:05d} {rank} {depth - rank} {name}\n"
                for rank, document in enumerate(documents, 1)
            )
    return path


def uninterrupted(folder: Path, before: Path, tables: tuple[str, ...], *arguments: str) -> Case:
    done = copy_of(before, folder / "done.db")
    seconds = seconds_of(done, *arguments)
    assert_sound(done)
    return Case(arguments, before, tables, contents(done), counts(done, *tables), seconds)


def importing_lines(folder: Path, lines: int) -> Case:
    small = write_run(folder / "small.run", "small", 2, 5)
    before = folder / "before.db"
    run_child("none", before, "import", "runs", str(small))
    big = write_run(folder / "big.run", "big", lines // 1000, 1000)
    case = uninterrupted(folder, before, RUN_TABLES, "import", "runs", str(big))
    assert case.rows == {"run": 2, "run_query": 2 + lines // 1000, "hit": 10 + lines}
    return case


@pytest.fixture(scope="module")
def importing(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return importing_lines(tmp_path_factory.mktemp("importing"), LINES)


@pytest.fixture(scope="module")
def pooling(tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = tmp_path_factory.mktemp("pooling")
    before = folder / "before.db"
    runs = [write_run(folder / f"{name}.run", name, 50, 300) for name in ("one", "two")]
    run_child("none", before, "import", "runs", *map(str, runs))
    case = uninterrupted(folder, before, POOL_TABLES, "pool", "create", "p", "--depth", "200")
    assert case.rows["contribution"] == 20_000
    assert case.rows["candidate"] > 15_000
    return case


def killed_at(case: Case, point: str, database: Path) -> None:
    """Kill the command at a point, and see that the same command then ends as if nothing was."""
    copy_of(case.database, database)
    untouched = contents(database)
    run_child(point, database, *case.arguments)
    assert_sound(database)
    assert contents(database) == (case.after if point.startswith("after") else untouched)
    run_child("none", database, *case.arguments)
    assert_sound(database)
    assert counts(database, *case.tables) == case.rows
    assert contents(database) == case.after


@pytest.mark.parametrize(
    "point",
    ["row:hit:1", f"row:hit:{LINES // 2}", "before-commit:1", "after-commit:1"],
)
def test_an_import_killed_at_a_point(importing: Case, point: str, tmp_path: Path) -> None:
    killed_at(importing, point, tmp_path / "queue.db")


@pytest.mark.parametrize(
    "point",
    [
        "row:pool_run:1",
        "row:item:10000",
        "row:contribution:15000",
        "before-commit:1",
        "after-commit:1",
    ],
)
def test_a_pool_killed_at_a_point(pooling: Case, point: str, tmp_path: Path) -> None:
    killed_at(pooling, point, tmp_path / "queue.db")


def killed_at_random(case: Case, seed: str, database: Path) -> None:
    copy_of(case.database, database)
    untouched = contents(database)
    for seconds in kill_times(seed, case.seconds):
        if not kill_after(seconds, database, *case.arguments):
            assert contents(database) == case.after
        assert_sound(database)
        found = contents(database)
        assert found in {untouched, case.after}
        if found == case.after:
            copy_of(case.database, database)
    run_child("none", database, *case.arguments)
    assert contents(database) == case.after


def test_an_import_killed_at_random(tmp_path: Path) -> None:
    killed_at_random(importing_lines(tmp_path, LINES_AT_RANDOM), "import", tmp_path / "queue.db")


def test_a_pool_killed_at_random(pooling: Case, tmp_path: Path) -> None:
    killed_at_random(pooling, "pool", tmp_path / "queue.db")
