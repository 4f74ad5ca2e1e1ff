"""The one table of keys: it feeds the bindings, the line of keys, the help, and remapping.

Every row has a name, by which `[review.keys]` in labeler.toml gives it other keys. No label is
ever on Enter, Escape, Space or Backspace.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from textual.binding import Binding, BindingType, Keymap

from labeler.errors import UsageError
from labeler.settings import Settings

__all__ = [
    "ANSWER_LETTERS",
    "KEYS",
    "MAX_ANSWERS",
    "KeyRow",
    "KeyTable",
    "answer_keys",
    "bindings",
    "key_table",
    "shipped_rows",
]

ANSWER_LETTERS = "asdf"
"""The left hand's keys for the first answers."""

MAX_ANSWERS = 10
"""How many answers there are keys for: the digits 1 to 9, and 0."""


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One thing that keys do on a screen.

    Attributes:
        name: What it is called in labeler.toml; the id of the binding.
        keys: Textual's names of its keys, with commas between; these can be changed.
        action: The action of the screen.
        shown: The keys as they are written on the screen.
        short: A word or two for the line of keys; empty keeps it off that line.
        meaning: What the help says; empty keeps it off there.
        fixed: Keys that it has besides, which can't be changed.
        rank: Where the line of keys is too short, the highest ranks are left out.
    """

    name: str
    keys: str
    action: str
    shown: str
    short: str
    meaning: str
    fixed: str = ""
    rank: int = 0

    @property
    def every(self) -> tuple[str, ...]:
        """All of its keys."""
        return tuple(key for key in f"{self.keys},{self.fixed}".split(",") if key)

    @property
    def written(self) -> str:
        """All of its keys, as the help writes them."""
        return " ".join(map(_written, self.every))


def _answer(place: int) -> KeyRow:
    letter, digit = answer_keys(place)
    return KeyRow(f"answer_{place}", letter, f"answer({place})", digit, "", "", fixed=digit)


def answer_keys(place: int) -> tuple[str, str]:
    """Give the letter, or an empty text, and the digit of an answer's place, counted from 1."""
    letter = ANSWER_LETTERS[place - 1] if place <= len(ANSWER_LETTERS) else ""
    return letter, str(place % 10)


_AROUND = "the whole query, and what stands around the passage"
_OUT = "hide the item; its time stands still"
_MISSING = "search the snapshot for a better passage; somebody else judges it"
_QUERY = "the query: another domain or condition, or that it is unclear"
_STAND = "words of the query stand out, or not"

KEYS: tuple[KeyRow, ...] = (
    *(_answer(place) for place in range(1, MAX_ANSWERS + 1)),
    KeyRow("scroll_down", "j,down", "scroll(1)", "j", "down", "a line down", rank=9),
    KeyRow("scroll_up", "k,up", "scroll(-1)", "k", "up", "a line up", rank=10),
    KeyRow("page_down", "space,pagedown", "page(1)", "spc", "page", "a page on", rank=8),
    KeyRow("page_up", "b,pageup", "page(-1)", "b", "", "a page back"),
    KeyRow("top", "home", "edge(-1)", "Home", "", "to the beginning of the passage"),
    KeyRow("bottom", "end", "edge(1)", "End", "", "to its end"),
    KeyRow(
        "undo", "u,ctrl+z", "undo", "u", "undo", "take the last vote or skip back, to any depth"
    ),
    KeyRow("skip", "x", "skip", "x", "skip", "leave the item to others"),
    KeyRow("flag", "g", "flag", "g", "flag", "flag the item, with a reason"),
    KeyRow("note", "n", "note", "n", "note", "write a note; Esc keeps it as a draft"),
    KeyRow("evidence", "m", "evidence", "m", "missing", _MISSING, rank=12),
    KeyRow("query", "e", "query", "e", "query", _QUERY, rank=11),
    KeyRow("find", "slash", "find", "/", "find", "find a text in the passage", rank=4),
    KeyRow("context", "c", "context", "c", "context", _AROUND, rank=2),
    KeyRow("rubric", "r", "rubric", "r", "rubric", "what each level means", rank=3),
    KeyRow("highlight", "h", "highlight", "h", "highlight", _STAND, rank=7),
    KeyRow("pause", "p", "pause", "p", "pause", _OUT, rank=5),
    KeyRow(
        "widen", "w", "widen", "w", "", "at the end: skipped items, then what a filter left out"
    ),
    KeyRow("judges", "v", "judges", "v", "", "at the end: what judges said, where that is allowed"),
    KeyRow("go_on", "enter", "go_on", "Enter", "", "go on from what judges said"),
    KeyRow("help", "question_mark,f1", "help", "?", "help", "the keys"),
    KeyRow("back", "", "back", "Esc", "", "go back; never a label", fixed="escape"),
    KeyRow("quit", "q", "app.quit", "q", "quit", "end; everything is saved first", rank=6),
)
"""The table as it is without a word in labeler.toml."""


def shipped_rows(*names: str) -> tuple[KeyRow, ...]:
    """Give rows of the table by their names, for another screen on which they do the same."""
    return tuple(row for row in KEYS if row.name in names)


def bindings(*names: str, rows: Sequence[KeyRow] = KEYS) -> list[BindingType]:
    """Make Textual's bindings of all rows, or of some; `KeyTable.keymap` changes their keys."""
    return [
        Binding(",".join(row.every), row.action, row.short or row.name, show=False, id=row.name)
        for row in rows
        if not names or row.name in names
    ]


@dataclass(frozen=True)
class KeyTable:
    """The rows in force.

    Attributes:
        rows: The rows.
        shipped: The same rows as they are without a word in labeler.toml.
    """

    rows: tuple[KeyRow, ...] = KEYS
    shipped: tuple[KeyRow, ...] = KEYS

    def row(self, name: str) -> KeyRow:
        """Give a row by its name."""
        return next(row for row in self.rows if row.name == name)

    def shown(self, name: str) -> str:
        """Give a row's first key, as it is written on the screen."""
        return self.row(name).shown

    def keys_of(self, *names: str) -> frozenset[str]:
        """Give all keys of some rows, as Textual names them; rows of other screens have none."""
        return frozenset(key for row in self.rows if row.name in names for key in row.every)

    @property
    def answers(self) -> range:
        """The places of the answers that there are keys for."""
        return range(1, MAX_ANSWERS + 1)

    def answer(self, place: int) -> str:
        """Give the keys of an answer's place, counted from 1, as they are written before it."""
        return "/".join(map(_written, self.row(f"answer_{place}").every))

    def listed(self, name: str) -> str:
        """Give all of a row's keys, as the help writes them."""
        return self.row(name).written

    @property
    def keymap(self) -> Keymap:
        """What differs from the table as it is shipped, as Textual takes it."""
        changed = (
            one for one, shipped in zip(self.rows, self.shipped, strict=True) if one != shipped
        )
        return {row.name: ",".join(row.every) for row in changed}


def key_table(
    changed: Mapping[str, str],
    shipped: tuple[KeyRow, ...] = KEYS,
    *,
    elsewhere: Collection[str] = (),
) -> KeyTable:
    """Make a table with other keys for some rows.

    Args:
        changed: Keys by the names of rows, several divided by commas: ``x``, ``?``, ``ctrl+x``,
            ``f5``, ``pagedown``.
        shipped: The table.
        elsewhere: Names of rows of other screens: they are known, and change nothing here.

    Raises:
        UsageError: When a name or a key is unknown, a key can't be used for what it is meant for,
            or two rows have one key. The message names labeler.toml and the setting.
    """
    names = [row.name for row in shipped]
    for name in changed:
        if name not in names and name not in elsewhere:
            close = difflib.get_close_matches(name, [*names, *elsewhere], n=1)
            raise UsageError(
                f"{_source(name)}: there is nothing of that name that keys do",
                hint=f"did you mean '{close[0]}'?" if close else f"known: {', '.join(names)}",
            )
    rows = tuple(
        _changed(row, changed[row.name]) if row.name in changed else row for row in shipped
    )
    taken: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: row.name in changed):
        for key in row.every:
            if key in taken:
                raise UsageError(
                    f"{_source(row.name)}: the key {_written(key)} is taken by '{taken[key]}'",
                    hint=f"give '{taken[key]}' another key as well",
                )
            taken[key] = row.name
    return KeyTable(rows, shipped)


def _source(name: str) -> str:
    return Settings.source("review", "keys", name)


_FUNCTION_KEYS = frozenset(f"f{number}" for number in range(1, 13))
_MOVING = frozenset({"home", "end", "pageup", "pagedown", "up", "down", "left", "right"})
_NAMED = _MOVING | {"space", "tab", "enter", "escape", "backspace", "delete", "insert"}
_CONTROL = frozenset(f"ctrl+{letter}" for letter in "abdefgklnoprstuvwxyz")
_SAME_KEY = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+j": "enter", "ctrl+h": "backspace"}
_OURS = {"ctrl+c": "it interrupts", "ctrl+q": "it always ends the program"}


def _changed(row: KeyRow, given: str) -> KeyRow:
    keys: list[str] = []
    for one in filter(None, map(str.strip, given.split(","))):
        key = _key(one, row.name)
        if row.name.startswith("answer_") and not (_is_sign(key) or key in _FUNCTION_KEYS):
            raise UsageError(
                f"{_source(row.name)}: {one} never gives a label: people press it without thinking",
                hint="a letter, a sign or a function key does",
            )
        if key not in (*keys, row.fixed):
            keys.append(key)
    if not keys and not row.fixed:
        raise UsageError(f"{_source(row.name)}: no key is named; a comma is called 'comma'")
    changed = replace(row, keys=",".join(keys))
    return replace(changed, shown=_written(changed.every[0]))


def _key(given: str, name: str) -> str:
    """Give Textual's name of a key as a person writes it."""
    if len(given) == 1 and given.isprintable():
        [binding] = Binding.make_bindings([Binding(given, "", "")])
        return binding.key
    key = given.casefold()
    if key in _OURS:
        raise UsageError(f"{_source(name)}: {given} can't be used: {_OURS[key]}")
    if key in _SAME_KEY:
        raise UsageError(f"{_source(name)}: {given} is {_SAME_KEY[key]} to a terminal")
    if key in _NAMED | _FUNCTION_KEYS | _CONTROL or _is_sign(key):
        return key
    raise UsageError(
        f"{_source(name)}: there is no key '{given}'",
        hint="x, X, ?, ctrl+x, f5, space, pagedown and the like",
    )


_SIGNS = {"slash": "/", "backslash": "\\", "at": "@", "minus": "-", "plus": "+", "underscore": "_"}


def _sign(key: str) -> str:
    """Give the character that a key types, or an empty text when it types none."""
    if len(key) == 1:
        return key
    if key in _SIGNS:
        return _SIGNS[key]
    for spelled in (key.replace("_", " "), key.replace("_", "-")):
        try:
            return unicodedata.lookup(spelled)
        except KeyError:
            continue
    return ""


def _is_sign(key: str) -> bool:
    sign = _sign(key)
    return bool(sign) and sign.isprintable() and not sign.isspace()


def _written(key: str) -> str:
    """Write a key as it stands on the screen."""
    short = {"space": "spc", "pagedown": "PgDn", "pageup": "PgUp", "escape": "Esc"}
    if key in short:
        return short[key]
    if key.startswith("ctrl+"):
        return f"^{key.removeprefix('ctrl+')}"
    return _sign(key) or key.capitalize()
