"""A batch's answers are those of a live run, at the price of a batch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from labeler.assessment.rubric import default_rubric
from labeler.errors import (
    BudgetReachedError,
    ProviderRefusedError,
)
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.judges.llm.setup import find_price
from labeler.labels import Outcome
from labeler.pools.create import PoolOptions, create_pool
from labeler.providers.budget import Price
from labeler.providers.chat import AnswerMode
from labeler.providers.failures import failure_name
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.ledger import Response
from labeler.records.pools import Item
from labeler.records.project import Text
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from tests.fake_provider.running import Provider
from tests.judges.llm.batching import ITEMS, LIMITS, REQUESTS, work_on
from tests.small import pooled, write_jsonl, write_run

SCENES = [
    *("plain", "fenced", "think", "words", "wrong-case", "extra-fields", "nul", "lone-surrogate"),
    *("raw-surrogate", "confidence-95", "abstains", "no-logprobs", "fake-logprobs"),
    *("refusal", "refusal-prose", "content-filter", "content-filter-400", "truncated"),
    *("think-unclosed", "empty-choices", "empty-content", "bad-label", "too-long"),
    *("unprocessable", "status:500", "drop"),
]


def marked_pool(store: Store, folder: Path) -> None:
    """Pool one item for each scenario."""
    rows: list[dict[str, object]] = [
        {"_id": f"d{n:02d}", "text": f"passage {n} [[scenario={name}]]"}
        for n, name in enumerate(SCENES)
    ]
    import_corpus(store, [write_jsonl(folder / "c.jsonl", rows)], CorpusOptions(snapshot="1"))
    queries: list[dict[str, object]] = [{"_id": "q", "text": "a question"}]
    import_queries(store, [write_jsonl(folder / "q.jsonl", queries)], QueryOptions())
    found = {"q": [str(row["_id"]) for row in rows]}
    import_runs(store, [write_run(folder / "r.run", "r", found)], RunOptions())
    create_pool(store, "p", PoolOptions(depth=len(rows), rubric=default_rubric()))


def verdicts(store: Store) -> dict[int, tuple[Any, ...]]:
    """Give what was stored of each item; of failures the name, since words may differ."""
    judgment, text, item = table(Judgment), table(Text), table(Item)
    reason, quote = text.alias(), text.alias()
    statement = (
        sa.select(
            item.c.evidence_id,
            judgment.c.outcome,
            judgment.c.level_id,
            judgment.c.confidence,
            judgment.c.probabilities,
            judgment.c.signals,
            judgment.c.flags,
            quote.c.body,
            reason.c.body,
        )
        .join(item, item.c.id == judgment.c.item_id)
        .outerjoin(reason, reason.c.id == judgment.c.reason_id)
        .outerjoin(quote, quote.c.id == judgment.c.quote_id)
    )
    with store.read() as connection:
        rows = connection.execute(statement).all()
    is_closed = {"judged", "abstained"}
    return {
        row[0]: (*row[1:-1], row[-1] if row[1] in is_closed else failure_name(row[-1]))
        for row in rows
    }


@pytest.mark.parametrize("mode", list(AnswerMode))
def test_an_answer_is_read_as_it_is_live(
    sqlite_store: Store, provider: Provider, tmp_path: Path, mode: AnswerMode
) -> None:
    marked_pool(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider, "marked", mode=mode, logprobs=True)
    work.live()
    with open_store(Location(str(tmp_path / "other.db")), create=True) as other:
        marked_pool(other, tmp_path)
        _, report = work_on(other, provider, "marked", mode=mode, logprobs=True).run()
        by_batch = verdicts(other)
    live = verdicts(sqlite_store)
    assert len(live) == len(SCENES)
    assert by_batch == live
    assert report.collected == len(SCENES)
    # Without a schema the fake provider doesn't know that it may abstain.
    seen = {outcome for outcome, *_ in live.values()}
    assert seen >= {one.value for one in Outcome} - {"abstained"}


def test_what_failed_is_taken_up_by_retry(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider, "bad-label-once")
    _, report = work.run()
    assert report.judged.lost == {"failed": ITEMS}
    assert report.judged.failures == {"the answer doesn't fit the schema": ITEMS}
    assert work.submit().lines == 0
    again = replace(LIMITS, retry=frozenset({Outcome.FAILED}))
    submitted = work.submit(limits=again)
    assert submitted.lines == REQUESTS
    # Whoever collects needn't say again what was retried.
    report = work.collect()
    assert report.judged.outcomes == {"judged": ITEMS}
    assert not report.judged.lost
    assert work.attempts() == ["failed"] * REQUESTS + ["answered"] * REQUESTS


def test_a_line_that_says_that_no_request_is_taken_stops_the_run_and_stays_open(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider, "unauthorised")
    _, report = work.run()
    assert isinstance(report.judged.stop, ProviderRefusedError)
    assert report.judged.waiting == ITEMS
    assert (work.attempts(), work.judgments()) == (["failed"] * REQUESTS, [])
    assert work.submit().lines == REQUESTS


def test_the_cost_is_that_of_a_batch(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider, "gpt-4o-mini")
    _, report = work.run()
    judged = report.judged
    # 0.075 and 0.30 US dollars for a million tokens, half of what a call costs.
    assert judged.cost == pytest.approx(
        judged.prompt_tokens * 0.075e-6 + judged.completion_tokens * 0.30e-6
    )
    assert judged.unpriced == 0
    stored = [cost for (cost,) in work.rows(Response, "cost")]
    assert sum(stored) == pytest.approx(judged.cost)
    price = find_price("openai/gpt-4o-mini", None, batch=True)
    assert price == Price(0.075e-6, 0.30e-6)


def test_a_stated_price_is_that_of_a_batch(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider)
    limits = replace(LIMITS, price=Price(1e-6, 2e-6), price_is_given=True)
    judged = work.run(limits=limits)[1].judged
    assert judged.cost == pytest.approx(
        judged.prompt_tokens * 1e-6 + judged.completion_tokens * 2e-6
    )


def test_only_as_many_lines_are_submitted_as_the_limit_pays_for(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider)
    price = Price(0.0, 1e-6)
    worst = work.judge.parameters["max_tokens"] * 1e-6
    limits = replace(LIMITS, price=price, price_is_given=True, max_cost=3.5 * worst)
    submitted, report = work.run(limits=limits)
    assert isinstance(submitted.stop, BudgetReachedError)
    assert (submitted.lines, report.collected) == (3, 3)
    assert report.judged.cost <= 3.5 * worst
    total = submitted.lines
    while submitted.stop is not None:
        submitted, _ = work.run(limits=limits)
        total += submitted.lines
    assert total == REQUESTS
    assert work.is_complete()


def test_a_limit_below_one_line_submits_nothing(
    sqlite_store: Store, provider: Provider, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    work = work_on(sqlite_store, provider)
    limits = replace(LIMITS, price=Price(1e-6, 1e-6), price_is_given=True, max_cost=1e-9)
    submitted = work.submit(limits=limits)
    assert isinstance(submitted.stop, BudgetReachedError)
    assert work.batches_made() == 0
    assert work.states() == []
