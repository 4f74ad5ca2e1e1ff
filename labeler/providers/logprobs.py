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
    content = _content(response)
    tokens = [_token(one) for one in content]
    written = [token for token in tokens if token is not None]
    if not written or len(written) < len(tokens):
        return {}
    first = written[0][1]
    if len(written) > 1 and all(value == first for _, value in written):
        return {}
    position = _place([text for text, _ in written], key)
    if position is None:
        return {}
    chosen, alternatives = written[position][0], _alternatives(content[position])
    found: dict[str, float] = {}
    for text, value in alternatives:
        code = _bare(text)
        if code in codes:
            found[code] = _sum(found[code], value) if code in found else value
    if _bare(chosen) not in found or any(value > _NEGLIGIBLE for value in found.values()):
        return {}
    if sum(math.exp(value) for value in found.values()) > 1 + _NEGLIGIBLE:
        return {}
    return {code: min(value, 0.0) for code, value in found.items()}


def _bare(text: str) -> str:
    return text.strip().strip("\"'").strip()


def _sum(first: float, second: float) -> float:
    high, low = max(first, second), min(first, second)
    return high + math.log1p(math.exp(low - high))


def _content(response: Any) -> Sequence[Any]:
    choices = getattr(response, "choices", None)
    logprobs = getattr(choices[0], "logprobs", None) if choices else None
    found = _get(logprobs, "content") if logprobs is not None else None
    return found or ()


def _token(token: Any) -> tuple[str, float] | None:
    text, value = _get(token, "token"), _number(_get(token, "logprob"))
    return (text, value) if isinstance(text, str) and value is not None else None


def _alternatives(token: Any) -> list[tuple[str, float]]:
    """Give what the model could have written in the place of a token, itself included."""
    found = [
        (str(_get(one, "token")), number)
        for one in _get(token, "top_logprobs") or ()
        if (number := _number(_get(one, "logprob"))) is not None and math.isfinite(number)
    ]
    text, value = _get(token, "token"), float(_get(token, "logprob"))
    if math.isfinite(value) and text not in dict(found):
        found.append((text, value))
    return found


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)


def _place(tokens: Sequence[str], key: str) -> int | None:
    """Find the token that holds the first character of the field's value."""
    text = "".join(tokens)
    places = list(re.finditer(rf'"{re.escape(key)}"\s*:\s*"?', text))
    if len(places) != 1:  # none, or a text inside the answer that looks like one
        return None
    start, passed = places[0].end(), 0
    for number, token in enumerate(tokens):
        if passed <= start < passed + len(token):
            return number
        passed += len(token)
    return None
