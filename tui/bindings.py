"""The one table of keys: it feeds the bindings, the line of keys, and the help screen.

No label is ever on Enter, Escape, Space or Backspace. Every row has an id, by which its keys can
be changed.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding, BindingType

__all__ = ["ANSWER_LETTERS", "KEYS", "MAX_ANSWERS", "KeyRow", "answer_keys", "bindings"]

ANSWER_LETTERS = "asdf"
"""The left hand's keys for the first answers."""

MAX_ANSWERS = 10
"""How many answers there are keys for: the digits 1 to 9, and 0."""


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One thing that keys do on the review screen.

    Attributes:
        name: The id of the binding.
        keys: Textual's names of the keys, with commas between.
        action: The action of the review screen.
        shown: The keys as they are written on the screen.
        short: A word or two for the line of keys; empty keeps it off that line.
        meaning: What the help screen says; empty keeps it off there.
    """

    name: str
    keys: str
    action: str
    shown: str
    short: str
    meaning: str


def _answer_row(place: int) -> KeyRow:
    digit = str(place % 10)
    letters = [ANSWER_LETTERS[place - 1]] if place <= len(ANSWER_LETTERS) else []
    return KeyRow(f"answer.{place}", ",".join([*letters, digit]), f"answer({place})", digit, "", "")


KEYS: tuple[KeyRow, ...] = (
    *(_answer_row(place) for place in range(1, MAX_ANSWERS + 1)),
    KeyRow("scroll.down", "j,down", "scroll(1)", "jk", "scroll", "a line down, a line up"),
    KeyRow("scroll.up", "k,up", "scroll(-1)", "k", "", ""),
    KeyRow("page.down", "space,pagedown", "page(1)", "spc b", "", "a page on, a page back"),
    KeyRow("page.up", "b,pageup", "page(-1)", "b", "", ""),
    KeyRow("undo", "u,ctrl+z", "undo", "u", "undo", "take the last vote back, to any depth"),
    KeyRow("skip", "x", "skip", "x", "skip", "leave the item to others"),
    KeyRow("flag", "g", "flag", "g", "flag", "flag the item, with a reason"),
    KeyRow("note", "n", "note", "n", "note", "write a note; Esc keeps it as a draft"),
    KeyRow("context", "c", "context", "c", "context", "the whole query, and where the passage is"),
    KeyRow("rubric", "r", "rubric", "r", "rubric", "what each level means"),
    KeyRow("widen", "w", "widen", "w", "", "at the end: take skipped items, then other pools"),
    KeyRow("help", "question_mark,f1", "help", "?", "help", "this page"),
    KeyRow("back", "escape", "back", "Esc", "", "go back; never a label"),
    KeyRow("quit", "q", "app.quit", "q", "quit", "end; everything is saved first"),
)


def bindings() -> list[BindingType]:
    """Make Textual's bindings from the table."""
    return [
        Binding(row.keys, row.action, row.short or row.name, show=False, id=row.name)
        for row in KEYS
    ]


def answer_keys(place: int) -> tuple[str, str]:
    """Give the letter, or an empty text, and the digit of an answer's place, counted from 1."""
    letter = ANSWER_LETTERS[place - 1] if place <= len(ANSWER_LETTERS) else ""
    return letter, str(place % 10)
