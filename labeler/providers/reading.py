"""Reads what a language model wrote, and never guesses.

No label is looked for inside a text: "not relevant" holds "relevant", and "0 to 3" holds 3. A label
is a field of an object, what stands behind "Label:" on a line of its own or in a tag, or the whole
text. Whatever else is said is unreadable: it is asked for again or goes to a person, since a wrong
label costs more than a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from labeler.providers.label_words import EDGES, agreed, folded, is_short, level_of, name_of
from labeler.providers.loose_json import objects_in, read_value, same
from labeler.providers.prose import lone_label, refuse_second_prompt, statements
from labeler.providers.thoughts import without_thoughts
from labeler.providers.unreadable import CutOff, UnreadableAnswer

__all__ = [
    "CutOff",
    "UnreadableAnswer",
    "clean_text",
    "folded",
    "level_of",
    "one_object",
    "read_fields",
    "without_thoughts",
]

_FENCED = re.compile(r"(```|~~~)(?:[\w+-]*+[ \t]*+\r?\n)?(.*)\1", re.DOTALL)
_OPEN_LIST = re.compile(r"\[\s*+\{")

_QUALIFIERS = frozenset({"final", "overall", "my", "the", "relevance", "assigned", "chosen"})
_ANSWERS = frozenset({"answer", "final_answer"})
_QUESTIONS = frozenset({"question", "q"})
_WRAPPERS = _ANSWERS | {
    *("result", "results", "response", "output", "judgment", "judgement", "evaluation"),
    *("assessment", "arguments", "parameters", "args", "input", "function", "tool_calls"),
}
_MOST_WRAPPERS = 3
# Before an object: "for example:", and on its line "I would not say" or "the passage contains".
_NOT_MEANT = re.compile(
    r"\b(?:(?:examples?|e\.g\.|for instance|such as)[\s:,]*(?:```\w*\s*)?"
    r"|(?:instead of|rather than|not(?: say)?|says?|said|contains?|claims?|includes?|quotes?)"
    r"[ \t,]*(?::\s*)?[`\"']?)\Z",
    re.IGNORECASE,
)
_WORDS_BEFORE = 40

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def one_object(text: str) -> dict[str, Any] | None:
    """Give the one object that a text holds beside thoughts, or None when it holds none.

    Words and fences around it are left aside. The object may stand in a list of one or in a JSON
    string, and may be written as Python or JavaScript would. Keys are given as they stand.

    Raises:
        CutOff: When thoughts never end, or an object opens and never closes.
        UnreadableAnswer: When there are several that differ; when the words right before one say
            that it isn't the answer ("for example"); when one has a fault that only a guess could
            mend, NaN, or an infinity.
    """
    return _object_and_rest(_bare(without_thoughts(text)))[0]


def read_fields(text: str, level_key: str, synonyms: Sequence[str]) -> dict[str, Any]:
    """Read the fields of an answer, the label under ``level_key`` as it was written.

    Where the answer holds an object with a label, that is read: by any of the keys, in one or
    another wrapper such as a tool call. Else lines such as "Label: X", "Final label: X" or
    "**Grade:** X" and tags such as ``<label>X</label>`` are, which must all agree; else a text of
    a few words, which is a label or nothing. A label line that contradicts the object makes both
    unreadable.

    Args:
        text: What the model wrote.
        level_key: The label's key.
        synonyms: Other keys that models write for it. With words such as "final" or "relevance"
            before them, as in ``final_label``, they count too.

    Returns:
        All fields, by their names in lower case with ``_`` for blanks.

    Raises:
        CutOff: When the text stops in the middle of thoughts or of an object.
        UnreadableAnswer: When no label can be read without guessing.
    """
    said = _bare(without_thoughts(text))
    if not said:
        raise UnreadableAnswer("no answer")
    refuse_second_prompt(said)
    wanted = frozenset(name_of(key) for key in (level_key, *synonyms))
    found, rest = _object_and_rest(said)
    stated = statements(rest)
    names = {name for name, _ in stated}
    # "Question: ... Answer: 2" may be the passage's own.
    answers = _ANSWERS if names.isdisjoint(_QUESTIONS) else frozenset[str]()
    labels = [value for name, value in stated if name in answers or _is_label(name, wanted)]
    if found is not None and (fields := _fields_of(found, level_key, wanted)) is not None:
        agreed([fields[level_key], *(label for label in labels if label and is_short(label))])
        return fields
    if labels:
        return {**_others(stated, wanted), level_key: agreed(labels)}
    if found is not None:
        raise UnreadableAnswer("an object without a label")
    return {level_key: _whole_label(said)}


def clean_text(text: str) -> str:
    """Make a text storable in any database.

    Lone surrogates, NUL and the other control characters below U+0020 become U+FFFD; tabs stay,
    and every kind of line end becomes a line feed.
    """
    if _SURROGATES.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _CONTROLS.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def _bare(said: str) -> str:
    """Take the white space and a fence from around a text."""
    said = said.strip(EDGES)
    fenced = _FENCED.fullmatch(said)
    if fenced and fenced.group(1) not in fenced.group(2):
        return fenced.group(2).strip(EDGES)
    return said


def _object_and_rest(said: str) -> tuple[dict[str, Any] | None, str]:
    """Give the object in a text, and the text without it."""
    if said[:1] == "[" and (whole := _whole_list(said)) is not None:
        return _only([one for one in whole if isinstance(one, dict)], of=len(whole)), ""
    if said[:1] in {'"', "'", "“"}:
        said = _inner_text(said)
    found = objects_in(said)
    rest: list[str] = []
    at = 0
    for one in found:
        if _NOT_MEANT.search(said[max(at, one.start - _WORDS_BEFORE) : one.start]):
            raise UnreadableAnswer("an object that is not meant as the answer")
        rest.append(said[at : one.start])
        at = one.end
    return _only([one.value for one in found], of=len(found)), "".join([*rest, said[at:]])


def _only(found: Sequence[dict[str, Any]], *, of: int) -> dict[str, Any] | None:
    if not found:
        return None
    if len(found) < of or not all(same(one, found[0]) for one in found):
        raise UnreadableAnswer("two answers that differ")
    return found[0]


def _whole_list(said: str) -> list[Any] | None:
    """Read a text that is a list and nothing else."""
    try:
        value = read_value(said)
    except CutOff:
        if _OPEN_LIST.match(said):
            raise
        return None
    except UnreadableAnswer:
        return None
    return value if isinstance(value, list) else None


def _inner_text(said: str) -> str:
    """Take a text with an object out of the JSON string that it was written as."""
    try:
        value = read_value(said)
    except UnreadableAnswer:
        return said
    return value if isinstance(value, str) and "{" in value else said


def _is_label(name: str, wanted: frozenset[str]) -> bool:
    words = name.removesuffix("_is").split("_")
    for start, word in enumerate(words):
        if "_".join(words[start:]) in wanted:
            return True
        if word not in _QUALIFIERS:
            return False
    return False


def _fields_of(
    found: Mapping[str, Any], level_key: str, wanted: frozenset[str], wrappers: int = 0
) -> dict[str, Any] | None:
    """Give an object's fields, or those of the one object that it wraps; None without a label."""
    fields = _named(found)
    labels = {
        name: value
        for name, value in fields.items()
        if _is_label(name, wanted) or (name in _ANSWERS and is_short(value))
    }
    own = name_of(level_key)
    said = [value for name, value in labels.items() if value is not None or name == own]
    if said:
        others = {name: value for name, value in fields.items() if name not in labels}
        return {**others, level_key: agreed(said)}
    wrapped = {
        name: inner
        for name, value in fields.items()
        if (name in _WRAPPERS or len(fields) == 1) and (inner := _as_object(value)) is not None
    }
    if len(wrapped) != 1 or wrappers == _MOST_WRAPPERS:
        return None
    [(wrapper, inner)] = wrapped.items()
    deeper = _fields_of(inner, level_key, wanted, wrappers + 1)
    if deeper is None:
        return None
    return {name: value for name, value in fields.items() if name != wrapper} | deeper


def _named(found: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in found.items():
        if not same(fields.setdefault(name_of(key), value), value):
            raise UnreadableAnswer("one key with two values")
    return fields


def _as_object(value: object) -> dict[str, Any] | None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str) and value.lstrip(EDGES).startswith("{"):
        value = read_value(value)
    return value if isinstance(value, dict) else None


def _others(stated: Sequence[tuple[str, str]], wanted: frozenset[str]) -> dict[str, str]:
    """Give what lines and tags say beside the label; what is said in two ways is left out."""
    others: dict[str, str] = {}
    for name, value in stated:
        if others.setdefault(name, value) != value:
            others[name] = ""
    return {
        name: value
        for name, value in others.items()
        if value and name not in _ANSWERS and not _is_label(name, wanted)
    }


def _whole_label(said: str) -> object:
    whole = _whole_list(said) if said[:1] == "[" else None
    if whole is not None and len(whole) == 1:
        return whole[0]
    label = lone_label(said) if whole is None else None
    if not label:
        raise UnreadableAnswer("no label")
    return label
