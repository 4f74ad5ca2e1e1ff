"""What a failed call to a model means: one registry, by the HTTP status and the words beside it.

litellm's exception classes don't tell: 402 and 403 arrive as a plain ``APIError``, 422 as a bad
request, a dropped connection as an internal server error. The status does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

from labeler.providers.chat import Ended
from labeler.providers.redaction import redacted

__all__ = ["FAILURES", "Action", "Failure", "classify", "retry_after"]

_LONGEST = 300
_LONGEST_WAIT = 300.0


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
_QUOTA = ("insufficient_quota", "exceeded your current quota", "billing_hard_limit")

FAILURES: tuple[_Kind, ...] = (
    _Kind("unsendable_text", _unicode, Action.FAIL),
    _Kind("quota", lambda seen: seen.says(*_QUOTA), Action.ABORT),
    _Kind("content_filter", lambda seen: seen.says(*_FILTERED), Action.FAIL, Ended.REFUSED),
    _Kind("context_overflow", lambda seen: seen.says(*_TOO_LONG), Action.FAIL),
    _Kind("unauthorised", _has(401), Action.ABORT),
    _Kind("payment_required", _has(402), Action.ABORT),
    _Kind("forbidden", _has(403), Action.ABORT),
    _Kind("no_such_model", _has(404), Action.ABORT),
    _Kind("throttled", _has(429), Action.RETRY),
    _Kind("timeout", _has(408), Action.RETRY, may_be_billed=True),
    _Kind("not_now", _has(409, 425), Action.RETRY),
    _Kind(
        "unsupported_parameter",
        lambda seen: seen.status in {400, 422, None} and seen.says(*_PARAMETER),
        Action.ABORT,
    ),
    _Kind("bad_request", _has(*range(400, 500)), Action.FAIL),
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
    try:
        if "retry-after-ms" in plain:
            return min(max(float(plain["retry-after-ms"]) / 1000, 0.0), _LONGEST_WAIT)
        if "retry-after" in plain:
            return min(max(float(plain["retry-after"]), 0.0), _LONGEST_WAIT)
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(plain.get("retry-after", ""))
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    seconds = (until - (now or datetime.now(UTC))).total_seconds()
    return min(max(seconds, 0.0), _LONGEST_WAIT)
