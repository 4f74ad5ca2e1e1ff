"""Reading a probability for each code from the log-probabilities of the deciding token."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import Any

__all__ = ["code_logprobs"]

_NEGLIGIBLE = 1e-4


def code_logprobs(response: Any, key: str, codes: Collection[str]) -> dict[str, float]:
    """Read the log-probability of each code at the token where the field's value begins.

    Accepting the parameter is no proof: a provider that gives nothing, the same value for every
    token or a distribution that adds to more than 1 has none, and the result is empty.

    Args:
        response: The provider's response, in OpenAI's form.
        key: The field.
        codes: Its possible values, each one token.
    """
    tokens = _tokens(response)
    if not tokens:
        return {}
    values = [value for _, value, _ in tokens]
    if len(tokens) > 1 and all(value == values[0] for value in values):
        return {}
    position = _place(tokens, key)
    if position is None:
        return {}
    found: dict[str, float] = {}
    for text, value in tokens[position][2]:
        code = text.strip().strip("\"'").strip()
        if code in codes and math.isfinite(value):
            found[code] = _sum(found[code], value) if code in found else value
    if not found or sum(math.exp(value) for value in found.values()) > 1 + _NEGLIGIBLE:
        return {}
    return {code: min(value, 0.0) for code, value in found.items()}


def _sum(first: float, second: float) -> float:
    high, low = max(first, second), min(first, second)
    return high + math.log1p(math.exp(low - high))


def _tokens(response: Any) -> list[tuple[str, float, Sequence[tuple[str, float]]]]:
    choices = getattr(response, "choices", None)
    logprobs = getattr(choices[0], "logprobs", None) if choices else None
    content = _get(logprobs, "content") if logprobs is not None else None
    tokens: list[tuple[str, float, Sequence[tuple[str, float]]]] = []
    for token in content or ():
        text, value = _get(token, "token"), _get(token, "logprob")
        if not isinstance(text, str) or not isinstance(value, int | float):
            return []
        alternatives = [
            (str(_get(one, "token")), float(_get(one, "logprob")))
            for one in _get(token, "top_logprobs") or ()
        ]
        if text not in dict(alternatives):
            alternatives.append((text, float(value)))
        tokens.append((text, float(value), alternatives))
    return tokens


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)


def _place(tokens: Sequence[tuple[str, float, Any]], key: str) -> int | None:
    """Find the token that holds the first character of the field's value."""
    text = "".join(token for token, _, _ in tokens)
    places = list(re.finditer(rf'"{re.escape(key)}"\s*:\s*"?', text))
    if len(places) != 1:  # none, or a text inside the answer that looks like one
        return None
    start, passed = places[0].end(), 0
    for number, (token, _, _) in enumerate(tokens):
        if passed <= start < passed + len(token):
            return number
        passed += len(token)
    return None
