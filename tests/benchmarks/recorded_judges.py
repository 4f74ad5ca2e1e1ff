"""TREC DL 2019 as a project: its passages, seven recorded judges, and what people said."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from labeler.assessment.blind import Block
from labeler.assessment.rubric import Rubric
from labeler.assessment.verdict import Verdict
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.judges.run import judge_pool, read_pool_blocks
from labeler.labels import TREC, Outcome
from labeler.pools.create import PoolOptions, create_pool
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.pools import Candidate, Item
from labeler.records.queries import Query
from labeler.records.scales import AssessorKind
from labeler.store.database import Store

Pair = tuple[str, str]

JUDGES = (
    "4_prompts_dl2019",
    "dl2019_dev_gen_query_similarity_qrel",
    "dl2019_sun_then_decomposed_relavance_qrel",
    "dl2019_test_4prompts_flant5large",
    "dl2019_test_4prompts_llama70b",
    "dl2019_test_baseline_relavance_qrel_prompt_order_3210",
    "dl2019_test_sun_then_decomposed_flant5large",
)
POOL = "p"
LAST_QUERIES = 10
"""So many queries, the last in the file of labels, took part in no choice of method."""


@dataclass(frozen=True, eq=False)
class Collection:
    """What was recorded, pair by pair; pairs in the order of the file of labels.

    Attributes:
        pairs: Query and passage.
        people: Shape (pairs,): NIST's label, 0 to 3.
        levels: Shape (pairs, judges): the recorded labels, 0 to 3.
        criteria: By judge, the criterion scores of each pair that has some.
        official: The 37 official runs: by query, passages from the best.
        posthoc: Six later runs.
    """

    pairs: tuple[Pair, ...]
    people: NDArray[np.int64]
    levels: NDArray[np.float64]
    criteria: Mapping[str, Mapping[Pair, Mapping[str, float]]]
    official: Mapping[str, Mapping[str, list[str]]]
    posthoc: Mapping[str, Mapping[str, list[str]]]

    def among(self, chosen: Sequence[bool]) -> Collection:
        """Keep some of the pairs."""
        rows = np.flatnonzero(np.array(chosen))
        return Collection(
            tuple(self.pairs[row] for row in rows),
            self.people[rows],
            self.levels[rows],
            self.criteria,
            self.official,
            self.posthoc,
        )

    def shallow(self) -> Collection:
        """Keep what stands among the first 20 of a later run."""
        top = {
            (query, passage)
            for run in self.posthoc.values()
            for query, passages in run.items()
            for passage in passages[:20]
        }
        return self.among([pair in top for pair in self.pairs])

    def queries(self) -> list[str]:
        """Give the queries, in the order of the file of labels."""
        return list(dict.fromkeys(query for query, _ in self.pairs))


def read_collection(folder: Path) -> Collection:
    """Read everything that was recorded."""
    people = _labels(folder / "qrels.txt")
    judges = [_labels(folder / "judges" / f"naghmefarzi.{name}.txt") for name in JUDGES]
    return Collection(
        pairs=tuple(people),
        people=np.array(list(people.values()), dtype=np.int64),
        levels=np.array([[one[pair] for one in judges] for pair in people], dtype=np.float64),
        criteria={
            name: _criteria(path)
            for name in JUDGES
            if (path := folder / "criteria" / f"naghmefarzi.{name}.tsv").exists()
        },
        official=_runs(folder / "official"),
        posthoc=_runs(folder / "posthoc"),
    )


def fill(
    store: Store, folder: Path, scratch: Path, collection: Collection, *, seed: int
) -> dict[Pair, int]:
    """Make the project: import, pool exactly the collection's pairs, judge; give their items.

    The pool is made of the collection's runs, and of one that holds every pair, in the order of
    its passages' ids, so that the pool holds what no run has among its first.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    import_corpus(store, [folder / "corpus.jsonl"], CorpusOptions(snapshot="s"))
    import_queries(store, [folder / "queries.jsonl"], QueryOptions())
    pooled = set(collection.pairs)
    everything: dict[str, list[str]] = defaultdict(list)
    for query, passage in sorted(collection.pairs):
        everything[query].append(passage)
    runs = {**collection.official, **collection.posthoc, "all-pairs": everything}
    paths = []
    for name, run in runs.items():
        paths.append(scratch / f"{name}.run")
        with paths[-1].open("w", encoding="utf-8") as file:
            for query, passages in run.items():
                # What nobody labelled can't be voted on here. Ranks stay as they were.
                for rank, passage in enumerate(passages, 1):
                    if (query, passage) in pooled:
                        file.write(f"{query} Q0 {passage} {rank} {10_000 - rank} {name}\n")
    import_runs(store, paths, RunOptions())
    rubric = Rubric("relevance", TREC, f"Does the passage answer the question? Seed {seed}.", {})
    create_pool(store, POOL, PoolOptions(depth=10_000, rubric=rubric))
    items = _items(store)
    for place, name in enumerate(JUDGES):
        recorded = dict(zip(collection.pairs, collection.levels[:, place].tolist(), strict=True))
        judge = RecordedJudge(
            name,
            {items[pair]: int(level) for pair, level in recorded.items()},
            {
                items[pair]: scores
                for pair, scores in collection.criteria.get(name, {}).items()
                if pair in items
            },
        )
        with store.read() as connection:
            blocks = read_pool_blocks(connection, POOL)
        judge_pool(store, blocks, judge, AssessorKind.LLM, monotonic=lambda: 0.0)
    return items


@dataclass(frozen=True)
class RecordedJudge:
    """Answers what was recorded."""

    name: str
    levels: Mapping[int, int]
    criteria: Mapping[int, Mapping[str, float]]
    models: frozenset[str] = frozenset()

    @property
    def digest(self) -> str:
        """Tell judges apart."""
        return hashlib.sha256(self.name.encode()).hexdigest()

    def judge(self, block: Block) -> list[Verdict]:
        """Answer a block."""
        return [
            Verdict(
                item.item_id,
                Outcome.JUDGED,
                level=TREC.level(self.levels[item.item_id]),
                signals=self.criteria.get(item.item_id, {}),
            )
            for item in block.items
        ]


def _items(store: Store) -> dict[Pair, int]:
    item, query, evidence = table(Item), table(Query), table(Evidence)
    statement = (
        sa.select(item.c.id, query.c.external_id, evidence.c.external_id)
        .join(table(Candidate), table(Candidate).c.item_id == item.c.id)
        .join(query, query.c.id == item.c.query_id)
        .join(evidence, evidence.c.id == item.c.evidence_id)
    )
    with store.read() as connection:
        return {(str(q), str(e)): int(key) for key, q, e in connection.execute(statement)}


def _labels(path: Path) -> dict[Pair, int]:
    rows = [line.split() for line in path.read_text().splitlines()]
    return {(query, passage): int(label) for query, _, passage, label in rows}


def _criteria(path: Path) -> dict[Pair, dict[str, float]]:
    found: dict[Pair, dict[str, float]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            pair = str(row.pop("query_id")), str(row.pop("doc_id"))
            found[pair] = {name: float(v) for name, v in row.items() if v and v != "None"}
    return found


def _runs(folder: Path) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted(folder.glob("*.run")):
        scored: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for line in path.read_text().splitlines():
            query, _, passage, _, score, _ = line.split()
            scored[query].append((float(score), passage))
        found[path.stem] = {
            query: [passage for _, passage in sorted(rows, reverse=True)]
            for query, rows in scored.items()
        }
    return found


def texts_of(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Read the texts of passages and queries by their ids."""
    parts = []
    for name in ("corpus.jsonl", "queries.jsonl"):
        rows = (json.loads(line) for line in (folder / name).read_text().splitlines())
        parts.append({str(row["_id"]): str(row["text"]) for row in rows})
    return parts[0], parts[1]
