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
    token or a distribution that adds to more than 1 has none, and the result is empty. So it is
    where the token that was written isn't a code: the rest says nothing about what was meant.

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
    written, _, alternatives = tokens[position]
    found: dict[str, float] = {}
    for text, value in alternatives:
        code = _bare(text)
        if code in codes:
            found[code] = _sum(found[code], value) if code in found else value
    if _bare(written) not in found or any(value > _NEGLIGIBLE for value in found.values()):
        return {}
    if sum(math.exp(value) for value in found.values()) > 1 + _NEGLIGIBLE:
        return {}
    return {code: min(value, 0.0) for code, value in found.items()}


def _bare(text: str) -> str:
    return text.strip().strip("\"'").strip()


def _sum(first: float, second: float) -> float:
    high, low = max(first, second), min(first, second)
    return high + math.log1p(math.exp(low - high))


def _tokens(response: Any) -> list[tuple[str, float, Sequence[tuple[str, float]]]]:
    choices = getattr(response, "choices", None)
    logprobs = getattr(choices[0], "logprobs", None) if choices else None
    content = _get(logprobs, "content") if logprobs is not None else None
    tokens: list[tuple[str, float, Sequence[tuple[str, float]]]] = []
    for token in content or ():
        text, value = _get(token, "token"), _number(_get(token, "logprob"))
        if not isinstance(text, str) or value is None:
            return []
        alternatives = [
            (str(_get(one, "token")), number)
            for one in _get(token, "top_logprobs") or ()
            if (number := _number(_get(one, "logprob"))) is not None and math.isfinite(number)
        ]
        if math.isfinite(value) and text not in dict(alternatives):
            alternatives.append((text, value))
        tokens.append((text, value, alternatives))
    return tokens


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


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
