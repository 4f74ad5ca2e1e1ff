"""Measure how long it takes to refit a pool and to order its queue anew.

python -m tests.benchmarks.bench_calibrate [ITEMS ...] [--judges 2]    (10000 and 100000 items)

A project of so many items, 200 a query, stands in a SQLite file: passages of 60 words, judges, a
queue, and labels of a person on a tenth of the items. The first judge gives probabilities and two
signals of its own to each item, as the embedded judge does; the others give four criterion scores
from 0 to 3. CPU seconds of `calibrate_pool` and of `route_pool`, which read, work and write, and of
parts of the former; the fastest of three rounds. Ratios are to splitting the passages into words,
once.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labeler.assessment.decisions import settle_items
from labeler.assessment.people_labels import read_people_labels
from labeler.assessment.pool_signals import read_pool_signals
from labeler.calibration.calibrate import calibrate_pool, fit_scores, read_healths
from labeler.calibration.policies import NINE_OF_TEN
from labeler.labels import NATIVE
from labeler.queue.route import route_pool
from labeler.records.scales import AssessorKind
from labeler.search.words import tokens
from labeler.store.database import Store, WriteTransaction, open_store
from labeler.store.location import Location
from labeler.store.projections import refresh
from labeler.store.registry import assessor_key, scale_key
from tests.benchmarks.big_store import (
    ITEM_COLUMNS,
    ITEMS_PER_QUERY,
    JUDGMENT_COLUMNS,
    TEXTS,
    ground,
    item_rows,
    put,
    queue_of,
)
from tests.benchmarks.measuring import Row, cpu_seconds, print_rows

_POOL = "all"
_WORDS = 60
_VOCABULARY = 5_000
_CRITERIA = ("exactness", "coverage", "topicality", "fit")
_ROUNDS = 3


def fill(store: Store, items: int, judges: int) -> None:
    """Fill an empty project: items, judges, votes, a queue."""
    random = np.random.default_rng(1)
    truth = random.integers(0, 3, size=items)
    with store.write("fill") as tx:
        keys = ground(tx, items, _passages(random))
        _, levels = scale_key(tx, NATIVE)
        put(tx, "item", ITEM_COLUMNS, item_rows(keys, items))
        for number in range(judges):
            said = np.clip(truth + random.integers(-1, 2, size=items), 0, 2).tolist()
            rows = _judgments(tx, number, [levels[code] for code in said], random)
            put(tx, "judgment", JUDGMENT_COLUMNS, rows)
        queue_of(tx, keys, items)
        voted = np.sort(random.permutation(items)[: items // 10])
        _vote(tx, (voted + 1).tolist(), [levels[code] for code in truth[voted].tolist()])
        refresh(tx.connection, None)


def _passages(random: np.random.Generator) -> list[str]:
    words = np.minimum(random.zipf(1.3, size=(TEXTS, _WORDS)), _VOCABULARY)
    return [" ".join(f"word{number}" for number in row) for row in words.tolist()]


def _judgments(
    tx: WriteTransaction, number: int, levels: Sequence[int], random: np.random.Generator
) -> Iterator[tuple[Any, ...]]:
    """Give the rows of one judge, a level for each item; a query's items share their request."""
    first = number == 0
    kind = AssessorKind.EMBEDDED if first else AssessorKind.LLM
    judge = assessor_key(tx, kind, f"judge {number}", "d" * 64)
    told = random.uniform(size=(len(levels), 2)).round(4).tolist()
    scores = random.integers(0, 4, size=(len(levels), len(_CRITERIA))).tolist()
    for item, level in enumerate(levels, 1):
        sure, near = told[item - 1]
        chances = {"fully_relevant": sure / 2, "not_relevant": 1 - sure} if first else {}
        signals = (
            {"cosine": near, "query_coverage": sure}
            if first
            else dict(zip(_CRITERIA, scores[item - 1], strict=True))
        )
        told_of = (0.5 + sure / 2 if first else None, json.dumps(chances), json.dumps(signals))
        request = f"{item // ITEMS_PER_QUERY:064x}"
        yield (item, judge, "judged", level, *told_of, "[]", request, 0, "first", tx.revision_id)


def _vote(tx: WriteTransaction, items: Sequence[int], levels: Sequence[int]) -> None:
    """Let a person label some items."""
    person = assessor_key(tx, AssessorKind.PERSON, "person")
    rows = [
        (
            item,
            person,
            "judged",
            level,
            None,
            "{}",
            "{}",
            "[]",
            f"v{item}",
            0,
            "first",
            tx.revision_id,
        )
        for item, level in zip(items, levels, strict=True)
    ]
    put(tx, "judgment", JUDGMENT_COLUMNS, rows)
    settle_items(tx, items)


def measure(items: int, judges: int, folder: Path) -> list[Row]:
    """Give the rows of a pool of one size; the last is what the two commands take together."""
    location = Location(str(folder / f"{items}.db"))
    with open_store(location, create=True) as store:
        fill(store, items, judges)
    with open_store(location) as store:
        spent, baseline = _parts(store)
        spent["calibrate"] = cpu_seconds(lambda: calibrate_pool(store, _POOL), rounds=_ROUNDS)
        spent["route"] = cpu_seconds(lambda: route_pool(store, _POOL, NINE_OF_TEN), rounds=_ROUNDS)
    spent["calibrate and route"] = spent["calibrate"] + spent["route"]
    return [Row(name, f"{value:.2f} s", value / baseline) for name, value in spent.items()]


def _parts(store: Store) -> tuple[dict[str, float], float]:
    """Measure the parts of calibrating, and the splitting of the passages into words."""
    with store.read() as connection:
        signals, labels = read_pool_signals(connection, 1), read_people_labels(connection, 1)
        reading = cpu_seconds(
            lambda: (read_pool_signals(connection, 1), read_people_labels(connection, 1)),
            rounds=_ROUNDS,
        )
    healths = read_healths(signals, labels)
    refitting = cpu_seconds(lambda: fit_scores(signals, labels, healths), rounds=_ROUNDS)
    splitting = cpu_seconds(lambda: [tokens(one) for one in signals.passages], rounds=_ROUNDS)
    return {"read signals and votes": reading, "refit": refitting}, splitting


def main() -> None:
    """Print a table for each size."""
    parser = argparse.ArgumentParser(description="Measure calibrate and route.")
    parser.add_argument("items", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--judges", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for items in options.items:
            rows = measure(items, options.judges, Path(folder))
            title = f"{items:,} items, {options.judges} judges"
            print_rows(title, "passages split into words, once", rows)


if __name__ == "__main__":
    main()
