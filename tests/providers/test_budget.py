"""Money: a purse that is never overdrawn, and prices that are never too low."""

from __future__ import annotations

import asyncio
import math
import multiprocessing
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from labeler.errors import BudgetReachedError, ExitCode, UsageError
from labeler.judges.llm.workers import SharedCounter
from labeler.providers.budget import LocalCounter, Price, Purse, price_of
from labeler.providers.chat import AnswerMode, AnswerShape, ChatRequest, Message
from tests import virtual_time

NANO = 1e-9


@dataclass(frozen=True)
class Call:
    """A call that wants money: when it comes, how long it works, what it costs at most."""

    comes: float
    works: float
    worst: float
    share: float | None
    """What it costs in truth, as a share of the worst case; None when nobody tells."""
    cancelled: bool

    @property
    def cost(self) -> float | None:
        return None if self.share is None else self.worst * self.share


TENTHS = st.integers(0, 30).map(lambda tenths: tenths / 10)
CALLS = st.lists(
    st.builds(
        Call,
        comes=TENTHS,
        works=TENTHS,
        worst=st.floats(0, 0.4),
        share=st.one_of(st.none(), st.floats(0, 1)),
        cancelled=st.booleans(),
    ),
    min_size=1,
    max_size=25,
)


@given(CALLS, st.floats(0, 2))
def test_the_purse_never_passes_its_limit(calls: list[Call], limit: float) -> None:
    spent = 0.0
    refused = 0

    async def work() -> None:
        purse = Purse(limit, LocalCounter())
        held = 0.0

        async def pay(call: Call) -> None:
            nonlocal held, spent, refused
            await asyncio.sleep(call.comes)
            try:
                token = await purse.hold(call.worst)
            except BudgetReachedError:
                # Refused only where it could pass the limit though all others cost nothing more.
                assert purse.spent + call.worst > limit - NANO * len(calls)
                refused += 1
                return
            held += call.worst
            assert purse.spent + held <= limit + NANO * len(calls)
            cost: float | None = None
            try:
                await asyncio.sleep(call.works)
                if call.cancelled:
                    raise asyncio.CancelledError
                cost = call.cost
            finally:
                held -= call.worst
                spent += call.worst if cost is None else cost
                purse.settle(token, cost)
                assert purse.spent <= limit + NANO * len(calls)

        tasks = [asyncio.create_task(pay(call)) for call in calls]
        await asyncio.gather(*tasks, return_exceptions=True)
        for task in tasks:
            assert task.cancelled() or task.exception() is None
        assert purse.spent == pytest.approx(spent, abs=NANO * len(calls))

    virtual_time.run(work)
    assert spent <= limit + 1e-12
    if sum(call.worst for call in calls) <= limit - NANO * len(calls):
        assert refused == 0


def test_who_waits_wakes_when_others_turn_out_cheap() -> None:
    async def work() -> float:
        purse = Purse(1.0)
        first = await purse.hold(0.9)

        async def settle() -> None:
            await asyncio.sleep(30)
            purse.settle(first, 0.1)

        settling = asyncio.create_task(settle())
        second = await purse.hold(0.9)
        await settling
        purse.settle(second, None)
        assert purse.spent == pytest.approx(1.0)
        return virtual_time.now()

    assert virtual_time.run(work) == pytest.approx(30, abs=0.1)


def test_who_waits_is_refused_when_others_turn_out_dear() -> None:
    async def work() -> None:
        purse = Purse(1.0)
        first = await purse.hold(0.9)
        waiting = asyncio.create_task(purse.hold(0.2))
        await asyncio.sleep(1)
        assert not waiting.done()
        purse.settle(first, None)
        with pytest.raises(BudgetReachedError) as refused:
            await waiting
        assert refused.value.exit_code is ExitCode.BUDGET_REACHED
        assert "$1 is reached: $0.9000 spent" in str(refused.value)

    virtual_time.run(work)


def test_a_dear_call_is_refused_and_a_cheap_one_still_made() -> None:
    async def work() -> None:
        purse = Purse(0.01)
        with pytest.raises(BudgetReachedError):
            await purse.hold(0.02)
        purse.settle(await purse.hold(0.005), 0.005)
        purse.settle(await purse.hold(0.005), 0.005)
        with pytest.raises(BudgetReachedError):
            await purse.hold(0.000_000_001)
        await purse.hold(0.0)

    virtual_time.run(work)


def test_several_who_share_a_counter_never_pass_the_limit_together() -> None:
    # Each thread stands for a process: an event loop and a purse of its own.
    limit, worst, paid = 1.0, 0.013, 0.011
    counters = SharedCounter.for_processes(multiprocessing.get_context("spawn"), 4)
    counter = counters[0]
    most_seen: list[int] = []
    calls: list[int] = []

    async def judge(purse: Purse) -> None:
        async def call() -> None:
            token = await purse.hold(worst)
            with counter.lock():
                most_seen.append(counter.spent + counter.held)
            await asyncio.sleep(0)
            purse.settle(token, paid)
            calls.append(1)

        try:
            while True:
                await asyncio.gather(*(call() for _ in range(8)))
        except BudgetReachedError:
            await asyncio.sleep(0.1)

    threads = [
        threading.Thread(target=lambda one: asyncio.run(judge(Purse(limit, one))), args=(place,))
        for place in counters
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most_seen) <= limit * 1e9
    # All of it is used, but for what a call could have cost.
    assert (limit - worst) / paid <= len(calls) <= limit / paid
    assert counter.held == 0
    assert counter.spent == pytest.approx(len(calls) * paid * 1e9, abs=len(calls))


def test_what_a_process_that_died_had_set_aside_counts_as_spent() -> None:
    first, second = SharedCounter.for_processes(multiprocessing.get_context("spawn"), 2)
    lost, other = Purse(1.0, first), Purse(1.0, second)

    async def work() -> None:
        await lost.hold(0.6)
        held = await other.hold(0.3)
        first.write_off()
        assert other.spent == pytest.approx(0.6)
        other.settle(held, 0.1)
        assert other.spent == pytest.approx(0.7)
        # Nobody waits for money that never comes back.
        with pytest.raises(BudgetReachedError):
            await other.hold(0.4)
        assert await other.hold(0.3)

    virtual_time.run(work)


# -- prices


def test_a_price_is_read_in_dollars_for_a_million() -> None:
    assert Price.parse("0.15,0.60") == Price(0.15e-6, 0.6e-6)
    assert Price.parse(" 0 , 10 ") == Price(0.0, 1e-5)
    assert Price.parse("1000000,2000000").of(1, 1) == 3.0


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_whatever_price_is_stated_is_read(prompt: float, completion: float) -> None:
    price = Price.parse(f"{prompt!r},{completion!r}")
    assert price.prompt * 1e6 == pytest.approx(prompt)
    assert price.completion * 1e6 == pytest.approx(completion)


@pytest.mark.parametrize(
    "text", ["", "1", "1,2,3", "1;2", "a,b", "-1,2", "1,-2", "nan,1", "1,inf", "$1,$2", "1,,2", ","]
)
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no price"):
        Price.parse(text)


@given(st.text(max_size=12))
def test_whatever_is_stated_is_a_price_or_refused(text: str) -> None:
    try:
        price = Price.parse(text)
    except UsageError:
        return
    assert 0 <= price.prompt < math.inf
    assert 0 <= price.completion < math.inf


def test_tokens_that_nobody_counted_have_no_price() -> None:
    price = Price(1e-6, 2e-6)
    assert price.of(None, 5) is None
    assert price.of(5, None) is None
    assert price.of(0, 0) == 0.0


@pytest.mark.parametrize(
    ("entry", "prompt", "completion"),
    [
        ({}, 1e-6, 2e-6),
        ({"input_cost_per_token_above_200k_tokens": 3e-6}, 3e-6, 2e-6),
        ({"output_cost_per_token_priority": 9e-6}, 1e-6, 9e-6),
        # Thinking may be charged at a rate of its own, and writing to a provider's cache too.
        ({"output_cost_per_reasoning_token": 7e-6}, 1e-6, 7e-6),
        ({"cache_creation_input_token_cost": 1.25e-6}, 1.25e-6, 2e-6),
        (
            {"tiered_pricing": [{"input_cost_per_token": 8e-6, "range": [0, 9]}, {"range": []}]},
            8e-6,
            2e-6,
        ),
        (
            {"tiered_pricing": [{"input_cost_per_token": 8e-6}, {"input_cost_per_token": 4e-6}]},
            8e-6,
            2e-6,
        ),
        # What is asked for in so many words alone, and what isn't text.
        ({"cache_creation_input_token_cost_above_1hr": 9e-6}, 1e-6, 2e-6),
        ({"input_cost_per_token_batches": 9e-6}, 1e-6, 2e-6),
        ({"output_cost_per_token_flex": 9e-6}, 1e-6, 2e-6),
        ({"input_cost_per_audio_token": 9e-6}, 1e-6, 2e-6),
        ({"cache_read_input_token_cost": 1e-8}, 1e-6, 2e-6),
    ],
)  # fmt: skip
def test_the_dearest_tier_counts(entry: dict[str, Any], prompt: float, completion: float) -> None:
    known = {"m": {"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6, **entry}}
    found = price_of("somebody/m", known)
    assert found is not None
    assert (found.prompt, found.completion) == (prompt, completion)


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"input_cost_per_token": 1e-6},
        {"output_cost_per_token": 1e-6},
        {"output_cost_per_token": 1e-6, "cache_creation_input_token_cost": 1e-6},
        {"input_cost_per_token": None, "output_cost_per_token": None},
    ],
)
def test_a_price_that_is_not_known_is_none(entry: dict[str, Any]) -> None:
    assert price_of("m", {"m": entry}) is None
    assert price_of("n", {"m": entry}) is None


@pytest.mark.parametrize(
    "entry",
    [
        {"input_cost_per_request": 0.005},
        {"input_cost_per_second": 0.002},
        {"citation_cost_per_token": 2e-6},
        {"litellm_provider": "perplexity", "search_context_cost_per_query": {"low": 0.005}},
    ],
)
def test_what_is_charged_beside_tokens_has_no_price_here(entry: dict[str, Any]) -> None:
    tokens = {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6}
    assert price_of("m", {"m": tokens | entry}) is None
    assert price_of("m", {"m": tokens | dict.fromkeys(entry, 0)}) is not None


def test_a_provider_that_may_search_but_was_not_asked_to_has_a_price() -> None:
    entry = {
        "litellm_provider": "openai",
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 1e-6,
        "search_context_cost_per_query": {"low": 0.005},
    }
    assert price_of("openai/m", {"m": entry}) == Price(1e-6, 1e-6)


def test_the_price_of_a_batch_is_a_share() -> None:
    entry = {
        "input_cost_per_token": 2e-6,
        "output_cost_per_token": 4e-6,
        "input_cost_per_token_batches": 1e-6,
    }
    found = price_of("m", {"m": entry})
    assert found is not None
    assert found.batch == 0.5


def test_the_table_that_comes_with_litellm_is_read() -> None:
    from labeler.providers.seam import load_litellm

    table: dict[str, Any] = load_litellm().model_cost
    assert price_of("openai/gpt-4o-mini", table) is not None
    chats = {name: entry for name, entry in table.items() if entry.get("mode") == "chat"}
    found = {name: price for name in chats if (price := price_of(name, table)) is not None}
    assert len(found) > 0.8 * len(chats)
    for name, price in found.items():
        assert price.prompt >= chats[name].get("input_cost_per_token", 0), name
        assert price.completion >= chats[name].get("output_cost_per_token", 0), name
        assert price.completion >= chats[name].get("output_cost_per_reasoning_token", 0), name


# -- the worst case of a request


class Answer(BaseModel):
    level: str


TEXTS = st.lists(st.text(max_size=50), max_size=4)


@given(TEXTS, st.integers(1, 5000))
def test_a_prompt_never_has_more_tokens_than_the_worst_case_counts(
    texts: list[str], most: int
) -> None:
    messages = tuple(Message("user", text) for text in texts)
    request = ChatRequest(
        "m", messages, AnswerShape(Answer), AnswerMode.TOOLS, {"max_tokens": most}
    )
    # One token for each byte, and what a chat puts around each message and a tool.
    assert request.most_prompt_tokens >= sum(len(text.encode()) for text in texts) + 4 * len(texts)
    worst = Price(1e-6, 2e-6).worst(request)
    assert worst == pytest.approx(request.most_prompt_tokens * 1e-6 + most * 2e-6)


@pytest.mark.parametrize("parameters", [{}, {"max_tokens": None}, {"max_tokens": "many"}])
def test_without_a_limit_on_the_answer_there_is_no_worst_case(parameters: dict[str, Any]) -> None:
    request = ChatRequest("m", (), AnswerShape(Answer), AnswerMode.TEXT, parameters)
    assert Price(1e-6, 2e-6).worst(request) is None
