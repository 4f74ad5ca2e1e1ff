"""Measure how often the interval of a kappa covers, where queries are few.

python -m tests.benchmarks.bench_agreement

Two recorded judges of TREC DL 2019 against its people: the 43 queries are taken as all there are,
with the shares of each query's confusion table; 1,000 times some are drawn with replacement, and 20
pairs of each. Collections are found through LABELER_DATA, or in ../shared/data.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.agreement import cohen_kappa, confusion_tables, estimate, quadratic_kappa
from tests.benchmarks.measuring import collection

_JUDGES = ("naghmefarzi.dl2019_test_4prompts_llama70b", "gpt-4o.umbrela")
_QUERIES = (8, 10, 15, 30, 60)
_DRAWS = 1_000
_PAIRS = 20


def _labels(path: Path) -> dict[tuple[str, str], int]:
    rows = [line.split() for line in path.read_text().splitlines()]
    return {(query, document): int(code) for query, _, document, code in rows}


def main() -> None:
    """Print the share of intervals that cover, and how wide they are."""
    folder = collection("trec-dl-2019")
    human = _labels(folder / "qrels.txt")
    queries = np.array([int(query) for query, _ in human])
    mine = np.array(list(human.values()))
    random = np.random.default_rng(1)
    print("judge and coefficient                     queries  covered  width")
    for judge in _JUDGES:
        said = _labels(folder / "judges" / f"{judge}.txt")
        theirs = np.array([said[pair] for pair in human])
        for name, first, second, levels, coefficient in (
            ("kappa", mine, theirs, 4, cohen_kappa),
            ("quadratic", mine, theirs, 4, quadratic_kappa),
            ("relevant or not", _relevant(mine), _relevant(theirs), 2, cohen_kappa),
        ):
            tables = confusion_tables(first, second, queries, levels)
            shares = tables / tables.sum(axis=(1, 2), keepdims=True)
            truth = estimate(shares.sum(axis=0)[None], coefficient).value
            for count in _QUERIES:
                limits = []
                for _ in range(_DRAWS):
                    drawn = shares[random.integers(0, len(shares), count)].reshape(count, -1)
                    given = random.multinomial(_PAIRS, drawn).reshape(count, levels, levels)
                    found = estimate(given.astype(np.float64), coefficient)
                    limits.append((found.low, found.high))
                given_limits = np.array(limits, dtype=np.float64)
                low, high = given_limits.T
                covered = ((low <= truth) & (truth <= high)).mean()
                width = (high - low).mean()
                label = f"{judge.split('.')[1][-22:]}, {name}"
                print(f"{label:42}{count:7d}{covered:9.3f}{width:7.2f}")


def _relevant(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    return (labels > 1).astype(np.int64)


if __name__ == "__main__":
    main()
