"""Objects in a text that a model wrote: JSON, or what Python and JavaScript would write for it.

Read besides JSON: single and typographic quotes, line breaks in strings, True and None, words
without quotes, trailing commas, comments. Never repaired: a missing quote, comma or bracket. Every
function takes time in proportion to the text.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Final

from labeler.providers.unreadable import CutOff, UnreadableAnswer

__all__ = ["BLANKS", "Found", "find_end", "objects_in", "read_value", "same"]

BLANKS: Final = r"[\s\ufeff\u200b\u2060]"
"""A pattern for white space, byte order marks and blanks of no width."""

_DEEPEST = 100
_MOST_DIGITS = 4000  # Python refuses to convert more than 4300

_GAP = re.compile(rf"(?:{BLANKS}++|//[^\n]*+|\#[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)*+")
_OPENS = re.compile(
    # A brace in prose is no object: one opens with a name and a colon, a quote or a comment.
    rf"\{{{BLANKS}*+(?:[\"'“”„‘’}}\#]|//|/\*|\Z|[^\W\d]\w*+{BLANKS}*+(?:[:：]|\Z))"
)
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_WORD = re.compile(r"[^\W\d]\w*+")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|infinity|inf)\b", re.IGNORECASE)
_CONSTANTS = {
    **dict.fromkeys(("null", "None", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

_CLOSING = {'"': '"', "'": "'", "“": "“”", "”": "“”", "„": "“”", "‘": "’", "’": "’"}
_STRINGS = {
    opening: re.compile(rf"[^{closing}\\]*+(?:\\.[^{closing}\\]*+)*+([{closing}])", re.DOTALL)
    for opening, closing in _CLOSING.items()
}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": ""}
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


@dataclass(frozen=True, slots=True)
class Found:
    """An object and where it stands: ``text[start:end]``."""

    value: dict[str, Any]
    start: int
    end: int


def objects_in(text: str) -> list[Found]:
    """Find the objects of a text that stand in no other object, in their order.

    Raises:
        CutOff: When one opens and never closes.
        UnreadableAnswer: When one can't be read, holds NaN or an infinity, says a key twice with
            two values, or is nested deeper than 100.
    """
    found: list[Found] = []
    at = text.find("{")
    while at >= 0:
        end = at + 1
        if _OPENS.match(text, at):
            value, end = _object(text, at, 0)
            found.append(Found(value, at, end))
        at = text.find("{", end)
    return found


def find_end(text: str, start: int) -> tuple[int, bool]:
    """Tell where the object that opens at a brace ends, and whether there is one.

    Without one, it is told how far was looked: no object that opens before is left unseen.
    """
    if not _OPENS.match(text, start):
        return start + 1, False
    try:
        return _object(text, start, 0)[1], True
    except UnreadableAnswer as error:
        return max(error.at, start + 1), False


def read_value(text: str) -> object:
    """Read a text that is one value and nothing else.

    Raises:
        CutOff: When it stops in the middle.
        UnreadableAnswer: When it is none.
    """
    value, end = _value(text, 0, 0)
    end = _after_gap(text, end)
    if end < len(text):
        raise UnreadableAnswer("words around the value", end)
    return value


def same(one: object, other: object) -> bool:
    """Compare two values that were read here; True is not 1, and 1 is not 1.0."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _after_gap(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    at = gap.end() if gap else at
    if text.startswith("/*", at):
        raise CutOff("a comment that never closes", len(text))
    return at


def _next(text: str, at: int) -> int:
    at = _after_gap(text, at)
    if at >= len(text):
        raise CutOff("JSON that stops in the middle", at)
    return at


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    at = _next(text, at)
    if depth > _DEEPEST:
        raise UnreadableAnswer("nested too deep", at)
    first = text[at]
    if first == "{":
        return _object(text, at, depth)
    if first == "[":
        return _list(text, at, depth)
    if first in _CLOSING:
        return _string(text, at)
    if _NOT_FINITE.match(text, at):
        raise UnreadableAnswer("a number that is not finite", at)
    if number := _NUMBER.match(text, at):
        return _number(number.group(), at), number.end()
    if word := _WORD.match(text, at):
        return _CONSTANTS.get(word.group(), word.group()), word.end()
    raise UnreadableAnswer("JSON that can't be read", at)


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    content: dict[str, Any] = {}
    at = _next(text, at + 1)
    while text[at] != "}":
        key, at = _key(text, at)
        at = _next(text, at)
        if text[at] not in ":：":
            raise UnreadableAnswer("JSON that can't be read", at)
        value, at = _value(text, at + 1, depth + 1)
        if key in content and not same(content[key], value):
            raise UnreadableAnswer("one key with two values", at)
        content[key] = value
        at = _past_comma(text, at, "}")
    return content, at + 1


def _list(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    content: list[Any] = []
    at = _next(text, at + 1)
    while text[at] != "]":
        value, at = _value(text, at, depth + 1)
        content.append(value)
        at = _past_comma(text, at, "]")
    return content, at + 1


def _past_comma(text: str, at: int, closing: str) -> int:
    """Go from the end of a member to the next one, or to the closing bracket."""
    at = _next(text, at)
    if text[at] == closing:
        return at
    if text[at] not in ",，":
        raise UnreadableAnswer("JSON that can't be read", at)
    return _next(text, at + 1)


def _key(text: str, at: int) -> tuple[str, int]:
    if text[at] in _CLOSING:
        return _string(text, at)
    if word := _WORD.match(text, at):
        return word.group(), word.end()
    raise UnreadableAnswer("JSON that can't be read", at)


def _number(digits: str, at: int) -> int | float:
    if len(digits) > _MOST_DIGITS:
        raise UnreadableAnswer("a number of too many digits", at)
    if not any(sign in digits for sign in ".eE"):
        return int(digits)
    value = float(digits)
    if not math.isfinite(value):
        raise UnreadableAnswer("a number that is not finite", at)
    return value


def _string(text: str, at: int) -> tuple[str, int]:
    rest = _STRINGS[text[at]].match(text, at + 1)
    if rest is None:
        raise CutOff("JSON that stops in the middle", len(text))
    content = text[at + 1 : rest.start(1)]
    if "\\" in content:
        content = _PAIR.sub(_joined, _ESCAPE.sub(_unescaped, content))
    return content, rest.end()


def _unescaped(escape: re.Match[str]) -> str:
    said = escape.group(1)
    if len(said) > 1:
        return chr(int(said[1:], 16))
    if said in "\\/\"'“”„‘’":
        return said
    return _ESCAPED.get(said, escape.group())


def _joined(pair: re.Match[str]) -> str:
    return pair.group().encode("utf-16", "surrogatepass").decode("utf-16")
