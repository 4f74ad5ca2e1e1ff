"""A pool, a judge, a fake provider: what the tests of batches work with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
import sqlalchemy as sa

from labeler.judges.llm.batch import BatchReport, BatchSettings, Submitted, collect, submit
from labeler.judges.llm.judge import LlmJudge
from labeler.judges.llm.pool import PoolToJudge, pool_to_judge
from labeler.judges.llm.report import LlmReport
from labeler.judges.llm.session import JudgeLimits, judge_in_this_process
from labeler.judges.llm.setup import LlmOptions, make_judge
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.ledger import Attempt, ProviderBatch
from labeler.store.database import Store
from tests.fake_provider.running import Provider

KEY = "sk-batch-0123456789abcdef"
ITEMS, REQUESTS = 11, 10  # two items of the small pool have the same texts
QUICK = BatchSettings(first_pause=0.01, longest_pause=0.02)
ONCE = replace(QUICK, wait=False)
LIMITS = JudgeLimits(attempts=1)


@contextmanager
def clean(running: Provider) -> Iterator[Provider]:
    """Give a provider without what earlier tests left, and a key for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        running.reset()
        running.configure(batch_polls=1)
        yield running


@dataclass
class Work:
    """A pool, a judge, and what is done with them."""

    store: Store
    provider: Provider
    pool: PoolToJudge
    judge: LlmJudge

    def submit(self, settings: BatchSettings = QUICK, limits: JudgeLimits = LIMITS) -> Submitted:
        return submit(self.store, self.pool, self.judge, limits, settings)

    def collect(self, settings: BatchSettings = QUICK, limits: JudgeLimits = LIMITS) -> BatchReport:
        return collect(self.store, self.pool, self.judge, limits, settings)

    def run(
        self, settings: BatchSettings = QUICK, limits: JudgeLimits = LIMITS
    ) -> tuple[Submitted, BatchReport]:
        return self.submit(settings, limits), self.collect(settings, limits)

    def live(self, limits: JudgeLimits = LIMITS) -> LlmReport:
        return judge_in_this_process(self.store, self.pool, self.judge, limits)

    def count(self, name: str) -> int:
        return self.provider.count(self.judge.model.removeprefix("openai/"), name)

    def batches_made(self) -> int:
        return self.provider.endpoints().get("POST /v1/batches", 0)

    def rows(self, record: Any, *columns: str) -> list[tuple[Any, ...]]:
        one = table(record)
        with self.store.read() as connection:
            statement = sa.select(*(one.c[name] for name in columns)).order_by(one.c.id)
            return [tuple(row) for row in connection.execute(statement)]

    def states(self) -> list[str]:
        return [str(state) for (state,) in self.rows(ProviderBatch, "state")]

    def attempts(self) -> list[str]:
        return [str(outcome) for (outcome,) in self.rows(Attempt, "outcome")]

    def judgments(self) -> list[str]:
        return [str(outcome) for (outcome,) in self.rows(Judgment, "outcome")]

    def is_complete(self) -> bool:
        """Whether each item was judged once, each request paid once, and nothing is open."""
        return (
            self.judgments() == ["judged"] * ITEMS
            and self.attempts() == ["answered"] * REQUESTS
            and self.count("paid_total") == self.count("paid_distinct") == REQUESTS
            and not {"planned", "submitted"}.intersection(self.states())
        )


def work_on(store: Store, provider: Provider, model: str = "plain", **options: Any) -> Work:
    chosen = LlmOptions(model=f"openai/{model}", endpoint=provider.address, **options)
    with store.read() as connection:
        pool = pool_to_judge(connection, "p")
        return Work(store, provider, pool, make_judge(connection, pool, chosen))
