"""Asking a model about items of no project."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from labeler.assessment.rubric import default_rubric
from labeler.errors import ProviderDownError, ProviderRefusedError
from labeler.judges.llm.asking import Answers, answer_questions
from labeler.judges.llm.judge import LlmJudge
from labeler.judges.llm.prompts import find_prompt
from labeler.judges.probe_cases import compose, shipped_tricks
from labeler.labels import Outcome
from labeler.providers.chat import AnswerMode, ChatRequest, Ended, Reply, Try

JUDGE = LlmJudge("openai/x", find_prompt("direct"), AnswerMode.TEXT, {"max_tokens": 100})
QUESTIONS = [
    JUDGE.question(case.query, case.item, default_rubric())
    for case in compose(shipped_tricks(), default_rubric())
]
AT = datetime(2026, 7, 1, tzinfo=UTC)
LOST = Reply(Ended.FAILED, why="connection: refused", tries=(Try(AT, "failed"),))
ANSWERED = Reply(
    Ended.ANSWERED,
    fields={"level": "0", "quote": "", "reason": "no", "confidence": 1.0},
    tries=(Try(AT, "answered", raw="{}", prompt_tokens=10, completion_tokens=2),),
)


def asked(replies: list[Reply], *, in_flight: int = 3) -> Answers:
    """Give the replies in turn, the last one again and again."""
    waiting = list(replies)

    async def ask(_: ChatRequest) -> Reply:
        await asyncio.sleep(0)
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    return asyncio.run(answer_questions(JUDGE, QUESTIONS, ask, in_flight=in_flight))


def test_every_question_is_answered_and_counted() -> None:
    answers = asked([ANSWERED])
    assert set(answers.verdicts) == {one.item.item_id for one in QUESTIONS}
    assert {one.outcome for one in answers.verdicts.values()} == {Outcome.JUDGED}
    assert (answers.report.requests, answers.report.prompt_tokens) == (
        len(QUESTIONS),
        10 * len(QUESTIONS),
    )
    assert answers.report.stop is None


def test_a_provider_that_takes_no_more_ends_it() -> None:
    refused = Reply(Ended.FAILED, why="no", stop=ProviderRefusedError("no key"))
    answers = asked([ANSWERED] * 5 + [refused], in_flight=1)
    assert len(answers.verdicts) == 5
    assert isinstance(answers.report.stop, ProviderRefusedError)


def test_a_provider_that_only_fails_is_left_alone() -> None:
    answers = asked([ANSWERED] * 5 + [LOST], in_flight=4)
    assert isinstance(answers.report.stop, ProviderDownError)
    assert 20 <= answers.report.outcomes[Outcome.FAILED.value] <= 23
    assert len(answers.verdicts) < len(QUESTIONS)


def test_failures_between_answers_end_nothing() -> None:
    answers = asked([LOST, ANSWERED] * len(QUESTIONS))
    assert answers.report.stop is None
    assert len(answers.verdicts) == len(QUESTIONS)


def test_a_bug_is_raised_as_it_is() -> None:
    async def ask(_: ChatRequest) -> Reply:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(answer_questions(JUDGE, QUESTIONS, ask, in_flight=3))
