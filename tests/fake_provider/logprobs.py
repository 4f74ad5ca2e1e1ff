"""Log-probabilities of an answer's tokens, in which a level's code is one token of its own."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_LEVEL_KEY = re.compile(r'"level":\s*"?', re.IGNORECASE)
_HIGHEST = 0.98
"""What a level takes at most, so that something is left for the other codes."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How probability is shared among the codes of levels."""

    level: Any
    codes: list[Any]
    share: float
    """The part that the given level takes, in (0, 1]."""

    def ranked(self) -> list[tuple[str, float]]:
        """Give each code with its log-probability, the likeliest first.

        Each code but the level takes two thirds of what those before it left, so that no two are
        alike and the sum stays below 1.
        """
        probability = min(self.share, 1.0) * _HIGHEST
        shared = [(str(self.level), probability)]
        left = 1.0 - probability
        for code in self.codes:
            if code is not None and code != self.level:
                shared.append((str(code), left * 2 / 3))
                left /= 3
        shared.sort(key=lambda pair: -pair[1])
        return [(code, math.log(probability)) for code, probability in shared]


def token_logprobs(
    content: str, spread: Spread | None, wanted: int, *, zeros: bool
) -> list[dict[str, Any]]:
    """Split an answer into tokens with their log-probabilities.

    Args:
        content: The answer's text.
        spread: The probabilities at the level's token; None where no level is written.
        wanted: How many alternatives the request asks for, 0 to 20.
        zeros: Whether every value is 0.0, as servers give that only accept the parameter.
    """
    start, code = _level_token(content, spread)
    return [
        _level(code, spread, wanted, zeros=zeros)
        if position == start and spread is not None
        else _word(text, wanted, zeros=zeros)
        for text, position in _split(content, start, code)
    ]


def _level(code: str, spread: Spread, wanted: int, *, zeros: bool) -> dict[str, Any]:
    ranked = spread.ranked()
    if zeros:
        ranked = [(alternative, 0.0) for alternative, _ in ranked]
    top = [_entry(token, value) for token, value in ranked[:wanted]]
    return _entry(code, dict(ranked)[code]) | {"top_logprobs": top}


@lru_cache(maxsize=10_000)
def _word(text: str, wanted: int, *, zeros: bool) -> dict[str, Any]:
    """Give a token that says nothing about the level: hardly anything else could stand here."""
    entry = _entry(text, 0.0 if zeros else -0.001 * (1 + len(text)))
    return entry | {"top_logprobs": [entry] if wanted else []}


def _entry(token: str, logprob: float) -> dict[str, Any]:
    raw = token.encode("utf-8", "surrogatepass")
    return {"token": token, "logprob": logprob, "bytes": list(raw)}


def _level_token(content: str, spread: Spread | None) -> tuple[int, str]:
    """Find where the level's code is written: its position (-1 where it is not) and the code."""
    if spread is None:
        return -1, ""
    code = str(spread.level)
    inside = json.dumps(code, ensure_ascii=False)[1:-1]
    for key in _LEVEL_KEY.finditer(content):
        if content.startswith(inside, key.end()) and inside == code:
            return key.end(), code
    return -1, ""


def _split(content: str, start: int, code: str) -> list[tuple[str, int]]:
    """Split a text into tokens with their positions, the level's code whole."""
    parts = [(content, 0)]
    if start >= 0:
        end = start + len(code)
        parts = [(content[:start], 0), (content[end:], end)]
    found = [
        (match[0], offset + match.start())
        for text, offset in parts
        for match in _TOKEN.finditer(text)
    ]
    return sorted([*found, (code, start)] if start >= 0 else found, key=lambda pair: pair[1])
