"""What a label that a model wrote means: one of the known spellings as a whole, or nothing."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeVar

from labeler.providers.unreadable import UnreadableAnswer

__all__ = ["EDGES", "agreed", "folded", "is_short", "level_of", "name_of"]

T = TypeVar("T")

EDGES: Final = (
    "".join(chr(code) for code in range(0x3001) if chr(code).isspace()) + "\ufeff\u200b\u2060"
)
"""White space, byte order marks and blanks of no width, to strip from around a text."""

_CODE = re.compile(r"[+-]?[0-9]{1,9}(?:\.0*)?")
_MOST_CODE = 10**9
_JOINTS = re.compile("[\\s_\u2010\u2011-]+")
_FINAL_MARKS: Final = ".!。"  # no comma: something was to follow it
_NO_END: Final = _FINAL_MARKS + "?:,;"
_TYPOGRAPHIC = str.maketrans("‘’“”„", '\'\'"""')
_PAIRS = {'"': '"', "'": "'", "`": "`", "*": "*", "«": "»", "「": "」", "『": "』"}
_MOST_LAYERS = 8
_SHORT = 3


def level_of(said: object, spellings: Mapping[str, T]) -> T:
    """Give what a label means: it must be one of the spellings as a whole.

    Unicode form, case, blanks, ``_`` and ``-`` aside, and without quotes, emphasis or one final
    mark around it. The numbers 2 and 2.0 and the text "2" are alike; a list of one is its element.

    Raises:
        UnreadableAnswer: When it is none of them, when two spellings that look alike mean
            different levels, or when it is a bool.
    """
    word = _word_of(said)
    if word:
        meant = [value for spelling, value in spellings.items() if _spelling(spelling) == word]
        if meant and all(value == meant[0] for value in meant):
            return meant[0]
    raise UnreadableAnswer("no such label")


def folded(word: str) -> str:
    """Give the form in which two spellings of a label are compared."""
    bare = unicodedata.normalize("NFKC", word.translate(_TYPOGRAPHIC)).casefold().strip(EDGES)
    for _ in range(_MOST_LAYERS):
        if len(bare) > 1 and _PAIRS.get(bare[0]) == bare[-1]:
            bare = bare[1:-1].strip(EDGES)
        elif len(bare) > 1 and bare[-1] in _FINAL_MARKS and bare[-2] not in _NO_END:
            bare = bare[:-1].rstrip(EDGES)
        else:
            break
    if _CODE.fullmatch(bare):
        return str(int(float(bare)))
    joined = _JOINTS.sub(" ", bare).strip()
    # A sign is no hyphen: "- 1" is neither the code 1 nor surely the code -1.
    return bare if _CODE.fullmatch(joined) else joined


@lru_cache(maxsize=1024)
def _spelling(word: str) -> str:
    return folded(word)


def name_of(key: str) -> str:
    """Give a field's name in lower case, with ``_`` for blanks and hyphens."""
    return _JOINTS.sub(" ", unicodedata.normalize("NFKC", key).casefold()).strip().replace(" ", "_")


def is_short(said: object) -> bool:
    """Tell a word or a number, which may be a label, from a sentence and from other values."""
    return _word_of(said) is not None and len(str(said).split()) <= _SHORT


def agreed(labels: Sequence[object]) -> object:
    """Give the label that several places of an answer say.

    Raises:
        UnreadableAnswer: When they say different ones.
    """
    said = {_word_of(label) or json.dumps(label, sort_keys=True) for label in labels}
    if len(said) > 1:
        raise UnreadableAnswer("two answers that differ")
    return labels[0]


def _word_of(said: object) -> str | None:
    """Give a label's comparable form, or None for what can't be one."""
    if isinstance(said, list) and len(said) == 1:
        said = said[0]
    if isinstance(said, str):
        return folded(said)
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    return str(int(said)) if abs(said) < _MOST_CODE and said == int(said) else None
