"""What a failed call to a model means: one registry, by the HTTP status and the words beside it.

litellm's exception classes don't tell: 402 and 403 arrive as a plain ``APIError``, 422 as a bad
request, a dropped connection as an internal server error. The status does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

from labeler.providers.chat import Ended
from labeler.providers.redaction import redacted

__all__ = [
    "FAILURES",
    "Action",
    "Failure",
    "classify",
    "failure_name",
    "is_of_the_request",
    "retry_after",
]

_LONGEST = 300
_LONGEST_WAIT = 300.0
_BAD_REQUEST = 400


class Action(StrEnum):
    """What follows from a failure."""

    RETRY = "retry"
    """The same request may succeed later."""
    FAIL = "fail"
    """This request can't succeed; others may."""
    ABORT = "abort"
    """No request can succeed: the run ends."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed call.

    Attributes:
        name: The class of failure.
        action: What follows.
        ended: How the request ends if it isn't tried again.
        said: What the provider said, redacted and cut.
        status: The HTTP status, where there is one.
        retry_after: Seconds that the provider asks to wait, or None.
        may_be_billed: Whether the provider may have worked, and charge, although no answer came.
    """

    name: str
    action: Action
    ended: Ended
    said: str
    status: int | None = None
    retry_after: float | None = None
    may_be_billed: bool = False

    def __str__(self) -> str:
        place = f" (HTTP {self.status})" if self.status else ""
        return f"{self.name}{place}: {self.said}" if self.said else f"{self.name}{place}"


def failure_name(said: str) -> str:
    """Give the name of a failure from what was stored of it, such as ``throttled (HTTP 429): ...``.

    Reasons that aren't those of a failed call begin with a few words and a colon as well.
    """
    return said.split(":", maxsplit=1)[0].split(" (", maxsplit=1)[0].strip() or "unknown"


def is_of_the_request(said: str) -> bool:
    """Tell from what was stored of a failure whether the text that was sent is why.

    Then the provider is up, and other requests may succeed.
    """
    return failure_name(said) in {"context_overflow", "content_filter", "unsendable_text"}


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is known of an exception: status, error code and message in lower case, its chain."""

    status: int | None
    words: str
    chain: tuple[BaseException, ...]

    def says(self, *parts: str) -> bool:
        return any(part in self.words for part in parts)


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    applies: Callable[[_Seen], bool]
    action: Action
    ended: Ended = Ended.FAILED
    may_be_billed: bool = False


def _has(*statuses: int) -> Callable[[_Seen], bool]:
    return lambda seen: seen.status in statuses


def _unicode(seen: _Seen) -> bool:
    return any(isinstance(error, UnicodeError) for error in seen.chain)


_FILTERED = (
    "content_filter",
    "content management policy",
    "content_policy",
    "contentpolicy",
    "responsibleaipolicy",
)
_TOO_LONG = (
    "context_length_exceeded",
    "contextwindowexceeded",
    "maximum context length",
    "context window",
    "prompt is too long",
    "exceeds the available context",
)
_PARAMETER = (
    "unsupported parameter",
    "unsupported value",
    "unsupported_parameter",
    "unsupported_value",
    "unsupportedparamserror",
    "does not support param",
)
_NO_KEY = ("missing credentials. please pass an `api_key`", "api_key client option must be set")
_REQUEST_FAULTS = range(400, 500)
_QUOTA = ("insufficient_quota", "exceeded your current quota", "billing_hard_limit")


def _quota(seen: _Seen) -> bool:
    # Only with the statuses that go with it: a bad request may quote a passage that speaks of it.
    if seen.status == _BAD_REQUEST:
        return seen.says("billing_hard_limit")
    return seen.status in {402, 403, 429} and seen.says(*_QUOTA)


def _no_key(seen: _Seen) -> bool:
    # OpenAI's client refuses to start without a key, which litellm calls an error of the server.
    return seen.status not in _REQUEST_FAULTS and seen.says(*_NO_KEY)


def _no_provider(seen: _Seen) -> bool:
    # litellm itself says so, of a name that it can't tell a provider by.
    return seen.status == _BAD_REQUEST and seen.says("llm provider not provided")


FAILURES: tuple[_Kind, ...] = (
    _Kind("unsendable_text", _unicode, Action.FAIL),
    _Kind("quota", _quota, Action.ABORT),
    _Kind("content_filter", lambda seen: seen.says(*_FILTERED), Action.FAIL, Ended.REFUSED),
    _Kind("context_overflow", lambda seen: seen.says(*_TOO_LONG), Action.FAIL),
    _Kind("unauthorised", _has(401), Action.ABORT),
    _Kind("unauthorised", _no_key, Action.ABORT),
    _Kind("payment_required", _has(402), Action.ABORT),
    _Kind("forbidden", _has(403), Action.ABORT),
    _Kind("no_such_model", _has(404), Action.ABORT),
    _Kind("no_such_model", _no_provider, Action.ABORT),
    _Kind("throttled", _has(429), Action.RETRY),
    _Kind("timeout", _has(408), Action.RETRY, may_be_billed=True),
    _Kind("not_now", _has(409, 425), Action.RETRY),
    _Kind(
        "unsupported_parameter",
        lambda seen: seen.status in {400, 422, None} and seen.says(*_PARAMETER),
        Action.ABORT,
    ),
    _Kind("bad_request", _has(*_REQUEST_FAULTS), Action.FAIL),
    _Kind("server_error", lambda _: True, Action.RETRY, may_be_billed=True),
)
"""Every class of failure, the first that applies; what has no status is a lost connection."""


def classify(error: BaseException, *, now: datetime | None = None) -> Failure:
    """Tell what a failed call means.

    Args:
        error: What litellm raised.
        now: The time that a Retry-After date is compared with.
    """
    chain = tuple(_chain(error))
    status = next((code for one in chain if (code := _status(one)) is not None), None)
    words = " ".join(f"{type(one).__name__} {getattr(one, 'code', '')} {one}" for one in chain)
    seen = _Seen(status, words.lower(), chain)
    kind = next(kind for kind in FAILURES if kind.applies(seen))
    said = redacted(" ".join(str(error).split()))
    return Failure(
        name=kind.name,
        action=kind.action,
        ended=kind.ended,
        said=said if len(said) <= _LONGEST else said[:_LONGEST] + "…",
        status=status,
        retry_after=next(
            (s for one in chain if (s := retry_after(_headers(one), now)) is not None), None
        ),
        may_be_billed=kind.may_be_billed,
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _status(error: BaseException) -> int | None:
    found = getattr(error, "status_code", None)
    try:
        return int(found) if found is not None else None
    except (TypeError, ValueError):
        return None


def _headers(error: BaseException) -> Mapping[str, Any]:
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or getattr(error, "litellm_response_headers", None)
    return headers or {}


def retry_after(headers: Mapping[str, Any], now: datetime | None = None) -> float | None:
    """Read how many seconds a provider asks to wait, between 0 and 300; None when it doesn't say.

    ``Retry-After`` is a number of seconds or a date (RFC 9110, section 10.2.3);
    ``retry-after-ms`` is OpenAI's finer form.
    """
    plain = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(plain.get(name, "nan")) / unit
        except ValueError:
            continue
        if not math.isnan(seconds):
            return _bounded(seconds)
    try:
        until = parsedate_to_datetime(plain.get("retry-after", ""))
    except (ValueError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return _bounded((until - (now or datetime.now(UTC))).total_seconds())


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), _LONGEST_WAIT)
