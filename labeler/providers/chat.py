"""What is asked of a language model, and what came of it: plain values, no network."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from labeler.errors import LabelerError

__all__ = ["AnswerMode", "AnswerShape", "ChatRequest", "Ended", "Message", "Reply", "Try"]


class AnswerMode(StrEnum):
    """How a model is held to the shape of an answer."""

    JSON_SCHEMA = "json-schema"
    """The provider constrains what the model writes to the schema."""
    TOOLS = "tools"
    """The model calls one function whose arguments are the answer."""
    TEXT = "text"
    """The prompt asks for JSON, and a lenient reader takes what comes."""


class Ended(StrEnum):
    """How a request ended."""

    ANSWERED = "answered"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: str
    content: str


@dataclass(frozen=True)
class AnswerShape:
    """The shape of an answer.

    Attributes:
        model: Validates an answer; its JSON schema is what a provider is given.
        key: The field whose value decides; its token's log-probabilities are read.
        codes: The values that the field may have, each one token.
        synonyms: Other names under which models write that field.
    """

    model: type[BaseModel]
    key: str = "level"
    codes: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema, closed and with every field required, as strict providers want it."""
        schema = self.model.model_json_schema()
        schema["required"] = list(schema["properties"])
        schema["additionalProperties"] = False
        return schema

    @cached_property
    def schema_text(self) -> str:
        """The schema as JSON, with its name."""
        return json.dumps([self.model.__name__, self.schema], ensure_ascii=False)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the schema."""
        return hashlib.sha256(self.schema_text.encode()).hexdigest()


@dataclass(frozen=True)
class ChatRequest:
    """One request, complete: whatever changes what is sent changes the digest.

    Attributes:
        model: The model as litellm names it, such as ``openai/gpt-4o-mini``.
        messages: The messages, as they are sent.
        shape: The shape of the answer.
        mode: How the model is held to it.
        parameters: Parameters such as ``temperature`` and ``max_tokens``.
        endpoint: The address of the provider where it isn't the usual one.
    """

    model: str
    messages: tuple[Message, ...]
    shape: AnswerShape
    mode: AnswerMode
    parameters: Mapping[str, Any] = field(default_factory=dict)
    endpoint: str | None = None

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the request as it is sent."""
        content = [
            self.model,
            self.endpoint,
            self.mode.value,
            self.shape.digest,
            sorted(self.parameters.items()),
            [[message.role, message.content] for message in self.messages],
        ]
        text = json.dumps(content, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    @cached_property
    def most_prompt_tokens(self) -> int:
        """More tokens than the prompt can have: no tokeniser makes two of one byte."""
        texts = sum(len(message.content.encode("utf-8", "replace")) for message in self.messages)
        return texts + len(self.shape.schema_text.encode()) + 16 * len(self.messages) + 64

    @property
    def most_completion_tokens(self) -> int | None:
        """The limit on what the model writes, in tokens; None when there is none."""
        most = self.parameters.get("max_tokens")
        return int(most) if isinstance(most, int) else None


@dataclass(frozen=True, slots=True)
class Try:
    """One HTTP request and what came back. What a provider doesn't tell is None.

    Attributes:
        at: When it was sent.
        outcome: ``answered``, ``reasked`` when the answer couldn't be used and the model was asked
            again, or how the try ended.
        failure: The name of the class of failure, and what was said, redacted.
        model: The model that the provider says it used.
        fingerprint: The provider's fingerprint of the model's configuration.
        cost: In US dollars.
        raw: What the model wrote, made safe to store.
        logprobs: The log-probability of each code at the deciding token, where it was real.
    """

    at: datetime
    outcome: str
    failure: str | None = None
    model: str | None = None
    fingerprint: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    latency_ms: float | None = None
    finish_reason: str | None = None
    raw: str | None = None
    logprobs: Mapping[str, float] = field(default_factory=dict)

    @property
    def has_response(self) -> bool:
        """Whether a model answered at all, so that something may have been paid."""
        return self.raw is not None


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a request, after retries and re-asks.

    Attributes:
        ended: How it ended.
        fields: The validated answer; empty unless it is answered.
        why: Why it isn't answered, in a few words.
        tries: Every HTTP request that it took, in order; empty when it was known before.
        logprobs: As in the last try.
        stop: Why no further request can be made (key, quota, budget), or None. Then this request
            is as open as it was.
    """

    ended: Ended
    fields: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    tries: Sequence[Try] = ()
    logprobs: Mapping[str, float] = field(default_factory=dict)
    stop: LabelerError | None = None
