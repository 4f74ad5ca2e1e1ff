"""Asking a language model about items that are in no project: nothing is read or stored."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from labeler.assessment.verdict import Verdict
from labeler.errors import LabelerError, ProviderDownError
from labeler.judges.llm.judge import LlmJudge, Question
from labeler.judges.llm.report import LlmReport
from labeler.judges.llm.session import JudgeLimits, model_client
from labeler.providers.chat import ChatRequest, Ended, Reply
from labeler.providers.seam import provider_connections

__all__ = ["Answers", "answer_questions", "answer_questions_here"]

_FAILURES_IN_A_ROW = 20


@dataclass
class Answers:
    """What a model answered.

    Attributes:
        verdicts: By the key of the item; an item that was not asked about has none.
        report: Counts of answers, requests, tokens and money, and why asking ended early.
    """

    verdicts: dict[int, Verdict] = field(default_factory=dict)
    report: LlmReport = field(default_factory=LlmReport)
    _failures_in_a_row: int = 0

    def add(self, judge: LlmJudge, question: Question, replies: Sequence[Reply]) -> None:
        """Take an answer, or the reason for which no further one is to be had."""
        for reply in replies:
            self.report.add_tries(reply)
        stop = next((reply.stop for reply in replies if reply.stop is not None), None)
        if stop is not None:
            self._stop(stop)
            return
        verdict = judge.verdict(question, replies)
        self.verdicts[verdict.item_id] = verdict
        self.report.add_verdict(verdict, replies)
        if any(one.has_response for reply in replies for one in reply.tries):
            self._failures_in_a_row = 0
        elif all(reply.ended is Ended.FAILED for reply in replies):
            self._failures_in_a_row += 1
        if self._failures_in_a_row >= _FAILURES_IN_A_ROW:
            self._stop(
                ProviderDownError(
                    f"{judge.model} failed {self._failures_in_a_row} times in a row: "
                    f"{replies[-1].why}",
                    hint="try again later, or check --endpoint",
                )
            )

    def _stop(self, reason: LabelerError) -> None:
        self.report.stop = self.report.stop or reason


async def answer_questions(
    judge: LlmJudge,
    questions: Sequence[Question],
    ask: Callable[[ChatRequest], Awaitable[Reply]],
    *,
    in_flight: int,
    observe: Callable[[int], None] = lambda _: None,
) -> Answers:
    """Ask each question once.

    Nothing is raised for what a provider does: `LlmReport.stop` says why asking ended early.

    Args:
        judge: The judge.
        questions: What it is asked.
        ask: Asks the model.
        in_flight: How many questions are under way at once, at most.
        observe: Told how many are answered.
    """
    answers = Answers()
    slots = asyncio.Semaphore(in_flight)

    async def answer(question: Question) -> None:
        async with slots:
            if answers.report.stop is not None:
                return
            replies = await asyncio.gather(*(ask(request) for request in question.requests))
            answers.add(judge, question, replies)
            observe(len(answers.verdicts))

    tasks = [asyncio.create_task(answer(question)) for question in questions]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return answers


def answer_questions_here(
    judge: LlmJudge,
    questions: Sequence[Question],
    limits: JudgeLimits,
    *,
    clock: Callable[[], datetime],
    observe: Callable[[int], None] = lambda _: None,
) -> Answers:
    """Do the same with an event loop and a client of its own, within limits."""

    async def work() -> Answers:
        client = model_client(limits, clock=clock)
        async with provider_connections():
            return await answer_questions(
                judge, questions, client.ask, in_flight=limits.max_concurrency, observe=observe
            )

    return asyncio.run(work())
