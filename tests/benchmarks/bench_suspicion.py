"""Measure how many passages of real collections are flagged as suspicious, and how long it takes.

python -m tests.benchmarks.bench_suspicion [collection ...]

Nobody wrote these passages to sway a judge, so every flag is a false alarm. Each passage is held
against one query drawn at random, and every labelled pair against its own query, which shows most
of the query's words. Splitting the passages into words is the baseline of the time. Collections are
found through LABELER_DATA, or in ../shared/data.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random

from labeler.judges.suspicion.flags import flags
from labeler.search.lexical import tokens
from tests.benchmarks.measuring import collection

_COLLECTIONS = (
    "trec-dl-2019",
    "trec-dl-2021",
    "scifact",
    "cranfield",
    "quati-pt",
    "arcd-ar",
    "financebench",
    "demo-product-search",
    "mtrag/subset",
    "dbpedia-entity-50",
)


def _texts(path: Path) -> dict[str, str]:
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line)
    return {row["_id"]: row["text"] for row in rows}


def _labelled(path: Path) -> Iterable[tuple[str, str]]:
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            query, _, document, _ = line.split()
            yield query, document


def main() -> None:
    """Print a line for each collection, and one for all of them."""
    print("collection           passages  flagged    pairs  flagged   us/text  of tokens")
    total: Counter[str] = Counter()
    for name in sys.argv[1:] or _COLLECTIONS:
        folder = collection(name)
        passages, queries = _texts(folder / "corpus.jsonl"), _texts(folder / "queries.jsonl")
        random = Random(1)  # noqa: S311 - chooses queries, hides nothing
        asked = list(queries.values())
        started = time.process_time()
        drawn = [key for key, text in passages.items() if flags(random.choice(asked), text)]
        spent = time.process_time() - started
        started = time.process_time()
        for text in passages.values():
            tokens(text)
        baseline = time.process_time() - started
        pairs = [
            (query, document)
            for query, document in _labelled(folder / "qrels.txt")
            if query in queries and document in passages
        ]
        wrong = [pair for pair in pairs if flags(queries[pair[0]], passages[pair[1]])]
        print(
            f"{name:20}{len(passages):9,}{len(drawn):9,}{len(pairs):9,}{len(wrong):9,}"
            f"{spent / len(passages) * 1e6:10.0f}{spent / baseline:10.1f}x"
        )
        for found in (*drawn[:3], *wrong[:3]):
            print(f"    {found}")
        total.update(
            {
                "passages": len(passages),
                "drawn": len(drawn),
                "pairs": len(pairs),
                "wrong": len(wrong),
            }
        )
    texts, pairs_ = total["passages"], total["pairs"]
    print(f"{'all':20}{texts:9,}{total['drawn']:9,}{pairs_:9,}{total['wrong']:9,}")
    print(f"flagged in 1,000: {1000 * total['drawn'] / texts:.3f} passages, ", end="")
    print(f"{1000 * total['wrong'] / max(pairs_, 1):.3f} pairs")


if __name__ == "__main__":
    main()
