"""Telling what a provider's response holds, whether it came at once or in a batch."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from labeler.providers.chat import AnswerMode, AnswerShape, Ended, Try
from labeler.providers.reading import CutOff, UnreadableAnswer, clean_text
from labeler.providers.redaction import redacted, without
from labeler.providers.validation import fields_of

__all__ = ["read_response", "try_of", "what_is_wrong"]

_LONGEST_RAW = 1_000_000
"""Characters of an answer that are stored: all that a model writes, since it is read again."""
_LONGEST_REFUSAL = 400
_REFUSING = re.compile(
    r"(?:i(?:['’]m| am) (?:very )?sorry\b|sorry,"
    r"|i (?:can(?:no|['’])t|am (?:not able|unable)|won['’]t)"
    r" (?:\w+ ){0,2}(?:help|assist|comply|provide|fulfil|continue|do))",
    re.IGNORECASE,
)


def read_response(
    response: Any, shape: AnswerShape, mode: AnswerMode, secrets: Sequence[str]
) -> tuple[str, Ended | None, str]:
    """Tell what a response holds: its text, and how the request ended if no re-ask would help.

    What is read, by the one lenient reader, is put in the place where the validator looks for it:
    an answer may come in a fence, after thoughts, or as a text in place of a tool call. Secrets
    are taken out first, so that what is read now, what a validator says of it and what is read of
    the stored text later agree.

    Args:
        response: litellm's response.
        shape: The shape of the answer.
        mode: How the model was held to it.
        secrets: What must not be in it, as `secrets_in` gives it.

    Returns:
        The text; how the request ended, or None where there is an answer to validate; why.
    """
    choices = getattr(response, "choices", None) or []
    if not choices:
        return "", Ended.FAILED, "empty_response: no choices"
    choice = choices[0]
    message = choice.message
    _conceal(message, secrets)
    calls = getattr(message, "tool_calls", None) or []
    content = message.content if isinstance(message.content, str) else ""
    text = (calls[0].function.arguments or "") if calls else content
    if refusal := _refusal(message):
        return refusal, Ended.REFUSED, _refused(refusal)
    if choice.finish_reason == "content_filter":
        return text, Ended.REFUSED, "content_filter: the provider withheld the answer"
    if choice.finish_reason == "length":
        return text, Ended.TRUNCATED, "truncated: the limit on output tokens was reached"
    if not text.strip():
        return text, Ended.FAILED, "empty_response: no text"
    if len(text) < _LONGEST_REFUSAL and _REFUSING.match(text.strip()):
        return text, Ended.REFUSED, _refused(text)
    try:
        fields = fields_of(text, shape)
    except CutOff as error:
        return text, Ended.TRUNCATED, str(error)
    except UnreadableAnswer as error:
        # Nothing that the validator could take for an answer is left, so the model is asked again.
        fields = {"unreadable": error.why}
    _put_back(message, fields, shape, mode)
    return text, None, ""


def try_of(
    response: Any,
    raw: str,
    *,
    at: datetime,
    outcome: str,
    failure: str | None,
    cost: float | None,
    latency_ms: float | None,
    logprobs: Mapping[str, float],
) -> Try:
    """Note a response: what the provider tells of it, and its text as `read_response` gave it."""
    usage = getattr(response, "usage", None)
    choices = getattr(response, "choices", None) or []
    return Try(
        at=at,
        outcome=outcome,
        failure=failure,
        model=getattr(response, "model", None),
        fingerprint=getattr(response, "system_fingerprint", None),
        prompt_tokens=getattr(usage, "prompt_tokens", None),
        completion_tokens=getattr(usage, "completion_tokens", None),
        cost=cost,
        latency_ms=latency_ms,
        finish_reason=str(choices[0].finish_reason) if choices else None,
        raw=clean_text(raw)[:_LONGEST_RAW],
        logprobs=logprobs,
    )


def what_is_wrong(error: BaseException | None) -> str:
    """Give the lines of a validator's message that say what is wrong with an answer."""
    if error is None:
        return "unknown"
    lines = [line.strip() for line in redacted(str(error)).splitlines() if line.strip()]
    return " ".join(lines[1:3] or lines[:1])[:200]


def _conceal(message: Any, secrets: Sequence[str]) -> None:
    for holder, name in (
        (message, "content"),
        (message, "refusal"),
        *((call.function, "arguments") for call in getattr(message, "tool_calls", None) or ()),
    ):
        text = getattr(holder, name, None)
        if isinstance(text, str) and any(secret in text for secret in secrets):
            setattr(holder, name, without(text, secrets))
    more = getattr(message, "provider_specific_fields", None)
    if more and isinstance(more.get("refusal"), str):
        more["refusal"] = without(more["refusal"], secrets)


def _refused(said: str) -> str:
    return f"refused: {redacted(clean_text(said))[:200]}"


def _refusal(message: Any) -> str | None:
    refusal = getattr(message, "refusal", None)
    if refusal is None:
        refusal = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
    return refusal if isinstance(refusal, str) and refusal.strip() else None


def _put_back(
    message: Any, fields: Mapping[str, Any], shape: AnswerShape, mode: AnswerMode
) -> None:
    answer = clean_text(json.dumps(fields, ensure_ascii=False))
    calls = getattr(message, "tool_calls", None)
    if mode is not AnswerMode.TOOLS:
        message.content = answer
    elif calls:
        calls[0].function.arguments = answer
    else:
        from litellm.types.utils import ChatCompletionMessageToolCall, Function

        call = Function(name=shape.model.__name__, arguments=answer)
        message.tool_calls = [ChatCompletionMessageToolCall(function=call, id="1", type="function")]
