"""How sure a model was of a question: the mean log-probability of the question's own tokens."""

from __future__ import annotations

import math
import re
from typing import Any

__all__ = ["MEAN_TOKEN", "question_log_probability"]

MEAN_TOKEN = "mean_token"  # noqa: S105 - the name of a number
"""Under which name a response keeps the mean log-probability of the question's tokens."""


_OPENS = re.compile(r'"question"\s*:\s*"')
_CLOSES = re.compile(r'(?<!\\)(?:\\\\)*"')


def question_log_probability(response: Any) -> float | None:
    """Give the mean log-probability of the tokens inside the field ``question``.

    The tokens around it are the form of the answer, which a grammar forces, and say nothing. None
    where the provider gives no log-probabilities, or the same one for every token.

    Args:
        response: The provider's response, in OpenAI's form.
    """
    choices = getattr(response, "choices", None) or []
    logprobs = getattr(choices[0], "logprobs", None) if choices else None
    content = _get(logprobs, "content") if logprobs is not None else None
    tokens = [(_get(one, "token"), _get(one, "logprob")) for one in content or ()]
    if not tokens or not all(
        isinstance(text, str) and isinstance(value, int | float) and math.isfinite(value)
        for text, value in tokens
    ):
        return None
    text = "".join(word for word, _ in tokens)
    opening = _OPENS.search(text)
    closing = _CLOSES.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return None
    inside: list[float] = []
    passed = 0
    for word, value in tokens:
        if opening.end() < passed + len(word) and passed < closing.end() - 1:
            inside.append(float(value))
        passed += len(word)
    if not inside or len({value for _, value in tokens}) == 1:
        return None
    return math.fsum(inside) / len(inside)


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)
