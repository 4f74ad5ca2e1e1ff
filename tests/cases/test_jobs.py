"""Public case of jobs: a judge goes on where it stopped, and asks nothing twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from labeler.assessment.rubric import LevelGuide, Rubric, default_rubric
from labeler.errors import InterruptedRunError
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.labels import TREC
from labeler.pools.create import PoolOptions, create_pool
from labeler.store.database import Store
from tests.judges.llm.running import Bench, Judged
from tests.providers.asking import Asking, asking
from tests.shared import case_dir
from tests.small import write_jsonl, write_run


@pytest.fixture(scope="module")
def started() -> Iterator[Asking]:
    with asking() as running:
        yield running


@pytest.fixture
def ask(started: Asking, monkeypatch: pytest.MonkeyPatch) -> Asking:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    started.provider.reset()
    return started


def import_pairs(store: Store, name: str, folder: Path) -> None:
    """Import a file of pairs as a snapshot and a run of its name, and pool it so."""
    lines = (case_dir("60") / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    texts: list[dict[str, object]] = [
        {"_id": row["doc_id"], "text": row["passage"]} for row in rows
    ]
    corpus = write_jsonl(folder / f"{name}.corpus.jsonl", texts)
    import_corpus(store, [corpus], CorpusOptions(snapshot=name))
    queries = write_jsonl(folder / "queries.jsonl", [{"_id": "q1", "text": "what is told?"}])
    import_queries(store, [queries], QueryOptions())
    run = write_run(folder / f"{name}.run", name, {"q1": [row["doc_id"] for row in rows]})
    import_runs(store, [run], RunOptions(snapshot=name))
    pool(store, name, name)


def pool(store: Store, name: str, run: str, rubric: Rubric | None = None) -> None:
    options = PoolOptions(depth=100, rubric=rubric or default_rubric(), runs=(run,), snapshot=run)
    create_pool(store, name, options)


def on_another_scale() -> Rubric:
    """Give the shipped rubric on TREC's scale."""
    guides = {level.name: LevelGuide(f"{level.name}, as TREC has it") for level in TREC.levels}
    return Rubric("relevance", TREC, default_rubric().instructions, guides)


@pytest.fixture
def bench(sqlite_store: Store, ask: Asking, tmp_path: Path) -> Bench:
    for name in ("pool-1", "pool-2"):
        import_pairs(sqlite_store, name, tmp_path)
    return Bench(sqlite_store, ask)


def told(judgments: list[Judged]) -> list[tuple[str, str, str]]:
    return sorted((one.evidence, one.outcome, one.request_digest) for one in judgments)


def test_60_a_second_pool_asks_about_what_is_new(bench: Bench) -> None:
    judge = bench.judge("plain")
    assert bench.run(judge, pool="pool-1").requests == 5
    assert bench.ask.count("plain") == 5
    report = bench.run(judge, pool="pool-2")
    # Five new ones, and d2 whose text changed; the other four are there.
    assert report.items == 10
    assert report.requests == 6
    assert report.known + report.reused == 4
    assert bench.ask.count("plain") == 11
    assert bench.ask.count("plain", "paid_distinct") == 11
    assert [state for state, *_ in bench.jobs()] == ["done", "done"]


def test_60_a_job_that_was_stopped_goes_on(bench: Bench) -> None:
    judge = bench.judge("plain")
    report = bench.run(judge, pool="pool-1", in_flight=1, stop_when=lambda now: now.answered >= 3)
    assert isinstance(report.stop, InterruptedRunError)
    assert bench.ask.count("plain") == 3
    report = bench.run(judge, pool="pool-1")
    assert (report.known, report.requests) == (3, 2)
    assert bench.ask.count("plain") == 5
    uninterrupted = bench.judge("plain", characters=500)
    bench.run(uninterrupted, pool="pool-1")
    assert told(bench.judgments(judge)) == told(bench.judgments(uninterrupted))


@pytest.mark.parametrize("part", ["model", "prompt", "scale"])
def test_60_what_decides_the_answer_is_asked_anew(bench: Bench, part: str) -> None:
    bench.run(bench.judge("plain"), pool="pool-1")
    name = "pool-1"
    judge = bench.judge("plain")
    if part == "model":
        judge = bench.judge("noisy:1")
    elif part == "prompt":
        judge = bench.judge("plain", prompt="criteria")
    else:
        name = "other-scale"
        pool(bench.store, name, "pool-1", on_another_scale())
    report = bench.run(judge, pool=name)
    assert (report.requests, report.known, report.reused) == (5, 0, 0)
