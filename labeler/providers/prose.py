"""Labels in an answer that is no object: on a line of their own, in a tag, or alone."""

from __future__ import annotations

import re
from typing import Final

from labeler.providers.label_words import EDGES, name_of
from labeler.providers.unreadable import UnreadableAnswer

__all__ = ["lone_label", "refuse_second_prompt", "statements"]

# Not ">", which quotes somebody else.
_BULLETS: Final = EDGES + "#*+•–-_`\"'"
_NUMBERING = re.compile(r"\d{1,2}[.)][ \t]+")
# No range may stand before the colon: in "Score (0-10): 2" the 2 is no code of any scale here.
_KEYED = re.compile(r"([^\W\d][\w \-]{0,39}?)[*_`\"'\s]*+[:：=](?!=)(.*)")
_TAG = re.compile(r"<(\w[\w-]{0,39}+)>([^<]*+)</\1>")
_BOXED = re.compile(r"\$?\\boxed\{(?:\\text\{([^{}]*)\}|([^{}]*))\}\$?\.?")
_SENTENCE = re.compile(r"[.,;:!?]\s")
_MOST_CHARACTERS, _MOST_WORDS, _ONE_LABEL = 60, 4, 3
_PROMPT_PARTS = frozenset(
    {
        *("query", "question", "passage", "document", "user", "human", "assistant", "system"),
        *("instruction", "input", "response", "example", "task"),
    }
)


def statements(said: str) -> list[tuple[str, str]]:
    """List what tags around a value and lines "Key: value" say, by the name of the key."""
    tagged = [(name_of(key), value.strip(EDGES)) for key, value in _TAG.findall(said)]
    return tagged + [keyed for keyed in map(_keyed, said.splitlines()) if keyed]


def _keyed(line: str) -> tuple[str, str] | None:
    bare = line.lstrip(_BULLETS)
    if numbering := _NUMBERING.match(bare):
        bare = bare[numbering.end() :].lstrip(_BULLETS)
    keyed = _KEYED.match(bare)
    if keyed is None:
        return None
    value = keyed.group(2).strip(EDGES).strip("*").strip(EDGES)
    if value.startswith(("```", "~~~")):  # a fence opens behind the colon
        value = ""
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = value[1:-1]
    return name_of(keyed.group(1)), _unboxed(value)


def _unboxed(said: str) -> str:
    boxed = _BOXED.fullmatch(said)
    return boxed.group(1) or boxed.group(2) or "" if boxed else said


def lone_label(said: str) -> str | None:
    """Give a text of a few words, which is a label or nothing; None when it is longer."""
    said = _unboxed(said)
    is_lone = (
        len(said) <= _MOST_CHARACTERS
        and len(said.split()) <= _MOST_WORDS
        and "\n" not in said
        and not _SENTENCE.search(said)
    )
    return said if is_lone else None


def refuse_second_prompt(said: str) -> None:
    """Refuse a text that answers in a word and then goes on with a prompt of its own.

    A base model does so, and the label behind it belongs to a passage that it made up.

    Raises:
        UnreadableAnswer: When a short first line is followed by a line such as "Query: ...".
    """
    first, *more = said.splitlines()
    is_alone = (
        len(first.split()) <= _ONE_LABEL and _keyed(first) is None and first[0] not in "{[<`~\"'"
    )
    if is_alone and any(keyed and keyed[0] in _PROMPT_PARTS for keyed in map(_keyed, more)):
        raise UnreadableAnswer("a prompt behind the answer")
