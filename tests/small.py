"""A small project for tests: 12 passages, 10 evidences, 3 queries, 2 runs; and a judge to hand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from labeler.assessment.blind import Block
from labeler.assessment.rubric import default_rubric
from labeler.assessment.verdict import Verdict
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.judges.run import JudgeReport, judge_pool, read_pool_blocks
from labeler.labels import Grade, Outcome
from labeler.pools.create import PoolOptions, create_pool
from labeler.records.scales import AssessorKind
from labeler.store.database import Store

QUERIES = {"q1": "returns within 30 days", "q2": "reset the router", "q3": "invoice by post"}

# c02 repeats the fact of c01, and c05 carries two facts.
EVIDENCE = {"c01": ["return-30"], "c02": ["return-30"], "c05": ["reset", "pin"], "c06": ["reset"]}


def passages() -> list[dict[str, object]]:
    """Give the rows of the corpus file."""
    return [
        {
            "_id": name,
            "text": f"passage {name} about fact {number}",
            "document": f"doc-{number // 4}",
            "evidence_ids": EVIDENCE.get(name, [name]),
            "title": f"Document {number // 4}",
            "domain": "support",
            "region": "EU",
        }
        for number, name in enumerate(f"c{number:02d}" for number in range(1, 13))
    ]


def write_jsonl(path: Path, rows: list[dict[str, object]]) -> Path:
    """Write rows to a file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_run(path: Path, tag: str, results: Mapping[str, list[str]]) -> Path:
    """Write a TREC run, best first."""
    lines = [
        f"{query} Q0 {document} {rank} {100 - rank} {tag}\n"
        for query, documents in results.items()
        for rank, document in enumerate(documents, 1)
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path


LEXICAL = {
    "q1": ["c01", "c02", "c03", "c04"],
    "q2": ["c05", "c06", "c07"],
    "q3": ["c09", "c99", "c10"],
}
DENSE = {"q1": ["c02", "c03", "c08"], "q2": ["c06", "c07", "c05"], "q3": ["c10", "c11", "c12"]}


def fill(store: Store, folder: Path) -> None:
    """Import the small project's corpus, queries and runs."""
    corpus = write_jsonl(folder / "corpus.jsonl", passages())
    import_corpus(store, [corpus], CorpusOptions(snapshot="2026-07"))
    queries: list[dict[str, object]] = [{"_id": key, "text": text} for key, text in QUERIES.items()]
    import_queries(store, [write_jsonl(folder / "queries.jsonl", queries)], QueryOptions())
    for tag, results in (("lexical", LEXICAL), ("dense", DENSE)):
        import_runs(store, [write_run(folder / f"{tag}.run", tag, results)], RunOptions())


def pooled(store: Store, folder: Path, depth: int = 3) -> None:
    """Import the small project and pool it as 'p'."""
    fill(store, folder)
    create_pool(store, "p", PoolOptions(depth=depth, rubric=default_rubric()))


@dataclass
class HandJudge:
    """A judge that answers as it is told; what isn't told is not relevant with confidence 0.99."""

    answers: Mapping[str, tuple[Grade | Outcome, float]] = field(default_factory=dict)
    name: str = "by-hand"
    version: str = "1"
    asked: list[str] = field(default_factory=list)
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    models: frozenset[str] = frozenset()

    @property
    def digest(self) -> str:
        """Tell versions apart."""
        return hashlib.sha256(f"{self.name}{self.version}".encode()).hexdigest()

    def judge(self, block: Block) -> list[Verdict]:
        """Answer by the passage's name, which is its second word."""
        verdicts = []
        for item in block.items:
            passage = item.passage.split()[1]
            self.asked.append(passage)
            answer, confidence = self.answers.get(passage, (Grade.NOT_RELEVANT, 0.99))
            if isinstance(answer, Outcome):
                verdicts.append(Verdict(item.item_id, answer, reason="told so"))
                continue
            level = block.rubric.scale.level_for(answer)
            verdicts.append(
                Verdict(
                    item.item_id,
                    Outcome.JUDGED,
                    level=level,
                    confidence=confidence,
                    probabilities={answer: confidence},
                    flags=self.flags.get(passage, ()),
                )
            )
        return verdicts


def judge(store: Store, hand: HandJudge, pool: str = "p") -> JudgeReport:
    """Have a pool judged."""
    with store.read() as connection:
        blocks = read_pool_blocks(connection, pool)
    return judge_pool(store, blocks, hand, AssessorKind.LLM, monotonic=lambda: 0.0)
