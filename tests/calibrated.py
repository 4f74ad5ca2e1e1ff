"""A judged pool whose topics decide what people say, for tests of calibration through the store."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from labeler.assessment.blind import Block
from labeler.assessment.rubric import default_rubric
from labeler.assessment.verdict import Verdict
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.judges.run import judge_pool, read_pool_blocks
from labeler.labels import NATIVE, Grade, Outcome
from labeler.pools.create import PoolOptions, create_pool
from labeler.records import table
from labeler.records.corpus import Evidence
from labeler.records.pools import Candidate, Item
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from tests.small import write_jsonl, write_run

TOPICS = ("amber apple", "brick bread", "coral crane", "drum dune")


def number(text: str) -> int:
    """Give a number that follows from a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def true_grade(query: int, place: int) -> Grade:
    """Say what people say: of four topics two are relevant, other ones in each query."""
    topic = place % 4
    return Grade.FULLY_RELEVANT if (topic + query) % 4 < 2 else Grade.NOT_RELEVANT


@dataclass
class TopicJudge:
    """A judge that is right in so many of a hundred items, and says how sure it is."""

    name: str
    right: int
    models: frozenset[str] = frozenset()

    @property
    def digest(self) -> str:
        """Tell judges apart."""
        return hashlib.sha256(f"{self.name} {self.right}".encode()).hexdigest()

    def judge(self, block: Block) -> list[Verdict]:
        """Answer each passage by its name, ``q<query>p<place>``, its last word."""
        verdicts = []
        for item in block.items:
            name = item.passage.split()[-1]
            query, place = (int(part) for part in name[1:].split("p"))
            grade = true_grade(query, place)
            if number(f"{self.name} {name}") % 100 >= self.right:
                relevant = grade is Grade.NOT_RELEVANT
                grade = Grade.FULLY_RELEVANT if relevant else Grade.NOT_RELEVANT
            sure = 0.6 + number(f"sure {name}") % 30 / 100
            level = NATIVE.level_for(grade)
            verdicts.append(
                Verdict(
                    item.item_id,
                    Outcome.JUDGED,
                    level=level,
                    confidence=sure,
                    signals={"stated_confidence": sure},
                )
            )
        return verdicts


def topic_pool(
    store: Store,
    folder: Path,
    judges: Collection[TopicJudge],
    *,
    queries: int = 10,
    depth: int = 24,
) -> dict[int, Grade]:
    """Import, pool as 'p' and judge; give each item with the grade that people give it."""
    names = {
        f"q{query}p{place}": (query, place) for query in range(queries) for place in range(depth)
    }
    rows: list[dict[str, object]] = [
        {"_id": name, "text": f"{TOPICS[place % 4]} {name}"} for name, (_, place) in names.items()
    ]
    import_corpus(store, [write_jsonl(folder / "c.jsonl", rows)], CorpusOptions(snapshot="s"))
    asked: list[dict[str, object]] = [
        {"_id": f"q{query}", "text": f"question {query}"} for query in range(queries)
    ]
    import_queries(store, [write_jsonl(folder / "q.jsonl", asked)], QueryOptions())
    results = {
        f"q{query}": [f"q{query}p{place}" for place in range(depth)] for query in range(queries)
    }
    import_runs(store, [write_run(folder / "one.run", "one", results)], RunOptions())
    create_pool(store, "p", PoolOptions(depth=depth, rubric=default_rubric()))
    for judge in judges:
        with store.read() as connection:
            blocks = read_pool_blocks(connection, "p")
        judge_pool(store, blocks, judge, AssessorKind.LLM, monotonic=lambda: 0.0)
    candidate, item, evidence = table(Candidate), table(Item), table(Evidence)
    with store.read() as connection:
        statement = (
            sa.select(item.c.id, evidence.c.external_id)
            .join(candidate, candidate.c.item_id == item.c.id)
            .join(evidence, evidence.c.id == item.c.evidence_id)
            .order_by(item.c.id)
        )
        return {int(key): true_grade(*names[name]) for key, name in connection.execute(statement)}


def by_query(grades: Mapping[int, Grade], depth: int = 24) -> list[list[int]]:
    """Give the items of each query, in the order of the items."""
    items = list(grades)
    return [items[start : start + depth] for start in range(0, len(items), depth)]
