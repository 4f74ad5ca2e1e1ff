"""Reading the lines of a batch: every kind of line has one meaning, and none raises."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import ProviderRefusedError
from labeler.judges.llm.answering import answer_shape
from labeler.judges.llm.prompts import find_prompt
from labeler.labels import NATIVE
from labeler.providers.batch_lines import LineReader, line_of
from labeler.providers.budget import Price
from labeler.providers.chat import AnswerMode, Ended, Reply

SHAPE = answer_shape(find_prompt("direct"), NATIVE)
AT = datetime(2026, 7, 1, tzinfo=UTC)
DIGEST = "ab" * 32
SECRET = "plain-secret-value"  # noqa: S105 - made up
READER = LineReader("openai/x", AnswerMode.JSON_SCHEMA, None, lambda _: None, (SECRET,))
ANSWER = '{"quote": "", "reason": "r", "level": "0", "confidence": 0.5}'


def answered(content: Any, **more: Any) -> dict[str, Any]:
    body = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "x-2026",
        "system_fingerprint": "fp",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": content},
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14},
    }
    return {"response": {"status_code": 200, "body": body | more}, "error": None}


def refused(status: int, **error: Any) -> dict[str, Any]:
    return {"response": {"status_code": status, "body": {"error": error}}, "error": None}


def read(line: dict[str, Any], reader: LineReader = READER) -> Reply:
    found = reader.read(json.dumps({"custom_id": f"{DIGEST}-3"} | line).encode(), SHAPE, AT)
    assert found is not None
    assert found[0] == (DIGEST, 3)
    return found[1]


def test_a_line_is_one_line_whatever_its_texts_hold() -> None:
    text = 'a\n"b\r\u2028\x85\ud800'
    line = line_of(DIGEST, 1, {"messages": [{"role": "user", "content": text}]})
    assert line.count(b"\n") == 1
    read_back = json.loads(line)
    assert read_back["custom_id"] == f"{DIGEST}-1"
    assert read_back["body"]["messages"][0]["content"] == text
    assert (read_back["method"], read_back["url"]) == ("POST", "/v1/chat/completions")


def test_an_answer() -> None:
    reply = read(answered(ANSWER))
    assert (reply.ended, reply.fields["level"]) == (Ended.ANSWERED, "0")
    [one] = reply.tries
    assert (one.at, one.outcome, one.failure, one.raw) == (AT, "answered", None, ANSWER)
    assert (one.model, one.fingerprint, one.finish_reason) == ("x-2026", "fp", "stop")
    assert (one.prompt_tokens, one.completion_tokens) == (10, 4)
    assert (one.cost, one.latency_ms) == (None, None)


def test_a_stated_price_comes_before_the_table() -> None:
    stated = LineReader("openai/x", AnswerMode.JSON_SCHEMA, Price(1.0, 2.0), lambda _: 7.0, ())
    assert read(answered(ANSWER), stated).tries[0].cost == 18.0
    known = LineReader("openai/x", AnswerMode.JSON_SCHEMA, None, lambda _: 7.0, ())
    assert read(answered(ANSWER), known).tries[0].cost == 7.0


def test_an_answer_without_counted_tokens_has_no_known_cost() -> None:
    stated = LineReader("openai/x", AnswerMode.JSON_SCHEMA, Price(1.0, 2.0), lambda _: None, ())
    [one] = read(answered(ANSWER, usage=None), stated).tries
    assert one.cost is None


def test_an_answer_that_does_not_fit_says_why() -> None:
    reply = read(answered('{"level": "somewhat"}'))
    assert reply.ended is Ended.FAILED
    assert reply.why.startswith("the answer doesn't fit the schema: level")
    assert reply.tries[0].outcome == "failed"
    assert reply.tries[0].raw == '{"level": "somewhat"}'


def test_no_key_is_kept() -> None:
    [one] = read(answered(ANSWER.replace('"r"', f'"{SECRET}"'))).tries
    assert SECRET not in str(one.raw)


@pytest.mark.parametrize(
    ("line", "ended", "name"),
    [
        (refused(400, message="too long", code="context_length_exceeded"), "failed", "context_ove"),
        (refused(400, message="x", code="content_filter"), "refused", "content_filter"),
        (refused(429, message="slow down"), "failed", "throttled"),
        (refused(500, message="oops"), "failed", "server_error"),
        ({"response": None, "error": {"code": "request_failed", "message": "x"}}, "failed", "ser"),
        ({"response": {"status_code": 502, "body": "<html>"}, "error": None}, "failed", "server"),
        ({"response": {"status_code": 200, "body": None}, "error": None}, "failed", "server"),
        ({}, "failed", "server_error"),
    ],
)
def test_errors(line: dict[str, Any], ended: str, name: str) -> None:
    reply = read(line)
    assert reply.ended == ended
    assert reply.why.startswith(name)
    assert reply.stop is None
    [one] = reply.tries
    assert one.outcome == ended
    assert one.failure == reply.why
    assert not one.has_response


@pytest.mark.parametrize(
    "line",
    [
        refused(401, message="bad key"),
        refused(404, message="no such model", code="model_not_found"),
        refused(429, message="pay", type="insufficient_quota", code="insufficient_quota"),
    ],
)
def test_errors_that_stop_a_run(line: dict[str, Any]) -> None:
    reply = read(line)
    assert isinstance(reply.stop, ProviderRefusedError)
    assert reply.tries[0].outcome == "failed"


@pytest.mark.parametrize("code", ["batch_expired", "batch_cancelled"])
def test_a_line_that_was_never_run_says_nothing(code: str) -> None:
    line = {"custom_id": f"{DIGEST}-0", "response": None, "error": {"code": code, "message": "x"}}
    assert READER.read(json.dumps(line).encode(), SHAPE, AT) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"custom_id": "a"}', "\xff"])
def test_what_is_no_line_says_nothing(text: str) -> None:
    assert READER.read(text.encode("latin-1"), SHAPE, AT) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 600) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["response", "error", "status_code", "body", "choices", "message", "code", "usage"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON, JSON, st.sampled_from([200, 400, "200", None]))
def test_no_line_raises(response: Any, error: Any, status: Any) -> None:
    line = {"custom_id": "d-0", "response": {"status_code": status, "body": response}}
    for one in (line | {"error": error}, {"custom_id": "d-0", "response": response}):
        found = READER.read(json.dumps(one).encode(), SHAPE, AT)
        assert found is None or found[1].ended in set(Ended)
