"""What a failed call means: by its status, by the words beside it, by what lies under it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.providers.chat import Ended
from labeler.providers.failures import FAILURES, Action, classify, retry_after

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
LONGEST = 300.0


@dataclass
class Response:
    """As much of an HTTP response as an exception carries."""

    headers: Mapping[str, str] = field(default_factory=dict)


class CallError(Exception):
    """An exception as clients raise them: a message, a status, a code, a response."""

    def __init__(
        self,
        message: str = "",
        status: object = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status_code = status
        self.code = code
        self.response = None if headers is None else Response(headers)


def caused(outer: BaseException, *inner: BaseException) -> BaseException:
    """Chain exceptions, the outermost first."""
    above = outer
    for below in inner:
        above.__cause__ = below
        above = below
    return outer


# What each status means when nothing is said beside it.
BY_STATUS = {
    401: ("unauthorised", Action.ABORT),
    402: ("payment_required", Action.ABORT),
    403: ("forbidden", Action.ABORT),
    404: ("no_such_model", Action.ABORT),
    408: ("timeout", Action.RETRY),
    409: ("not_now", Action.RETRY),
    425: ("not_now", Action.RETRY),
    429: ("throttled", Action.RETRY),
}


def expected(status: int) -> tuple[str, Action]:
    if status in BY_STATUS:
        return BY_STATUS[status]
    return ("bad_request", Action.FAIL) if 400 <= status < 500 else ("server_error", Action.RETRY)


@pytest.mark.parametrize("status", range(400, 600))
def test_every_status_has_one_meaning(status: int) -> None:
    found = classify(CallError("no", status))
    assert (found.name, found.action) == expected(status)
    assert found.ended is Ended.FAILED
    assert found.status == status
    # Nobody pays for a request that was turned away; whoever broke down may have worked.
    assert found.may_be_billed == (status == 408 or status >= 500)


@pytest.mark.parametrize(
    ("error", "name", "action", "ended"),
    [
        (CallError("You exceeded your current quota", 429), "quota", Action.ABORT, Ended.FAILED),
        (CallError("no", 429, "insufficient_quota"), "quota", Action.ABORT, Ended.FAILED),
        (CallError("no", 400, "billing_hard_limit_reached"), "quota", Action.ABORT, Ended.FAILED),
        (CallError("no", 400, "content_filter"), "content_filter", Action.FAIL, Ended.REFUSED),
        (
            CallError("triggered Azure OpenAI's content management policy", 400),
            "content_filter",
            Action.FAIL,
            Ended.REFUSED,
        ),
        (
            CallError("no", 400, "context_length_exceeded"),
            "context_overflow",
            Action.FAIL,
            Ended.FAILED,
        ),
        (
            CallError("This model's maximum context length is 10 tokens", 400),
            "context_overflow",
            Action.FAIL,
            Ended.FAILED,
        ),
        (CallError("prompt is too long: 9", 413), "context_overflow", Action.FAIL, Ended.FAILED),
        (
            CallError("Unsupported value: 'temperature'", 400),
            "unsupported_parameter",
            Action.ABORT,
            Ended.FAILED,
        ),
        (
            CallError("no", 400, "unsupported_parameter"),
            "unsupported_parameter",
            Action.ABORT,
            Ended.FAILED,
        ),
        (ConnectionResetError("reset by peer"), "server_error", Action.RETRY, Ended.FAILED),
        (TimeoutError(), "server_error", Action.RETRY, Ended.FAILED),
        (CallError("no", 301), "server_error", Action.RETRY, Ended.FAILED),
    ],
)  # fmt: skip
def test_words_beside_the_status(
    error: BaseException, name: str, action: Action, ended: Ended
) -> None:
    found = classify(error)
    assert (found.name, found.action, found.ended) == (name, action, ended)


def test_every_class_of_failure_can_be_reached() -> None:
    errors = [
        UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
        CallError("insufficient_quota", 429),
        CallError("content_filter", 400),
        CallError("context window", 400),
        *(CallError("no", status) for status in range(400, 501)),
        CallError("unsupported parameter", 400),
    ]
    assert {classify(error).name for error in errors} == {kind.name for kind in FAILURES}


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_what_lies_under_an_exception_counts(depth: int) -> None:
    wrappers = [RuntimeError("wrapped") for _ in range(depth)]
    bad_text = UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")
    # litellm gives what it couldn't send the status of a broken server.
    found = classify(caused(CallError("Error", 500), *wrappers, bad_text))
    assert (found.name, found.action) == ("unsendable_text", Action.FAIL)
    below = CallError("no", 429, headers={"retry-after": "7"})
    found = classify(caused(RuntimeError("outer"), *wrappers, below))
    assert (found.name, found.status, found.retry_after) == ("throttled", 429, 7.0)


def test_the_outermost_status_counts() -> None:
    found = classify(caused(CallError("no", 429), CallError("no", 500)))
    assert (found.name, found.status) == ("throttled", 429)


def test_a_context_counts_as_a_cause_does_and_a_circle_ends() -> None:
    outer, inner = RuntimeError("outer"), CallError("no", 404)
    outer.__context__ = inner
    inner.__context__ = outer
    assert classify(outer).name == "no_such_model"


@pytest.mark.parametrize("status", [None, "none", [], "503"])
def test_a_status_that_is_no_number(status: object) -> None:
    found = classify(CallError("odd", status))
    assert (found.name, found.action) == ("server_error", Action.RETRY)
    assert found.status == (503 if status == "503" else None)


@pytest.mark.parametrize(
    "words",
    [
        "You exceeded your current quota, said the ticket.",
        "insufficient_quota is what OpenAI answers",
    ],
)
@pytest.mark.parametrize("status", [400, 404, 422, 500, 503])
def test_a_passage_that_speaks_of_quotas_stops_no_run(words: str, status: int) -> None:
    # Providers quote what they were sent; what a passage says is data.
    found = classify(CallError(f"Invalid input: {words!r}", status))
    assert found.name == expected(status)[0]


@pytest.mark.parametrize("status", [500, 502, 529])
def test_a_passage_that_speaks_of_parameters_stops_no_run(status: int) -> None:
    assert classify(CallError("unsupported parameter", status)).action is Action.RETRY


def test_what_is_said_is_cut_and_holds_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODD_API_KEY", "swordfish-1234")
    found = classify(CallError(f"refused swordfish-1234,\n\t sk-{'a' * 30} " + "x" * 900, 500))
    assert "swordfish" not in found.said
    assert "sk-a" not in found.said
    assert "\n" not in found.said
    assert len(found.said) <= LONGEST + 1
    assert str(found).startswith("server_error (HTTP 500): refused [key removed]")
    assert str(classify(ConnectionError())) == "server_error"


@given(st.text(max_size=60), st.one_of(st.none(), st.integers(100, 999)))
def test_whatever_is_said_a_failure_is_classified(words: str, status: int | None) -> None:
    found = classify(CallError(words, status))
    assert found.name in {kind.name for kind in FAILURES}
    if found.name == "server_error":
        assert found.may_be_billed


# -- Retry-After


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"Retry-After": " 2.5 "}, 2.5),
        ({"RETRY-AFTER": "0"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "86400"}, LONGEST),
        ({"retry-after": "inf"}, LONGEST),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after-ms": "nan", "retry-after": "9"}, 9.0),
        ({"retry-after": "Wed, 01 Jul 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 01 Jul 2026 12:00:30 -0000"}, 30.0),
        ({"retry-after": "Wed, 01 Jul 2026 14:00:30 +0200"}, 30.0),
        ({"retry-after": "Wed, 01 Jul 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Fri, 01 Jan 2027 00:00:00 GMT"}, LONGEST),
        ({"retry-after": "Wed, 01 Jul 99999 12:00:30 GMT"}, None),
        ({"retry-after": "Wed, 01 Jul 2026 12:00:30 +99999999999999999999"}, None),
        ({"x-ratelimit-reset": "5"}, None),
    ],
)
def test_retry_after(headers: Mapping[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@given(st.floats(), st.booleans())
def test_a_number_is_read_as_seconds_or_thousandths(value: float, is_ms: bool) -> None:
    found = retry_after({"retry-after-ms" if is_ms else "retry-after": repr(value)}, NOW)
    if math.isnan(value):
        assert found is None
    else:
        assert found == min(max(value / 1000 if is_ms else value, 0.0), LONGEST)


@given(st.integers(-100_000, 100_000), st.integers(-12, 12))
def test_a_date_is_read_in_any_zone(seconds: int, hours: int) -> None:
    until = (NOW + timedelta(seconds=seconds)).astimezone(timezone(timedelta(hours=hours)))
    found = retry_after({"retry-after": format_datetime(until)}, NOW)
    assert found == min(max(float(seconds), 0.0), LONGEST)


HEADER = st.one_of(
    st.text(max_size=40),
    st.from_regex(r"[A-Z][a-z]{2}, [0-9]{1,3} [A-Z][a-z]{2} [0-9]{1,6} [0-9:]{8} [-+A-Z0-9]{0,9}"),
)


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "Retry-After"]), HEADER))
def test_whatever_a_header_holds_the_wait_is_sensible(headers: dict[str, str]) -> None:
    found = retry_after(headers, NOW)
    assert found is None or 0.0 <= found <= LONGEST
