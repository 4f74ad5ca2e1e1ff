"""A project for gates: 20 queries with two results in two runs each, labelled where it is told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from labeler.assessment.rubric import default_rubric
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.labels import LabelOptions, import_labels
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.pools.create import PoolOptions, create_pool
from labeler.store.database import Store
from tests.small import write_jsonl, write_run

QUERIES = [f"q{number:02d}" for number in range(1, 21)]
RUNS = ("old", "new")

GATE = """
name = "release"
pool = "p"
candidate = "new"
baseline = "old"

[defaults]
least_clusters = 8

[[check]]
name = "precision"
metric = "P@2"
role = "aggregate"
direction = "above"
boundary = 0.5
"""


def write_gate(folder: Path, text: str = GATE) -> Path:
    """Write a gate file."""
    path = folder / "gate.toml"
    path.write_text(text, encoding="utf-8")
    return path


def fill_gated(store: Store, folder: Path, *, domain: str = "support") -> None:
    """Import the corpus, the queries and both runs, and pool them as 'p'.

    The old run returns ``qNN-a`` and ``qNN-b``, the new one ``qNN-b`` and ``qNN-c``.
    """
    names = [f"{query}-{letter}" for query in QUERIES for letter in "abc"]
    rows: list[dict[str, object]] = [
        {"_id": name, "text": f"passage {name}", "document": name, "domain": domain}
        for name in names
    ]
    import_corpus(store, [write_jsonl(folder / "c.jsonl", rows)], CorpusOptions(snapshot="s"))
    queries: list[dict[str, object]] = [
        {"_id": query, "text": f"about {query}", "domain": "support"} for query in QUERIES
    ]
    import_queries(store, [write_jsonl(folder / "q.jsonl", queries)], QueryOptions())
    for run, letters in zip(RUNS, ("ab", "bc"), strict=True):
        results = {query: [f"{query}-{letter}" for letter in letters] for query in QUERIES}
        import_runs(store, [write_run(folder / f"{run}.run", run, results)], RunOptions())
    create_pool(store, "p", PoolOptions(depth=2, rubric=default_rubric()))


def label(store: Store, folder: Path, grades: Mapping[str, int], name: str = "people") -> None:
    """Import labels of passages, by their names, as a person's."""
    lines = [f"{passage[:3]} 0 {passage} {grade}\n" for passage, grade in grades.items()]
    path = folder / f"{name}.qrels"
    path.write_text("".join(lines), encoding="utf-8")
    import_labels(store, [path], LabelOptions(assessor=name, scale="native"))


def graded(relevant: Mapping[str, int]) -> dict[str, int]:
    """Grade all passages: of each letter, the first so many queries' are fully relevant."""
    return {
        f"{query}-{letter}": 2 if place < relevant.get(letter, 0) else 0
        for letter in "abc"
        for place, query in enumerate(QUERIES)
    }
