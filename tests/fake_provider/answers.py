"""What a judge answers, and the chat completion that carries it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.fake_provider.asking import ChatRequest, Schema, number_of, resolved
from tests.fake_provider.logprobs import Spread, token_logprobs

FINGERPRINT = "fp_fake"
CREATED = 1_767_225_600
_FIELDS = ("quote", "reason", "level", "confidence")

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Judged:
    """A judge's answer before it is written."""

    fields: Payload
    """Keys in the order of the schema, else quote, reason, level, confidence."""
    level: Any
    spread: Spread
    """How the probability of the level is shared among the codes."""


def chosen_level(request: ChatRequest, seed: object = "") -> Any:
    """Give the level that the item is marked with, else one that its text decides."""
    if request.marked_level is not None:
        return _in_kind(request.marked_level, request)
    levels = request.levels
    return levels[number_of(request.item, seed) % len(levels)]


def _in_kind(code: str, request: ChatRequest) -> Any:
    """Give a code as the schema spells it: a number where it has numbers."""
    return next((allowed for allowed in request.allowed if str(allowed) == code), code)


def judge(
    request: ChatRequest, level: Any, *, confidence: float | None = None, reason: str | None = None
) -> Judged:
    """Answer with a level; all else follows from the item's text."""
    number = number_of(request.item, "answer")
    share = confidence if confidence is not None else 0.55 + number % 40 / 100
    lowest = request.levels[0] if request.levels else "0"
    # A number that stands in the reason is no level: who looks for one must not find it here.
    decoy = f"Compared {number % 3} claims of {len(request.item)} characters."
    values = {
        "quote": "" if level == lowest else request.quotable,
        "reason": reason if reason is not None else decoy,
        "level": level,
        "confidence": round(0.5 + number // 64 % 50 / 100, 2) if confidence is None else confidence,
    }
    return Judged(_in_order(request, values), level, Spread(level, request.allowed, share))


def _in_order(request: ChatRequest, values: Payload) -> Payload:
    schema = request.schema
    properties = schema.get("properties") if schema else None
    if not schema or not properties:
        return values
    required = schema.get("required", ())
    return {
        name: values[name] if name in _FIELDS else first_allowed(wanted, schema)
        for name, wanted in properties.items()
        if name in _FIELDS or name in required
    }


def first_allowed(schema: Schema, root: Schema) -> Any:
    """Give the simplest value that a schema allows."""
    schema = resolved(schema, root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if kind == "object":
        properties = schema.get("properties", {})
        return {
            name: first_allowed(properties.get(name, {}), root)
            for name in schema.get("required", ())
        }
    if kind == "array":
        items = schema.get("items", {})
        return [first_allowed(items, root) for _ in range(schema.get("minItems", 0))]
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    if kind == "string":
        return "x" * schema.get("minLength", 0)
    return False if kind == "boolean" else None


def completion(
    request: ChatRequest,
    content: str,
    *,
    judged: Judged | None = None,
    called: bool = True,
    finish: str | None = None,
    fake_logprobs: bool | None = None,
) -> Payload:
    """Wrap a text into a chat completion, in the form that the request asks for.

    Args:
        request: What was asked.
        content: The answer's text.
        judged: The answer that the text holds, for its log-probabilities.
        called: Whether the text is the arguments of the tool, where one is offered.
        finish: Why the answer ended, where it isn't by itself.
        fake_logprobs: True for zeros, False for none at all, None for real ones.
    """
    limit = request.body.get("max_completion_tokens") or request.body.get("max_tokens")
    if limit and len(content) > 4 * limit:
        content, finish = content[: 4 * limit], "length"
    message: Payload = {"role": "assistant", "content": content, "refusal": None}
    logprobs = None
    tool = request.tool if called else None
    if tool is not None:
        message["content"] = None
        call = {"name": tool["name"], "arguments": content}
        message["tool_calls"] = [{"id": "call_fake", "type": "function", "function": call}]
        forced = isinstance(request.body.get("tool_choice"), dict)
        finish = finish or ("stop" if forced else "tool_calls")
    elif request.body.get("logprobs") and fake_logprobs is not False:
        wanted = int(request.body.get("top_logprobs") or 0)
        spread = judged.spread if judged else None
        logprobs = {
            "content": token_logprobs(content, spread, wanted, zeros=bool(fake_logprobs)),
            "refusal": None,
        }
    return envelope(
        request, message, finish=finish or "stop", logprobs=logprobs, written=len(content)
    )


def envelope(
    request: ChatRequest,
    message: Payload | None,
    *,
    finish: str = "stop",
    logprobs: Payload | None = None,
    written: int = 0,
) -> Payload:
    """Give a chat completion around a message, or one without any choice."""
    asked, answered = request.prompt_tokens, -(-written // 4)
    copies = int(request.body.get("n") or 1) if message is not None else 0
    return {
        "id": f"chatcmpl-{request.digest.hex()[:24]}",
        "object": "chat.completion",
        "created": CREATED,
        "model": request.model,
        "system_fingerprint": FINGERPRINT,
        "choices": [
            {"index": index, "message": message, "logprobs": logprobs, "finish_reason": finish}
            for index in range(copies)
        ],
        "usage": {
            "prompt_tokens": asked,
            "completion_tokens": answered * max(copies, 1),
            "total_tokens": asked + answered * max(copies, 1),
        },
    }


def written(fields: Mapping[str, Any]) -> str:
    """Write an answer's fields as JSON."""
    return json.dumps(fields, ensure_ascii=False)
