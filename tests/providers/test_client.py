"""Every way in which a provider can fail, in every mode: the right end after the right requests."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from labeler.errors import BudgetReachedError, InterruptedRunError, ProviderRefusedError
from labeler.providers.budget import Price, Purse
from labeler.providers.chat import AnswerMode, Ended, Reply
from labeler.providers.ledger import KnownAnswer
from labeler.providers.seam import load_litellm
from tests.providers.asking import Asking, asking

KEY = "sk-test-0123456789abcdef-tail"
ANSWERED, REFUSED, TRUNCATED, FAILED = (
    Ended.ANSWERED,
    Ended.REFUSED,
    Ended.TRUNCATED,
    Ended.FAILED,
)


@pytest.fixture(scope="module")
def started() -> Iterator[Asking]:
    with asking() as running:
        yield running


@pytest.fixture
def ask(started: Asking, monkeypatch: pytest.MonkeyPatch) -> Asking:
    """The provider without what earlier tests left."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    started.provider.reset()
    return started


@dataclass(frozen=True)
class Case:
    """What a scenario comes to: its end, HTTP requests, why, outcomes of the tries."""

    ended: Ended
    requests: int
    why: str = ""
    tries: tuple[str, ...] = ()
    stops: bool = False


def passing(name: str) -> Case:
    """Give the case of a failure that is tried again and stays."""
    return Case(FAILED, 2, name, ("failed", "failed"))


ONCE = Case(ANSWERED, 1, "", ("answered",))
TWICE = Case(ANSWERED, 2, "", ("failed", "answered"))
CASES = {
    "plain": ONCE,
    # An answer that is there, but not as it was asked for.
    "fenced": ONCE,
    "think": ONCE,
    "words": ONCE,
    "confidence-95": ONCE,
    "wrong-case": ONCE,
    "nul": ONCE,
    "lone-surrogate": ONCE,
    "raw-surrogate": ONCE,
    "abstains": ONCE,
    "no-logprobs": ONCE,
    "fake-logprobs": ONCE,
    # Asked again once.
    "bad-label-once": Case(ANSWERED, 2, "", ("reasked", "answered")),
    "bad-label": Case(FAILED, 2, "the answer doesn't fit the schema", ("reasked", "failed")),
    # A score beside the level that says something else is a second answer.
    "extra-fields": Case(FAILED, 2, "the answer doesn't fit the schema", ("reasked", "failed")),
    # No re-ask would help.
    "truncated": Case(TRUNCATED, 1, "truncated", ("truncated",)),
    "think-unclosed": Case(TRUNCATED, 1, "cut off", ("truncated",)),
    "refusal": Case(REFUSED, 1, "refused: I'm sorry", ("refused",)),
    "refusal-prose": Case(REFUSED, 1, "refused: I'm sorry", ("refused",)),
    "content-filter": Case(REFUSED, 1, "content_filter", ("refused",)),
    "empty-choices": Case(FAILED, 1, "empty_response", ("failed",)),
    "empty-content": Case(FAILED, 1, "empty_response", ("failed",)),
    # The request can't succeed.
    "content-filter-400": Case(REFUSED, 1, "content_filter (HTTP 400)", ("refused",)),
    "too-long": Case(FAILED, 1, "context_overflow (HTTP 400)", ("failed",)),
    "unprocessable": Case(FAILED, 1, "bad_request (HTTP 422)", ("failed",)),
    "status:413": Case(FAILED, 1, "bad_request (HTTP 413)", ("failed",)),
    # It may pass.
    "status:408": passing("timeout (HTTP 408)"),
    "status:409": passing("not_now (HTTP 409)"),
    "status:425": passing("not_now (HTTP 425)"),
    "status:429": passing("throttled (HTTP 429)"),
    "status:500": passing("server_error (HTTP 500)"),
    "status:502": passing("server_error (HTTP 502)"),
    "status:503": passing("server_error (HTTP 503)"),
    "status:504": passing("server_error (HTTP 504)"),
    "status:507": passing("server_error (HTTP 507)"),
    "status-503-retry-after": passing("server_error (HTTP 503)"),
    "status-429-retry-after": passing("throttled (HTTP 429)"),
    "drop": passing("server_error"),
    "hang": passing("timeout (HTTP 408)"),
    "echo-key": passing("server_error (HTTP 500)"),
    # It does pass.
    **{
        f"flaky:1:{status}": TWICE
        for status in (408, 409, 425, 429, 500, 502, 503, 504)
    },
    "flaky-drop:1": TWICE,
    "retry-after:0.1": TWICE,
    # No request can succeed.
    "unauthorised": Case(FAILED, 1, "unauthorised (HTTP 401)", ("failed",), stops=True),
    "payment": Case(FAILED, 1, "payment_required (HTTP 402)", ("failed",), stops=True),
    "forbidden": Case(FAILED, 1, "forbidden (HTTP 403)", ("failed",), stops=True),
    "missing": Case(FAILED, 1, "no_such_model (HTTP 404)", ("failed",), stops=True),
    "nobody-knows-me": Case(FAILED, 1, "no_such_model (HTTP 404)", ("failed",), stops=True),
    "quota": Case(FAILED, 1, "quota (HTTP 429)", ("failed",), stops=True),
    "refuses-temperature": Case(FAILED, 1, "unsupported_parameter", ("failed",), stops=True),
    "refuses-logprobs": Case(FAILED, 1, "unsupported_parameter", ("failed",), stops=True),
}  # fmt: skip


@pytest.mark.parametrize("mode", AnswerMode)
@pytest.mark.parametrize("scenario", CASES)
def test_every_failure_in_every_mode(ask: Asking, scenario: str, mode: AnswerMode) -> None:
    expected = CASES[scenario]
    request = ask.request(scenario, mode, temperature=0.0, logprobs=True, top_logprobs=5)
    reply = ask.ask(request)
    found = (reply.ended, ask.count(scenario), tuple(one.outcome for one in reply.tries))
    assert found == (expected.ended, expected.requests, expected.tries), reply
    assert reply.why.startswith(expected.why)
    assert bool(reply.why) == (expected.ended is not ANSWERED)
    assert isinstance(reply.stop, ProviderRefusedError) == expected.stops
    assert bool(reply.fields) == (expected.ended is ANSWERED)
    assert ask.count(scenario, "early") == 0
    assert KEY not in repr(reply)
    assert KEY not in str(reply.stop)
    last = reply.tries[-1]
    if expected.ended is ANSWERED:
        assert last.raw
        assert last.finish_reason in {"stop", "tool_calls"}
        assert last.model == scenario
        assert last.prompt_tokens
        assert last.completion_tokens
    else:
        assert last.failure == reply.why


@pytest.mark.parametrize("mode", AnswerMode)
@pytest.mark.parametrize("scenario", [name for name, case in CASES.items() if case == ONCE])
def test_an_answer_reads_the_same_out_of_the_ledger(
    ask: Asking, scenario: str, mode: AnswerMode
) -> None:
    request = ask.request(scenario, mode, logprobs=True, top_logprobs=5)
    reply = ask.ask(request)
    raw = reply.tries[-1].raw
    assert raw is not None
    again = KnownAnswer(1, raw, reply.tries[-1].logprobs).reply(request)
    assert again is not None
    assert again.fields == reply.fields
    assert again.logprobs == reply.logprobs


def field_of(ask: Asking, scenario: str, name: str, mode: AnswerMode) -> Any:
    return ask.ask(ask.request(scenario, mode)).fields[name]


@pytest.mark.parametrize("mode", AnswerMode)
def test_what_is_odd_is_read_and_nothing_guessed(ask: Asking, mode: AnswerMode) -> None:
    assert field_of(ask, "confidence-95", "confidence", mode) == 95
    assert field_of(ask, "wrong-case", "level", mode) == "1"
    assert field_of(ask, "abstains", "level", mode) == "?"
    assert field_of(ask, "nul", "reason", mode) == "a\ufffdb\ufffd"
    assert field_of(ask, "lone-surrogate", "reason", mode) == "half \ufffd a pair"
    assert field_of(ask, "raw-surrogate", "reason", mode) == "half \ufffd a pair"


# -- what is sent


def sent(ask: Asking, model: str) -> dict[str, Any]:
    [kept] = ask.provider.requests(model)
    body: dict[str, Any] = kept["body"]
    return body


@pytest.mark.parametrize("mode", AnswerMode)
def test_messages_and_parameters_are_sent_as_they_are(ask: Asking, mode: AnswerMode) -> None:
    text = "passage {{ 7*7 }} {passage} %s\n\nJSON"
    ask.ask(ask.request("plain", mode, text, temperature=0.0, top_p=0.5))
    body = sent(ask, "plain")
    assert body["messages"] == [
        {"role": "system", "content": "Judge."},
        {"role": "user", "content": text},
    ]
    assert (body["max_tokens"], body["temperature"], body["top_p"]) == (500, 0.0, 0.5)


def test_each_mode_holds_the_model_to_the_shape_in_its_own_way(ask: Asking) -> None:
    for mode in AnswerMode:
        ask.ask(ask.request("plain", mode))
    bodies = [kept["body"] for kept in ask.provider.requests("plain")]
    schema, tools, text = bodies
    strict = schema["response_format"]["json_schema"]
    assert strict["strict"] is True
    assert list(strict["schema"]["properties"]) == ["quote", "reason", "level", "confidence"]
    assert strict["schema"]["additionalProperties"] is False
    assert "tools" not in schema
    assert tools["tool_choice"]["function"]["name"] == strict["name"]
    assert "response_format" not in tools
    assert not {"tools", "response_format"} & set(text)


def test_a_re_ask_shows_what_was_wrong(ask: Asking) -> None:
    ask.ask(ask.request("bad-label-once", AnswerMode.JSON_SCHEMA))
    first, second = (kept["body"]["messages"] for kept in ask.provider.requests())
    assert second[: len(first)] == first
    said = json.dumps(second[len(first) :])
    assert "somewhat" in said
    assert "level is one of 2, 1, 0, ?" in said


def test_the_key_goes_into_the_header_alone(ask: Asking) -> None:
    ask.ask(ask.request("plain"))
    [kept] = ask.provider.requests("plain")
    assert ask.provider.authorizations() == {f"Bearer {KEY}": 1}
    assert KEY not in json.dumps(kept["body"])


def test_a_server_of_ones_own_needs_no_key(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert ask.ask(ask.request("plain")).ended is ANSWERED
    assert list(ask.provider.authorizations()) == ["Bearer none"]


# -- what is not sent


@pytest.mark.parametrize("mode", AnswerMode)
def test_a_text_that_cannot_be_sent_fails_alone(ask: Asking, mode: AnswerMode) -> None:
    reply = ask.ask(ask.request("plain", mode, "half \ud800 a pair"))
    assert reply.ended is FAILED
    assert reply.why.startswith("unsendable_text")
    assert reply.stop is None
    assert len(reply.tries) == 1
    assert ask.count("plain") == 0


# -- keys

LEAKS = {
    "refusal": f"I'm sorry, I can't help with that. Authorization: Bearer {KEY}",
    "answer": json.dumps({"reason": f"the key is {KEY}", "level": "1"}),
    "quote": json.dumps({"quote": f"Bearer {KEY}", "reason": "x", "level": "2"}),
    "nonsense": f"no idea, but your key is {KEY}",
    "cut": f'{{"reason": "{KEY}',
}


@pytest.mark.parametrize("mode", AnswerMode)
@pytest.mark.parametrize("kind", LEAKS)
def test_an_answer_that_shows_the_key_is_stored_without_it(
    ask: Asking, kind: str, mode: AnswerMode
) -> None:
    ask.provider.configure(texts=LEAKS)
    request = ask.request(f"says:{kind}", mode)
    reply = ask.ask(request)
    assert all(part not in repr(reply) for part in (KEY, KEY[:12], KEY[-12:]))
    assert (reply.ended is ANSWERED) == (kind in {"answer", "quote"})
    if reply.ended is ANSWERED:
        again = KnownAnswer(1, reply.tries[-1].raw or "", {}).reply(request)
        assert again is not None
        assert again.fields == reply.fields


@pytest.mark.parametrize("mode", AnswerMode)
def test_a_long_answer_is_stored_whole(ask: Asking, mode: AnswerMode) -> None:
    # It is paid for, so it has to be read again out of the ledger.
    text = "So. " * 10_000 + json.dumps({"reason": "word " * 10_000, "level": "1"})
    ask.provider.configure(texts={"long": text})
    request = ask.request("says:long", mode, max_tokens=100_000)
    reply = ask.ask(request)
    assert reply.ended is ANSWERED
    again = KnownAnswer(1, reply.tries[-1].raw or "", {}).reply(request)
    assert again is not None
    assert again.fields == reply.fields


@pytest.mark.parametrize(
    "reason",
    [
        "basic requirements are named",
        "the bearer presents it",
        "api-gateway and key-performance",
        "password: 12345 is quoted",
        "Authorization: none needed",
        "sk-learn is described",
    ],
)
def test_an_answer_is_stored_word_for_word(ask: Asking, reason: str) -> None:
    text = json.dumps({"reason": reason, "level": "1"})
    ask.provider.configure(texts={"it": text})
    reply = ask.ask(ask.request("says:it"))
    assert reply.tries[-1].raw == text
    assert reply.fields["reason"] == reason


# -- log-probabilities


def test_log_probabilities_are_those_of_the_level(ask: Asking) -> None:
    reply = ask.ask(ask.request("plain", logprobs=True, top_logprobs=5))
    assert set(reply.logprobs) == {"0", "1", "2", "?"}
    assert sum(map(math.exp, reply.logprobs.values())) == pytest.approx(1.0, abs=0.05)
    assert max(reply.logprobs, key=lambda code: reply.logprobs[code]) == reply.fields["level"]
    assert reply.tries[-1].logprobs == reply.logprobs


@pytest.mark.parametrize("scenario", ["no-logprobs", "fake-logprobs"])
def test_fake_log_probabilities_are_none(ask: Asking, scenario: str) -> None:
    reply = ask.ask(ask.request(scenario, logprobs=True, top_logprobs=5))
    assert reply.ended is ANSWERED
    assert reply.logprobs == {}


def test_log_probabilities_that_were_not_asked_for_are_none(ask: Asking) -> None:
    assert ask.ask(ask.request("plain")).logprobs == {}


# -- limits


@pytest.mark.parametrize("scenario", ["retry-after:0.3", "flaky:2:429", "flaky:2:503"])
def test_who_is_told_to_wait_waits(ask: Asking, scenario: str) -> None:
    client = ask.client(attempts=4)
    replies = ask.ask_all([ask.request(scenario) for _ in range(10)], client)
    assert {reply.ended for reply in replies} == {ANSWERED}
    assert ask.count(scenario, "early") == 0
    expected = 2 if scenario.startswith("retry") else 3
    assert {len(reply.tries) for reply in replies} == {expected}
    assert client.retries == 10 * (expected - 1)


def test_the_number_in_flight_finds_the_providers_level(ask: Asking) -> None:
    client = ask.client(attempts=12)
    requests = [ask.request("limited:8") for _ in range(150)]
    replies = ask.ask_all(requests, client)
    assert {reply.ended for reply in replies} == {ANSWERED}
    assert ask.count("limited:8", "paid_total") == 150
    assert ask.count("limited:8", "paid_distinct") == 150
    assert ask.count("limited:8", "early") == 0
    assert 4 <= client.limiter.limit <= 12
    # In vain is sent a little each time that it tries for more, not again and again.
    assert client.limiter.throttled_count < 100
    assert client.limiter.in_flight == 0


def test_a_provider_that_takes_so_many_a_second_loses_no_answer(ask: Asking) -> None:
    client = ask.client(attempts=15)
    replies = ask.ask_all([ask.request("rate:40") for _ in range(100)], client)
    assert {reply.ended for reply in replies} == {ANSWERED}
    assert ask.count("rate:40", "paid_total") == 100
    assert ask.count("rate:40", "early") == 0


def test_requests_a_minute_are_spread(ask: Asking) -> None:
    client = ask.client(rpm=1200.0)
    begin = time.monotonic()
    replies = ask.ask_all([ask.request("plain") for _ in range(12)], client)
    assert {reply.ended for reply in replies} == {ANSWERED}
    assert time.monotonic() - begin >= 11 * 0.05


def test_never_more_in_flight_than_the_most(ask: Asking) -> None:
    client = ask.client(most=5)
    replies = ask.ask_all([ask.request("slow:0.02") for _ in range(40)], client)
    assert {reply.ended for reply in replies} == {ANSWERED}
    assert ask.count("slow:0.02", "in_flight_peak") == 5


def test_once_stopped_nothing_more_is_sent(ask: Asking) -> None:
    client = ask.client(most=3)

    async def work() -> list[Reply]:
        asked = [asyncio.create_task(client.ask(ask.request("slow:0.5"))) for _ in range(20)]
        while client.limiter.in_flight < 3:
            await asyncio.sleep(0.01)
        client.limiter.stop()
        return await asyncio.gather(*asked)

    replies = ask.run(work())
    assert [reply.ended for reply in replies].count(ANSWERED) == 3
    assert ask.count("slow:0.5") == 3
    others = [reply for reply in replies if reply.ended is not ANSWERED]
    assert all(isinstance(reply.stop, InterruptedRunError) for reply in others)
    assert all(reply.tries == () for reply in others)


def test_once_stopped_no_one_waits_for_a_later_attempt(ask: Asking) -> None:
    client = ask.client(attempts=5)

    async def work() -> Reply:
        asked = asyncio.create_task(client.ask(ask.request("retry-after:200")))
        while not client.limiter.throttled_count:
            await asyncio.sleep(0.01)
        client.limiter.stop()
        return await asyncio.wait_for(asked, 60)

    reply = ask.run(work())
    assert isinstance(reply.stop, InterruptedRunError)
    assert [one.outcome for one in reply.tries] == ["failed"]
    assert ask.count("retry-after:200") == 1


# -- money

PRICE = Price(1e-4, 3e-4)


def test_each_response_has_its_own_cost(ask: Asking) -> None:
    purse = Purse(100.0)
    client = ask.client(purse=purse, price=PRICE)
    reply = ask.ask(ask.request("bad-label-once"), client)
    first, second = reply.tries
    for one in (first, second):
        assert one.cost == PRICE.of(one.prompt_tokens, one.completion_tokens)
    assert second.prompt_tokens is not None
    assert first.prompt_tokens is not None
    assert second.prompt_tokens > first.prompt_tokens
    assert purse.spent == pytest.approx((first.cost or 0) + (second.cost or 0))


def test_a_model_that_nobody_knows_costs_nobody_knows_what(ask: Asking) -> None:
    reply = ask.ask(ask.request("plain"))
    assert reply.tries[-1].cost is None


def test_litellms_own_cost_is_taken_for_each_response(ask: Asking) -> None:
    litellm = load_litellm()
    entry = {
        "input_cost_per_token": 1e-4,
        "output_cost_per_token": 3e-4,
        "litellm_provider": "openai",
        "mode": "chat",
    }
    litellm.register_model({"openai/bad-label-once": entry})
    try:
        reply = ask.ask(ask.request("bad-label-once"))
    finally:
        litellm.model_cost.pop("openai/bad-label-once")
    for one in reply.tries:
        assert one.cost == pytest.approx(PRICE.of(one.prompt_tokens, one.completion_tokens))


@pytest.mark.parametrize(
    ("scenario", "billed"),
    [
        ("status:429", 0),
        ("status:409", 0),
        ("unprocessable", 0),
        ("unauthorised", 0),
        ("content-filter-400", 0),
        ("status:500", 2),
        ("status:408", 2),
        ("drop", 2),
        ("hang", 2),
    ],
)
def test_a_failure_is_booked_at_its_worst_where_it_may_be_billed(
    ask: Asking, scenario: str, billed: int
) -> None:
    purse = Purse(100.0)
    request = ask.request(scenario)
    worst = PRICE.worst(request)
    assert worst is not None
    timeout = 0.3 if scenario == "hang" else 10.0
    ask.ask(request, ask.client(purse=purse, price=PRICE, timeout=timeout))
    assert purse.spent >= billed * worst * 0.999
    assert purse.spent == 0 or billed


def test_a_re_ask_sets_aside_what_it_carries_along(ask: Asking) -> None:
    held: list[float] = []

    class Recording(Purse):
        async def hold(self, worst: float) -> int:
            held.append(worst)
            return await super().hold(worst)

    price = Price(1.0, 1.0)
    client = ask.client(purse=Recording(1e6), price=price)
    reply = ask.ask(ask.request("bad-label"), client)
    first, second = held
    assert reply.tries[0].raw is not None
    # The first messages once more, the answer that couldn't be used, and what was wrong with it.
    again = ask.provider.requests("bad-label")[1]["body"]["messages"]
    carried = sum(len(str(message.get("content")).encode()) for message in again)
    assert second - first >= carried > len(reply.tries[0].raw.encode())


def test_what_a_call_costs_is_never_above_its_worst_case(ask: Asking) -> None:
    for mode in AnswerMode:
        for scenario in ("plain", "bad-label", "truncated"):
            request = ask.request(scenario, mode, "ein Absatz über Rückgabe " * 30)
            worst = PRICE.worst(request)
            assert worst is not None
            first = ask.ask(request, ask.client(price=PRICE)).tries[0]
            assert first.cost is not None
            assert first.cost <= worst


@pytest.mark.parametrize("scenario", ["plain", "bad-label", "bad-label-once", "mixed:3:50"])
@pytest.mark.parametrize("calls", [0.5, 4.3])
def test_the_purse_stops_before_the_limit(ask: Asking, scenario: str, calls: float) -> None:
    # What is written is most of the price, and nearly as long as it may be.
    price = Price(1e-9, 1e-3)
    worst = price.worst(ask.request(scenario, max_tokens=40))
    assert worst is not None
    purse = Purse(worst * calls)
    client = ask.client(purse=purse, price=price, attempts=3)
    replies = ask.ask_all([ask.request(scenario, max_tokens=40) for _ in range(40)], client)
    assert purse.spent <= purse.limit
    paid = sum(one.cost or 0 for reply in replies for one in reply.tries)
    assert paid <= purse.limit
    assert ask.count(scenario, "paid_total") == sum(
        one.has_response for reply in replies for one in reply.tries
    )
    stopped = [reply for reply in replies if isinstance(reply.stop, BudgetReachedError)]
    assert stopped
    if calls < 1:
        assert ask.count(scenario) == 0
        assert len(stopped) == 40
    else:
        # It isn't given up early either.
        assert purse.spent > purse.limit - 1.2 * worst
