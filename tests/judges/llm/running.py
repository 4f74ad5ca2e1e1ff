"""Whole runs of a judge against the fake provider, and what the database holds after them."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import sqlalchemy as sa

from labeler.assessment.rubric import default_rubric
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions as ImportOptions
from labeler.imports.runs import import_runs
from labeler.judges.llm.judge import LlmJudge
from labeler.judges.llm.passages import PassageLimit
from labeler.judges.llm.pool import pool_to_judge
from labeler.judges.llm.prompts import find_prompt
from labeler.judges.llm.report import LlmReport
from labeler.judges.llm.run import RunOptions, judge_items
from labeler.judges.llm.session import stopped_by
from labeler.labels import Outcome
from labeler.pools.create import PoolOptions, create_pool
from labeler.providers.chat import AnswerMode
from labeler.providers.client import ModelClient
from labeler.records import Record, table
from labeler.records.corpus import Evidence
from labeler.records.judgments import Judgment
from labeler.records.ledger import Attempt, Job, Response
from labeler.records.pools import Item
from labeler.records.queries import Query
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from tests.providers.asking import Asking
from tests.small import write_jsonl, write_run


@dataclass(frozen=True)
class Judged:
    """One judgment as it is stored."""

    query: str
    evidence: str
    outcome: str
    sample: int
    response_id: int | None
    request_digest: str


@dataclass
class Bench:
    """A project, and judges that are asked at the fake provider."""

    store: Store
    ask: Asking

    def judge(
        self,
        model: str,
        *,
        mode: AnswerMode = AnswerMode.JSON_SCHEMA,
        samples: int = 1,
        characters: int = 12_000,
        longer: Literal["cut", "windows"] = "cut",
        prompt: str = "direct",
        **parameters: Any,
    ) -> LlmJudge:
        """Make a judge."""
        return LlmJudge(
            model=f"openai/{model}",
            prompt=find_prompt(prompt),
            mode=mode,
            parameters={"max_tokens": 500, **parameters},
            endpoint=self.ask.provider.address,
            passages=PassageLimit(characters, longer),
            samples=samples,
        )

    def run(
        self,
        judge: LlmJudge,
        *,
        pool: str = "p",
        client: ModelClient | None = None,
        retry: Sequence[Outcome] = (),
        in_flight: int = 16,
        stop_when: Callable[[LlmReport], bool] = lambda _: False,
    ) -> LlmReport:
        """Judge a pool on the loop that all share."""
        with self.store.read() as connection:
            found = pool_to_judge(connection, pool)
        asked = client or self.ask.client()

        async def work() -> LlmReport:
            stopping = asyncio.Event()

            def observe(report: LlmReport) -> None:
                if stop_when(report):
                    stopping.set()

            async with stopped_by(stopping, asked.limiter):
                return await judge_items(
                    self.store,
                    found,
                    judge,
                    asked.ask,
                    RunOptions(in_flight=in_flight, retry=frozenset(retry)),
                    observe=observe,
                    stopping=stopping,
                )

        return self.ask.run(work())

    def judgments(self, judge: LlmJudge | None = None) -> list[Judged]:
        """List the judgments of a judge, or all, in the order in which they were stored."""
        judgment, item, query = table(Judgment), table(Item), table(Query)
        evidence = table(Evidence)
        assessor = Record.metadata.tables["assessor"]
        statement = (
            sa.select(
                query.c.external_id,
                evidence.c.external_id,
                judgment.c.outcome,
                judgment.c.sample,
                judgment.c.response_id,
                judgment.c.request_digest,
            )
            .join(item, item.c.id == judgment.c.item_id)
            .join(query, query.c.id == item.c.query_id)
            .join(evidence, evidence.c.id == item.c.evidence_id)
            .join(assessor, assessor.c.id == judgment.c.assessor_id)
            .order_by(judgment.c.id)
        )
        if judge is not None:
            statement = statement.where(assessor.c.digest == judge.digest)
        with self.store.read() as connection:
            return [
                Judged(str(row[0]), str(row[1]), str(Outcome(row[2])), *row[3:])
                for row in connection.execute(statement)
            ]

    def outcomes(self) -> Counter[str]:
        """Count judgments by outcome."""
        return Counter(one.outcome for one in self.judgments())

    def rows(self, kind: type[Record], *columns: str) -> list[tuple[Any, ...]]:
        """Read columns of a table."""
        into = table(kind)
        statement = sa.select(*(into.c[name] for name in columns)).order_by(into.c.id)
        with self.store.read() as connection:
            return [tuple(row) for row in connection.execute(statement)]

    def answers(self) -> int:
        """Count the answers in the ledger that can be used."""
        return sum(outcome == "answered" for (outcome,) in self.rows(Attempt, "outcome"))

    def jobs(self) -> list[tuple[str, int, int, int]]:
        """List each job's state and how far it is: total, done, failed."""
        found = self.rows(Job, "state", "total", "done", "failed")
        return [(str(state), *rest) for state, *rest in found]

    def cost(self) -> float:
        """Sum what the answers cost."""
        return sum(cost or 0.0 for (cost,) in self.rows(Response, "cost"))


class Templates:
    """Projects that are made once and copied for each test that wants the same."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[str, Path] = {}

    @contextmanager
    def copy(self, target: Path, texts: Mapping[str, Sequence[str]]) -> Iterator[Store]:
        """Open a copy of a project with these texts, pooled as 'p' where there are any."""
        key = repr(sorted(texts.items()))
        if key not in self._made:
            folder = self._folder / str(len(self._made))
            folder.mkdir()
            self._made[key] = folder / "queue.db"
            with open_store(Location(str(self._made[key])), create=True) as store:
                if texts:
                    fill(store, folder, texts)
                    make_pool(store)
        copied = shutil.copy(self._made[key], target / "queue.db")
        with open_store(Location(str(copied))) as store:
            yield store


def fill(store: Store, folder: Path, texts: Mapping[str, Sequence[str]]) -> None:
    """Import queries with their passages: each text is a passage, named by query and number."""
    rows: list[dict[str, object]] = []
    results: dict[str, list[str]] = {}
    for query, passages in texts.items():
        names = [f"{query}-{number:03d}" for number in range(len(passages))]
        rows += [{"_id": name, "text": text} for name, text in zip(names, passages, strict=True)]
        results[query] = names
    import_corpus(store, [write_jsonl(folder / "corpus.jsonl", rows)], CorpusOptions("2026-07"))
    queries: list[dict[str, object]] = [
        {"_id": query, "text": f"what about {query}?"} for query in texts
    ]
    import_queries(store, [write_jsonl(folder / "queries.jsonl", queries)], QueryOptions())
    import_runs(store, [write_run(folder / "one.run", "one", results)], ImportOptions())


def make_pool(store: Store, name: str = "p", depth: int = 1000) -> None:
    """Pool what was imported."""
    create_pool(store, name, PoolOptions(depth=depth, rubric=default_rubric()))


def plain_texts(items: int, *, queries: int) -> dict[str, list[str]]:
    """Give so many texts, all different, parted evenly among queries."""
    return {
        f"q{query}": [
            f"passage {query} {number} tells" for number in range(len(range(query, items, queries)))
        ]
        for query in range(queries)
    }
