"""What an answer to a probe shows: pure functions of a reply and the response behind it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from labeler.providers.chat import AnswerMode, Ended, Reply
from labeler.providers.failures import failure_name
from labeler.providers.findings import Finding, Rating
from labeler.providers.probe_question import fits_as_it_stands
from labeler.providers.redaction import redacted

__all__ = [
    "Answer",
    "Held",
    "Seen",
    "brief",
    "held",
    "logprobs_finding",
    "mode_finding",
    "refusal_finding",
    "refusal_form",
]

_LONGEST = 200
_NOISE = re.compile(r"(?:litellm\.)?[A-Z]\w+(?:Error|Exception)(?::| -) | \[type=.*")


@dataclass(frozen=True, slots=True)
class Seen:
    """A response as it came, before anything in it was mended.

    Attributes:
        text: The tool's arguments where one was called, else the message.
        called: Whether a tool was called.
        logprobs: The log-probability of every token; empty where none came.
    """

    text: str
    called: bool
    logprobs: tuple[float, ...]

    @classmethod
    def of(cls, response: Any) -> Seen:
        """Take down what matters of a response in OpenAI's form."""
        choices = getattr(response, "choices", None) or []
        if not choices:
            return cls("", called=False, logprobs=())
        message = choices[0].message
        calls = getattr(message, "tool_calls", None) or []
        text = calls[0].function.arguments if calls else message.content
        logprobs = getattr(choices[0], "logprobs", None)
        values = [_logprob(token) for token in _field(logprobs, "content") or ()]
        return cls(
            text if isinstance(text, str) else "",
            called=bool(calls),
            logprobs=tuple(value for value in values if value is not None),
        )


def _field(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)


def _logprob(token: Any) -> float | None:
    value = _field(token, "logprob")
    return float(value) if isinstance(value, int | float) else None


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, and the response that it was made of; None where none came."""

    reply: Reply
    seen: Seen | None

    @property
    def is_answered(self) -> bool:
        """Whether the answer could be used."""
        return self.reply.ended is Ended.ANSWERED

    @property
    def failure(self) -> str:
        """The name of what kept it from being answered."""
        return failure_name(self.reply.why)


class Held(StrEnum):
    """What became of a question in one mode."""

    HELD = "held"
    """The answer has the schema's shape as it stands."""
    READABLE = "readable"
    """The answer could be read, after some mending."""
    UNREADABLE = "unreadable"
    REFUSED = "refused"
    """The model refused to answer."""
    TRUNCATED = "truncated"
    NOT_TAKEN = "not taken"
    """The request was turned away."""


def held(answer: Answer, mode: AnswerMode) -> Held:
    """Tell what became of a question in one mode."""
    reply, seen = answer.reply, answer.seen
    if reply.ended is Ended.REFUSED:
        return Held.REFUSED
    if reply.ended is Ended.TRUNCATED:
        return Held.TRUNCATED
    if seen is None:
        return Held.NOT_TAKEN
    if not answer.is_answered:
        return Held.UNREADABLE
    in_place = seen.called == (mode is AnswerMode.TOOLS) and fits_as_it_stands(seen.text, mode)
    return Held.HELD if in_place else Held.READABLE


def mode_finding(mode: AnswerMode, answer: Answer, became: Held) -> Finding:
    """Say what became of a question in one mode."""
    text = mode is AnswerMode.TEXT
    said = {
        Held.HELD: "the answer is a bare object" if text else "held: the answer fits the schema",
        Held.READABLE: "the answer can be read"
        if text
        else "not held: the answer can be read, and is not in the shape that was asked for",
        Held.UNREADABLE: f"no answer that can be used: {brief(answer.reply.why)}",
        Held.REFUSED: f"refused, a harmless question ({refusal_form(answer)})",
        Held.TRUNCATED: "cut off before the answer came",
        Held.NOT_TAKEN: f"not taken: {brief(answer.reply.why)}",
    }[became]
    fine = became is Held.HELD or (text and became is Held.READABLE)
    return Finding(mode.value, Rating.OK if fine else Rating.NOTE, said)


def refusal_form(answer: Answer) -> str | None:
    """Tell the form of a refusal: ``field``, ``filter``, ``prose``, ``status``; None for none."""
    reply, seen = answer.reply, answer.seen
    if answer.is_answered or reply.ended is Ended.TRUNCATED:
        return None
    if seen is None:
        return "status"
    if reply.ended is not Ended.REFUSED:
        # Words that nobody could read as an answer, where another question was answered.
        return "prose" if seen.text.strip() else None
    if answer.failure == "content_filter":
        return "filter"
    return "prose" if seen.text.strip() else "field"


def refusal_finding(answer: Answer) -> Finding:
    """Say how a model turned down a question that many models turn down."""
    form = refusal_form(answer)
    if form is None:
        ended = answer.reply.ended
        found = (
            "answered a question that some models refuse"
            if ended is Ended.ANSWERED
            else f"unclear: {brief(answer.reply.why)}"
        )
        return Finding("refusal", Rating.OK, found)
    if answer.reply.ended is not Ended.REFUSED:
        return Finding(
            "refusal",
            Rating.WARN,
            f"{form}, not told from a failure: {brief(answer.reply.why)}",
            "what it refuses is counted as failed, and goes to people all the same",
        )
    where = {
        "field": "in the field made for it",
        "filter": "a content filter withholds the answer",
        "prose": "in the answer's words",
        "status": f"the request is turned away ({answer.failure})",
    }[form]
    return Finding("refusal", Rating.OK, f"{form}: {where}; counted as refused")


def logprobs_finding(answer: Answer) -> Finding:
    """Say whether log-probabilities came, and whether they are real; only then is it ok.

    Real are those that differ from token to token, and between two levels of the answer.
    """
    check, levels = "log-probabilities", answer.reply.logprobs
    if answer.seen is None:
        return Finding(check, Rating.NOTE, f"not taken: {brief(answer.reply.why)}")
    values = answer.seen.logprobs
    if not values:
        return Finding(check, Rating.NOTE, "asked for, and none came")
    if len(set(values)) == 1:
        found = f"not real: every token has the same, {values[0]:g}"
        hint = "they are not asked for: a made-up probability is worse than none"
        return Finding(check, Rating.WARN, found, hint)
    if len(set(levels.values())) < 2:  # noqa: PLR2004 - two levels
        return Finding(check, Rating.NOTE, "they come, and don't tell two levels apart")
    return Finding(check, Rating.OK, f"real: {_shares(levels)}")


def _shares(levels: Mapping[str, float]) -> str:
    best = sorted(levels.items(), key=lambda pair: -pair[1])
    return ", ".join(f"level {code} {math.exp(value):.2g}" for code, value in best)


def brief(said: str) -> str:
    """Shorten what a provider said to a line or two, without names of classes and of kinds."""
    one = _NOISE.sub("", redacted(" ".join(said.split())))
    return one if len(one) <= _LONGEST else one[: _LONGEST - 1] + "…"
