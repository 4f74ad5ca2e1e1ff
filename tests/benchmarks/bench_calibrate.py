"""Measure how long it takes to refit a pool and to order its queue anew.

python -m tests.benchmarks.bench_calibrate [ITEMS ...]     (10000 and 100000 by default)

A project of so many items, 200 a query, is read from SQLite; two judges with four signals each and
passages of 60 words are made from a fixed seed, and a tenth of the items has a label of people. CPU
seconds, the fastest of three rounds; ratios are to splitting the passages into words, once.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from labeler.assessment.item_scores import ItemScores
from labeler.assessment.people_labels import PeopleLabels, read_people_labels
from labeler.assessment.pool_signals import JudgeSignals, PoolSignals, read_pool_signals
from labeler.calibration.calibrate import fit_scores, read_healths
from labeler.calibration.label_model import GRADES
from labeler.queue.order import ORDERS, ItemWorth, place_items
from labeler.search.words import tokens
from labeler.store.database import open_store
from labeler.store.location import Location
from tests.benchmarks.big_store import ITEMS_PER_QUERY, fill
from tests.benchmarks.measuring import Row, cpu_seconds, print_rows

_WORDS = 60
_VOCABULARY = 5_000
_SIGNALS = 4
_ROUNDS = 3


def made(items: int) -> tuple[PoolSignals, PeopleLabels]:
    """Make signals and labels."""
    random = np.random.default_rng(1)
    truth = random.integers(0, 3, size=items)
    words = np.minimum(random.zipf(1.3, size=(items, _WORDS)), _VOCABULARY)
    passages = [" ".join(f"word{number}" for number in row) for row in words.tolist()]
    judges = []
    for name in ("one", "two"):
        level = np.clip(truth + random.integers(-1, 2, size=items), 0, 2)
        signals = {f"s{number}": random.uniform(size=items) for number in range(_SIGNALS)}
        nothing = np.full((items, 3), np.nan)
        judges.append(JudgeSignals(name, 1, level.astype(np.float64), level, nothing, signals))
    queries = np.arange(items) // ITEMS_PER_QUERY
    asked = {int(key): f"word{key % 50 + 2} word{key % 70 + 3}" for key in np.unique(queries)}
    pool = PoolSignals(
        np.arange(1, items + 1), queries, tuple(judges), passages, asked, {1: (0, 1, 2)}
    )
    labelled = random.permutation(items)[: items // 10].tolist()
    grades = {place + 1: GRADES[truth[place]] for place in sorted(labelled)}
    return pool, PeopleLabels(grades, frozenset(grades), 0)


def ordered(pool: PoolSignals, scores: ItemScores) -> dict[int, int]:
    """Order everything that has no label, as routing does."""
    queries = dict(zip(pool.item_ids.tolist(), pool.queries.tolist(), strict=True))
    worths = {
        item: ItemWorth(1 - max(row), relevance=1 - row[0], since=1)
        for item, row in scores.by_item().items()
    }
    return place_items(ORDERS["value"], queries, worths, seed="seed")


def measure(items: int, folder: Path) -> list[Row]:
    """Give the rows of a pool of one size; the last is their sum."""
    path = folder / f"{items}.db"
    with open_store(Location(str(path)), create=True) as store:
        fill(store, items)
    pool, labels = made(items)
    baseline = cpu_seconds(lambda: [tokens(text) for text in pool.passages], rounds=_ROUNDS)
    healths = read_healths(pool, labels)
    scores, _ = fit_scores(pool, labels, healths)
    with open_store(Location(str(path))) as store, store.read() as connection:
        parts: dict[str, Callable[[], object]] = {
            "read signals and votes": lambda: (
                read_pool_signals(connection, 1),
                read_people_labels(connection, 1),
            ),
            "health of the judges": lambda: read_healths(pool, labels),
            "refit": lambda: fit_scores(pool, labels, healths),
            "order": lambda: ordered(pool, scores),
        }
        spent = {name: cpu_seconds(work, rounds=_ROUNDS) for name, work in parts.items()}
    spent["together"] = sum(spent.values())
    return [Row(name, f"{value:.2f} s", value / baseline) for name, value in spent.items()]


def main() -> None:
    """Print a table for each size."""
    sizes = [int(size) for size in sys.argv[1:]] or [10_000, 100_000]
    with tempfile.TemporaryDirectory() as folder:
        for items in sizes:
            rows = measure(items, Path(folder))
            print_rows(f"{items:,} items", "passages split into words, once", rows)


if __name__ == "__main__":
    main()
